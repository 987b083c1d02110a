"""Ranks as people have them, arrays or tables, made into what the library computes with."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from sampled_metrics._arrays import Ints
from sampled_metrics._validation import refuse_masked, shown
from sampled_metrics.errors import DataError
from sampled_metrics.ranks.table import OF_A_SAMPLE, RankTable

_COLUMNS = ("user", "candidates", "negatives", "above", "tied", "rank")


def rank_table(ranks: Any, candidates: ArrayLike | None, what: str = "ranks") -> RankTable:
    """Return exact ranks as a rank table.

    Args:
        ranks: a rank table, a DataFrame, a Series whose index is the user, or (users,) ranks from 1. An index that
            only numbers the rows from 0 says no users.
        candidates: (users,) or one number: n, unless the ranks say it. A Series is matched by its index, as of
            `in_order_of_ranks`.
        what: what to call them in messages.

    Raises:
        DataError: they are not ranks, or sampled ones, or n is missing or stated twice.
    """
    if isinstance(ranks, RankTable):
        if candidates is not None:
            raise DataError(f"{what}: a rank table has its own candidates, so that they must not be given besides")
        return ranks
    users = _users(ranks, what)
    candidates = in_order_of_ranks(candidates, ranks, f"{what}: candidates")
    if isinstance(ranks, pd.DataFrame):
        if "negatives" in ranks:
            raise DataError(f"{what}: {OF_A_SAMPLE}")
        columns = {name: ranks[name] for name in ("candidates", "above", "tied", "rank") if name in ranks}
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
        above = whole_numbers(ranks, f"{what}: rank", least=1) - 1
        tied = np.zeros_like(above)
    if candidates is None:
        raise DataError(f"{what}: candidates, how many items were ranked for each user, must be given")
    n = for_each(candidates, len(above), f"{what}: candidates", least=1)
    numbers = np.arange(1, len(above) + 1)
    return RankTable(numbers if users is None else users, n, above, tied, numbered=users is None)


def _users(ranks: Any, what: str) -> np.ndarray | None:
    """The column user, or an index that is more than row numbers; None where nothing says whose the ranks are."""
    if isinstance(ranks, pd.DataFrame):
        for name in _COLUMNS:
            if (ranks.columns == name).sum() > 1:
                raise DataError(f"{what}: has the column {name!r} more than once")
        if "user" in ranks:
            return np.asarray(ranks["user"])
    if isinstance(ranks, pd.DataFrame | pd.Series) and not _numbers_rows(ranks.index):
        return ranks.index.to_numpy()
    return None


def _numbers_rows(index: pd.Index) -> bool:
    """Whether an index only numbers all rows from 0, and not rows that were cut out or turned round."""
    return isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1


def in_order_of_ranks(numbers: Any, ranks: Any, what: str) -> Any:
    """Return the numbers of a Series in the order of the ranks, by its index, and anything else as it is.

    The index has the users, or the labels of the DataFrame that the ranks are in. Where the Series or the ranks have no
    labels, or such as only number the rows from 0, both are taken to be in the same order.

    Args:
        numbers: a Series, or anything.
        ranks: a DataFrame, a Series, or anything.
        what: what to call the numbers in messages.

    Raises:
        DataError: the labels are not the same, or it is not clear whose they are.
    """
    if not isinstance(numbers, pd.Series):
        return numbers
    own = [ranks.index] if isinstance(ranks, pd.DataFrame | pd.Series) else []
    labels = [pd.Index(ranks["user"])] if isinstance(ranks, pd.DataFrame) and "user" in ranks else []
    labels += [each for each in own if not _numbers_rows(each)]
    if _numbers_rows(numbers.index) or not labels:
        if len(numbers) > 1 and any(_not_clear(numbers.index, each) for each in own):
            raise DataError(
                f"{what}: the index of these, or that of the ranks, numbers its rows from 0, and the other has such "
                "numbers in another order or range; give an array in the order of the ranks"
            )
        return numbers
    orders = [order for each in labels if (order := _places(each, numbers.index)) is not None]
    if not orders:
        raise DataError(
            f"{what}: the index must have the users of the ranks, each once; or give an array in the order of the ranks"
        )
    if any(not np.array_equal(orders[0], order) for order in orders):
        raise DataError(
            f"{what}: the index has both the labels of the ranks and those of their column user, in different orders; "
            "give an array in the order of the ranks"
        )
    return numbers.iloc[orders[0]]


def _not_clear(one: pd.Index, other: pd.Index) -> bool:
    """Whether one index numbers its rows from 0, and the other has such numbers in another order or range.

    Rows that were cut out, turned round or shuffled have them, and by order they would be taken for others; or they are
    users, for whom the order is right.
    """
    if _numbers_rows(one) == _numbers_rows(other):
        return False
    numbers, index = (one, other) if _numbers_rows(one) else (other, one)
    shuffled = not index.equals(numbers) and _places(numbers, index) is not None
    return isinstance(index, pd.RangeIndex) or shuffled


def _places(labels: pd.Index, index: pd.Index) -> Ints | None:
    """Where labels are in an index; None unless it has the same ones, each once, or is equal."""
    if index.equals(labels):
        return np.arange(len(index))
    if len(labels) != len(index) or labels.has_duplicates or index.has_duplicates:
        return None
    places = np.asarray(index.get_indexer(labels))
    return None if (places < 0).any() else places


def whole_numbers(values: Any, what: str, least: int) -> Ints:
    """Return a one-dimensional array of whole numbers as integers.

    Raises:
        DataError: it is empty, not one-dimensional, or an entry is masked or not a whole number from `least`.
    """
    refuse_masked(values, what)
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
    """Return one number, or one for each user, as (users,) integers; errors as of `whole_numbers`."""
    single = not isinstance(values, list | tuple) and np.ndim(values) == 0
    found = whole_numbers([values] if single else values, what, least)
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
        named_users: (users,) whose they are, or None where nothing says it.
    """

    x: Ints
    negatives: Ints
    candidates: Ints
    named_users: np.ndarray | None

    def __len__(self) -> int:
        return len(self.x)


