"""Plans of evaluations, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sampled_metrics.checks import counted, enumerated
from sampled_metrics.core.evaluation.kinds import Kind
from sampled_metrics.core.evaluation.phrases import better, percent
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import metric_name


def _plan_pair(finding: Finding, _: Setting) -> str:
    (winner, loser) = finding.names
    values = finding.values
    name = metric_name(finding.metric)
    columns = f"The column decided is for {winner}, and wrong for {loser}"
    gap = (
        f"The difference in {values['users']:,} users is {values['difference']:.4f} "
        f"({values['low']:.4f} to {values['high']:.4f})."
    )
    if values["low"] > 0:
        return f"In the pilot, {better(winner, loser)} by {name}. {gap} {columns}."
    return (
        f"The pilot does not decide whether {better(winner, loser)} by {name}. {gap} {columns}, "
        "whichever is better in truth. They are of a difference as large as this one; their "
        "intervals say what other differences would change."
    )


def _plan_first(finding: Finding, setting: Setting) -> str:
    values = finding.values
    return (
        f"The cheapest way that decides rightly, by the order of the pilot, in "
        f"{percent(values['share'], '.0f')} of evaluations or more, with "
        f"{percent(setting.confidence_level)} confidence in each: {way_in_words(values)}, with "
        f"{values['scores']:,.0f} scores for each user ({_chance(values, 'decided')})."
    )


def _plan_unsure(finding: Finding, _: Setting) -> str:
    values = finding.values
    share = f"in {percent(values['share'], '.0f')} of evaluations or more"
    way = f"{way_in_words(values)}, with {values['scores']:,.0f} scores for each user"
    if not values["is_open"]:
        return (
            f"None of these ways decides rightly {share}. The highest chance has {way} "
            f"({_chance(values, 'decided')})."
        )
    low = 100 * values["decided_low"]
    high = 100 * values["decided_high"]
    return (
        f"The pilot cannot tell which way decides rightly {share}. By {way}, the chance is "
        f"{low:.0f} to {high:.0f} %; it is {percent(values['decided'], '.0f')} if the true "
        "difference is that of the pilot."
    )


def _plan_choice(finding: Finding, _: Setting) -> str:
    values = finding.values
    cost = f"{values['scores']:,.0f} scores for each user, {values['total']:,.0f} in all"
    width_interval = f"{values['width_low']:.4f} to {values['width_high']:.4f}"
    width = f"a width of {values['width']:.4f} ({width_interval})"
    if values["by"] == "width":
        return (
            f"For a width of at most {values['wanted']:g}, the cheapest way is "
            f"{way_in_words(values)}: {cost}, with {width}."
        )
    beginning = f"With {values['wanted']:,.0f} scores,"
    way = f"{way_in_words(values)}: {cost}, with {width}"
    if values["promise"] == "decided":
        return (
            f"{beginning} the best way is {way}. It decides rightly in "
            f"{percent(values['decided'], '.0f')} of evaluations "
            f"({100 * values['decided_low']:.0f} to {100 * values['decided_high']:.0f} %)."
        )
    chance = (
        f" How often it decides, the pilot cannot tell ({_chance(values, 'decided')})."
        if "decided" in values
        else ""
    )
    return f"{beginning} the narrowest interval is that of {way}.{chance}"


def _chance(values: Mapping[str, Any], name: str) -> str:
    """Return a chance with its interval, in per cent."""
    value, low, high = (100 * values[column] for column in (name, f"{name}_low", f"{name}_high"))
    return f"{value:.0f} %, {low:.0f} to {high:.0f} %"


def way_in_words(row: Mapping[str, Any]) -> str:
    """Return the way to evaluate of a row of a plan in words."""
    if row["way"] == "negatives":
        return f"{row['negatives']:.0f} negatives, {row['estimator']}"
    return f"stages, depth {row['depth']:g}" if row["way"] == "stages" else str(row["way"])


KINDS: dict[str, Kind] = {
    "plan-pair": Kind(
        when="there are two recommenders or more; for each pair",
        values="difference, low, high, users: of the pilot",
        sentence=_plan_pair,
        names_recommenders=True,
        is_first=True,
    ),
    "plan-first": Kind(
        when=(
            "a way decides in nine of ten evaluations, by the lower end of its chance; the "
            "cheapest one"
        ),
        values="the columns of its row; total: scores of all users; share: 0.9",
        sentence=_plan_first,
        names_recommenders=True,
        is_first=True,
    ),
    "plan-unsure": Kind(
        when=(
            "no way does; the cheapest one that does by the difference of the pilot, or the one "
            "that decides most often"
        ),
        values="the same; is_open: whether the upper end of a way allows it",
        sentence=_plan_unsure,
        names_recommenders=True,
        is_first=True,
    ),
    "plan-choice": Kind(
        when="a way is marked",
        values=(
            "the columns of its row; total; by: width or scores; wanted; promise: width or "
            "decided, by whose end it is chosen"
        ),
        sentence=_plan_choice,
        is_first=True,
    ),
    "plan-none": Kind(
        when="no way can be marked",
        values="width, scores: what was asked for",
        sentence=lambda finding, _: (
            f"No way of these takes at most {finding.values['scores']:,.0f} scores; take fewer "
            "users."
            if finding.values["width"] is None
            else "No way of these is sure to have a width of at most "
            f"{finding.values['width']:g}; take more users."
        ),
        is_first=True,
    ),
    "plan-wrong": Kind(
        when="a way often decides for the one that is worse in the pilot",
        values="way, estimator, depth, negatives; wrong with its ends",
        sentence=lambda finding, _: (
            "By the order of the pilot, the verdict of these ways is often wrong, however cheap "
            "they are: {}.",
            f"{way_in_words(finding.values)} ({_chance(finding.values, 'wrong')})",
        ),
    ),
    "plan-left": Kind(
        when=(
            "in more than 5 % of the evaluations, the sample contradicts the assumption of a "
            "way, or it alone would decide"
        ),
        values="way, estimator, depth, negatives; left: the share",
        sentence=lambda finding, _: (
            "In a part of the evaluations, the sample contradicts the assumption, or the "
            "assumption alone would decide, so that the interval is that of a weaker one, which "
            "is wider: {}.",
            f"{way_in_words(finding.values)} ({percent(finding.values['left'], '.0f')})",
        ),
    ),
    "plan-no-interval": Kind(
        when="half of the evaluations of a way have no interval",
        values="way, estimator, depth, negatives",
        sentence=lambda finding, _: (
            "In half of the evaluations or more there is no interval, by {}.",
            way_in_words(finding.values),
        ),
    ),
    "plan-too-many": Kind(
        when="a user has fewer candidates than negatives",
        values="negatives: those left out; fewest",
        sentence=lambda finding, _: (
            f"A user has only {finding.values['fewest']} other candidates, so that "
            f"{enumerated(map(str, finding.values['negatives']))} negatives are left out."
        ),
    ),
    "plan-few-hits": Kind(
        when="the metric is above 0 for fewer than 400 users of the pilot",
        values="hits",
        sentence=lambda finding, setting: (
            f"{metric_name(finding.metric)}{f' of {finding.names[0]}' if setting.names else ''} is "
            f"above 0 for only {counted(finding.values['hits'], 'user')} of the pilot, so that the "
            "intervals of the promises are wide."
        ),
        names_recommenders=True,
    ),
    "plan-no-stages": Kind(
        when="the pilot has no staged ranks",
        sentence=(
            "There are no rows of stages, nor of a stop at k: they need staged ranks by "
            "depth=None, beside the exact ranks."
        ),
    ),
    "plan-no-negatives": Kind(
        when="the pilot has no exact ranks",
        sentence=(
            "There are no rows of negatives: they need exact ranks, beside the staged ranks, as "
            "the ranks above k count."
        ),
    ),
}
"""What is known of each kind of finding."""
