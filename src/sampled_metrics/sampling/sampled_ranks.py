"""Ranks among sampled negatives, from an array, a data frame or a csv file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import InitVar, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampled_metrics._arrays import Ints
from sampled_metrics._validation import refuse_masked, shown
from sampled_metrics.errors import DataError
from sampled_metrics.ranks.frames import Place, columns_of, refuse_rows
from sampled_metrics.ranks.table import RankTable
from sampled_metrics.ranks.truncation import seems_truncated
from sampled_metrics.sampling.distributions import impossible_with_replacement, why_impossible


@dataclass(frozen=True)
class SampledRanks:
    """The number of sampled negatives of each event that rank above its held-out item.

    All rules about sampled ranks are checked here.

    Attributes:
        x: (events,) int, sampled negatives above the held-out item; its sampled rank is x + 1.
        negatives: (events,) or one number: m, the number of sampled negatives. It may be 0.
        candidates: (events,) or one number: n, the held-out item and all negatives that could have been sampled.
        replacement: whether a negative could be sampled twice for the same event.
        user: (events,) the user of each event; None if users are not known.

    Raises:
        DataError: there are no events, an entry is masked, or x, m and n of an event do not fit each other; the message
            names the event, the user or the line of the file.
    """

    x: Ints
    negatives: Ints
    candidates: Ints
    replacement: bool = False
    user: NDArray[np.generic] | None = None
    place: InitVar[Place | None] = None

    def __post_init__(self, place: Place | None) -> None:
        for name in ("x", "negatives", "candidates"):
            refuse_masked(getattr(self, name), name)
        columns = np.broadcast_arrays(*(np.atleast_1d(each) for each in (self.x, self.negatives, self.candidates)))
        x, m, n = (np.asarray(each, dtype=np.int64) for each in columns)
        if len(x) == 0:
            raise DataError("there are no events to estimate from")
        for name, values in {"x": x, "negatives": m, "candidates": n}.items():
            object.__setattr__(self, name, values)
        user = self.user
        where = place or (lambda row: f"event {row + 1}" if user is None else f"user {shown(user[row])}")
        rules: list[tuple[NDArray[np.bool_], str]] = [
            (m < 0, "negatives must be 0 or more, not {m}"),
            ((x < 0) | (x > m), "rank {rank} is not from 1 to {last}, among the item and {m} negatives"),
            (n < 1, "candidates must be 1 or more, not {n}"),
        ]
        if self.replacement:
            rules += [
                ((n == 1) & (m > 0), "{m} negatives, but no other candidate to sample from"),
                (impossible_with_replacement(x, m, n), "rank {rank} is not possible: {why}"),
            ]
        else:
            rules += [(m > n - 1, "{m} negatives cannot be sampled without replacement from {pool} ({n} candidates)")]

        def filled(message: str, row: int) -> str:
            why = why_impossible(int(m[row]), int(n[row]))
            return message.format(rank=x[row] + 1, last=m[row] + 1, m=m[row], n=n[row], pool=n[row] - 1, why=why)

        for wrong, message in rules:
            refuse_rows(wrong, partial(filled, message), where)

    def __len__(self) -> int:
        return len(self.x)


def are_sampled(tables: Iterable[Any], negatives: ArrayLike | None) -> bool:
    """Return whether ranks are among sampled negatives: m is given, or a table has a column negatives."""
    return negatives is not None or any(
        "negatives" in columns_of(each, "ranks") for each in tables if not isinstance(each, RankTable)
    )


def sampled_ranks(
    data: Any,
    candidates: ArrayLike | None = None,
    negatives: ArrayLike | None = None,
    *,
    replacement: bool = False,
    name: str = "sampled ranks",
) -> SampledRanks:
    """Return ranks among sampled negatives, checked; arguments as in `correct`; ranks may also be csv columns.

    Raises:
        DataError: the data are not sampled ranks, or n or m is missing or given twice.
    """
    if isinstance(data, RankTable):
        raise DataError(f"{name}: is a rank table, which holds exact ranks, not sampled ones")
    columns = columns_of(data, name)
    columns.require("rank")
    if "weighted" in columns:
        if "uniform_rank" not in columns:
            raise DataError(
                f"{columns.header}: has a column weighted, so its negatives were drawn with weights, and estimators "
                "hold for uniform ones alone; draw with replacement=True and a weight above 0 for all items, as "
                "popularity + 1, and a part of the negatives is a uniform sample"
            )
        replacement = True  # only such draws have a uniform part
        columns = columns.named({"rank": "uniform_rank", "negatives": "uniform_negatives"}, zero_based=False)
    x = columns.whole_numbers("rank", 1) - 1
    n = columns.column_or_argument("candidates", candidates, 1)
    m = columns.column_or_argument("negatives", negatives, 0)
    if negatives is not None and np.ndim(negatives) == 0 and len(x) and seems_truncated(x + 1, float(m[0] + 1)):
        last = int(x.max())
        raise DataError(
            f"{name}: no rank is above {last + 1} with {m[0]} negatives, as among {last}: say --negatives {last}; if "
            f"{m[0]} is right, give it for each row, in a column negatives"
        )
    return SampledRanks(x, m, n, replacement, columns.users(), columns.place)