def sampled_ranks(
    ranks: Any, candidates: ArrayLike | None, negatives: ArrayLike | None, what: str = "sampled ranks"
) -> SampledRanks:
    """Return sampled ranks with their m and n.

    Args:
        ranks: (users,) ranks among the item and its m negatives, from 1 to m + 1; a Series whose index is the user; or
            a DataFrame with the column rank, and user, candidates and negatives where they are not given besides.
        candidates: (users,) or one number: n, the item and all negatives there are. A Series is matched by its index,
            as of `in_order_of_ranks`.
        negatives: (users,) or one number: m. A Series likewise.
        what: what to call them in messages.

    Raises:
        DataError: they are not such ranks, or n or m is missing or stated twice.
    """
    if isinstance(ranks, RankTable):
        raise DataError(f"{what}: is a rank table, which holds exact ranks, and not sampled ones")
    users = _users(ranks, what)
    given = {
        name: in_order_of_ranks(value, ranks, f"{what}: {name}")
        for name, value in {"candidates": candidates, "negatives": negatives}.items()
    }
    if isinstance(ranks, pd.DataFrame):
        if "rank" not in ranks:
            there = ", ".join(map(repr, ranks.columns))
            raise DataError(f"{what}: lacks the column rank (there are {there})")
        for name in given:
            if name in ranks:
                if given[name] is not None:
                    raise DataError(f"{what}: has a column {name}, so that {name} must not be given besides")
                given[name] = ranks[name].to_numpy()
        ranks = ranks["rank"]
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
            raise DataError(f"{name}: user {shown(users[users.duplicated()][0])} is there twice")
    found = second.get_indexer(first)
    if len(first) != len(second) or (found < 0).any():
        missing = first.difference(second).append(second.difference(first))
        where = f", for instance {shown(missing[0])}" if len(missing) else ""
        raise DataError(
            f"{names[0]} and {names[1]} must have the same users to be compared: {len(missing)} are in one alone{where}"
        )
    return np.asarray(found)


def places_of_users(one: RankTable | SampledRanks, other: RankTable | SampledRanks, names: tuple[str, str]) -> Ints:
    """Return where each user's ranks in one table are in another one: by user where both say theirs, else by order.

    Args:
        one: the first table.
        other: the second one.
        names: what to call the two in messages.

    Returns:
        (users,) places in the second table.

    Raises:
        DataError: the two do not have the same users, a user to be matched is there twice, or the candidates of a user
            differ in number.
    """
    first, second = one.named_users, other.named_users
    if first is not None and second is not None:
        places = paired(first, second, names)
    elif len(one) == len(other):
        places = np.arange(len(one))
    else:
        raise DataError(
            f"{names[0]} has {len(one)} users and {names[1]} {len(other)}; to be compared they must have the same users"
        )
    n = other.candidates[places]
    if (one.candidates != n).any():
        at = int(np.argmax(one.candidates != n))
        user = first[at] if first is not None else second[at] if second is not None else at + 1
        raise DataError(
            f"user {shown(user)} has {one.candidates[at]} candidates in {names[0]} and {n[at]} in {names[1]}; to be "
            "compared they must have ranked the same items"
        )
    return places


def refuse_cut_rows(one: Any, other: Any, names: tuple[str, str]) -> None:
    """Refuse two tables of which one numbers its rows from 0, and the other has such numbers in another order or range.

    It is not clear then whether to pair them by these numbers or by their order.

    Args:
        one: the first table; only a Series, or a DataFrame without the column user, has an index that counts here.
        other: the second one.
        names: what to call the two in messages.

    Raises:
        DataError: they are such tables.
    """
    indices = [
        each.index
        for each in (one, other)
        if isinstance(each, pd.Series) or (isinstance(each, pd.DataFrame) and "user" not in each)
    ]
    if len(indices) == 2 and _not_clear(*indices):
        raise DataError(
            f"{names[0]} and {names[1]}: the index of one numbers its rows from 0, and that of the other has such "
            "numbers in another order or range, so that it is not clear whose the ranks are; give both a column user, "
            "or both as arrays in the same order"
        )


def recommenders(ranks: Any, candidates: ArrayLike | None) -> dict[str, RankTable]:
    """Return one or several recommenders' exact ranks as rank tables by name.

    Raises:
        DataError: there are none, two have the same name as text, or as of `rank_table`.
    """
    if isinstance(ranks, Mapping):
        if not ranks:
            raise DataError("there are no ranks")
        names = [str(name) for name in ranks]
        if twice := [name for name in names if names.count(name) > 1]:
            raise DataError(f"ranks: two recommenders are called {twice[0]!r}; give each a name of its own")
        return {str(name): rank_table(each, candidates, str(name)) for name, each in ranks.items()}
    return {"ranks": rank_table(ranks, candidates)}
