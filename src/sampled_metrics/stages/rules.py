"""What the rows of staged ranks, and what they are of, can be.

What no run writes is named with its row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics.checks import MOST, Ints, is_real, is_whole, shown
from sampled_metrics.stages.stopping import (
    FOLDS,
    are_boundaries,
    boundaries,
    digest_of_users,
    last_boundary,
    numbers_of_users,
    shares,
)

OUTCOMES = ("beaten", "complete", "open")

KEYS = ("k", "depth", "seed", "boundaries", "digests")

DIGESTS = ("training", "held_out", "users", "users_in_all", "order", "ranker")

_Rule = tuple[str, Any, str]
"""A column, (rows,) whether its value is wrong, and what it must be; or the same of a key."""


def fault(rows: pd.DataFrame, content: Any) -> str:
    """Return the first thing that staged ranks cannot have; empty if there is none.

    It is said with its row if it is in one.
    """
    if not isinstance(content, dict) or not {*KEYS} <= {*content}:
        return ": lacks k, depth, seed, boundaries or digests"
    for key, is_wrong, rule in _rules_of_content(**{key: content[key] for key in KEYS}):
        if is_wrong:
            return f": {key} must be {rule}, not {shown(content[key])}"
    steps = content["boundaries"]
    return (
        _fault_of_columns(rows, steps)
        or _first_fault(rows, _rules_of_cells(rows, content["k"], steps))
        or _fault_of_users(rows, content)
        or _first_fault(rows, _rules_of_stages(rows, content))
    )


def _rules_of_content(
    k: Any, depth: Any, seed: Any, boundaries: Any, digests: Any
) -> Iterator[_Rule]:
    """Yield what each key of the content can be."""
    is_k = is_whole(k) and 1 <= k <= MOST
    yield "k", not is_k, "a whole number, 1 or more"
    is_depth = depth is None or (is_real(depth) and depth >= 1)
    yield "depth", not is_depth, "a number of 1 or more, or null"
    is_seed = is_whole(seed) and seed >= 0
    yield "seed", not is_seed, "a whole number, 0 or more"
    are_whole = isinstance(boundaries, list) and all(map(is_whole, boundaries))
    are_right = are_whole and are_boundaries(boundaries, 1)
    yield "boundaries", not are_right, "0, 10, 30, 100, 300, and so on"
    is_text = isinstance(digests, dict) and all(
        isinstance(digest, str) for digest in digests.values()
    )
    has_all_digests = is_text and {*DIGESTS} <= {*digests}
    yield "digests", not has_all_digests, f"text by name: {', '.join(DIGESTS)}"


def _fault_of_columns(rows: pd.DataFrame, boundaries: list[int]) -> str:
    """Return which column is missing, is there twice or has values of another type."""
    counts = []
    for boundary in boundaries:
        counts += [f"above_{boundary}", f"tied_{boundary}"]
    whole = ["candidates", "scored", "above", "tied", "fold", *counts]
    for column in ["user", "item", "score", "uniform", "outcome", *whole]:
        if column not in rows:
            return f": lacks the column {column}"
        if rows.columns.tolist().count(column) > 1:
            return f": has the column {column} twice"
        dtype = rows[column].dtype
        if column in whole and dtype.kind != "i":
            return f": {column} must be whole numbers, not {dtype}"
        if column in ("score", "uniform") and dtype.kind not in "if":
            return f": {column} must be numbers, not {dtype}"
    return "" if len(rows) else ": has no rows"


def _first_fault(rows: pd.DataFrame, rules: Iterator[_Rule]) -> str:
    """Return the first rule that a row breaks, with the row; empty if there is none."""
    for column, is_wrong, rule in rules:
        if np.any(is_wrong):
            row = int(np.flatnonzero(is_wrong)[0])
            return f", row {row + 1}: {column} must be {rule}, not {shown(rows[column].iloc[row])}"
    return ""


def _rules_of_cells(rows: pd.DataFrame, k: int, boundaries: list[int]) -> Iterator[_Rule]:
    """Yield what each cell can be, beside others of its row."""
    candidates, above, tied, scored = (
        rows[column] for column in ("candidates", "above", "tied", "scored")
    )
    yield "candidates", (candidates < 1) | (candidates > MOST), "from 1 on"
    yield (
        "above",
        (above < 0) | (above > k) | (above >= candidates),
        f"from 0 to k = {k}, and below candidates",
    )
    yield (
        "tied",
        (tied < 0) | (above + tied >= candidates),
        "0 or more, and with above below candidates",
    )
    yield "scored", (scored < 1) | (scored > candidates), "from 1 to candidates"
    yield "fold", (rows["fold"] < 0) | (rows["fold"] >= FOLDS), f"from 0 to {FOLDS - 1}"
    yield "uniform", ~rows["uniform"].between(0, 1), "from 0 to 1"
    yield "score", rows["score"].isna() | (rows["score"] == np.inf), "a number below infinity"
    is_beaten = rows["outcome"] == "beaten"
    is_wrong = ~rows["outcome"].isin(OUTCOMES) | (is_beaten != (above == k))
    yield "outcome", is_wrong, f"beaten where above is k = {k}, and complete or open elsewhere"
    for boundary in boundaries:
        above_at = rows[f"above_{boundary}"]
        tied_at = rows[f"tied_{boundary}"]
        most = min(k, boundary)
        yield f"above_{boundary}", (above_at < -1) | (above_at > most), f"from -1 to {most}"
        is_one_missing = (tied_at < 0) != (above_at < 0)
        are_too_many = above_at + tied_at > boundary
        yield (
            f"tied_{boundary}",
            (tied_at < -1) | is_one_missing | are_too_many,
            f"-1 where above_{boundary} is -1, and from 0 elsewhere, with it {boundary} at most",
        )
    for column in ("user", "item"):
        cells = rows[column]
        is_list = cells.map(pd.api.types.is_list_like) if cells.dtype == object else False
        yield column, cells.isna() | is_list, "an id"


def _fault_of_users(rows: pd.DataFrame, content: dict[str, Any]) -> str:
    """Return what the users, their numbers and their candidates cannot be."""
    users = rows["user"]
    digests = content["digests"]
    steps = content["boundaries"]
    count = users.nunique()
    if not digests["users_in_all"].isdecimal() or int(digests["users_in_all"]) < count:
        return (
            f": digests must have {count} users or more in all, not "
            f"{shown(digests['users_in_all'])}"
        )
    most_candidates = int(rows["candidates"].max())
    allowed = boundaries(most_candidates).tolist()
    has_all_users = digests["users_in_all"] == str(count)  # and so the user with most candidates
    if not are_boundaries(steps, most_candidates) or (has_all_users and steps != allowed):
        return (
            f": boundaries must be {allowed}, as there are up to {most_candidates} candidates, not "
            f"{shown(steps)}"
        )
    is_repeated = rows.duplicated(["user", "item"])
    if is_repeated.any():
        row = int(np.flatnonzero(is_repeated)[0])
        return (
            f", row {row + 1}: user {shown(users.iloc[row])} has item "
            f"{shown(rows['item'].iloc[row])} twice"
        )
    if users.dtype.kind not in "iu" and pd.api.types.infer_dtype(users) != "string":
        return ""  # files may give other ids back in another type, whose text differs
    if digests["users"] != digest_of_users(users.to_numpy()):
        return ": users are not those who were ranked"
    number, names = pd.factorize(users)
    uniform, fold = numbers_of_users(names.tolist(), content["seed"])
    rule = f"that of the user by seed {content['seed']}"
    rules: list[_Rule] = [
        ("uniform", rows["uniform"] != uniform[number], rule),
        ("fold", rows["fold"] != fold[number], rule),
    ]
    return _first_fault(rows, iter(rules))


class _Stages:
    """The counts of rows at the boundaries, and how far their users go.

    How far a user goes depends on the depth and the user's number.

    Attributes:
        k: as in `StagedRanks`.
        steps: (boundaries,) the boundaries.
        above_at: (rows, boundaries) counts above.
        tied_at: (rows, boundaries) counts of ties.
        is_reached: (rows, boundaries) whether a row has counts.
        user: (rows,) the number of the user.
        first_row: (rows,) the first row of the user.
        last_boundary: (rows,) the index of the last boundary.
        is_in_share: (rows, boundaries) whether the user is in the share that goes on, by the
            user's number.
    """

    def __init__(self, rows: pd.DataFrame, content: dict[str, Any]) -> None:
        self.k = content["k"]
        self.steps = np.array(content["boundaries"])
        self.above_at: Ints = rows[[f"above_{step}" for step in self.steps]].to_numpy()
        self.tied_at: Ints = rows[[f"tied_{step}" for step in self.steps]].to_numpy()
        self.is_reached = self.above_at >= 0
        self.user: Ints = pd.factorize(rows["user"])[0]
        _, first_rows = np.unique(self.user, return_index=True)
        self.first_row: Ints = first_rows[self.user]
        self.last_boundary = last_boundary(self.steps, rows["candidates"].to_numpy())
        uniform = rows["uniform"].to_numpy()[:, np.newaxis]
        self.is_in_share: NDArray[np.bool_] = uniform < shares(content["depth"], self.steps)

    def all_of_user(self, is_true: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return for each row whether (rows,) `is_true` holds in all rows of its user."""
        misses = np.bincount(self.user, ~is_true)
        return misses[self.user] == 0


