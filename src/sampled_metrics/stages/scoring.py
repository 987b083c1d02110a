"""A function that scores pairs of users and items: how it is called, and the journal that keeps its
answers.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import math
import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from types import TracebackType
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampled_metrics._validation import MOST, Floats, Ints, require_whole, shown
from sampled_metrics.errors import ConfigError, DataError, WriteError
from sampled_metrics.ranking.inputs import as_scores, exits_as_errors, is_async, takes
from sampled_metrics.ranking.labels import scores_of_pairs
from sampled_metrics.ranking.split import Split

Score = Callable[[NDArray[Any], NDArray[Any]], ArrayLike]
"""Function from (pairs,) users and (pairs,) items to (pairs,) scores, higher first."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


@dataclass(frozen=True)
class Ranker:
    """A function that scores pairs of users and items, with its name and how it is called, for
    `staged_ranks`.

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
        """Return the name, or that of the function with a digest of its file, or of its code if it
        is in none.
        """
        if self.name is not None:
            return self.name
        function: Any = self.score
        while isinstance(function, functools.partial | np.vectorize):
            function = function.func if isinstance(function, functools.partial) else function.pyfunc
        function = inspect.unwrap(getattr(function, "__func__", function))
        if not hasattr(function, "__qualname__"):
            function = type(function)
        try:
            content = Path(inspect.getfile(function)).read_bytes()
        except (TypeError, OSError):  # typed into an interpreter
            content = getattr(getattr(function, "__code__", None), "co_code", b"")
        digest = hashlib.blake2b(content, digest_size=8).hexdigest()
        return f"{function.__module__}.{function.__qualname__}, {digest}"

    def pool(self) -> Executor:
        """Return what runs the calls: threads, or that of the caller for one call at a time."""
        return _Threads(self.concurrency) if self.concurrency > 1 else _InCaller()


CHECKED = 32
"""Number of pairs of a file that are scored again, to see that it is of the same ranker."""

SAME = 1e-3
"""Scores that differ by at most this part of their range are the same, as sums of floats depend on
the machine.
"""


class _InCaller(Executor):
    """Runs each call at once, in the thread of the caller."""

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        call: Future[_T] = Future()
        call.set_result(fn(*args, **kwargs))
        return call


class _Threads(Executor):
    """Runs calls in threads that end with the process, so that an interruption does not wait for
    calls that run.
    """

    def __init__(self, concurrency: int) -> None:
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads = [Thread(target=self._run, daemon=True) for _ in range(concurrency)]
        self._idle = iter(self._threads)  # those that are not started

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        call: Future[_T] = Future()

        def run() -> None:
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:  # raised where the result is asked for
                call.set_exception(error)
            else:
                call.set_result(result)

        self._calls.put(run)
        if (thread := next(self._idle, None)) is not None:
            thread.start()
        return call

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let each thread end after its call."""
        for _ in self._threads:
            self._calls.put(None)

    def _run(self) -> None:
        while (run := self._calls.get()) is not None:
            run()


APPLICATION = 0x53_4D_4A_4F
"""The number by which the database says that it is a journal; the letters SMJO."""

_WRONG = """
SELECT rowid, user, item, score FROM scores
WHERE typeof(user) != 'integer' OR typeof(item) != 'integer' OR typeof(score) != 'real'
OR typeof(mark) != 'integer' OR user < 0 OR item < 0 OR score >= 9e999 LIMIT 1
"""
"""The first row that no run has written."""


