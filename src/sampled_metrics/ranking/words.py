"""The kinds of findings on scores and on given negatives."""

from __future__ import annotations

from sampled_metrics.core.findings import CAUTION, REMARK, Kind

KINDS = (
    Kind(
        "not-uniform",
        CAUTION,
        "The given negatives do not look as if they were drawn uniformly for each user "
        "({p_value!q}): {never} of {items} items are never drawn, by chance "
        "{never_by_chance:.0f}, and popular items are drawn {frequency} ({excess:+.1f} standard "
        "errors). Corrections of samples are for uniform negatives, so their results do not hold "
        "here.",
        when="given negatives do not look as if they were drawn uniformly",
        action="rank all candidates, or draw negatives uniformly",
        values="p_value; excess: of popular items, in standard errors; frequency: too often or "
        "too rarely; items; never: those that are never drawn; never_by_chance: the same, as "
        "uniform draws have it",
    ),
    Kind(
        "shared-negatives",
        REMARK,
        "A user shares the given negatives with {partners:.3g} other users on average, so they are "
        "read as drawn once.",
        when="users share given negatives, which are read as drawn once",
        action="draw negatives for each user anew",
        values="partners: with how many other users, on average",
    ),
    Kind(
        "all-tied",
        REMARK,
        "{rows} of {all} held-out items have the score of all their candidates, so their ranks are "
        "random.",
        when="held-out items tie with all of their candidates, as in `rank` and `staged_ranks`",
        action="check that the model has scores for these users",
        values="source; rows: such held-out items; all: of them",
    ),
)
"""The kinds of this package."""