def _rules_of_stages(rows: pd.DataFrame, content: dict[str, Any]) -> Iterator[_Rule]:
    """Yield what the counts can be, given how far the users go."""
    stages = _Stages(rows, content)
    for column in ("candidates", "uniform", "fold"):
        cells = rows[column].to_numpy()
        yield column, cells != cells[stages.first_row], "the same in all rows of a user"
    yield "above_0", ~stages.is_reached[:, 0], "0"
    for index in range(len(stages.steps)):
        yield from _rules_of_boundary(stages, index)
    yield from _rules_of_ends(rows, stages)


def _rules_of_boundary(stages: _Stages, index: int) -> Iterator[_Rule]:
    """Yield what the counts at a boundary can be, and who has some at the next.

    They are compared with those at the boundary before.
    """
    step = stages.steps[index]
    above_column = f"above_{step}"
    tied_column = f"tied_{step}"
    above = stages.above_at[:, index]
    tied = stages.tied_at[:, index]
    is_reached = stages.is_reached[:, index]
    is_beaten = above == stages.k

    # beside the boundary before
    if index:
        before = stages.steps[index - 1]
        falls = is_reached & (above < stages.above_at[:, index - 1])
        leaves_out = is_reached & ~stages.is_reached[:, index - 1]
        yield above_column, falls | leaves_out, f"above_{before} or more, or -1"
        are_fewer = is_reached & (above < stages.k) & (tied < stages.tied_at[:, index - 1])
        yield tied_column, are_fewer, f"tied_{before} or more"

    # at this boundary
    is_beyond = is_reached & (index > stages.last_boundary)
    yield above_column, is_beyond, "-1 from half of the candidates on"
    is_unlike_user = is_reached != is_reached[stages.first_row]
    yield above_column, is_unlike_user, "-1 in all rows of a user or in none"
    yield tied_column, is_beaten & (tied != 0), f"0 where {above_column} is k = {stages.k}"

    # at the next one
    if index + 1 < len(stages.steps):
        is_open = is_reached & ~stages.all_of_user(is_beaten)
        goes_on = is_open & stages.is_in_share[:, index] & (index < stages.last_boundary)
        is_wrong = stages.is_reached[:, index + 1] != goes_on
        by_depth = (
            f"-1 if the user does not go on from {step}, by counts, depth and uniform, and else "
            "from 0 on"
        )
        yield f"above_{stages.steps[index + 1]}", is_wrong, by_depth