def _marks(salt: int, users: Ints, items: Ints, scores: Floats) -> Ints:
    """Return a mark of each of (scores,) users, items and scores of a run, by which a changed one
    is known.

    It is a hash of 64 bits by multiplication (splitmix64), which costs little. It is no secret.
    """
    marks = np.full(len(users), salt, dtype=np.uint64)
    for part in (users.astype(np.int64), items.astype(np.int64), scores.astype(np.float64)):
        marks = (marks ^ part.view(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
        marks = (marks ^ (marks >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        marks = (marks ^ (marks >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        marks ^= marks >> np.uint64(31)
    return marks.view(np.int64)


class Journal:
    """The scores of a run in a SQLite file, which is locked while the journal is open.

    A killed process loses no score that was added. Each score has a mark, by which one that was
    changed is known.

    Args:
        path: the file.
        run: what the scores are of, by name. A file of another run is refused.

    Raises:
        DataError: the file is of another run, is no journal or is damaged, or another process has
            it open.
        WriteError: the file cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], run: Mapping[str, Any]) -> None:
        self.path = Path(path).absolute()  # a function of scores may change the working folder
        self.name = os.fspath(path)
        content = json.dumps(dict(run), sort_keys=True).encode()
        self._salt = int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "big")
        with self._errors():
            self._connection = sqlite3.connect(self.path, timeout=0, isolation_level=None)
        try:
            with self._errors():
                self._open(dict(run))
            self._place = self._place_of_file()
        except BaseException:
            self._connection.close()
            raise

    def _open(self, run: dict[str, Any]) -> None:
        execute = self._connection.execute
        is_new = execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        if not is_new and execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
            raise DataError(
                f"{self.name}: is a database of another program, and is left as it is; take "
                "another file"
            )
        execute("PRAGMA locking_mode = EXCLUSIVE")
        execute("PRAGMA journal_mode = WAL")  # a commit is one write at the end of a file
        execute("PRAGMA synchronous = NORMAL")
        if is_new:
            execute(f"PRAGMA application_id = {APPLICATION}")
        execute("BEGIN EXCLUSIVE")
        execute("CREATE TABLE IF NOT EXISTS run (content TEXT)")
        execute(
            "CREATE TABLE IF NOT EXISTS scores (user INTEGER, item INTEGER, score REAL, mark "
            "INTEGER)"
        )
        stored = execute("SELECT content FROM run").fetchone()
        if stored is None:
            execute("INSERT INTO run VALUES (?)", (json.dumps(run),))
        execute("COMMIT")
        if stored is not None:
            refuse_other_run(self.name, self._run_of(stored[0]), run)

    def _run_of(self, content: Any) -> dict[str, Any]:
        """Return what the scores of a file are of."""
        try:
            run = json.loads(content)
        except (TypeError, ValueError, RecursionError):
            run = None
        if not isinstance(run, dict):
            raise DataError(
                f"{self.name}: is damaged: it does not say of what run it is; remove it, and "
                "score again"
            )
        return run

    @property
    def is_empty(self) -> bool:
        """Return whether there are no scores; a damaged file is not empty."""
        try:
            return self._connection.execute("SELECT 1 FROM scores LIMIT 1").fetchone() is None
        except sqlite3.Error:
            return False

    @property
    def is_there(self) -> bool:
        """Return whether the file is the one that was opened, which nobody has removed or
        replaced.
        """
        return self._place_of_file() == self._place

    def _place_of_file(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self.path)
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def scores(self) -> tuple[Ints, Ints, Floats]:
        """Return the (scores,) users, items and scores that were added, also by earlier
        processes.
        """
        with self._errors():
            wrong = self._connection.execute(_WRONG).fetchone()
            if wrong is not None:
                raise DataError(
                    f"{self.name}: is damaged: score {wrong[0]} is of user {wrong[1]!r} and item "
                    f"{wrong[2]!r}, and is {wrong[3]!r}; remove the file, and score again"
                )
            rows = self._connection.execute("SELECT user, item, score, mark, rowid FROM scores")
            names = ("user", "item", "score", "mark", "row")
            table = np.fromiter(
                rows, [(name, np.float64 if name == "score" else np.int64) for name in names]
            )
        is_changed = (
            _marks(self._salt, table["user"], table["item"], table["score"]) != table["mark"]
        )
        if is_changed.any():
            raise DataError(
                f"{self.name}: score {table['row'][is_changed.argmax()]} was changed after it was "
                "written, or is damaged; remove the file, and score again"
            )
        return table["user"], table["item"], table["score"]

    def add(self, users: Ints, items: Ints, scores: Floats) -> None:
        """Keep the (pairs,) scores of users and items."""
        marks = _marks(self._salt, users, items, scores)
        rows = zip(users.tolist(), items.tolist(), scores.tolist(), marks.tolist(), strict=True)
        with self._errors(), self._connection:  # an interruption takes the scores back
            self._connection.execute("BEGIN")
            self._connection.executemany("INSERT INTO scores VALUES (?, ?, ?, ?)", rows)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the journal. Its file is removed if the run has ended well, or if it has no scores.

        If someone has removed it, SQLite leaves its log of writes, which is removed too. A file
        that has taken its place stays.
        """
        is_empty = self.is_empty
        is_there = self.is_there
        self._connection.close()
        if is_there and (error is None or is_empty):
            self.path.unlink(missing_ok=True)
        if not self.path.exists():
            for ending in ("-wal", "-shm", "-journal"):
                self.path.with_name(self.path.name + ending).unlink(missing_ok=True)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Name the file in the errors of SQLite."""
        try:
            yield
        except sqlite3.Error as error:
            if "locked" in str(error):
                raise DataError(
                    f"{self.name}: another run is using it; wait for its end, or take another file"
                ) from None
            if "no such column" in str(error):
                raise DataError(
                    f"{self.name}: is a journal of another version; remove it, and score again"
                ) from None
            if isinstance(error, sqlite3.OperationalError):
                raise WriteError(f"{self.name}: cannot be written: {error}") from None
            raise DataError(f"{self.name}: is not a journal of staged ranks: {error}") from None


def refuse_other_run(name: str, stored: Mapping[str, Any], run: Mapping[str, Any]) -> None:
    """Raise DataError unless a file, by its name, is of this run; the message says what differs."""
    for what, value in run.items():
        if stored.get(what) != value:
            is_digest = isinstance(value, str)
            differs = (
                "is another one" if is_digest else f"is {stored.get(what)} there, and {value} here"
            )
            named = "; a Ranker (--ranker) has a name of its own" if what == "ranker" else ""
            raise DataError(
                f"{name}: is of another run: {what} {differs}; take another file, or remove this "
                f"one{named}"
            )


class Request(NamedTuple):
    """Indices of the (pairs,) users and items to score, and what the one who asks wants to know
    again.
    """

    users: Ints
    items: Ints
    rest: Any


@dataclass
class _Asked:
    """A request that is asked for, in parts.

    Attributes:
        request: the request.
        scores: (pairs,) scores, which the answers fill in.
        new: (new pairs,) the places of those that are not known.
        left: how many parts are not answered.
    """

    request: Request
    scores: Floats
    new: Ints
    left: int = 0

    def parts(self, most: int) -> list[Ints]:
        """Return the places of the pairs of each call, as even as can be; `most` calls, or one if
        all are known.
        """
        parts = np.array_split(self.new, max(1, min(most, len(self.new))))
        self.left = len(parts)
        return parts


class _Part(NamedTuple):
    """The (pairs,) places in a request that a call is of."""

    asked: _Asked
    pairs: Ints

    @property
    def users(self) -> Ints:
        return self.asked.request.users[self.pairs]

    @property
    def items(self) -> Ints:
        return self.asked.request.items[self.pairs]


class Scorer:
    """Asks a ranker for scores, and counts them.

    Args:
        ranker: the ranker.
        pool: what runs its calls.
        split: of the users and items.
        with_ids: whether the function takes ids of users, and of items, in place of their indices.
        journal: where scores are kept, and known ones are looked up; None if they are not kept.

    Attributes:
        count: number of scores so far, those of the journal included.

    Raises:
        DataError: the journal is of another ranker.
    """

    def __init__(
        self,
        ranker: Ranker,
        pool: Executor,
        split: Split,
        with_ids: tuple[bool, bool],
        journal: Journal | None,
    ) -> None:
        self._ranker = ranker
        self._pool = pool
        self._split = split
        self._with_ids = with_ids
        self._journal = journal
        self._known_pairs = np.empty(0, dtype=np.int64)
        self._known_scores = np.empty(0)
        if journal is not None:
            users, items, scores = journal.scores()
            self._known_pairs, first = np.unique(
                users * split.shape.items + items, return_index=True
            )
            self._known_scores = scores[first]
            self.require_same_scores(journal.name, users[first], items[first], self._known_scores)
        self.count = len(self._known_pairs)

    def require_same_scores(self, file: str, users: Ints, items: Ints, known: Floats) -> None:
        """Raise DataError unless a ranker without a name gives some of (pairs,) pairs the scores
        that a file has.

        Two models that the same code loads have the same label, and their scores are not to be
        mixed, nor taken for one another.
        """
        if self._ranker.name is not None or not len(known):
            return
        chosen = np.unique(
            np.linspace(0, len(known) - 1, min(CHECKED, self._ranker.pairs_per_call)).astype(
                np.int64
            )
        )
        finite = known[np.isfinite(known)]
        spread = float(np.ptp(finite)) if len(finite) else 0.0
        users = users[chosen]
        items = items[chosen]
        known = known[chosen]
        scores = self._checked(users, items, self._begun(users, items).result())
        with np.errstate(invalid="ignore"):  # -inf less -inf
            differs = (scores != known) & ~(np.abs(scores - known) <= SAME * spread)
        if differs.any():
            pair = int(differs.argmax())
            raise DataError(
                f"{file}: is of another ranker: user {shown(self._split.user_ids[users[pair]])} "
                f"and item {shown(self._split.item_ids[items[pair]])} have the score "
                f"{known[pair]:.6g} there, and {scores[pair]:.6g} now; take another file, or "
                "remove this one. Scores that vary need a name of the ranker (--ranker) from the "
                "first call on"
            )

    def scores(self, users: Ints, items: Ints) -> Floats:
        """Return the scores of (pairs,) users and items."""
        scores = np.empty(len(users))
        size = self.share(len(users), self._ranker.pairs_per_call)
        parts = (slice(first, first + size) for first in range(0, len(users), size))
        requests = (Request(users[part], items[part], part) for part in parts)

        def take(request: Request, answer: Floats) -> None:
            scores[request.rest] = answer

        self.run(lambda: next(requests, None), take)
        return scores

    def share(self, waiting: int, most: int) -> int:
        """Return how many of those that wait, users or pairs, the next call takes, so that no
        thread is without any.

        With one call at a time, these are as many as it may take. With several, it takes the share
        of a thread. So users wait for the threads that end first, and the calls get smaller towards
        the end.
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
        running: dict[Future[Any], _Part] = {}
        try:
            while True:
                idle = self._ranker.concurrency - len(running)
                asked = list[_Asked]()
                while len(asked) < idle and (request := next_request()) is not None:
                    is_new, scores = self._known(request)
                    self.count += int(np.count_nonzero(is_new))
                    asked.append(_Asked(request, scores, np.flatnonzero(is_new)))
                for place, waiting in enumerate(asked):
                    threads = idle // len(asked) + (place < idle % len(asked))
                    for pairs in waiting.parts(threads):
                        call = self._begun(
                            waiting.request.users[pairs], waiting.request.items[pairs]
                        )
                        running[call] = _Part(waiting, pairs)
                if not running:
                    return
                for call in wait(running, return_when=FIRST_COMPLETED).done:
                    part = running.pop(call)
                    part.asked.scores[part.pairs] = self._kept(
                        part.users, part.items, call.result()
                    )
                    part.asked.left -= 1
                    if not part.asked.left:
                        take(part.asked.request, part.asked.scores)
        except BaseException as error:
            for call in wait(running, None if isinstance(error, Exception) else 0).done:
                part = running[call]
                with suppress(Exception):  # the first error is raised
                    self._kept(part.users, part.items, call.result())
            raise

    def _known(self, request: Request) -> tuple[NDArray[np.bool_], Floats]:
        """Return which pairs of a request the journal lacks, and the scores of the others in their
        places.
        """
        if not len(self._known_pairs):
            return np.ones(len(request.users), dtype=bool), np.empty(len(request.users))
        pairs = request.users * np.int64(self._split.shape.items) + request.items
        place = np.minimum(np.searchsorted(self._known_pairs, pairs), len(self._known_pairs) - 1)
        return self._known_pairs[place] != pairs, self._known_scores[place]

    def _begun(self, users: Ints, items: Ints) -> Future[Any]:
        """Begin to score pairs, and return their future scores."""
        if not len(users):
            return _InCaller().submit(list)
        return self._pool.submit(_answered, self._ranker.score, *self._asked(users, items))

    def _asked(self, users: Ints, items: Ints) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return (pairs,) users and items as the function takes them: by ids or by indices."""
        return (
            self._split.user_ids[users] if self._with_ids[0] else users,
            self._split.item_ids[items] if self._with_ids[1] else items,
        )

    def _kept(self, users: Ints, items: Ints, answer: Any) -> Floats:
        """Return an answer as the (pairs,) scores of users and items, which are checked, and kept
        in the journal.
        """
        if not len(users):
            return np.empty(0)
        scores = self._checked(users, items, answer)
        if self._journal is not None:
            self._journal.add(users, items, scores)
        return scores

    def _checked(self, users: Ints, items: Ints, answer: Any) -> Floats:
        """Return an answer as the (pairs,) scores of users and items; raise DataError if it is
        none.
        """
        with exits_as_errors("the function of scores"):  # an answer may have code of its own
            return self._as_scores(users, items, answer)

    def _as_scores(self, users: Ints, items: Ints, answer: Any) -> Floats:
        if is_async(answer):
            raise DataError(
                "score is async; a function may run it, such as by asyncio.run, in one of "
                "several threads"
            )
        is_single = np.isscalar(answer) or getattr(answer, "ndim", None) == 0
        if is_single and len(users) == 1:  # of a function of a single pair
            answer = [answer]
        elif is_single:
            raise DataError(f"score returned one value for {len(users)} pairs; {_SINGLE}")
        answer = scores_of_pairs(answer, *self._asked(users, items))
        numbers = as_scores(answer, "must be numbers, one for each pair")
        if numbers.shape != users.shape:
            raise DataError(
                f"the scores of {len(users)} pairs must have shape ({len(users)},), not "
                f"{numbers.shape}"
            )
        scores = numbers.astype(np.float64) + 0.0  # no -0.0, which a journal does not tell from 0
        with np.errstate(invalid="ignore"):  # a whole number at the end of its type
            rounded = (scores.astype(numbers.dtype) != numbers) & (numbers.dtype.kind in "iu")
        if rounded.any():
            raise DataError(
                f"scores are kept as float64, which cannot hold {numbers[rounded][0]} without "
                "rounding it"
            )
        is_wrong = np.isnan(scores) | (scores == math.inf)
        if is_wrong.any():
            pair = int(is_wrong.argmax())
            raise DataError(
                f"the score of user {shown(self._split.user_ids[users[pair]])} and item "
                f"{shown(self._split.item_ids[items[pair]])} is NaN or +inf"
            )
        return scores


_VECTORIZED = "np.vectorize(function, otypes=[float])"
_SINGLE = (
    "it is called with arrays of users and items; for a function of a single pair, write "
    f"{_VECTORIZED}"
)


def _answered(function: Score, users: NDArray[Any], items: NDArray[Any]) -> Any:
    """Return what a function of the user returns.

    An exit of it is an error, as an interruption is not.

    Raises:
        DataError: the function fails on arrays in place of single values, ends the process by
            SystemExit, or raises what is no Exception.
    """
    with exits_as_errors("the function of scores"):
        try:
            return function(users, items)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            if re.search(
                r"\b(ndarray|arrays?)\b", str(error)
            ):  # it took an array for a single value
                cause = f"{type(error).__name__}: {error}"
                raise DataError(f"score failed, {cause}; {_SINGLE}") from error
            if len(users) > 1:
                error.add_note(f"score failed on {len(users)} pairs; {_SINGLE}")
            raise
