"""Any ranks: users, metrics and what was read, in words."""

from __future__ import annotations

from sampled_metrics.checks import counted, enumerated
from sampled_metrics.core.evaluation.kinds import Kind
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.means import FEW_USERS
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import metric_name


def _completed(finding: Finding, _: Setting) -> str:
    values = finding.values
    several = f" in {values['rows']:,} rows" if values["rows"] > values["users"] else ""
    fewest = values["least_candidates"]
    most = values["most_candidates"]
    candidates = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
    verb = "was" if values["completed"] == 1 else "were"
    completed = f"{counted(values['completed'], 'user')} {verb} completed"
    if values["is_without_hits"]:
        completed = (
            f"no user has a held-out item among the first {values['k']}, as if the ranker masked it"
        )
    return (
        f"Staged ranks of {values['users']:,} user{'s' * (values['users'] != 1)}{several}, "
        f"{values['scores']:,.0f} scores for each of {candidates} candidates; {completed}."
    )


KINDS: dict[str, Kind] = {
    "completed": Kind(
        when="the ranks are staged",
        values=(
            "completed: users whose candidates were all scored, and who are not beaten; users, "
            "rows; scores: for each user; least_candidates, most_candidates; k; is_without_hits:"
            " whether all are beaten"
        ),
        sentence=_completed,
    ),
    "few-users": Kind(
        when="there are fewer than 100 users",
        values="users",
        sentence=(
            f"There are only {{users}} users. With fewer than {FEW_USERS}, intervals are rough: a "
            "few users who are unlike the others decide them."
        ),
    ),
    "one-user": Kind(
        when="there is a single user: a value, and no interval",
        values="is_open: whether not all candidates of the user were scored",
        sentence=lambda finding, _: (
            "There is only one user, and not all candidates were scored, so the value is no more "
            "than a guess. Take depth=None."
            if finding.values["is_open"]
            else "There is only one user, so there is no interval: a single value does not show "
            "how users vary."
        ),
    ),
    "several-rows": Kind(
        when="users have several rows",
        sentence=(
            "Some users have several rows. A user counts by the mean over the user's rows, each "
            "of one relevant item among irrelevant ones. Hit rate, NDCG or MAP of all items of a"
            " user together are others: `evaluate` has them of ranked lists."
        ),
    ),
    "undefined": Kind(
        when="a metric is not defined",
        sentence="{metric} is not defined, as a user has only one candidate.",
    ),
    "equal-metrics": Kind(
        when="metrics are equal for one relevant item",
        values="metrics",
        sentence=lambda finding, _: (
            f"{enumerated([metric_name(label) for label in finding.values['metrics']])} are equal "
            "here, as ranks are of one relevant item, with grade 1."
        ),
        of_groups=False,
    ),
    "group-level": Kind(
        when="there are groups (`evaluate`, `correct`)",
        sentence=(
            "The interval of each group is at {confidence} by itself; compare adjusts its "
            "verdicts for the number of groups."
        ),
        of_groups=False,
    ),
}
"""What is known of each kind of finding."""