def _rules_of_ends(rows: pd.DataFrame, stages: _Stages) -> Iterator[_Rule]:
    """Yield what the counts can be in the end, beside those at the last boundary of a row."""
    above, tied, scored = (rows[column].to_numpy() for column in ("above", "tied", "scored"))
    row = np.arange(len(rows))

    # the last boundary of which a row has counts
    last_reached = stages.is_reached.sum(axis=1) - 1
    step = stages.steps[last_reached]
    above_there = stages.above_at[row, last_reached]
    tied_there = stages.tied_at[row, last_reached]

    # a user ends there, beaten or as an open one, or goes on, to be beaten or complete
    is_beaten = above == stages.k
    is_user_beaten_there = stages.all_of_user(above_there == stages.k)
    is_open = ~is_user_beaten_there & ~stages.is_in_share[row, last_reached]
    ends_there = is_open | is_user_beaten_there

    outcome = np.where(is_beaten, "beaten", np.where(is_open, "open", "complete"))
    yield "outcome", rows["outcome"].to_numpy() != outcome, "that of counts, depth and uniform"
    is_wrong = np.where(ends_there, above != above_there, above < above_there)
    yield (
        "above",
        is_wrong,
        "that of the last boundary, and may be more only if the user goes on from it",
    )
    is_wrong_unless_beaten = np.where(is_open, tied != tied_there, tied < tied_there)
    yield (
        "tied",
        np.where(is_beaten, tied != 0, is_wrong_unless_beaten),
        "that of the last boundary, and may be more only if the user goes on from it; 0 if beaten",
    )

    # The held-out item of the first row is scored, and all candidates up to the end of the user's
    # last stage. A user who is beaten may stop before its end, but after its start. The stage of
    # one who is beaten by the last boundary is that before it.
    most = np.where(ends_there, 1 + step, rows["candidates"].to_numpy())
    before = stages.steps[np.maximum(last_reached - 1, 0)]
    stage_start = np.where(is_user_beaten_there, before, step)
    is_user_beaten = ~is_open & stages.all_of_user(is_beaten)
    fewest = np.where(is_user_beaten, 2 + stage_start, most)
    is_first = stages.first_row == row
    yield "scored", is_first & ((scored < fewest) | (scored > most)), "that of where the user stops"
    yield "scored", ~is_first & (scored != 1), "1 in all rows of a user but the first"
