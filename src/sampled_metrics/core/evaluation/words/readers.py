"""What was read, in words."""

from __future__ import annotations

from collections.abc import Sequence

from sampled_metrics.checks import counted, enumerated, shown
from sampled_metrics.core.evaluation.kinds import Kind
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.ranks.frames import MEANINGS
from sampled_metrics.core.ranks.groups import FEWEST_USERS

_MOST_TABLES = 3
"""How many tables are named before the number of the others."""


def _columns(names: str, number: int) -> str:
    return f"The columns {names} are" if number > 1 else f"The column {names} is"


def _columns_taken(finding: Finding, _: Setting) -> str:
    columns = finding.values["columns"]
    meanings = [
        f"{column} ({MEANINGS[column]})" if column in MEANINGS else column for column in columns
    ]
    return (
        f"{_columns(enumerated(columns.values()), len(columns))} taken as {enumerated(meanings)}."
    )


def _columns_not_used(finding: Finding, _: Setting) -> str:
    columns = finding.values["columns"]
    names = ", ".join(columns)
    not_used = f"{_columns(f'{names:.200}', len(columns))} not used."
    if not finding.values["unit"]:
        return not_used
    return (
        f"{not_used} If a column names recommenders or seeds, name it with `by` or `seeds` (--by, "
        "--seeds)."
    )


def _items_not_judged(finding: Finding, _: Setting) -> str:
    return (
        "None of its items is judged for any user; they are such as "
        f"{shown(finding.values['item'])}, and the judged ones such as "
        f"{shown(finding.values['judged'])}. Ids are compared as text."
    )


def _not_uniform(finding: Finding, _: Setting) -> str:
    values = finding.values
    p_value = f"p = {values['p_value']:.2g}" if values["p_value"] > 1e-16 else "p < 1e-16"
    often = "often" if values["excess"] > 0 else "rarely"
    return (
        "The given negatives do not look as if they were drawn uniformly for each user "
        f"({p_value}): {values['never']} of {values['items']} items are never drawn, by chance "
        f"{values['never_by_chance']:.0f}, and popular items are drawn too {often} by "
        f"{abs(values['excess']):.1f} standard errors. Corrections of samples are for uniform "
        "negatives, so their results do not hold here."
    )


def _tables(names: Sequence[str]) -> str:
    """Return the names of tables, or of many the first ones and how many others there are.

    A name such as "A, seed 1" has a comma.
    """
    others = len(names) - _MOST_TABLES
    return " and ".join(names if others < 2 else [*names[:_MOST_TABLES], f"{others} others"])


def _paired_by_user(finding: Finding, _: Setting) -> str:
    owners = "" if finding.values["are_all"] else f" of {_tables(finding.values['tables'])}"
    return f"Users{owners} are paired by the column user."


def _paired_by_position(finding: Finding, _: Setting) -> str:
    tables = finding.values["tables"]
    without = finding.values["without"]
    if len(without) < len(tables):
        reason = f", as {_tables(without)} {'has' if len(without) == 1 else 'have'} no column user"
        return (
            f"Users are paired by position: row i of {_tables(tables)} is taken to be the same "
            f"user{reason}."
        )
    names = _tables(tables) if len(tables) == 2 else f"all {len(tables)} tables"
    return f"Users are paired by position: row i of {names} is taken to be the same user."


def _groups_left_out(finding: Finding, _: Setting) -> str:
    groups = [
        f"{group} ({counted(users, 'user')})" for group, users in finding.values["users"].items()
    ]
    return f"Left out, as an interval needs {FEWEST_USERS} users or more: {enumerated(groups)}."


KINDS: dict[str, Kind] = {
    "no-rank-zero": Kind(
        when="ranks are said to start at 0, and none is 0",
        values="source",
        sentence="No rank is 0, and zero_based (--zero-based) adds 1; leave it out if the best "
        "is 1.",
        is_caution=True,
    ),
    "not-uniform": Kind(
        when="given negatives do not look as if they were drawn uniformly",
        values=(
            "p_value; excess: of popular items, in standard errors; items; never: those that are "
            "never drawn; never_by_chance: the same, as uniform draws have it"
        ),
        sentence=_not_uniform,
        is_caution=True,
    ),
    "shared-negatives": Kind(
        when="users share given negatives, which are read as drawn once",
        values="partners: with how many other users, on average",
        sentence=(
            "A user shares the given negatives with {partners:.3g} other users on average, so "
            "they are read as drawn once."
        ),
        of_groups=False,
    ),
    "rows-as-users": Kind(
        when="no column user was read",
        sentence="Each row counts as a user of its own, as no column user was read.",
        of_groups=False,
    ),
    "columns-taken": Kind(
        when="columns are found by their usual names",
        values="columns: by what they are taken as",
        sentence=_columns_taken,
        of_groups=False,
    ),
    "columns-not-used": Kind(
        when="columns are not used",
        values="columns; unit: row if users are not known, else empty",
        sentence=_columns_not_used,
        of_groups=False,
    ),
    "one-grade": Kind(
        when="judged items have no grades",
        sentence="The judged items have no column relevance: each is relevant, with grade 1.",
        of_groups=False,
    ),
    "nothing-relevant": Kind(
        when="judged users have no relevant item",
        values="users; all: the judged users",
        sentence="{users} of {all} users have no relevant item, and count with the value 0.",
        of_groups=False,
    ),
    "not-judged": Kind(
        when="users of ranked lists have no judged item",
        values="source; users; all: the users of the lists",
        sentence="{users} of {all} users have no judged item, and are left out.",
        of_groups=False,
    ),
    "empty-lists": Kind(
        when="judged users have no list",
        values="source; users; all: the judged users",
        sentence="{users} of {all} users with judged items are missing, and count as empty lists.",
        of_groups=False,
    ),
    "equal-scores": Kind(
        when="a relevant item has the score of an item of another grade",
        values="source; users; all: the judged users",
        sentence=(
            "{users} of "
            "{all} users have a relevant item with the score of others; of equal scores, the last "
            "item by its id as text comes first, as in trec_eval."
        ),
        of_groups=False,
    ),
    "all-tied": Kind(
        when="held-out items tie with all of their candidates, as in `rank` and `staged_ranks`",
        values="source; rows: such held-out items; all: of them",
        sentence=(
            "{rows} of {all} held-out items have the score of all their candidates, so their ranks "
            "are random."
        ),
        of_groups=False,
    ),
    "items-not-judged": Kind(
        when="no item of ranked lists is judged",
        values="source; item: of the lists; judged: of the judged items",
        sentence=_items_not_judged,
        of_groups=False,
    ),
    "paired-by-user": Kind(
        when="the users of tables are paired by the column user",
        values="tables: their names; are_all: whether they are all that are compared",
        sentence=_paired_by_user,
        of_groups=False,
    ),
    "paired-by-position": Kind(
        when="a table has no column user",
        values="tables: those that are paired so; without: those of them that have no column user",
        sentence=_paired_by_position,
        names_recommenders=True,
        of_groups=False,
    ),
    "groups-left-out": Kind(
        when="groups have too few users for an interval",
        values="users: their numbers, by group",
        sentence=_groups_left_out,
        of_groups=False,
    ),
}
"""What is known of each kind of finding."""
