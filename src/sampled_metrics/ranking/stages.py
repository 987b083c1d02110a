"""Staged ranks: the candidates of a user are scored in an order until k of them are above the held-out item.

A share of the users goes on from each boundary (`sampled_metrics.ranks.staged`). A scorer is called with pairs of users
and items. Batches of a row end at boundaries, so that the results do not depend on the size of batches and calls.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampled_metrics._running import Progress, no_progress
from sampled_metrics._validation import Floats, Ints, is_real, is_whole, refuse_masked, shown
from sampled_metrics.data.split import Split
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranking.pairs import PairsLike, split_of, warn_of_users_without
from sampled_metrics.ranking.rank import chosen_users
from sampled_metrics.ranks.staged import StagedRanks, shares

Score = Callable[[NDArray[Any], NDArray[Any]], ArrayLike]
"""Function from (pairs,) users and (pairs,) items to (pairs,) scores, higher first."""

FOLDS = 5
"""Number of folds of the users, whose predictions are those of the others."""

_ENTRIES = 2**24  # numbers of an array with the candidates of some rows


def staged_ranks(
    score: Score,
    training: PairsLike,
    held_out: Any,
    *,
    k: int = 10,
    depth: float | None = 100,
    order: Any = "popularity",
    users: slice | ArrayLike | None = None,
    user_ids: ArrayLike | None = None,
    item_ids: ArrayLike | None = None,
    batch_size: int = 32,
    pairs_per_call: int = 1024,
    seed: int = 0,
    max_scores: int | None = None,
    progress: Progress = no_progress,
) -> StagedRanks:
    """Rank held-out items by few scores for each user, for unbiased metrics of the first k ranks.

    The held-out item of a user is scored, and then the candidates in an order. As soon as k candidates score higher,
    the rank is above k, and the metric is 0. From the boundaries 10, 30, 100, 300, … candidates on, below half of them,
    only a share min(1, (depth / boundary)^(3/4)) of the users who are not beaten goes on. They are the same users for
    all recommenders. `evaluate` and `compare` weight these users, so that the mean is that of all users.

    Args:
        score: a function from (pairs,) users and (pairs,) items to (pairs,) scores, higher is better. Users and items
            are indices, or ids if there are `user_ids` and `item_ids`. It is called with the pairs of many users.
            Scores of -inf rank last and tie with each other.
        training: as in `rank`.
        held_out: as in `rank`.
        k: the largest cut-off of the metrics.
        depth: about how many candidates of each user are scored. None scores all that are needed for exact metrics.
        order: "popularity", the number of users who have the item in training; or (items,) numbers, higher first; or a
            function of a user, an index or an id, that returns such numbers. Any order is right, and a good one needs
            fewer scores. Ties are in the order of the items.
        users: a part of the users, as in `rank`.
        user_ids: as in `rank`.
        item_ids: as in `rank`.
        batch_size: the largest number of candidates of a user in a call. Larger batches score more than is needed.
        pairs_per_call: the largest number of pairs in a call.
        seed: of the users' numbers. Recommenders are compared with the same seed, k and depth.
        max_scores: the largest number of scores. A run that needs more is refused when it gets there.
        progress: wraps the range of stages, for a progress bar.

    Returns:
        The ranks, one row for each held-out item, in the order of the users.

    Raises:
        DataError: as in `rank`; a score is NaN or +inf, or the function does not return a number for each pair; or more
            than `max_scores` are needed.
        ConfigError: an option is out of range.

    Examples:
        The held-out items of two users among five items. Two candidates are above that of the second user:

        >>> import numpy as np
        >>> import sampled_metrics as sm
        >>> scores = np.array([[0.9, 0.5, 0.4, 0.1, 0.3], [0.1, 0.2, 0.3, 0.4, 0.6]])
        >>> training = [[1, 0, 0, 0, 0], [1, 0, 0, 0, 0]]
        >>> ranks = sm.staged_ranks(lambda users, items: scores[users, items], training, [1, 2], k=2, depth=None)
        >>> print(ranks.above, ranks.complete, ranks.is_beaten)
        [0 2] [ True False] [False  True]
        >>> sm.evaluate(ranks, metrics="recall@2")["value"].tolist()
        [0.5]

    References:
        X. He et al., Fast Matrix Factorization for Online Recommendation with Implicit Feedback, SIGIR 2016: its code
        stops at k larger scores.
    """
    if not callable(score):
        raise ConfigError(f"score must be a function of users and items, not {shown(score)}")
    whole = {"k": k, "batch_size": batch_size, "pairs_per_call": pairs_per_call}
    for name, value in (whole if max_scores is None else whole | {"max_scores": max_scores}).items():
        if not is_whole(value) or value < 1:
            raise ConfigError(f"{name} must be a whole number, 1 or more, not {shown(value)}")
    if depth is not None and not (is_real(depth) and depth >= 1):
        raise ConfigError(f"depth must be a number of 1 or more, or None, not {shown(depth)}")
    if not is_whole(seed) or seed < 0:
        raise ConfigError(f"seed must be a whole number, 0 or more, not {shown(seed)}")
    split, *ids = split_of(training, held_out, (None, None), user_ids, item_ids)
    chosen = chosen_users(users, split.shape.users)
    warn_of_users_without(split, chosen)
    rows = np.flatnonzero(np.isin(split.user, chosen))
    if not len(rows):
        raise DataError("held_out: none of the users has a held-out item")
    scorer = _Scorer(score, split, (ids[0].is_given, ids[1].is_given), pairs_per_call, max_scores)
    return _Run(split, rows, scorer, _Order(order, split, ids[0].is_given), k, depth, batch_size, seed).ranks(progress)


@dataclass
class _Scorer:
    """Calls the function of scores, and counts the scores.

    Attributes:
        score: the function.
        split: of the users and items.
        with_ids: whether the function takes ids of users, and of items.
        pairs_per_call: the largest number of pairs in a call.
        most: the largest number of scores; None if there is no limit.
        count: scores so far.
    """

    score: Score
    split: Split
    with_ids: tuple[bool, bool]
    pairs_per_call: int
    most: int | None
    count: int = field(default=0)

    def __call__(self, users: Ints, items: Ints) -> Floats:
        """Return the (pairs,) scores of pairs of indices."""
        starts = range(self.pairs_per_call, len(users), self.pairs_per_call)
        parts = zip(np.split(users, starts), np.split(items, starts), strict=True)
        return np.concatenate([self._call(*part) for part in parts])

    def _call(self, users: Ints, items: Ints) -> Floats:
        self.count += len(users)
        if self.most is not None and self.count > self.most:
            raise DataError(f"more than max_scores = {self.most} scores are needed")
        given = (
            self.split.user_ids[users] if self.with_ids[0] else users,
            self.split.item_ids[items] if self.with_ids[1] else items,
        )
        scores = self.score(*given)
        refuse_masked(scores, "scores")
        try:
            numbers = np.asarray(scores)
            wide = numbers.astype(np.float64)
        except (TypeError, ValueError):
            raise DataError("the scores are not numbers") from None
        if numbers.shape != users.shape:
            raise DataError(f"the scores of {len(users)} pairs must have shape ({len(users)},), not {numbers.shape}")
        wrong = np.isnan(wide) | (wide == np.inf)
        if wrong.any():
            pair = int(wrong.argmax())
            raise DataError(
                f"the score of user {shown(self.split.user_ids[users[pair]])} and item "
                f"{shown(self.split.item_ids[items[pair]])} is NaN or +inf"
            )
        return wide


class _Order:
    """The order in which the candidates of rows are scored."""

    def __init__(self, order: Any, split: Split, with_ids: bool) -> None:
        self.split, self.with_ids, self.function = split, with_ids, None
        if isinstance(order, str):
            if order != "popularity":
                raise ConfigError(f"order must be popularity, numbers of the items or a function, not {shown(order)}")
            order = np.bincount(split.training.indices, minlength=split.shape.items)
        if callable(order):
            self.function = order
        else:
            self.items = self._sorted(order, "order")
            self.place = np.empty_like(self.items)
            self.place[self.items] = np.arange(len(self.items))

    def _sorted(self, numbers: Any, name: str) -> Ints:
        """Return the (items,) items, the largest number first."""
        refuse_masked(numbers, name)
        try:
            values = np.asarray(numbers, dtype=np.float64)
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.shape != (self.split.shape.items,) or np.isnan(values).any():
            raise DataError(f"{name} must be a number for each of the {self.split.shape.items} items")
        return np.argsort(-values, kind="stable")

    def blocks(self, rows: Ints) -> Iterator[tuple[Ints, Callable[[Ints, Ints], Ints]]]:
        """Yield some of the rows, and the function from their indices and candidate numbers, from 0, to items."""
        if self.function is None:
            yield rows, self._by_place(rows)
            return
        user = self.split.user[rows]
        step = max(1, _ENTRIES // self.split.shape.items)
        for first in range(0, len(rows), step):
            part = rows[first : first + step]
            yield part, self._by_user(user[first : first + step])

    def _by_place(self, rows: Ints) -> Callable[[Ints, Ints], Ints]:
        excluded = self.split.excluded[self.split.user[rows]]
        counts = np.diff(excluded.indptr)
        row, items = np.repeat(np.arange(len(rows)), counts), self.split.shape.items
        keys = np.sort(row * items + self.place[excluded.indices])
        # the number of the first candidate after each excluded item; one search covers all rows
        after = keys - (np.arange(len(keys)) - excluded.indptr.astype(np.int64)[row])

        def items_of(index: Ints, number: Ints) -> Ints:
            skipped = np.searchsorted(after, index * items + number, side="right") - excluded.indptr[index]
            return np.asarray(self.items[number + skipped])

        return items_of

    def _by_user(self, user: Ints) -> Callable[[Ints, Ints], Ints]:
        assert self.function is not None
        distinct, which = np.unique(user, return_inverse=True)
        lists = []
        for index in distinct:
            name = self.split.user_ids[index] if self.with_ids else index
            items = self._sorted(self.function(name), f"order of user {shown(name)}")
            lists.append(items[~np.isin(items, self.split.excluded[[index]].indices)])
        first = np.cumsum([0, *map(len, lists)])
        joined = np.concatenate(lists)
        return lambda index, number: joined[first[which[index]] + number]


@dataclass
class _Run:
    """A run over the stages."""

    split: Split
    rows: Ints
    scorer: _Scorer
    order: _Order
    k: int
    depth: float | None
    batch_size: int
    seed: int

    def ranks(self, progress: Progress) -> StagedRanks:
        """Score what is needed, and return the ranks."""
        split, rows = self.split, self.rows
        candidates = split.candidates[rows]
        boundaries = _boundaries(int(candidates.max()))
        names = split.user_ids[split.user[rows]]
        uniform, fold = _numbers(names, self.seed)
        target = self.scorer(split.user[rows], split.item[rows])
        above, tied, scored = np.zeros((3, len(rows)), dtype=np.int64)
        above_at = np.full((len(rows), len(boundaries)), -1)
        scored += 1
        others, last = candidates - 1, np.maximum(np.searchsorted(boundaries, candidates / 2, side="left") - 1, 0)
        share = shares(self.depth, boundaries)
        position = np.zeros(len(rows), dtype=np.int64)
        row_of = np.empty(split.held_out.nnz, dtype=np.int64)
        row_of[rows] = np.arange(len(rows))
        for part, items_of in self.order.blocks(rows):
            own = row_of[part]
            active = np.arange(len(part))
            for stage in progress(range(len(boundaries))):
                index = own[active]
                above_at[index, stage] = np.minimum(above[index], self.k)
                goes_on = (above[index] < self.k) & (uniform[index] < share[stage])
                active = active[goes_on]
                index = own[active]
                ends = others[index].copy()
                if stage + 1 < len(boundaries):
                    ends = np.where(stage < last[index], boundaries[stage + 1], ends)
                self._score(active, index, ends, position, target, (above, tied, scored), items_of)
                active = active[stage < last[index]]
        is_beaten = above >= self.k
        above[is_beaten], tied[is_beaten] = self.k, 0  # what batches scored beyond k is not used
        complete = (position >= others) & ~is_beaten
        return StagedRanks(
            names, candidates, self.k, self.depth, self.seed, boundaries, above_at,
            above, tied, complete, uniform, fold, scored,
        )  # fmt: skip

    def _score(
        self,
        active: Ints,
        index: Ints,
        ends: Ints,
        position: Ints,
        target: Floats,
        counts: tuple[Ints, Ints, Ints],
        items_of: Callable[[Ints, Ints], Ints],
    ) -> None:
        """Score the candidates of rows up to an end each, or until k are above; adds to the positions and counts."""
        above, tied, scored = counts
        per_call = max(1, self.scorer.pairs_per_call // self.batch_size)
        queue = np.arange(len(active))
        while len(queue):
            now, queue = queue[:per_call], queue[per_call:]
            row = index[now]
            size = np.minimum(self.batch_size, ends[now] - position[row])
            pair = np.repeat(np.arange(len(now)), size)
            number = np.arange(len(pair)) - np.repeat(np.cumsum(size) - size, size) + position[row][pair]
            if len(pair):
                items = items_of(active[now][pair], number)
                scores = self.scorer(self.split.user[self.rows[row]][pair], items)
                own = target[row][pair]
                above[row] += np.bincount(pair[scores > own], minlength=len(now))
                tied[row] += np.bincount(pair[scores == own], minlength=len(now))
                scored[row] += size
                position[row] += size
            left = now[(above[row] < self.k) & (position[row] < ends[now])]
            queue = np.concatenate((left, queue))


def _boundaries(candidates: int) -> Ints:
    """Return 0 and the boundaries 10, 30, 100, 300, … below half of the largest number of candidates."""
    steps = [digit * 10**power for power in range(1, 12) for digit in (1, 3)]
    return np.array([0, *(step for step in steps if step < candidates / 2)])


def _numbers(names: NDArray[Any], seed: int) -> tuple[Floats, Ints]:
    """Return a number from 0 to 1, and a fold, for each of (rows,) names of users, by two hashes."""
    distinct, which = np.unique(names, return_inverse=True)
    numbers, folds = np.empty(len(distinct)), np.empty(len(distinct), dtype=np.int64)
    for index, name in enumerate(distinct.tolist()):
        numbers[index] = _hashed(seed, "share", name) / 2**64
        folds[index] = _hashed(seed, "fold", name) % FOLDS
    return numbers[which], folds[which]


def _hashed(seed: int, purpose: str, name: Any) -> int:
    """Return a whole number below 2^64 from a hash of the seed, a word and an id as text."""
    text = f"{seed}\0{purpose}\0{name}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")
