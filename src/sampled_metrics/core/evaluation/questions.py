"""Which runs an interval describes: those that were trained, or new ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sampled_metrics.core.evaluation.values import UserValues
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.ranks.runs import Runs

NEW_RUNS = "new_runs"
"""Runs that are trained anew: users and seeds are both chance."""

THESE_RUNS = "these_runs"
"""The runs that were trained.

The value of a user is the mean over the seeds, and only users are random.
"""


def in_words(inference: str) -> str:
    """Return which runs an interval describes in words."""
    return inference.replace("_", " ")


def answerable(
    values: Mapping[str, UserValues], recommenders: Sequence[Runs]
) -> tuple[list[str], list[Finding]]:
    """Return the questions that values answer, the main one first, and findings on the others.

    Without several seeds the question has no name. New runs need several seeds of every
    recommender, and one value of each user: strict bounds of the seeds hold the mean of these
    seeds, and do not show how new ones vary.
    """
    if not any(runs.are_seeds for runs in recommenders):
        return [""], []
    with_one_seed = [runs.name for runs in recommenders if len(runs.tables) == 1]
    if with_one_seed:
        return [THESE_RUNS], [Finding("one-seed", values={"recommenders": with_one_seed})]
    if not all(values[runs.name].one_value for runs in recommenders):
        return [THESE_RUNS], [Finding("bounds-of-seeds")]
    return [NEW_RUNS, THESE_RUNS], []


def about_seeds(questions: Sequence[str], recommenders: Sequence[Runs]) -> list[Finding]:
    """Return the finding that intervals of new runs include the spread between the seeds."""
    if NEW_RUNS not in questions:
        return []
    seeds = {runs.name: len(runs.tables) for runs in recommenders}
    return [Finding("seeds", values={"seeds": seeds})]
