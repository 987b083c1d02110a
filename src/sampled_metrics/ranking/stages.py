"""Staged ranks: the candidates of a user are scored in an order until k of them are above the held-out item.

A share of the users goes on from each boundary (`sampled_metrics.ranks.staged`). A scorer is called with pairs of users
and items. Batches of a user end at boundaries, so that the results do not depend on the size of batches and calls, nor
on the order of the answers.
"""

import functools
import hashlib
import inspect
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampled_metrics._files import require_writable
from sampled_metrics._running import terminal_status
from sampled_metrics._validation import MOST, Floats, Ints, is_real, is_whole, shown
from sampled_metrics.data.split import Split
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranking.candidate_order import CandidateOrder, Places
from sampled_metrics.ranking.inputs import PairsLike, split_of, warn_of_users_without
from sampled_metrics.ranking.rank import chosen_users, takes
from sampled_metrics.ranking.scoring import Journal, Request, Score, Scorer, refuse_other_run
from sampled_metrics.ranks.staged import StagedRanks, boundaries, last_boundary, shares
from sampled_metrics.ranks.staged_files import FOLDS, require_ending

BATCH = 32
"""The largest number of candidates of a user in a call. Larger batches score more than is needed."""


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
    pairs_per_call: int = 1024,
    concurrency: int = 1,
    seed: int = 0,
    file: str | os.PathLike[str] | None = None,
    ranker: str | None = None,
) -> StagedRanks:
    """Rank held-out items by few scores for each user, for unbiased metrics of the first k ranks.

    The held-out item of a user is scored, and then the candidates in an order. As soon as k candidates score higher,
    the rank is above k, and the metric is 0. From the boundaries 10, 30, 100, 300, … candidates on, below half of them,
    only a share min(1, (depth / boundary)^(3/4)) of the users who are not beaten goes on. They are the same users for
    all recommenders. `evaluate` and `compare` weight these users, so that the mean is that of all users.

    The candidates of a user with several held-out items are scored once for all of them.

    Args:
        score: a function from (pairs,) users and (pairs,) items to (pairs,) scores, higher is better. Users and items
            are indices, or ids if there are `user_ids` and `item_ids`. It is called with the pairs of many users.
            Scores of -inf rank last and tie with each other.
        training: as in `rank`.
        held_out: as in `rank`.
        k: the largest cut-off of the metrics.
        depth: number of candidates from which on only a share of the users goes on; None lets all go on, for exact
            metrics. Users take about as many scores or somewhat more on average: some are beaten before, and others
            are completed.
        order: "popularity", the number of users who have the item in training; or (items,) numbers, higher first; or a
            function of a user, an index or an id, that returns such numbers. Any order is right, and a good one needs
            fewer scores. Ties are in the order of the items.
        users: a part of the users, as in `rank`. `StagedRanks.concat` joins parts.
        user_ids: as in `rank`.
        item_ids: as in `rank`.
        pairs_per_call: the largest number of pairs in a call, of which a user has at most 32.
        concurrency: the largest number of calls at a time, in threads.
        seed: of the users' numbers. Recommenders are compared with the same seed, k and depth.
        file: the file that the ranks are written to, .parquet with pyarrow, or .sqlite. Each answer is kept at once in
            a journal beside it, whose name ends in .journal. A run that was stopped goes on from there if it is called
            again, and the scores of the journal are not asked for again. If the file is there, it is read, nothing is
            scored, and a warning says so.
        ranker: the name of what gives the scores, such as that of a model and its date. A file of another ranker is
            refused. The default is the name of the function with a digest of the file that it is in, which does not
            tell two models that the same code loads.

    Returns:
        The ranks, a `StagedRanks` with one row for each held-out item, in the order of the ids of the users. `plan`
        says from a pilot how many scores they take.

    Raises:
        DataError: as in `rank`; a score is NaN or +inf, or the function does not return a number for each pair; or
            `file` is of another run, or another process writes it.
        ConfigError: an option is out of range, or `file` has another ending, or needs pyarrow.
        WriteError: `file` cannot be written.

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
    if not takes(score, 2):
        raise ConfigError("score must be a function of two arguments, users and items")
    for name, value in {"k": k, "pairs_per_call": pairs_per_call, "concurrency": concurrency}.items():
        if not is_whole(value) or not 1 <= value <= MOST:
            raise ConfigError(f"{name} must be a whole number from 1 to {MOST}, not {shown(value)}")
    if depth is not None and not (is_real(depth) and (1 <= depth <= MOST or depth == np.inf)):
        raise ConfigError(f"depth must be a number from 1 to {MOST}, or None, not {shown(depth)}")
    if not is_whole(seed) or seed < 0:
        raise ConfigError(f"seed must be a whole number, 0 or more, not {shown(seed)}")
    if ranker is not None and not (isinstance(ranker, str) and ranker.strip()):
        raise ConfigError(f"ranker must be a name, not {shown(ranker)}")
    split, *ids = split_of(training, held_out, (None, None), user_ids, item_ids)
    chosen = chosen_users(users, split.shape.users)
    warn_of_users_without(split, chosen)
    chosen = chosen[np.diff(split.held_out.indptr)[chosen] > 0]
    if not len(chosen):
        raise DataError("held_out: none of the users has a held-out item")
    with_ids = ids[0].is_given, ids[1].is_given
    candidate_order = CandidateOrder(order, split, with_ids[0])
    run = _Run(split, chosen, k, depth, seed, pairs_per_call)
    digests = _digests(split, chosen) | {"order": candidate_order.name, "ranker": ranker or fingerprint(score)}

    def ranks(journal: Journal | None) -> StagedRanks:
        with Scorer(score, split, with_ids, concurrency, journal) as scorer, terminal_status() as show:
            run.progress = lambda scores, share: show(f"{scores:,} scores, {share:.0%} of users need more")
            return run.ranks(scorer, candidate_order, digests)

    if file is None:
        return ranks(None)
    return _kept(os.fspath(file), {"k": k, "depth": depth, "seed": seed} | digests, ranks)


def _kept(file: str, run: dict[str, Any], ranks: Callable[[Journal], StagedRanks]) -> StagedRanks:
    """Return the ranks of a run from its file, or compute them with a journal and write the file."""
    require_ending(file)
    path = Path(file).absolute()  # a function of scores may change the working folder
    if path.exists():
        return _finished(file, run)
    require_writable(file)
    with Journal(f"{file}.journal", run) as journal:
        if path.exists():  # another process has written it since
            return _finished(file, run)
        try:
            table = ranks(journal)
        except BaseException as error:  # an interruption, too
            if not journal.is_empty:
                error.add_note(f"what was scored is in {journal.name}, and the same call goes on from there")
            raise
        table.write(file if Path(file).absolute() == path else path)
        return table


def _finished(file: str, run: dict[str, Any]) -> StagedRanks:
    table = StagedRanks.read(file)
    refuse_other_run(file, table.run, run)
    warnings.warn(f"{file} is complete; nothing was scored", stacklevel=4)
    return table


def fingerprint(score: Callable[..., Any]) -> str:
    """Return the name of a function, with a digest of the file that it is in, or of its code if it is in none."""
    function: Any = score
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(getattr(function, "__func__", function))
    if not hasattr(function, "__qualname__"):
        function = type(function)
    try:
        content = Path(inspect.getfile(function)).read_bytes()
    except (TypeError, OSError):  # typed into an interpreter
        content = getattr(getattr(function, "__code__", None), "co_code", b"")
    digest = hashlib.blake2b(content, digest_size=8).hexdigest()
    return f"{function.__module__}.{function.__qualname__}, {digest}"


class _Run:
    """A run over the stages of some users.

    Args:
        split: of all users.
        users: (users,) ascending indices of users who have held-out items.
        k: as in `staged_ranks`; likewise depth, seed and pairs_per_call.
    """

    def __init__(
        self,
        split: Split,
        users: Ints,
        k: int,
        depth: float | None,
        seed: int,
        pairs_per_call: int,
    ) -> None:
        self.split, self.users, self.k, self.depth, self.seed = split, users, k, depth, seed
        self.pairs_per_call = pairs_per_call
        self.batch_size = min(BATCH, pairs_per_call)
        self.users_per_call = max(1, pairs_per_call // self.batch_size)
        self.progress: Callable[[int, float], object] = lambda scores, share: None
        self.rows = np.flatnonzero(np.isin(split.user, users))
        self.held = np.diff(split.held_out.indptr)[users].astype(np.int64)  # (users,) how many items are held out
        self.first = np.cumsum(self.held) - self.held  # (users,) the first row of each user
        self.boundaries = boundaries(int(split.candidates.max()))
        self.share = shares(depth, self.boundaries)
        self.uniform, self.fold = _numbers(split.user_ids[users], seed)
        self.candidates = split.candidates[self.rows]
        of_user = self.candidates[self.first]
        self.others = of_user - 1
        self.last = last_boundary(self.boundaries, of_user)

    def ranks(self, scorer: Scorer, order: CandidateOrder, digests: dict[str, str]) -> StagedRanks:
        """Score what is needed, and return the ranks."""
        target = self._scores_of_held_out(scorer)
        counts = _Counts(self, target)
        start = 0
        for block, items_at in order.blocks(self.users):
            scorer.run(_Stages(self, counts, scorer, range(start, start + len(block)), items_at))
            start += len(block)
        is_beaten = counts.above >= self.k
        counts.above[is_beaten], counts.tied[is_beaten] = self.k, 0  # what batches scored beyond k is not used
        user = np.repeat(np.arange(len(self.users)), self.held)
        scored = np.ones(len(self.rows), dtype=np.int64)
        scored[self.first] += counts.position
        ranks = StagedRanks(
            user=self.split.user_ids[self.users][user],
            item=self.split.item_ids[self.split.item[self.rows]],
            score=target,
            candidates=self.candidates,
            k=self.k,
            depth=self.depth,
            seed=self.seed,
            boundaries=self.boundaries,
            above_at=counts.above_at,
            above=counts.above,
            tied=counts.tied,
            complete=(counts.position >= self.others)[user] & ~is_beaten,
            uniform=self.uniform[user],
            fold=self.fold[user],
            scored=scored,
            digests=digests,
        )
        return ranks.by_id()

    def _scores_of_held_out(self, scorer: Scorer) -> Floats:
        """Return the (rows,) scores of the held-out items."""
        items = self.split.item[self.rows].astype(np.int64)
        work = _HeldOut(self.split.user[self.rows], items, self.pairs_per_call)
        scorer.run(work)
        return work.scores


class _HeldOut:
    """The scores of held-out items, (rows,) users and items."""

    def __init__(self, users: Ints, items: Ints, pairs_per_call: int) -> None:
        self.users, self.items, self.pairs_per_call = users, items, pairs_per_call
        self.scores, self.asked = np.empty(len(users)), 0

    def next_request(self) -> Request | None:
        rows = np.arange(self.asked, min(self.asked + self.pairs_per_call, len(self.users)))
        self.asked += len(rows)
        return Request(self.users[rows], self.items[rows], rows) if len(rows) else None

    def take(self, request: Request, scores: Floats) -> None:
        self.scores[request.rest] = scores


class _Counts:
    """What is known of the users and rows of a run.

    Attributes:
        target: (rows,) scores of the held-out items.
        above: (rows,) candidates that scored higher.
        tied: (rows,) candidates that scored the same.
        above_at: as in `StagedRanks`.
        position: (users,) number of candidates that were scored.
        stage: (users,) the boundary that was passed last.
        end: (users,) number of candidates up to the next boundary, or of all.
        done: number of users who need no more scores.
    """

    def __init__(self, run: _Run, target: Floats) -> None:
        rows, users = len(run.rows), len(run.users)
        self.target = target
        self.above, self.tied = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)
        self.above_at = np.full((rows, len(run.boundaries)), -1)
        self.above_at[:, 0] = 0
        self.position, self.stage = np.zeros(users, dtype=np.int64), np.zeros(users, dtype=np.int64)
        self.end = run.others.copy()
        if len(run.boundaries) > 1:
            self.end = np.where(run.last > 0, run.boundaries[1], run.others)
        self.done = 0


@dataclass(frozen=True)
class _Batches:
    """Batches of candidates in a request.

    Attributes:
        users: (batches,) the user of each, a number in the run.
        sizes: (batches,) numbers of candidates.
        batch: (pairs,) the batch of each pair.
    """

    users: Ints
    sizes: Ints
    batch: Ints


class _Stages:
    """The stages of a block of users, given by their numbers in the run.

    Users who may go on for longest are first, so that calls are full for as long as can be.
    """

    def __init__(self, run: _Run, counts: _Counts, scorer: Scorer, users: range, items_at: Places) -> None:
        self.run, self.counts, self.scorer = run, counts, scorer
        self.first_user, self.items_at = users.start, items_at
        numbers = np.arange(users.start, users.stop)
        numbers = numbers[np.argsort(-run.uniform[numbers], kind="stable")]
        self.stack = numbers[counts.end[numbers] > 0].tolist()
        counts.done += len(numbers) - len(self.stack)

    def next_request(self) -> Request | None:
        run, counts = self.run, self.counts
        users = np.array(self.stack[: -run.users_per_call - 1 : -1], dtype=np.int64)
        if not len(users):
            return None
        del self.stack[-len(users) :]
        position = counts.position[users]
        sizes = np.minimum(run.batch_size, counts.end[users] - position)
        batch, offset = _ranges(sizes)
        items = self.items_at(users[batch] - self.first_user, position[batch] + offset)
        return Request(run.users[users][batch], items, _Batches(users, sizes, batch))

    def take(self, request: Request, scores: Floats) -> None:
        run, counts = self.run, self.counts
        users, batch = request.rest.users, request.rest.batch
        pair, offset = _ranges(run.held[users][batch])
        row = run.first[users][batch][pair] + offset
        scores, target = scores[pair], counts.target[row]
        np.add.at(counts.above, row[scores > target], 1)
        np.add.at(counts.tied, row[scores == target], 1)
        counts.position[users] += request.rest.sizes

        rows, starts = self._rows(users)
        is_beaten = np.minimum.reduceat(counts.above[rows], starts) >= run.k
        at_end = counts.position[users] == counts.end[users]
        self.stack.extend(users[~is_beaten & ~at_end][::-1].tolist())
        self._pass_boundary(users[is_beaten | at_end], is_beaten[is_beaten | at_end])
        run.progress(self.scorer.count, 1 - counts.done / len(run.users))

    def _pass_boundary(self, users: Ints, is_beaten: NDArray[np.bool_]) -> None:
        """Note the counts of users at their next boundary, and let those go on who do."""
        run, counts = self.run, self.counts
        has_boundary = counts.stage[users] < run.last[users]
        counts.done += len(users)
        users, is_beaten = users[has_boundary], is_beaten[has_boundary]
        if not len(users):
            return
        stage = counts.stage[users] + 1
        rows, _ = self._rows(users)
        counts.above_at[rows, np.repeat(stage, run.held[users])] = np.minimum(counts.above[rows], run.k)
        goes_on = ~is_beaten & (run.uniform[users] < run.share[stage])
        users, stage = users[goes_on], stage[goes_on]
        following = run.boundaries[np.minimum(stage + 1, len(run.boundaries) - 1)]
        counts.stage[users] = stage
        counts.end[users] = np.where(stage < run.last[users], following, run.others[users])
        counts.done -= len(users)
        self.stack.extend(users[::-1].tolist())

    def _rows(self, users: Ints) -> tuple[Ints, Ints]:
        """Return the (rows,) rows of (users,) users, and where those of each user start."""
        held = self.run.held[users]
        user, offset = _ranges(held)
        return self.run.first[users][user] + offset, np.cumsum(held) - held


def _ranges(sizes: Ints) -> tuple[Ints, Ints]:
    """Return the range that each number of joined ranges is in, and its place there, from 0."""
    which = np.repeat(np.arange(len(sizes)), sizes)
    return which, np.arange(len(which)) - (np.cumsum(sizes) - sizes)[which]


def _numbers(names: NDArray[Any], seed: int) -> tuple[Floats, Ints]:
    """Return a number from 0 to 1, and a fold, for each of (users,) names of users, by two hashes."""
    numbers, folds = np.empty(len(names)), np.empty(len(names), dtype=np.int64)
    for index, name in enumerate(names.tolist()):
        numbers[index] = _hashed(seed, "share", name) / 2**64
        folds[index] = _hashed(seed, "fold", name) % FOLDS
    return numbers, folds


def _hashed(seed: int, purpose: str, name: Any) -> int:
    """Return a whole number below 2^64 from a hash of the seed, a word and an id as text."""
    text = f"{seed}\0{purpose}\0{name}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")


def _digests(split: Split, users: Ints) -> dict[str, str]:
    """Return digests of the training and held-out items of all users, and of the users who are ranked.

    Beside them is the number of all users with held-out items.
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
        "users": digest(users),
        "users_in_all": str(np.count_nonzero(np.diff(split.held_out.indptr))),
    }
