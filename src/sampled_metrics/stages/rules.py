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
"""A column, (rows,) whether its value is wrong, and what it must be."""


def fault(rows: pd.DataFrame, content: Any) -> str:
    """Return the first thing that staged ranks cannot have; empty if there is none.

    It is said with its row if it is in one.
    """
    if not isinstance(content, dict) or not {*KEYS} <= {*content}:
        return ": lacks k, depth, seed, boundaries or digests"
    for key, is_right, rule in _rules_of_content(**{key: content[key] for key in KEYS}):
        if not is_right:
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
    yield "k", is_whole(k) and 1 <= k <= MOST, "a whole number, 1 or more"
    yield (
        "depth",
        depth is None or (is_real(depth) and depth >= 1),
        "a number of 1 or more, or null",
    )
    yield "seed", is_whole(seed) and seed >= 0, "a whole number, 0 or more"
    are_whole = isinstance(boundaries, list) and all(map(is_whole, boundaries))
    yield (
        "boundaries",
        are_whole and are_boundaries(boundaries, 1),
        "0, 10, 30, 100, 300, and so on",
    )
    is_text = isinstance(digests, dict) and all(
        isinstance(digest, str) for digest in digests.values()
    )
    yield "digests", is_text and {*DIGESTS} <= {*digests}, f"text by name: {', '.join(DIGESTS)}"


def _fault_of_columns(rows: pd.DataFrame, boundaries: list[int]) -> str:
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
    are_unlike = ~rows["outcome"].isin(OUTCOMES) | (is_beaten != (above == k))
    yield "outcome", are_unlike, f"beaten where above is k = {k}, and complete or open elsewhere"
    for boundary in boundaries:
        at = rows[f"above_{boundary}"]
        ties_at = rows[f"tied_{boundary}"]
        yield (
            f"above_{boundary}",
            (at < -1) | (at > min(k, boundary)),
            f"from -1 to {min(k, boundary)}",
        )
        are_wrong = (ties_at < -1) | ((ties_at < 0) != (at < 0)) | (at + ties_at > boundary)
        yield (
            f"tied_{boundary}",
            are_wrong,
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
        at: (rows, boundaries) counts above.
        ties_at: (rows, boundaries) counts of ties.
        is_reached: (rows, boundaries) whether a row has counts.
        user: (rows,) the number of the user.
        first_row: (rows,) the first row of the user.
        last: (rows,) the index of the last boundary.
        is_below: (rows, boundaries) whether the user's number is below the share that goes on.
    """

    def __init__(self, rows: pd.DataFrame, content: dict[str, Any]) -> None:
        self.k = content["k"]
        self.steps = np.array(content["boundaries"])
        self.at: Ints = rows[[f"above_{step}" for step in self.steps]].to_numpy()
        self.ties_at: Ints = rows[[f"tied_{step}" for step in self.steps]].to_numpy()
        self.is_reached = self.at >= 0
        self.user: Ints = pd.factorize(rows["user"])[0]
        _, first_rows = np.unique(self.user, return_index=True)
        self.first_row: Ints = first_rows[self.user]
        self.last = last_boundary(self.steps, rows["candidates"].to_numpy())
        uniform = rows["uniform"].to_numpy()[:, np.newaxis]
        self.is_below: NDArray[np.bool_] = uniform < shares(content["depth"], self.steps)

    def all_of_user(self, is_true: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return whether something is true in all rows of the user of each of (rows,) rows."""
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
    at = stages.at[:, index]
    ties_at = stages.ties_at[:, index]
    is_reached = stages.is_reached
    column = f"above_{step}"
    is_here = is_reached[:, index]
    if index:
        before = stages.steps[index - 1]
        falls = is_here & (at < stages.at[:, index - 1])
        yield (
            column,
            falls | (is_here & ~is_reached[:, index - 1]),
            f"above_{before} or more, or -1",
        )
        are_fewer = is_here & (at < stages.k) & (ties_at < stages.ties_at[:, index - 1])
        yield f"tied_{step}", are_fewer, f"tied_{before} or more"
    yield column, is_here & (index > stages.last), "-1 from half of the candidates on"
    yield (
        column,
        is_here != is_reached[stages.first_row, index],
        "-1 in all rows of a user or in none",
    )
    yield f"tied_{step}", (at == stages.k) & (ties_at != 0), f"0 where {column} is k = {stages.k}"
    if index + 1 < len(stages.steps):
        is_open = is_here & ~stages.all_of_user(at == stages.k)
        goes_on = is_open & stages.is_below[:, index] & (index < stages.last)
        is_wrong = is_reached[:, index + 1] != goes_on
        by_depth = (
            f"-1 if the user does not go on from {step}, by counts, depth and uniform, and else "
            "from 0 on"
        )
        yield f"above_{stages.steps[index + 1]}", is_wrong, by_depth


def _rules_of_ends(rows: pd.DataFrame, stages: _Stages) -> Iterator[_Rule]:
    """Yield what the counts can be in the end, beside those at the last boundary of a row."""
    above, tied, scored = (rows[column].to_numpy() for column in ("above", "tied", "scored"))
    row = np.arange(len(rows))
    end = stages.is_reached.sum(axis=1) - 1
    at_end = stages.at[row, end]
    ties_at_end = stages.ties_at[row, end]
    step = stages.steps[end]
    is_beaten = above == stages.k
    is_done = stages.all_of_user(at_end == stages.k)  # at the boundary
    stops = ~is_done & ~stages.is_below[row, end]
    outcome = np.where(is_beaten, "beaten", np.where(stops, "open", "complete"))
    yield "outcome", rows["outcome"].to_numpy() != outcome, "that of counts, depth and uniform"
    are_fewer = np.where(stops | is_done, above != at_end, above < at_end)
    yield (
        "above",
        are_fewer,
        "that of the last boundary, and may be more only if the user goes on from it",
    )
    are_wrong = np.where(
        is_beaten, tied != 0, np.where(stops, tied != ties_at_end, tied < ties_at_end)
    )
    yield (
        "tied",
        are_wrong,
        "that of the last boundary, and may be more only if the user goes on from it; 0 if beaten",
    )
    most = np.where(is_done | stops, 1 + step, rows["candidates"].to_numpy())
    # of the stage in which a user is beaten
    start = np.where(is_done, stages.steps[np.maximum(end - 1, 0)], step)
    fewest = np.where(~stops & stages.all_of_user(is_beaten), 2 + start, most)
    is_first = stages.first_row == row
    yield "scored", is_first & ((scored < fewest) | (scored > most)), "that of where the user stops"
    yield "scored", ~is_first & (scored != 1), "1 in all rows of a user but the first"
