"""A function that scores pairs of users and items, and how it is called.

`Ranker` is the function with its options. `Scorer` asks it for scores: it looks them up in the
journal, divides the others among calls, and checks and keeps the answers.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import math
import re
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampled_metrics.checks import MOST, Floats, Ints, require_whole, shown
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranking.inputs import as_scores, exits_as_errors, refuse_awaitable, takes
from sampled_metrics.ranking.split import Split
from sampled_metrics.stages.executors import DaemonThreads, InCaller
from sampled_metrics.stages.journal import Journal, ScoredPairs

Score = Callable[[NDArray[Any], NDArray[Any]], ArrayLike]
"""Function from (pairs,) users and (pairs,) items to (pairs,) scores, higher first."""

CHECKED_PAIRS = 32
"""Largest number of pairs of a file that are scored again, to see that it is of the same ranker."""

SAME_SCORE = 1e-3
"""Scores that differ by at most this part of their range are the same.

Sums of floats depend on the machine.
"""

_VECTORIZED = "np.vectorize(function, otypes=[float])"
_ADVICE = (
    "it is called with arrays of users and items; for a function of a single pair, write "
    f"{_VECTORIZED}"
)
_NAMES_AN_ARRAY = re.compile(r"\b(ndarray|arrays?)\b")


@dataclass(frozen=True)
class Ranker:
    """A function of scores for `staged_ranks`, with its name and how it is called.

    Args:
        score: a function from (pairs,) users and (pairs,) items to (pairs,) scores, higher is
            better. Users and items are indices, or ids if there are `user_ids` and `item_ids`. It
            is called with the pairs of many users. A function ``ask`` of a single pair is written
            ``np.vectorize(ask, otypes=[float])``. Scores of -inf rank last and tie with each other.
        name: the name of what gives the scores, such as that of a model and its date. A file of
            another ranker is refused. The default is the name of the function with a digest of the
            file that it is in. Two models that the same code loads have the same default; up to 32
            pairs of a file are then scored again to tell them apart. Scores that vary from call to
            call need a name.
        pairs_per_call: the largest number of pairs in a call, of which a user has at most 32.
        concurrency: the largest number of calls at a time, in threads. With several, a call takes
            no more than the share of its thread of what waits, down to one pair, so that none is
            idle.

    Raises:
        ConfigError: the score is not a function of two arguments, or an option is out of range.

    Examples:
        >>> import numpy as np
        >>> import sampled_metrics as sm
        >>> scores = np.array([[0.9, 0.5, 0.4, 0.1, 0.3], [0.1, 0.2, 0.3, 0.4, 0.6]])
        >>> ranker = sm.Ranker(lambda users, items: scores[users, items], name="a table of mine",
        ...     concurrency=4)
        >>> sm.staged_ranks(ranker, np.zeros((2, 5)), [1, 2], k=2, depth=None).above.tolist()
        [1, 2]
    """

    score: Score
    _: KW_ONLY
    name: str | None = None
    pairs_per_call: int = 1024
    concurrency: int = 1

    def __post_init__(self) -> None:
        if not callable(self.score):
            raise ConfigError(
                f"score must be a function of users and items, not {shown(self.score)}"
            )
        if not takes(self.score, 2):
            raise ConfigError("score must be a function of two arguments, users and items")
        if isinstance(self.score, np.vectorize) and self.score.otypes is None:
            raise ConfigError(
                "score: np.vectorize gives all scores the type of the first one; write "
                f"{_VECTORIZED}"
            )
        if self.name is not None and not (isinstance(self.name, str) and self.name.strip()):
            raise ConfigError(f"name of a ranker must be text, not {shown(self.name)}")
        require_whole(1, MOST, pairs_per_call=self.pairs_per_call, concurrency=self.concurrency)

    @property
    def label(self) -> str:
        """Return the name of the ranker, or that of the function with a digest of its file.

        The digest is of the code of the function if it is in no file.
        """
        if self.name is not None:
            return self.name
        function: Any = self.score
        while isinstance(function, functools.partial | np.vectorize):
            function = function.func if isinstance(function, functools.partial) else function.pyfunc
        function = inspect.unwrap(getattr(function, "__func__", function))
        if not hasattr(function, "__qualname__"):  # an object that can be called
            function = type(function)
        try:
            content = Path(inspect.getfile(function)).read_bytes()
        except (TypeError, OSError):  # typed into an interpreter
            content = getattr(getattr(function, "__code__", None), "co_code", b"")
        digest = hashlib.blake2b(content, digest_size=8).hexdigest()
        return f"{function.__module__}.{function.__qualname__}, {digest}"

    def executor(self) -> Executor:
        """Return what runs the calls: threads, or the caller's thread for one call at a time."""
        return DaemonThreads(self.concurrency) if self.concurrency > 1 else InCaller()


