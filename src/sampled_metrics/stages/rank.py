"""Staged ranks: the candidates of a user are scored in an order until k of them are above the
held-out item.

A share of the users goes on from each boundary (`sampled_metrics.stages.table`). A scorer is called
with pairs of users and items. Batches of a user end at boundaries, so that the results do not
depend on the size of batches and calls, nor on the order of the answers.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from sampled_metrics._files import path_text, require_writable
from sampled_metrics._running import terminal_status
from sampled_metrics._validation import (
    MOST,
    MOST_SEED,
    Floats,
    Ints,
    is_real,
    is_whole,
    require_whole,
    shown,
)
from sampled_metrics.errors import ConfigError, DataError, Remark
from sampled_metrics.ranking.inputs import (
    Ids,
    PairsLike,
    Places,
    ranges,
    split_and_users,
    table_of_pairs,
    warn_of_last,
)
from sampled_metrics.ranking.labels import aligned
from sampled_metrics.ranking.split import Split
from sampled_metrics.stages.candidate_order import CandidateOrder
from sampled_metrics.stages.files import require_ending, require_ids
from sampled_metrics.stages.scoring import Journal, Ranker, Request, Score, Scorer, refuse_other_run
from sampled_metrics.stages.stopping import (
    boundaries,
    digest_of_users,
    last_boundary,
    numbers_of_users,
    shares,
)
from sampled_metrics.stages.table import StagedRanks

FEW = 10
"""A run says after its first stage if it completes on average no more users than these, nor half of
those left.
"""

BATCH = 32
"""The largest number of candidates of a user in a call.

