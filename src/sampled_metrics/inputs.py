"""Ranks as people have them, arrays or tables, made into what the library computes with."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from sampled_metrics.arrays import Ints
from sampled_metrics.errors import DataError
from sampled_metrics.ranks import RankTable


def rank_table(ranks: Any, candidates: ArrayLike | None, what: str = "ranks") -> RankTable:
    """Return exact ranks as a rank table.

    Args:
        ranks: a rank table, a DataFrame, a Series whose index is the user, or (users,) ranks from 1.
        candidates: (users,) or one number: n, unless the ranks say it.
        what: what to call them in messages.

    Raises:
        DataError: they are not ranks, or n is missing or stated twice.
    """
    if isinstance(ranks, RankTable):
        if candidates is not None:
            raise DataError(f"{what}: a rank table has its own candidates, so that they must not be given besides")
        return ranks
    if isinstance(ranks, pd.DataFrame):
        columns = {name: ranks[name] for name in ("candidates", "above", "tied", "rank") if name in ranks}
        users = _users(ranks)
        if "candidates" in columns:
            if candidates is not None:
                raise DataError(f"{what}: has a column candidates, so that candidates must not be given besides")
            candidates = columns["candidates"].to_numpy()
        if "rank" in columns and ("above" in columns or "tied" in columns):
            raise DataError(f"{what}: has both rank and above or tied; ranks are rank alone, or above and tied")
        if not ("rank" in columns or {"above", "tied"} <= set(columns)):
            there = ", ".join(map(repr, ranks.columns))
            raise DataError(f"{what}: lacks the column rank, or above and tied (there are {there})")
        if "rank" in columns:
            above = whole_numbers(columns["rank"], f"{what}: rank", least=1) - 1
            tied = np.zeros_like(above)
        else:
            above, tied = (whole_numbers(columns[name], f"{what}: {name}", least=0) for name in ("above", "tied"))
    else:
        users = _users(ranks) if isinstance(ranks, pd.Series) else None
        above = whole_numbers(ranks, f"{what}: rank", least=1) - 1
        tied = np.zeros_like(above)
    if candidates is None:
        raise DataError(f"{what}: candidates, how many items were ranked for each user, must be given")
    n = for_each(candidates, len(above), f"{what}: candidates", least=1)
    return RankTable(np.arange(1, len(above) + 1) if users is None else users, n, above, tied)


def _users(ranks: pd.DataFrame | pd.Series) -> np.ndarray | None:
    """The column user, or an index that is more than row numbers; None where nothing says whose the ranks are."""
    if isinstance(ranks, pd.DataFrame) and "user" in ranks:
        return np.asarray(ranks["user"])
    return None if isinstance(ranks.index, pd.RangeIndex) else ranks.index.to_numpy()


def whole_numbers(values: Any, what: str, least: int) -> Ints:
    """Return a one-dimensional array of whole numbers as integers.

    Raises:
        DataError: it is empty, not one-dimensional, or an entry is not a whole number from `least`.
    """
    try:
        numbers = np.asarray(values)
        if numbers.dtype == object:
            numbers = numbers.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{what}: must be whole numbers from {least}, and some are no numbers at all") from None
    if numbers.ndim != 1:
        raise DataError(f"{what}: must have one dimension, an entry for each user, not {numbers.ndim}")
    if len(numbers) == 0:
        raise DataError(f"{what}: is empty")
    if numbers.dtype.kind not in "iuf":
        raise DataError(f"{what}: must be whole numbers from {least}, not {numbers.dtype}")
    with np.errstate(invalid="ignore"):
        wrong = ~((numbers >= least) & (numbers == np.floor(numbers)) & (numbers < 2**53))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise DataError(f"{what}: entry {at + 1} must be a whole number from {least}, not {numbers[at]}")
    return numbers.astype(np.int64)


def for_each(values: ArrayLike, users: int, what: str, least: int) -> Ints:
    """Return one number, or one for each user, as (users,) integers."""
    numbers = np.asarray(values)
    if numbers.ndim == 0:
        numbers = numbers.reshape(1)
    found = whole_numbers(numbers, what, least)
    if len(found) not in (1, users):
        raise DataError(f"{what}: must be one number, or one for each of the {users} users, not {len(found)}")
    return np.broadcast_to(found, users).copy()


@dataclass(frozen=True)
class SampledRanks:
    """Ranks among sampled negatives.

    Attributes:
        x: (users,) sampled negatives that rank above the held-out item.
        negatives: (users,) m.
        candidates: (users,) n.
        users: (users,) whose they are, or None.
    """

    x: Ints
    negatives: Ints
    candidates: Ints
    users: np.ndarray | None


def sampled_ranks(
    ranks: Any, candidates: ArrayLike | None, negatives: ArrayLike | None, what: str = "sampled ranks"
) -> SampledRanks:
    """Return sampled ranks with their m and n.

    Args:
        ranks: (users,) ranks among the item and its m negatives, from 1 to m + 1; a Series whose index is the user; or
            a DataFrame with the column rank, and user, candidates and negatives where they are not given besides.
        candidates: (users,) or one number: n, the item and all negatives there are.
        negatives: (users,) or one number: m.
        what: what to call them in messages.

    Raises:
        DataError: they are not such ranks, or n or m is missing or stated twice.
    """
    users: np.ndarray | None = None
    given: dict[str, Any] = {"candidates": candidates, "negatives": negatives}
    if isinstance(ranks, pd.DataFrame):
        if "rank" not in ranks:
            there = ", ".join(map(repr, ranks.columns))
            raise DataError(f"{what}: lacks the column rank (there are {there})")
        for name in given:
            if name in ranks:
                if given[name] is not None:
                    raise DataError(f"{what}: has a column {name}, so that {name} must not be given besides")
                given[name] = ranks[name].to_numpy()
        users = _users(ranks)
        ranks = ranks["rank"]
    elif isinstance(ranks, pd.Series):
        users = _users(ranks)
    x = whole_numbers(ranks, f"{what}: rank", least=1) - 1
    means = {"candidates": "how many items would have been ranked", "negatives": "how many were sampled"}
    for name, value in given.items():
        if value is None:
            raise DataError(f"{what}: {name}, {means[name]} for each user, must be given")
    m = for_each(given["negatives"], len(x), f"{what}: negatives", least=1)
    n = for_each(given["candidates"], len(x), f"{what}: candidates", least=2)
    if (x > m).any():
        at = int(np.argmax(x > m))
        raise DataError(
            f"{what}: entry {at + 1} is rank {x[at] + 1}, beyond the {m[at] + 1} of the item and its {m[at]} negatives"
        )
    return SampledRanks(x, m, n, users)


def paired(one: Any, other: Any, names: tuple[str, str]) -> Ints:
    """Return where the users of one table are in another one.

    Raises:
        DataError: the two do not have the same users, or one has a user twice.
    """
    first, second = pd.Index(one), pd.Index(other)
    for users, name in ((first, names[0]), (second, names[1])):
        if users.has_duplicates:
            raise DataError(f"{name}: user {_shown(users[users.duplicated()][0])} is there twice")
    found = second.get_indexer(first)
    if len(first) != len(second) or (found < 0).any():
        missing = first.difference(second).append(second.difference(first))
        where = f", for instance {_shown(missing[0])}" if len(missing) else ""
        raise DataError(
            f"{names[0]} and {names[1]} must have the same users to be compared: {len(missing)} are in one alone{where}"
        )
    return np.asarray(found)


def _shown(user: Any) -> str:
    return repr(user.item() if isinstance(user, np.generic) else user)


def recommenders(ranks: Any, candidates: ArrayLike | None) -> dict[str, RankTable]:
    """Return one or several recommenders' exact ranks as rank tables by name."""
    if isinstance(ranks, Mapping):
        if not ranks:
            raise DataError("there are no ranks")
        return {str(name): rank_table(each, candidates, str(name)) for name, each in ranks.items()}
    return {"ranks": rank_table(ranks, candidates)}