class Request(NamedTuple):
    """Pairs to score.

    Attributes:
        users: (pairs,) indices of users.
        items: (pairs,) indices of items.
        tag: comes back with the scores, to whoever made the request.
    """

    users: Ints
    items: Ints
    tag: Any


@dataclass
class _Pending:
    """A request whose scores are not all there.

    Attributes:
        request: the request.
        scores: (pairs,) scores; the answers fill in those that are not known.
        unknown: (unknown pairs,) positions of the pairs whose scores are not known.
        calls_left: number of calls that are not answered.
    """

    request: Request
    scores: Floats
    unknown: Ints
    calls_left: int = 0

    def calls(self, threads: int) -> list[_Call]:
        """Divide the unknown pairs evenly among calls for some threads, and count the calls.

        If all pairs are known, there is a single call, of no pair, so that an answer comes.
        """
        self.calls_left = max(1, min(threads, len(self.unknown)))
        parts = np.array_split(self.unknown, self.calls_left)
        return [_Call(self, positions) for positions in parts]


class _Call(NamedTuple):
    """A call for some pairs of a request, by their (pairs,) positions in the request."""

    pending: _Pending
    positions: Ints

    @property
    def users(self) -> Ints:
        return self.pending.request.users[self.positions]

    @property
    def items(self) -> Ints:
        return self.pending.request.items[self.positions]


class WithIds(NamedTuple):
    """Whether a function of scores takes ids of users, and of items, in place of their indices."""

    users: bool
    items: bool


