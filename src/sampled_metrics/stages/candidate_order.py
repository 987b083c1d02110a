"""The order in which the candidates of a user are scored."""

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

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

_MOST_CANDIDATES = 2**24  # of the users of a block


class CandidateOrder:
    """The order of the candidates of each user: the same for all, or that of a function.

    Args:
        order: "popularity", (items,) numbers, or a function of a user that returns such numbers;
            higher first.
        split: of the users and items.
        users: ids of the users, which the function takes if they are given.
        items: ids of the items, which are the labels of the numbers if they are a Series with
            labels.

    Attributes:
        name: what tells this order from others: a digest of an order for all users, or the name of
            a function.

    Raises:
        ConfigError: the order is another word.
        DataError: the numbers are not one for each item, or some are NaN.
    """

    def __init__(self, order: Any, split: Split, users: Ids, items: Ids) -> None:
        self._split = split
        self._function = order if callable(order) else None
        self._ids = items
        self._names = users.values
        if self._function is not None:
            self.name = str(getattr(order, "__qualname__", type(order).__qualname__))
            return
        if isinstance(order, str):
            if order != "popularity":
                raise ConfigError(
                    "order must be popularity, numbers of the items or a function, not "
                    f"{shown(order)}"
                )
            order = np.bincount(split.training.indices, minlength=split.shape.items)
        self._items = self._sorted(order, "order")
        self.name = hashlib.blake2b(self._items.astype("<i8").tobytes(), digest_size=16).hexdigest()

    def blocks(self, users: Ints) -> Iterator[tuple[Ints, Places]]:
        """Yield blocks of the users, each with a function of indices in the block, and places.

        The function returns the items that are at these places of the users' orders. An order of
        each user takes much memory, so that such blocks are small.
        """
        if self._function is None:
            yield users, candidates_at(self._split.excluded[users], self._items)
            return
        size = max(1, _MOST_CANDIDATES // self._split.shape.items)
        for start in range(0, len(users), size):
            block = users[start : start + size]
            yield block, self._items_by_function(block, self._function)

    def _items_by_function(self, users: Ints, function: Callable[[Any], Any]) -> Places:
        candidates = []
        for user in users:
            name = self._names[user]
            with exits_as_errors("the function of the order"):
                numbers = function(name)
                refuse_awaitable(numbers, "order")
                items = self._sorted(numbers, f"order of user {shown(name)}")
            is_excluded = np.isin(items, self._split.excluded[[user]].indices)
            candidates.append(items[~is_excluded])
        offsets = np.cumsum([0, *map(len, candidates)])
        joined = np.concatenate(candidates)
        return lambda index, place: joined[offsets[index] + place]

    def _sorted(self, numbers: Any, name: str) -> Ints:
        """Return the (items,) items, the largest number first."""
        refuse_masked(numbers, name)
        if isinstance(numbers, pd.Series):
            numbers = in_order(numbers, name, [self._ids])
        try:
            values = np.asarray(numbers, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            values = np.empty(0)
        if values.shape != (self._split.shape.items,) or np.isnan(values).any():
            raise DataError(
                f"{name} must be a number for each of the {self._split.shape.items} items"
            )
        return np.argsort(-values, kind="stable")