Larger batches score more than is needed.
"""


def staged_ranks(
    score: Score | Ranker,
    training: PairsLike,
    held_out: Any,
    *,
    k: int = 10,
    depth: float | None = 100,
    order: Any = "popularity",
    users: slice | ArrayLike | None = None,
    user_ids: ArrayLike | None = None,
    item_ids: ArrayLike | None = None,
    seed: int = 0,
    file: str | os.PathLike[str] | None = None,
) -> StagedRanks:
    """Rank held-out items by few scores for each user, for unbiased metrics of the first k ranks.

    The held-out item of a user is scored, and then the candidates in an order. As soon as k
    candidates score higher, the rank is above k, and the metric is 0. From the boundaries 10, 30,
    100, 300, … candidates on, below half of them, only a share min(1, (depth / boundary)^(3/4)) of
    the users who are not beaten goes on. They are the same users for all recommenders. `evaluate`
    and `compare` weight these users, so that the mean is that of all users.

    The candidates of a user with several held-out items are scored once for all of them.

    Args:
        score: a function from (pairs,) users and (pairs,) items to (pairs,) scores, higher is
            better; or a `Ranker` of such a function, which also says its name, how many pairs it
            takes in a call, and how many calls at a time. Users and items are indices, or ids if
            there are `user_ids` and `item_ids`, or labels in their place. It is called with the
            pairs of many users. A Series is aligned if it has both as its index. Scores of -inf
            rank last and tie with each other.
        training: as in `rank`.
        held_out: as in `rank`.
        k: the largest cut-off of the metrics.
        depth: number of candidates from which on only a share of the users goes on; None lets all
            go on, for exact metrics. Users take about as many scores or somewhat more on average:
            some are beaten before, and others are completed. Metrics have no bias if the depth does
            not depend on them, so it is chosen before the first score. If few users are to be
            completed, a warning says after the first stage how many, from what does not depend on
            the users' numbers, so that a larger depth may be chosen by it.
        order: "popularity", the number of users who have the item in training; or (items,) numbers,
            higher first, of which a Series may have ids of all items as its index; or a function of
            a user, an index or an id, that returns such numbers. Any order is right, and a good one
            needs fewer scores. Ties are in the order of the items.
        users: a part of the users, as in `rank`. `StagedRanks.concat` joins parts.
        user_ids: as in `rank`.
        item_ids: as in `rank`.
        seed: of the users' numbers. Recommenders are compared with the same seed, k and depth.
        file: the file that the ranks are written to, .parquet with pyarrow, or .sqlite. Each answer
            is kept at once in a journal beside it, whose name ends in .journal. A run that was
            stopped goes on from there if it is called again, and the scores of the journal are not
            asked for again. If the file is there, it is read, and a warning says so. If it has a
            smaller depth, the run goes on from it, as if it had been of this depth from the start,
            and replaces it at the end. If it has a larger depth, or None, the ranks are those of
            this depth, column by column, nothing is scored, and the file stays as it is, as its
            scores were paid for. A file or a journal of another ranker is refused: up to 32 of its
            pairs are scored again if the ranker has no name.

    Returns:
        The ranks, a `StagedRanks` with one row for each held-out item, in the order of the ids of
        the users. `plan` says from a pilot how many scores they take.

    Raises:
        DataError: as in `rank`; a score is NaN or +inf, or the function does not return a number
            for each pair; `file` is of another run or ranker, was changed after it was written, or
            another process writes it.
        ConfigError: an option is out of range, or `file` has another ending, or needs pyarrow.
        WriteError: `file` cannot be written.

    Examples:
        The held-out items of two users among five items. Two candidates are above that of the
        second user:

        >>> import numpy as np
        >>> import sampled_metrics as sm
        >>> scores = np.array([[0.9, 0.5, 0.4, 0.1, 0.3], [0.1, 0.2, 0.3, 0.4, 0.6]])
        >>> training = [[1, 0, 0, 0, 0], [1, 0, 0, 0, 0]]
        >>> ranks = sm.staged_ranks(lambda users, items: scores[users, items], training, [1, 2],
        ...     k=2, depth=None)
        >>> print(ranks.above, ranks.complete, ranks.is_beaten)
        [0 2] [ True False] [False  True]
        >>> sm.evaluate(ranks, metrics="recall@2")["value"].tolist()
        [0.5]

    References:
        X. He et al., Fast Matrix Factorization for Online Recommendation with Implicit Feedback,
        SIGIR 2016: its code stops at k larger scores.
    """
    ranker = score if isinstance(score, Ranker) else Ranker(score)
    require_whole(1, MOST, k=k)
    require_whole(0, MOST_SEED, seed=seed)
    if depth is not None:
        require_depth(depth)
        depth = int(depth) if is_whole(depth) else float(depth)  # files take no numbers of numpy
    k = int(k)
    seed = int(seed)
    pairs = aligned(None, training, held_out, user_ids, item_ids)
    shape = None, None
    split, ids, chosen = split_and_users(
        pairs.training, pairs.held_out, shape, users, pairs.user_ids, pairs.item_ids
    )
    prepared = Prepared.from_split(split, ids, chosen, order)
    chosen = prepared.users
    require_ids(None if file is None else path_text(file), split.user_ids[chosen], split.item_ids)
    digests = prepared.digests | {"ranker": ranker.label}

    def ranks(journal: Journal | None, earlier: StagedRanks | None = None) -> StagedRanks:
        with ranker.pool() as pool, terminal_status() as show:
            scorer = Scorer(ranker, pool, split, prepared.with_ids, journal)
            stages = _Stages(scorer, split, chosen, k, depth, seed, ranker.pairs_per_call)
            if earlier is None:
                stages.begin()
            else:
                stages.go_on_from(name, earlier, *positions(earlier))
            for until in stages.parts:
                prepared.complete(stages, until, show)
                if until < len(stages.boundaries) and users is None and (outlook := stages.outlook):
                    warnings.warn(outlook, Remark, stacklevel=4)
        return stages.ranks(digests)

    def positions(table: StagedRanks) -> tuple[Ints, Ints]:
        pairs = table_of_pairs(pd.DataFrame({"user": table.user, "item": table.item}), name)
        return ids[0].positions(pairs), ids[1].positions(pairs)

    def finished() -> StagedRanks:
        table = StagedRanks.read(name)
        is_deeper = table.depth is not None and (depth is None or depth > table.depth)
        refuse_other_run(name, table.run, run)
        with ranker.pool() as pool:
            Scorer(ranker, pool, split, prepared.with_ids, None).require_same_scores(
                name, *positions(table), table.score
            )
        checked = "" if ranker.name else ", but for some pairs again, which have the same scores"
        says = f"is complete; nothing was scored{checked}"
        has = "all candidates" if table.depth is None else f"depth {table.depth:g}"
        if is_deeper:
            further = "all candidates" if depth is None else f"depth {depth:g}"
            says = f"has {has}; the run goes on from it to {further}"
        elif table.depth != depth:
            says = (
                f"has {has}, of which depth {depth:g} is a part; it stays as it is, and nothing "
                f"was scored{checked}"
            )
        warnings.warn(f"{name} {says}", Remark, stacklevel=4)
        return table if is_deeper or table.depth == depth else table.at_depth(depth)

    name = "" if file is None else path_text(file)
    run = {"k": k, "seed": seed} | digests
    try:
        return ranks(None) if file is None else _kept(name, run, depth, ranks, finished)
    except KeyboardInterrupt as interruption:  # where it met the run says nothing
        raise interruption.with_traceback(None) from None


@dataclass(frozen=True)
class Prepared:
    """Training, held-out items and an order of the candidates that were read and checked, for any
    number of rankers.

    Attributes:
        split: of all users.
        ids: of users and items.
        users: (users,) ascending indices of the users who are ranked, all with held-out items.
        order: of the candidates.
    """

    split: Split
    ids: tuple[Ids, Ids]
    users: Ints
    order: CandidateOrder

    @classmethod
    def from_split(
        cls, split: Split, ids: tuple[Ids, Ids], users: Ints, order: Any = "popularity"
    ) -> Prepared:
        """Leave out users without held-out items, and check the order of `staged_ranks`.

        Raises:
            DataError: the order is wrong, or no user has a held-out item.
        """
        chosen = users[np.diff(split.held_out.indptr)[users] > 0]
        if not len(chosen):
            raise DataError("held_out: none of the users has a held-out item")
        return cls(split, ids, chosen, CandidateOrder(order, split, *ids))

    @cached_property
    def digests(self) -> dict[str, str]:
        """The digests of the split, the users and the order."""
        return digests_of_split(self.split, self.users) | {"order": self.order.name}

    @property
    def with_ids(self) -> tuple[bool, bool]:
        """Whether a function of scores is called with ids, of users and of items."""
        return self.ids[0].is_given, self.ids[1].is_given

    def complete(self, stages: _Stages, until: int, show: Callable[[str], None]) -> None:
        """Score what the users need up to a boundary, by its index; `show` shows how far the run
        is.
        """
        numbers = stages.unfinished(until)
        start = 0
        for block, items_at in self.order.blocks(self.users[numbers]):
            stages.score(numbers[start : start + len(block)], until, items_at, show)
            start += len(block)

    def ranks(self, ranker: Ranker, k: int, depth: float, seed: int = 0) -> StagedRanks:
        """Return the ranks by a ranker, without a file; parameters as in `staged_ranks`."""
        with ranker.pool() as pool, terminal_status() as show:
            scorer = Scorer(ranker, pool, self.split, self.with_ids, None)
            stages = _Stages(scorer, self.split, self.users, k, depth, seed, ranker.pairs_per_call)
            stages.begin()
            for until in stages.parts:
                self.complete(stages, until, show)
        return stages.ranks(self.digests | {"ranker": ranker.label})


def require_depth(depth: Any) -> None:
    """Raise ConfigError unless a depth is a number in its range."""
    if not (is_real(depth) and (1 <= depth <= MOST or depth == np.inf)):
        raise ConfigError(f"depth must be a number from 1 to 2^53, or None, not {shown(depth)}")


def _kept(
    file: str,
    run: dict[str, Any],
    depth: float | None,
    ranks: Callable[[Journal, StagedRanks | None], StagedRanks],
    finished: Callable[[], StagedRanks],
) -> StagedRanks:
    """Return the ranks of a run from its file, or compute them with a journal and write the
    file.
    """
    require_ending(file)
    path = Path(file).absolute()  # a function of scores may change the working folder
    earlier = (
        finished() if os.path.exists(path) else None
    )  # False, and no error, for a name that is too long
    if earlier is not None and earlier.depth == depth:
        return earlier
    require_writable(file)
    with Journal(f"{file}.journal", run) as journal:
        if path.exists() and (earlier is None or StagedRanks.read(path).depth != earlier.depth):
            earlier = finished()  # another process has written it since
        if earlier is not None and earlier.depth == depth:
            return earlier
        try:
            table = ranks(journal, earlier)
        except BaseException as error:  # an interruption, too
            if not journal.is_there:
                error.add_note(
                    f"{journal.name} was removed during the run, and what was scored is lost"
                )
            elif not journal.is_empty:
                error.add_note(
                    f"what was scored is in {journal.name}, and the same call goes on from there"
                )
            raise
        table.write(file if Path(file).absolute() == path else path)
        return table


class _Stages:
    """Counts of candidates above held-out items, by stages.

    A row is a held-out item; users have numbers from 0.

    Args:
        scorer: gives the scores.
        split: of all users.
        users: (users,) ascending indices of users who have held-out items.
        k: as in `staged_ranks`; likewise depth and seed.
        pairs_per_call: as in `Ranker`.
    """

    def __init__(
        self,
        scorer: Scorer,
        split: Split,
        users: Ints,
        k: int,
        depth: float | None,
        seed: int,
        pairs_per_call: int,
    ) -> None:
        self.scorer = scorer
        self.split = split
        self.users = users
        self.k = k
        self.depth = depth
        self.seed = seed
        self.batch_size = min(BATCH, pairs_per_call)
        self.users_per_call = max(1, pairs_per_call // self.batch_size)
        self.rows = np.flatnonzero(np.isin(split.user, users))
        self.candidates = split.candidates[self.rows]
        self.held = np.diff(split.held_out.indptr)[users].astype(
            np.int64
        )  # (users,) how many items are held out
        self.first = np.cumsum(self.held) - self.held  # (users,) the first row
        self.others = (
            self.candidates[self.first] - 1
        )  # (users,) how many candidates are to be scored
        self.boundaries = boundaries(int(split.candidates.max()))
        self.share = shares(depth, self.boundaries)
        self.last = last_boundary(self.boundaries, self.others + 1)
        self.uniform, self.fold = numbers_of_users(split.user_ids[users].tolist(), seed)

        self.target = np.empty(len(self.rows))
        self.above, self.tied = np.zeros(
            (2, len(self.rows)), dtype=np.int64
        )  # (rows,) candidates so far
        self.above_at, self.tied_at = np.full((2, len(self.rows), len(self.boundaries)), -1)
        self.above_at[:, 0] = self.tied_at[:, 0] = 0
        self.position, self.stage = np.zeros(
            (2, len(users)), dtype=np.int64
        )  # (users,) scored; boundaries passed
        self.end = self._next_end(
            np.arange(len(users))
        )  # (users,) candidates up to the next boundary, or all
        self.done = 0  # number of users who need no more scores

    @property
    def first_stage(self) -> int:
        """The index of the first boundary from which only a share goes on; that after all
        boundaries if there is none.

        All users who are not beaten get there.
        """
        return int(np.argmax(np.append(self.share, 0.0) < 1))

    @property
    def parts(self) -> list[int]:
        """The indices of the boundaries up to which all users are scored before any goes on: the
        first stage, the end.

        What is known after the first stage does not depend on the users' numbers.
        """
        end = len(self.boundaries)
        return [end] if self.first_stage == end else [self.first_stage, end]

    def unfinished(self, until: int) -> Ints:
        """Return the numbers of the users who are to be scored before a boundary, by its index."""
        is_beaten = np.minimum.reduceat(self.above, self.first) >= self.k
        return np.flatnonzero((self.end > self.position) & ~is_beaten & (self.stage < until))

    @property
    def outlook(self) -> str:
        """What is said after the first stage of the users who can be completed, if they are few;
        else nothing.

        Their number is the mean over the users' numbers v. A larger depth may be chosen by it
        without a bias: given the counts of all users at a boundary that all may reach, the estimate
        of each depth has none.
        """
        above = self.above_at[:, self.first_stage]
        is_open = np.logical_or.reduceat((above >= 0) & (above < self.k), self.first)
        left = int(np.count_nonzero(is_open))
        completed = float(self.share[self.last[is_open]].sum())
        if completed > min(FEW, left / 2) or not left:
            return ""
        further = (
            "a larger depth completes more, and depth=None all"
            if left > FEW
            else "depth=None alone completes all"
        )
        return (
            f"depth={self.depth:g}: {left:,} of {len(self.users):,} users are not beaten by the "
            f"first {self.boundaries[self.first_stage]:,} candidates, and at most {completed:.1f} "
            f"of these are completed on average; {further} of them"
        )

    def begin(self) -> None:
        """Score the held-out items."""
        self.target = self.scorer.scores(
            self.split.user[self.rows], self.split.item[self.rows].astype(np.int64)
        )
        warn_of_last(int(np.count_nonzero(self.target == -np.inf)), len(self.rows), stacklevel=6)

    def go_on_from(self, file: str, earlier: StagedRanks, users: Ints, items: Ints) -> None:
        """Take the counts of the same ranks by a smaller depth, of (rows,) indices of users and
        items in any order.

        A share of the users who stopped at a boundary goes on from it. The others are as they would
        be by this depth.

        Raises:
            DataError: the rows of the file are not those of the run.
        """
        own = self.split.user[self.rows], self.split.item[self.rows]
        pairs, known = (
            user * np.int64(self.split.shape.items) + item for user, item in (own, (users, items))
        )
        if not np.array_equal(np.sort(pairs), np.sort(known)):
            raise DataError(
                f"{file}: is damaged: its rows are not the held-out items of its run; take "
                "another file"
            )
        row = np.argsort(known)[np.searchsorted(np.sort(known), pairs)]
        for name in ("above", "tied", "above_at", "tied_at"):
            setattr(self, name, getattr(earlier, name)[row])
        self.target = earlier.score[row]
        self.position = earlier.scored[row[self.first]] - 1
        boundary = (self.above_at[self.first] >= 0).sum(
            axis=1
        ) - 1  # (users,) the last one that a user got to
        is_beaten = np.minimum.reduceat(self.above, self.first) >= self.k
        stopped = ~is_beaten & (self.position < self.others)
        goes_on = stopped & (self.uniform < self.share[boundary])
        self.stage = np.where(goes_on, boundary, np.maximum(boundary - 1, 0))
        self.end = np.where(goes_on, self._next_end(np.arange(len(self.users))), self.position)
        self.done = int(np.count_nonzero(~goes_on))

    def score(self, block: Ints, until: int, items_at: Places, show: Callable[[str], None]) -> None:
        """Score what a block of users needs up to a boundary, with the function from their places
        to items.

        Users who may go on for longest are first, so that calls are full for as long as can be.

        Args:
            block: (users,) numbers of the users.
            until: the index of the boundary; that after all boundaries for all candidates.
            items_at: the function.
            show: shows how far the run is.
        """
        place = np.zeros(len(self.users), dtype=np.int64)
        place[block] = np.arange(len(block))
        stack: list[int] = block[np.argsort(-self.uniform[block], kind="stable")].tolist()

        def next_request() -> Request | None:
            if not stack:
                return None
            count = self.scorer.share(len(stack), self.users_per_call)
            users = np.array(stack[: -count - 1 : -1], dtype=np.int64)
            del stack[-len(users) :]
            position = self.position[users]
            sizes = np.minimum(self.batch_size, self.end[users] - position)
            batch, offset = ranges(sizes)
            items = items_at(place[users[batch]], position[batch] + offset)
            return Request(self.users[users][batch], items, (users, sizes, batch))

        def take(request: Request, scores: Floats) -> None:
            users, sizes, batch = request.rest
            pair, offset = ranges(self.held[users][batch])
            row = self.first[users][batch][pair] + offset
            scores = scores[pair]
            target = self.target[row]
            np.add.at(self.above, row[scores > target], 1)
            np.add.at(self.tied, row[scores == target], 1)
            self.position[users] += sizes
            rows, starts = self._rows(users)
            is_beaten = np.minimum.reduceat(self.above[rows], starts) >= self.k
            at_end = self.position[users] == self.end[users]
            stack.extend(users[~is_beaten & ~at_end][::-1].tolist())
            further = self._pass_boundary(users[is_beaten | at_end], is_beaten[is_beaten | at_end])
            stack.extend(further[self.stage[further] < until][::-1].tolist())
            show(
                f"{self.scorer.count:,} scores, {1 - self.done / len(self.users):.0%} of users "
                "need more"
            )

        self.scorer.run(next_request, take)

    def _pass_boundary(self, users: Ints, is_beaten: NDArray[np.bool_]) -> Ints:
        """Note the counts of users at their next boundary, and return those who go on."""
        self.done += len(users)
        has_boundary = self.stage[users] < self.last[users]
        users = users[has_boundary]
        is_beaten = is_beaten[has_boundary]
        stage = self.stage[users] + 1
        (rows, _) = self._rows(users)
        at_boundary = rows, np.repeat(stage, self.held[users])
        self.above_at[at_boundary] = np.minimum(self.above[rows], self.k)
        self.tied_at[at_boundary] = np.where(self.above[rows] < self.k, self.tied[rows], 0)
        goes_on = ~is_beaten & (self.uniform[users] < self.share[stage])
        users = users[goes_on]
        self.stage[users] = stage[goes_on]
        self.end[users] = self._next_end(users)
        self.done -= len(users)
        return users

    def _next_end(self, users: Ints) -> Ints:
        """Return the number of candidates of (users,) users up to their next boundary, or of
        all.
        """
        stage = self.stage[users]
        following = self.boundaries[np.minimum(stage + 1, len(self.boundaries) - 1)]
        return np.where(stage < self.last[users], following, self.others[users])

    def _rows(self, users: Ints) -> tuple[Ints, Ints]:
        """Return the (rows,) rows of (users,) users, and where those of each user start."""
        held = self.held[users]
        user, offset = ranges(held)
        return self.first[users][user] + offset, np.cumsum(held) - held

    def ranks(self, digests: dict[str, str]) -> StagedRanks:
        """Return the ranks, in the order of the ids of the users."""
        is_beaten = self.above >= self.k
        user = np.repeat(np.arange(len(self.users)), self.held)
        scored = np.ones(len(self.rows), dtype=np.int64)
        scored[self.first] += self.position
        return StagedRanks(
            user=self.split.user_ids[self.users][user],
            item=self.split.item_ids[self.split.item[self.rows]],
            score=self.target,
            candidates=self.candidates,
            k=self.k,
            depth=self.depth,
            seed=self.seed,
            boundaries=self.boundaries,
            above_at=self.above_at,
            tied_at=self.tied_at,
            above=np.where(
                is_beaten, self.k, self.above
            ),  # what batches scored beyond k is not used
            tied=np.where(is_beaten, 0, self.tied),
            complete=(self.position >= self.others)[user] & ~is_beaten,
            uniform=self.uniform[user],
            fold=self.fold[user],
            scored=scored,
            digests=digests,
        ).by_id()


def digests_of_split(split: Split, users: Ints) -> dict[str, str]:
    """Return digests of training, held-out items and the users who are ranked, and the number of
    users in all.
    """
    ids = [np.array(names, dtype=str).tobytes() for names in (split.user_ids, split.item_ids)]

    def digest(*arrays: NDArray[Any]) -> str:
        content = hashlib.blake2b(digest_size=16)
        for part in (*ids, *(array.astype("<i8").tobytes() for array in arrays)):
            content.update(len(part).to_bytes(8, "little") + part)
        return content.hexdigest()

    return {
        "training": digest(split.training.indptr, split.training.indices),
        "held_out": digest(split.held_out.indptr, split.held_out.indices),
        "users": digest_of_users(split.user_ids[users]),
        "users_in_all": str(np.count_nonzero(np.diff(split.held_out.indptr))),
    }
