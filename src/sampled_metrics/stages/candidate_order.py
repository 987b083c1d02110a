"""The order in which the candidates of a user are scored."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics.checks import Ints, refuse_masked, shown
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranking.inputs import (
    Places,
    candidates_at,
    exits_as_errors,
    refuse_awaitable,
)
from sampled_metrics.ranking.labels import Ids, in_order
from sampled_metrics.ranking.split import Split
from sampled_metrics.stages.stopping import sum_of_digests


class CandidateOrder:
    """The order of the candidates of each user: the same for all, or that of a function.

    A function is asked once for each user.

    Args:
        order: "popularity", (items,) numbers, or a function of a user that returns such numbers;
            higher first.
        split: of the users and items.
        ids: of users, which the function takes if they are given; and of items, which are the
            labels of the numbers if they are a Series with labels.
        users: (users,) ascending indices of the users who are ranked.
        lengths: (users,) how many candidates of each user may be scored; the order of a function is
            kept up to there.

    Attributes:
        digests: by name, the digest of an order for all users, or "a function"; and that of the
            orders of users.

    Raises:
        ConfigError: the order is an unknown word.
        DataError: the numbers are not one for each item, or some are NaN.
    """

    def __init__(
        self, order: Any, split: Split, ids: tuple[Ids, Ids], users: Ints, lengths: Ints
    ) -> None:
        self._split = split
        self._user_ids, self._item_ids = ids
        self._users = users
        if callable(order):
            orders = []
            digests = []
            for user, length in zip(users.tolist(), lengths.tolist(), strict=True):
                candidates = self._order_of_user(user, order)
                digests.append(_digest(f"{self._user_ids.text[user]}\0".encode(), candidates))
                orders.append(candidates[:length].copy())  # a view would keep all of them
            self._starts: Ints | None = np.cumsum([0, *map(len, orders)])
            self._candidates: NDArray[np.integer] = np.concatenate(orders)
            self.digests = {"order": "a function", "orders": sum_of_digests(digests)}
            return
        if isinstance(order, str):
            if order != "popularity":
                raise ConfigError(
                    "order must be popularity, numbers of the items or a function, not "
                    f"{shown(order)}"
                )
            order = np.bincount(split.training.indices, minlength=split.shape.items)
        self._starts = None
        self._candidates = self._sorted(order, "order")
        self.digests = {"order": _digest(b"", self._candidates), "orders": sum_of_digests(())}

    def places(self, users: Ints) -> Places:
        """Return a function from (n,) indices in `users`, and places in their orders, to items."""
        if self._starts is None:
            return candidates_at(self._split.excluded[users], self._candidates.astype(np.int64))
        starts = self._starts[np.searchsorted(self._users, users)]
        return lambda index, place: self._candidates[starts[index] + place].astype(np.int64)

    def _order_of_user(self, user: int, function: Callable[[Any], Any]) -> NDArray[np.int32]:
        """Return the (candidates,) items of a user, in the order of a function."""
        name = self._user_ids.values[user]
        with exits_as_errors("the function of the order"):
            numbers = function(name)
            refuse_awaitable(numbers, "order")
            items = self._sorted(numbers, f"order of user {shown(name)}")
        is_excluded = np.isin(items, self._split.excluded[[user]].indices)
        return items[~is_excluded].astype(np.int32)

    def _sorted(self, numbers: Any, name: str) -> Ints:
        """Return the (items,) items, the largest number first."""
        refuse_masked(numbers, name)
        if isinstance(numbers, pd.Series):
            numbers = in_order(numbers, name, [self._item_ids])
        try:
            values = np.asarray(numbers, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            values = np.empty(0)
        if values.shape != (self._split.shape.items,) or np.isnan(values).any():
            raise DataError(
                f"{name} must be a number for each of the {self._split.shape.items} items"
            )
        return np.argsort(-values, kind="stable")


def _digest(prefix: bytes, items: NDArray[np.integer]) -> str:
    """Return a digest of items in their order, in hexadecimal."""
    return hashlib.blake2b(prefix + items.astype("<i8").tobytes(), digest_size=16).hexdigest()
