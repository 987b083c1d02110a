"""The kinds of findings on plans of evaluations, and ways to evaluate in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sampled_metrics.core.findings import CAUTION, REMARK, Kind

_CHANCE = "{decided:.2f} ({decided_low:.2f} to {decided_high:.2f})"
_USERS = (
    "{users_high:,.0f} users with {way_in_words}: {scores:,.0f} scores for each user, {total:,.0f} "
    "in all. The pilot leaves {users_low:,.0f} to {users_high:,.0f} users open"
)
_OF_WAY = "way, estimator, depth, negatives, way_in_words"
_OF_USERS = f"{_OF_WAY}; wanted; users, users_low, users_high, scores; total: scores of users_high"

KINDS = (
    Kind(
        "plan-width",
        REMARK,
        f"A width of {{wanted:g}} for {{metric}} takes at most {_USERS}.",
        when="a width is asked for",
        action="evaluate this way",
        values=_OF_USERS,
    ),
    Kind(
        "plan-width-none",
        REMARK,
        "No way is sure to have a width of {wanted:g} for {metric} with 10 million users.",
        when="no number of users gives the width that is asked for",
        action="take a larger width, or a larger pilot",
        values="wanted",
    ),
    Kind(
        "plan-difference",
        REMARK,
        f"To decide a difference of {{wanted:g}} by {{metric}} in {{share!p}} of evaluations takes "
        f"at most {_USERS}.",
        when="a difference is asked for",
        action="evaluate this way",
        values=f"{_OF_USERS}; share: 0.8",
    ),
    Kind(
        "plan-difference-none",
        REMARK,
        "No way is sure to decide a difference of {wanted:g} by {metric} with 10 million users.",
        when="no number of users decides the difference that is asked for",
        action="take a larger difference, or a larger pilot",
        values="wanted; share: 0.8",
    ),
    Kind(
        "plan-again",
        REMARK,
        "For {users:,} other users, the narrowest interval of {metric} has {way_in_words}, with a "
        "width of {width} ({width_low} to {width_high}).",
        when="the pilot has one recommender",
        action="ask with a width how many users are needed",
        values=f"{_OF_WAY}; users, width, width_low, width_high",
    ),
    Kind(
        "plan-first",
        REMARK,
        "The cheapest way that decides rightly in {share!p} of evaluations is {way_in_words}, with "
        f"{{scores:,.0f}} scores for each user. The chance is {_CHANCE}.",
        when="a way decides in 80 % of evaluations, at the lower end of its chance",
        action="evaluate this way",
        values=f"{_OF_WAY}; scores, decided, decided_low, decided_high; share: 0.8",
    ),
    Kind(
        "plan-unsure",
        REMARK,
        "The pilot does not show that any of these ways decides rightly in {share!p} of "
        "evaluations. Plan with the difference that matters to see how many users decide it.",
        when="no way surely decides in 80 % of evaluations, and one may",
        action="plan with a difference, or give a larger pilot",
        values="share: 0.8",
    ),
    Kind(
        "plan-none-decides",
        REMARK,
        "None of these ways decides rightly in {share!p} of evaluations of as many users. Plan "
        "with the difference that matters to see how many users decide it.",
        when="no way decides in 80 % of evaluations",
        action="plan with a difference",
        values="share: 0.8",
    ),
    Kind(
        "plan-pair",
        REMARK,
        "In the pilot, {names[0]} leads {names[1]} by {difference} ({low} to {high}) in {metric}, "
        "over {users:,} users. The column decided is the chance of a verdict for {names[0]}, and "
        "wrong the chance of one for {names[1]}.",
        when="the pilot has a pair",
        action="read the columns decided and wrong",
        values="difference, low, high, users: of the pilot",
    ),
    Kind(
        "plan-wrong",
        CAUTION,
        "The verdict with {way_in_words} is often wrong ({wrong:.2f}, {wrong_low:.2f} to "
        "{wrong_high:.2f}), if the order of the pilot is right.",
        when="a way often decides for the recommender that is worse in the pilot",
        action="do not evaluate this way",
        values=f"{_OF_WAY}; wrong, wrong_low, wrong_high",
    ),
    Kind(
        "plan-left",
        REMARK,
        "With {way_in_words}, the interval is a wider one of a weaker assumption in {left!p} of "
        "the evaluations: the sample contradicts the assumption, or the assumption alone would "
        "decide.",
        when="in more than 5 % of the evaluations, a weaker assumption is taken",
        action="compare with the rows of free",
        values=f"{_OF_WAY}; left: the share",
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
        "plan-no-stages",
        REMARK,
        "There are no rows of stages: they need staged ranks with depth=None, together with the "
        "exact ranks.",
        when="the pilot has no staged ranks",
        action="give staged ranks with the exact ones",
    ),
    Kind(
        "plan-no-negatives",
        REMARK,
        "There are no rows of negatives: they need exact ranks, together with the staged ranks, "
        "because ranks worse than k matter, too.",
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
