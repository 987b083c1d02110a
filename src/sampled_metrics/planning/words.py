"""The kinds of findings on plans of evaluations, and ways to evaluate in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sampled_metrics.core.findings import CAUTION, REMARK, Kind

_GAP = "The difference in {users:,} users is {difference} ({low} to {high})."
_CHANCE = "with a chance of {decided:.2f} ({decided_low:.2f} to {decided_high:.2f})"
_COST = "{scores:,.0f} scores for each user, {total:,.0f} in all"
_WIDTH = "with a width of {width} ({width_low} to {width_high})"
_OF_ROW = "the columns of its row; way_in_words; total: scores of all users"

KINDS = (
    Kind(
        "plan-pair",
        REMARK,
        f"In the pilot, {{names[0]}} is better than {{names[1]}} by {{metric}}. {_GAP} The column "
        "decided is for {names[0]}, and wrong for {names[1]}.",
        when="the pilot decides a pair",
        action="read the column decided",
        values="difference, low, high, users: of the pilot",
    ),
    Kind(
        "plan-pair-undecided",
        REMARK,
        "The pilot does not decide whether {names[0]} is better than {names[1]} by {metric}. "
        f"{_GAP} The column decided is for {{names[0]}}, and wrong for {{names[1]}}, whichever is "
        "better in truth. Both are for a difference as large as this one; their intervals say what "
        "other differences would change.",
        when="the pilot does not decide a pair",
        action="read the intervals of the column decided",
        values="difference, low, high, users: of the pilot",
    ),
    Kind(
        "plan-first",
        REMARK,
        "The cheapest way that decides rightly, by the order of the pilot, in {share!p} of "
        "evaluations or more, with {confidence} confidence in each: "
        f"{{way_in_words}}, with {{scores:,.0f}} scores for each user, {_CHANCE}.",
        when="a way decides in nine of ten evaluations, by the lower end of its chance",
        action="evaluate this way",
        values=f"{_OF_ROW}; share: 0.9",
    ),
    Kind(
        "plan-unsure",
        REMARK,
        "The pilot cannot tell which way decides rightly in {share!p} of evaluations or more. With "
        "{way_in_words} and {scores:,.0f} scores for each user, the chance is {decided_low:.2f} to "
        "{decided_high:.2f}; it is {decided:.2f} if the true difference is the one of the pilot.",
        when="no way is sure to decide in nine of ten evaluations, and one may",
        action="give a larger pilot, or take the way with the most scores",
        values=f"{_OF_ROW}; share: 0.9",
    ),
    Kind(
        "plan-none-decides",
        REMARK,
        "None of these ways decides rightly in {share!p} of evaluations or more. The highest "
        f"chance has {{way_in_words}}, with {{scores:,.0f}} scores for each user, {_CHANCE}.",
        when="no way decides in nine of ten evaluations",
        action="plan for more users, or for all candidates",
        values=f"{_OF_ROW}; share: 0.9",
    ),
    Kind(
        "plan-width",
        REMARK,
        "For a width of at most {wanted:g}, the cheapest way is {way_in_words}: "
        f"{_COST}, {_WIDTH}.",
        when="a width is asked for",
        action="evaluate this way",
        values=f"{_OF_ROW}; wanted",
    ),
    Kind(
        "plan-scores",
        REMARK,
        "With {wanted:,.0f} scores, the narrowest interval has "
        f"{{way_in_words}}: {_COST}, {_WIDTH}.",
        when="a number of scores is asked for, and the width is promised",
        action="evaluate this way",
        values=f"{_OF_ROW}; wanted",
    ),
    Kind(
        "plan-decides",
        REMARK,
        f"With {{wanted:,.0f}} scores, the best way is {{way_in_words}}: {_COST}, {_WIDTH}. It "
        f"decides rightly {_CHANCE}.",
        when="a number of scores is asked for, and a right verdict is promised",
        action="evaluate this way",
        values=f"{_OF_ROW}; wanted",
    ),
    Kind(
        "plan-no-scores",
        REMARK,
        "No way of these takes at most {scores:,.0f} scores; take fewer users.",
        when="no way takes as few scores as are asked for",
        action="take fewer users",
        values="scores: what was asked for",
    ),
    Kind(
        "plan-no-width",
        REMARK,
        "No way of these is sure to have a width of at most {width:g}; take more users.",
        when="no way has as small a width as is asked for",
        action="take more users",
        values="width: what was asked for",
    ),
    Kind(
        "plan-wrong",
        CAUTION,
        "In the order of the pilot, the verdict with {way_in_words} is often wrong, however cheap "
        "it is ({wrong:.2f}, {wrong_low:.2f} to {wrong_high:.2f}).",
        when="a way often decides for the recommender that is worse in the pilot",
        action="do not evaluate this way",
        values="way, estimator, depth, negatives, way_in_words; wrong, wrong_low, wrong_high",
    ),
    Kind(
        "plan-left",
        REMARK,
        "With {way_in_words}, the interval is a wider one of a weaker assumption in {left!p} of "
        "the evaluations: the sample contradicts the assumption, or the assumption alone would "
        "decide.",
        when="in more than 5 % of the evaluations, a weaker assumption is taken",
        action="compare with the rows of free",
        values="way, estimator, depth, negatives, way_in_words; left: the share",
    ),
    Kind(
        "plan-no-interval",
        REMARK,
        "With {way_in_words}, half of the evaluations or more have no interval.",
        when="half of the evaluations of a way have no interval",
        action="do not evaluate this way",
        values="way, estimator, depth, negatives, way_in_words",
    ),
    Kind(
        "plan-too-many",
        REMARK,
        "A user has only {fewest} other candidates, so {negatives} negatives are left out.",
        when="a user has fewer candidates than negatives",
        action="plan for fewer negatives",
        values="negatives: those left out; fewest",
    ),
    Kind(
        "plan-few-hits",
        REMARK,
        "{metric} is above 0 for only {hits} users of the pilot, so the intervals of the promises "
        "are wide.",
        when="the metric is above 0 for fewer than 400 users of the pilot",
        action="give a larger pilot",
        values="hits",
    ),
    Kind(
        "plan-no-stages",
        REMARK,
        "There are no rows of stages, nor of a stop at k: they need staged ranks with depth=None, "
        "together with the exact ranks.",
        when="the pilot has no staged ranks",
        action="give staged ranks with the exact ones",
    ),
    Kind(
        "plan-no-negatives",
        REMARK,
        "There are no rows of negatives: they need exact ranks, together with the staged ranks, as "
        "the ranks above k count.",
        when="the pilot has no exact ranks",
        action="give exact ranks with the staged ones",
    ),
)
"""The kinds of this package."""


def way_in_words(row: Mapping[str, Any]) -> str:
    """Return the way to evaluate of a row of a plan in words."""
    if row["way"] == "negatives":
        return f"{row['negatives']:.0f} negatives, {row['estimator']}"
    return f"stages, depth {row['depth']:g}" if row["way"] == "stages" else str(row["way"])