class Scorer:
    """Asks a ranker for scores, and counts them.

    Args:
        ranker: the ranker.
        executor: what runs its calls.
        split: of the users and items.
        with_ids: whether the function takes ids.
        journal: where scores are kept, and known ones are looked up; None if they are not kept.

    Attributes:
        count: number of scores so far, those of the journal included.

    Raises:
        DataError: the journal is of another ranker.
    """

    def __init__(
        self,
        ranker: Ranker,
        executor: Executor,
        split: Split,
        with_ids: WithIds,
        journal: Journal | None,
    ) -> None:
        self._ranker = ranker
        self._executor = executor
        self._split = split
        self._with_ids = with_ids
        self._journal = journal
        self._known_pairs = np.empty(0, dtype=np.int64)
        self._known_scores = np.empty(0)
        if journal is not None:
            users, items, scores = journal.scores()
            # ascending, so that `_pending` can search them
            self._known_pairs, rows = np.unique(self._pair_numbers(users, items), return_index=True)
            self._known_scores = scores[rows]
            known = ScoredPairs(users[rows], items[rows], self._known_scores)
            self.require_same_scores(journal.name, known)
        self.count = len(self._known_pairs)

    def require_same_scores(self, file: str, known: ScoredPairs) -> None:
        """Raise DataError unless a ranker without a name gives some pairs the scores of a file.

        Two models that the same code loads have the same label, and their scores are not to be
        mixed, nor taken for one another.
        """
        if self._ranker.name is not None or not len(known.scores):
            return
        # pairs that are spread evenly over those that are known
        most_pairs = min(CHECKED_PAIRS, self._ranker.pairs_per_call)
        positions = np.linspace(0, len(known.scores) - 1, most_pairs)
        checked = np.unique(positions.astype(np.int64))
        users = known.users[checked]
        items = known.items[checked]
        before = known.scores[checked]
        now = self._checked(users, items, self._begin(users, items).result())

        finite = known.scores[np.isfinite(known.scores)]
        score_range = float(np.ptp(finite)) if len(finite) else 0.0
        with np.errstate(invalid="ignore"):  # -inf less -inf
            is_close = np.abs(now - before) <= SAME_SCORE * score_range
        differs = (now != before) & ~is_close
        if differs.any():
            pair = int(differs.argmax())
            raise DataError(
                f"{file}: is of another ranker: user {shown(self._split.user_ids[users[pair]])} "
                f"and item {shown(self._split.item_ids[items[pair]])} have the score "
                f"{before[pair]:.6g} there, and {now[pair]:.6g} now; take another file, or "
                "remove this one. Scores that vary need a name of the ranker (--ranker) from the "
                "first call on"
            )

    def scores(self, users: Ints, items: Ints) -> Floats:
        """Return the scores of (pairs,) users and items."""
        scores = np.empty(len(users))
        size = self.share(len(users), self._ranker.pairs_per_call)
        parts = (slice(start, start + size) for start in range(0, len(users), size))
        requests = (Request(users[part], items[part], tag=part) for part in parts)

        def take(request: Request, answer: Floats) -> None:
            scores[request.tag] = answer

        self.run(lambda: next(requests, None), take)
        return scores

    def share(self, waiting: int, most: int) -> int:
        """Return how many of those that wait, users or pairs, the next request takes.

        With one call at a time, it takes as many as it may. With several, it takes no more than the
        share of a thread, so that some are left for the threads that end first. The calls get
        smaller towards the end, and no thread is idle.
        """
        return max(1, min(most, math.ceil(waiting / self._ranker.concurrency)))

    def run(
        self, next_request: Callable[[], Request | None], take: Callable[[Request, Floats], object]
    ) -> None:
        """Score what is asked for until nothing more is.

        After an error, the calls that run are waited for, and their answers are kept. After an
        interruption, the answers that are there are kept, and the calls that run are left to
        themselves.

        Args:
            next_request: returns pairs to score; None if there are none until an answer is there,
                or at the end.
            take: takes the (pairs,) scores of a request.

        Raises:
            DataError: a score is NaN or +inf, or the function does not return a number for each
                pair.
        """
        running: dict[Future[Any], _Call] = {}
        try:
            while True:
                self._begin_calls(next_request, running)
                if not running:
                    return
                for answer in wait(running, return_when=FIRST_COMPLETED).done:
                    call = running.pop(answer)
                    pending = call.pending
                    pending.scores[call.positions] = self._checked_and_kept(call, answer)
                    pending.calls_left -= 1
                    if not pending.calls_left:
                        take(pending.request, pending.scores)
        except BaseException as error:
            is_interruption = not isinstance(error, Exception)
            for answer in wait(running, timeout=0 if is_interruption else None).done:
                with suppress(Exception):  # the first error is raised
                    self._checked_and_kept(running[answer], answer)
            raise

    def _begin_calls(
        self, next_request: Callable[[], Request | None], running: dict[Future[Any], _Call]
    ) -> None:
        """Take requests for the idle threads, and add their calls to those that run."""
        idle = self._ranker.concurrency - len(running)
        pending_requests: list[_Pending] = []
        while len(pending_requests) < idle and (request := next_request()) is not None:
            pending = self._pending(request)
            self.count += len(pending.unknown)
            pending_requests.append(pending)
        for index, pending in enumerate(pending_requests):
            # the threads are divided evenly; the first requests get those that are left over
            threads, left_over = divmod(idle, len(pending_requests))
            threads += index < left_over
            for call in pending.calls(threads):
                answer = self._begin(call.users, call.items)
                running[answer] = call

    def _pending(self, request: Request) -> _Pending:
        """Return a request with the scores that the journal knows."""
        size = len(request.users)
        if not len(self._known_pairs):
            return _Pending(request, np.empty(size), np.arange(size))
        pairs = self._pair_numbers(request.users, request.items)
        # where a pair is among the known ones; of an unknown pair, the place of another one, whose
        # score the answer replaces
        place = np.searchsorted(self._known_pairs, pairs)
        place = np.minimum(place, len(self._known_pairs) - 1)
        unknown = np.flatnonzero(self._known_pairs[place] != pairs)
        return _Pending(request, self._known_scores[place], unknown)

    def _pair_numbers(self, users: Ints, items: Ints) -> Ints:
        """Return a whole number for each of (pairs,) pairs, which no other pair has."""
        return users * np.int64(self._split.shape.items) + items

    def _begin(self, users: Ints, items: Ints) -> Future[Any]:
        """Begin to score (pairs,) users and items, and return their future scores."""
        if not len(users):  # all scores are known: an empty answer, without a call of the function
            return InCaller().submit(list)
        arguments = self._arguments(users, items)
        return self._executor.submit(_answer, self._ranker.score, *arguments)

    def _arguments(self, users: Ints, items: Ints) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return (pairs,) users and items as the function takes them: by ids or by indices."""
        return (
            self._split.user_ids[users] if self._with_ids.users else users,
            self._split.item_ids[items] if self._with_ids.items else items,
        )

    def _checked_and_kept(self, call: _Call, answer: Future[Any]) -> Floats:
        """Return the (pairs,) scores of a call, which are checked, and kept in the journal."""
        if not len(call.positions):
            return np.empty(0)
        scores = self._checked(call.users, call.items, answer.result())
        if self._journal is not None:
            self._journal.add(ScoredPairs(call.users, call.items, scores))
        return scores

    def _checked(self, users: Ints, items: Ints, answer: Any) -> Floats:
        """Return an answer as the (pairs,) scores of users and items.

        Raises:
            DataError: it is not valid.
        """
        with exits_as_errors("the function of scores"):  # an answer may have code of its own
            numbers = self._numbers(users, items, answer)
            scores = _as_float64(numbers)
            is_invalid = np.isnan(scores) | (scores == math.inf)
            if is_invalid.any():
                pair = int(is_invalid.argmax())
                raise DataError(
                    f"the score of user {shown(self._split.user_ids[users[pair]])} and item "
                    f"{shown(self._split.item_ids[items[pair]])} is NaN or +inf"
                )
            return scores

    def _numbers(self, users: Ints, items: Ints, answer: Any) -> NDArray[Any]:
        """Return an answer as (pairs,) numbers of any type."""
        refuse_awaitable(answer, "score")
        is_single = np.isscalar(answer) or getattr(answer, "ndim", None) == 0
        if is_single and len(users) == 1:  # a function of a single pair
            answer = [answer]
        elif is_single:
            raise DataError(f"score returned one value for {len(users)} pairs; {_ADVICE}")
        numbers = as_scores(answer, "must be numbers, one for each pair")
        if numbers.shape != users.shape:
            raise DataError(
                f"the scores of {len(users)} pairs must have shape ({len(users)},), not "
                f"{numbers.shape}"
            )
        return numbers


def _as_float64(numbers: NDArray[Any]) -> Floats:
    """Return numbers as float64; raise DataError if a whole number would be rounded."""
    scores: Floats = numbers.astype(np.float64) + 0.0  # no -0.0, which a journal does not keep
    with np.errstate(invalid="ignore"):  # a whole number at the end of its type
        is_rounded = (scores.astype(numbers.dtype) != numbers) & (numbers.dtype.kind in "iu")
    if is_rounded.any():
        raise DataError(
            f"scores are kept as float64, which cannot hold {numbers[is_rounded][0]} without "
            "rounding it"
        )
    return scores


def _answer(function: Score, users: NDArray[Any], items: NDArray[Any]) -> Any:
    """Return what a function of scores returns.

    If the function exits, that is an error, as an interruption is not.

    Raises:
        DataError: the function fails on arrays in place of single values, ends the process by
            SystemExit, or raises what is no Exception.
    """
    with exits_as_errors("the function of scores"):
        try:
            return function(users, items)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            if _NAMES_AN_ARRAY.search(str(error)):  # it took an array for a single value
                cause = f"{type(error).__name__}: {error}"
                raise DataError(f"score failed, {cause}; {_ADVICE}") from error
            if len(users) > 1:
                error.add_note(f"score failed on {len(users)} pairs; {_ADVICE}")
            raise
