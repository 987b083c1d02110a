"""Counts of the candidates above held-out items, stage by stage.

`StageCounts` knows how many candidates of each user were scored, and how many of them are above
the held-out items. A stage ends at a boundary, where some users stop. `_Block` asks for the scores
of some users, and adds the answers to the counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sampled_metrics.checks import Floats, Ints
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.inputs import Places, ranges, warn_of_last
from sampled_metrics.ranking.split import Split
from sampled_metrics.stages.scoring import Request, Scorer
from sampled_metrics.stages.stopping import boundaries, last_boundary, numbers_of_users, shares
from sampled_metrics.stages.table import StagedRanks

FEW = 10
"""The number of completed users up to which a run warns.

A run warns after its first stage if it completes on average at most this number of users, and at
most half of the remaining ones.
"""

BATCH = 32
"""The largest number of candidates of a user in a call.

Larger batches score more than is needed.
"""


@dataclass(frozen=True)
class Design:
    """What decides who goes on: k, depth and seed, as in `staged_ranks`."""

    k: int
    depth: float | None
    seed: int


class StageCounts:
    """Counts of candidates above held-out items, by stages.

    A row is a held-out item. Users have numbers from 0, and the rows of a user are side by side.
    A user is beaten if all of the user's held-out items are, and needs no more scores then.

    Args:
        scorer: gives the scores.
        split: of all users.
        users: (users,) ascending indices of users who have held-out items.
        design: k, depth and seed.
        pairs_per_call: as in `Ranker`.

    Attributes:
        split_rows: (rows,) the rows in the split.
        candidates: (rows,) numbers of candidates, including the held-out item.
        held_out_score: (rows,) scores of the held-out items.
        row_count: (users,) numbers of rows.
        first_row: (users,) the first rows.
        other_candidates: (users,) numbers of candidates to score, without a held-out item.
        uniform: (users,) the users' numbers v.
        fold: (users,) the folds of the users.
        boundaries: (boundaries,) numbers of candidates, 0 first.
        share: (boundaries,) shares of the users who go on.
        last_boundary: (users,) indices of the last boundaries.
        above: (rows,) scored candidates that score higher than the held-out item.
        tied: (rows,) scored candidates that score the same.
        above_at: (rows, boundaries) the counts above at each boundary, up to k; -1 before it.
        tied_at: (rows, boundaries) the counts of ties at each boundary, 0 where the item is beaten;
            -1 before it.
        scored: (users,) numbers of candidates that were scored.
        stage: (users,) indices of the boundaries from which the users went on last.
        stage_end: (users,) numbers of candidates at which the stages of the users end: the next
            boundary, or all. A user who stopped has scored as many.
        finished_users: number of users who need no more scores.
    """

    def __init__(
        self, scorer: Scorer, split: Split, users: Ints, design: Design, pairs_per_call: int
    ) -> None:
        self.scorer = scorer
        self.split = split
        self.users = users
        self.design = design
        self.batch_size = min(BATCH, pairs_per_call)
        self.users_per_call = max(1, pairs_per_call // self.batch_size)

        # rows
        self.split_rows = np.flatnonzero(np.isin(split.user, users))
        self.candidates = split.candidates[self.split_rows]
        self.held_out_score = np.empty(len(self.split_rows))

        # users
        held_out_items = np.diff(split.held_out.indptr)[users]
        self.row_count = held_out_items.astype(np.int64)
        self.first_row = np.cumsum(self.row_count) - self.row_count
        self.other_candidates = self.candidates[self.first_row] - 1
        self.uniform, self.fold = numbers_of_users(split.user_ids[users].tolist(), design.seed)

        # boundaries
        self.boundaries = boundaries(int(split.candidates.max()))
        self.share = shares(design.depth, self.boundaries)
        self.last_boundary = last_boundary(self.boundaries, self.other_candidates + 1)

        # counts of rows
        self.above = np.zeros(len(self.split_rows), dtype=np.int64)
        self.tied = np.zeros(len(self.split_rows), dtype=np.int64)
        self.above_at = np.full((len(self.split_rows), len(self.boundaries)), -1)
        self.tied_at = np.full((len(self.split_rows), len(self.boundaries)), -1)
        self.above_at[:, 0] = 0
        self.tied_at[:, 0] = 0

        # counts of users
        self.scored = np.zeros(len(users), dtype=np.int64)
        self.stage = np.zeros(len(users), dtype=np.int64)
        self.stage_end = self._next_end(np.arange(len(users)))
        self.finished_users = 0

    def begin(self) -> None:
        """Score the held-out items."""
        users = self.split.user[self.split_rows]
        items = self.split.item[self.split_rows].astype(np.int64)
        self.held_out_score = self.scorer.scores(users, items)
        last = int(np.count_nonzero(self.held_out_score == -np.inf))
        warn_of_last(last, len(self.split_rows), stacklevel=6)

    def go_on_from(self, file: str, earlier: StagedRanks, users: Ints, items: Ints) -> None:
        """Take the counts of the same ranks with a smaller depth.

        A share of the users who stopped at a boundary goes on from it. The others are the same as
        in a run with this depth.

        Args:
            file: name of the file of the ranks.
            earlier: the ranks, with rows in any order.
            users: (rows,) indices of their users.
            items: (rows,) indices of their held-out items.

        Raises:
            DataError: the rows of the file are not those of the run.
        """
        pairs = self._pair_numbers(
            self.split.user[self.split_rows], self.split.item[self.split_rows]
        )
        earlier_pairs = self._pair_numbers(users, items)
        earlier_order = np.argsort(earlier_pairs)
        if not np.array_equal(np.sort(pairs), earlier_pairs[earlier_order]):
            raise DataError(
                f"{file}: is damaged: its rows are not the held-out items of its run; take "
                "another file"
            )
        earlier_row = earlier_order[np.searchsorted(earlier_pairs[earlier_order], pairs)]
        self.held_out_score = earlier.score[earlier_row]
        self.above = earlier.above[earlier_row]
        self.tied = earlier.tied[earlier_row]
        self.above_at = earlier.above_at[earlier_row]
        self.tied_at = earlier.tied_at[earlier_row]

        self.scored = earlier.scored[earlier_row[self.first_row]] - 1
        reached = (self.above_at[self.first_row] >= 0).sum(axis=1) - 1
        is_stopped = ~self._is_beaten() & (self.scored < self.other_candidates)
        goes_on = is_stopped & (self.uniform < self.share[reached])
        self.stage = np.where(goes_on, reached, np.maximum(reached - 1, 0))
        self.stage_end = np.where(goes_on, self._next_end(np.arange(len(self.users))), self.scored)
        self.finished_users = int(np.count_nonzero(~goes_on))

    @property
    def parts(self) -> list[int]:
        """The indices of the boundaries up to which all users are scored before any goes on.

        The boundaries are the first stage and the end. What is known after the first stage does not
        depend on the users' numbers.
        """
        end = len(self.boundaries)
        return [end] if self._first_stage == end else [self._first_stage, end]

    @property
    def _first_stage(self) -> int:
        """The index of the first boundary from which only a share of the users goes on.

        Without such a boundary, the index is the number of boundaries. All users who are not beaten
        get there.
        """
        return int(np.argmax(np.append(self.share, 0.0) < 1))

    def unfinished(self, until: int) -> Ints:
        """Return the numbers of the users who are to be scored before a boundary, by its index."""
        needs_scores = (self.stage_end > self.scored) & ~self._is_beaten()
        return np.flatnonzero(needs_scores & (self.stage < until))

    def score(self, block: Ints, until: int, items_at: Places, show: Callable[[str], None]) -> None:
        """Score what some users need up to a boundary.

        Args:
            block: (users,) numbers of the users.
            until: the index of the boundary; that after all boundaries for all candidates.
            items_at: the function from indices in the block, and places in the order of the
                candidates, to items.
            show: shows how far the run is.
        """
        users = _UsersInStage(self, block, until, items_at)

        def take(request: Request, scores: Floats) -> None:
            users.take(request, scores)
            unfinished = 1 - self.finished_users / len(self.users)
            show(f"{self.scorer.count:,} scores, {unfinished:.0%} of users need more")

        self.scorer.run(users.next_request, take)

    @property
    def outlook(self) -> str:
        """Return what to say after the first stage if few users can be completed, or else "".

        The number of completed users is the mean over the users' numbers v. A larger depth may be
        chosen from it without a bias: given the counts of all users at a boundary that all may
        reach, the estimate of each depth has none.
        """
        above = self.above_at[:, self._first_stage]
        is_open_row = (above >= 0) & (above < self.design.k)
        is_open = np.logical_or.reduceat(is_open_row, self.first_row)
        left = int(np.count_nonzero(is_open))
        completed = float(self.share[self.last_boundary[is_open]].sum())
        if completed > min(FEW, left / 2) or not left:
            return ""
        advice = (
            "a larger depth completes more, and depth=None all"
            if left > FEW
            else "depth=None alone completes all"
        )
        return (
            f"depth={self.design.depth:g}: {left:,} of {len(self.users):,} users are not beaten "
            f"by the first {self.boundaries[self._first_stage]:,} candidates, and at most "
            f"{completed:.1f} of these are completed on average; {advice} of them"
        )

    def ranks(self, digests: dict[str, str]) -> StagedRanks:
        """Return the ranks, in the order of the ids of the users."""
        is_beaten = self.above >= self.design.k
        user = np.repeat(np.arange(len(self.users)), self.row_count)
        is_scored = self.scored >= self.other_candidates
        scored = np.ones(len(self.split_rows), dtype=np.int64)
        scored[self.first_row] += self.scored
        return StagedRanks(
            user=self.split.user_ids[self.users][user],
            item=self.split.item_ids[self.split.item[self.split_rows]],
            score=self.held_out_score,
            candidates=self.candidates,
            k=self.design.k,
            depth=self.design.depth,
            seed=self.design.seed,
            boundaries=self.boundaries,
            above_at=self.above_at,
            tied_at=self.tied_at,
            # a batch may score candidates beyond the k-th above, which are not used
            above=np.where(is_beaten, self.design.k, self.above),
            tied=np.where(is_beaten, 0, self.tied),
            complete=is_scored[user] & ~is_beaten,
            uniform=self.uniform[user],
            fold=self.fold[user],
            scored=scored,
            digests=digests,
        ).by_id()

    def _is_beaten(self) -> NDArray[np.bool_]:
        """Return the (users,) users whose held-out items are all beaten."""
        return np.minimum.reduceat(self.above, self.first_row) >= self.design.k

    def _pair_numbers(self, users: Ints, items: Ints) -> Ints:
        """Return a whole number for each of (pairs,) pairs, which no other pair has."""
        return users * np.int64(self.split.shape.items) + items

    def _next_end(self, users: Ints) -> Ints:
        """Return how many candidates (users,) users have up to their next boundary, or in all."""
        stage = self.stage[users]
        next_boundary = self.boundaries[np.minimum(stage + 1, len(self.boundaries) - 1)]
        has_boundary = stage < self.last_boundary[users]
        return np.where(has_boundary, next_boundary, self.other_candidates[users])

    def rows(self, users: Ints) -> tuple[Ints, Ints]:
        """Return the (rows,) rows of (users,) users, and where those of each user start."""
        row_count = self.row_count[users]
        user, offset = ranges(row_count)
        return self.first_row[users][user] + offset, np.cumsum(row_count) - row_count

    def pass_boundary(self, users: Ints, is_beaten: NDArray[np.bool_]) -> Ints:
        """Note the counts of users at the end of their stage, and return those who go on.

        Args:
            users: (users,) numbers of users who are beaten, or at the end of their stage.
            is_beaten: (users,) who is beaten.
        """
        self.finished_users += len(users)
        has_boundary = self.stage[users] < self.last_boundary[users]
        users = users[has_boundary]
        is_beaten = is_beaten[has_boundary]

        boundary = self.stage[users] + 1
        rows, _ = self.rows(users)
        row_boundary = np.repeat(boundary, self.row_count[users])
        above = self.above[rows]
        self.above_at[rows, row_boundary] = np.minimum(above, self.design.k)
        self.tied_at[rows, row_boundary] = np.where(above < self.design.k, self.tied[rows], 0)

        goes_on = ~is_beaten & (self.uniform[users] < self.share[boundary])
        users = users[goes_on]
        self.stage[users] = boundary[goes_on]
        self.stage_end[users] = self._next_end(users)
        self.finished_users -= len(users)
        return users


class _Batches(NamedTuple):
    """The pairs of a request: the next candidates of some users.

    Attributes:
        users: (users,) numbers of the users.
        sizes: (users,) how many candidates of each user.
        user_of_pair: (pairs,) index of the user of each pair, among these users.
    """

    users: Ints
    sizes: Ints
    user_of_pair: Ints


class _UsersInStage:
    """Some users whose candidates are scored up to a boundary.

    Users who may go on for longest are first, so that calls are full for as long as can be.

    Args:
        counts: the counts of all users.
        numbers: (users,) numbers of the users.
        until: the index of the boundary.
        items_at: as in `StageCounts.score`.
    """

    def __init__(self, counts: StageCounts, numbers: Ints, until: int, items_at: Places) -> None:
        self._counts = counts
        self._until = until
        self._items_at = items_at
        self._index = np.zeros(len(counts.users), dtype=np.int64)  # in the block
        self._index[numbers] = np.arange(len(numbers))
        order = np.argsort(-counts.uniform[numbers], kind="stable")
        self._waiting: list[int] = numbers[order].tolist()  # the last one is next

    def next_request(self) -> Request | None:
        """Return the next candidates of the users who are next; None if no user waits."""
        if not self._waiting:
            return None
        counts = self._counts
        users = np.array(self._waiting[: -counts.users_per_call - 1 : -1], dtype=np.int64)
        del self._waiting[-len(users) :]
        scored = counts.scored[users]
        sizes = np.minimum(counts.batch_size, counts.stage_end[users] - scored)
        user, offset = ranges(sizes)
        items = self._items_at(self._index[users[user]], scored[user] + offset)
        return Request(counts.users[users][user], items, tag=_Batches(users, sizes, user))

    def take(self, request: Request, scores: Floats) -> None:
        """Add (pairs,) scores to the counts; the users who need more wait again."""
        counts = self._counts
        batches: _Batches = request.tag
        users = batches.users

        # each pair counts in all rows of its user
        pair, offset = ranges(counts.row_count[users][batches.user_of_pair])
        row = counts.first_row[users][batches.user_of_pair][pair] + offset
        score = scores[pair]
        held_out_score = counts.held_out_score[row]
        np.add.at(counts.above, row[score > held_out_score], 1)
        np.add.at(counts.tied, row[score == held_out_score], 1)
        counts.scored[users] += batches.sizes

        rows, starts = counts.rows(users)
        is_beaten = np.minimum.reduceat(counts.above[rows], starts) >= counts.design.k
        is_at_end = counts.scored[users] == counts.stage_end[users]
        ends = is_beaten | is_at_end
        self._waiting.extend(users[~ends][::-1].tolist())
        going_on = counts.pass_boundary(users[ends], is_beaten[ends])
        in_reach = counts.stage[going_on] < self._until
        self._waiting.extend(going_on[in_reach][::-1].tolist())
