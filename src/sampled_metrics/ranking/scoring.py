"""Calls of a function that scores pairs of users and items, and the journal that keeps its answers."""

import inspect
import json
import math
import os
import sqlite3
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampled_metrics._validation import Floats, Ints, shown
from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError, WriteError
from sampled_metrics.ranking.inputs import as_scores

APPLICATION = 0x53_4D_4A_4F
"""The number by which the database says that it is a journal; the letters SMJO."""

_WRONG = """
SELECT rowid, user, item, score FROM scores WHERE typeof(user) != 'integer' OR typeof(item) != 'integer'
OR typeof(score) != 'real' OR user < 0 OR item < 0 OR score >= 9e999 LIMIT 1
"""
"""The first row that no run has written."""


class Journal:
    """The scores of a run in a SQLite file, which is locked while the journal is open.

    A killed process loses no score that was added.

    Args:
        path: the file.
        run: what the scores are of, by name. A file of another run is refused.

    Raises:
        DataError: the file is of another run, is no journal or is damaged, or another process has it open.
        WriteError: the file cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], run: Mapping[str, Any]) -> None:
        self.path = Path(path).absolute()  # a function of scores may change the working folder
        self.name = os.fspath(path)
        try:
            self._connection = sqlite3.connect(self.path, timeout=0, isolation_level=None)
        except sqlite3.Error as error:
            raise self._error(error) from None
        try:
            self._open(json.loads(json.dumps(dict(run))))
        except sqlite3.Error as error:
            self._connection.close()
            raise self._error(error) from None

    def _open(self, run: dict[str, Any]) -> None:
        execute = self._connection.execute
        is_new = execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        if not is_new and execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
            self._connection.close()
            raise DataError(f"{self.name}: is a database of another program, and is left as it is; take another file")
        execute("PRAGMA locking_mode = EXCLUSIVE")
        execute("PRAGMA journal_mode = WAL")  # a commit is one write at the end of a file
        execute("PRAGMA synchronous = NORMAL")
        if is_new:
            execute(f"PRAGMA application_id = {APPLICATION}")
        execute("BEGIN EXCLUSIVE")
        execute("CREATE TABLE IF NOT EXISTS run (content TEXT)")
        execute("CREATE TABLE IF NOT EXISTS scores (user INTEGER, item INTEGER, score REAL)")
        stored = execute("SELECT content FROM run").fetchone()
        if stored is None:
            execute("INSERT INTO run VALUES (?)", (json.dumps(run),))
        execute("COMMIT")
        if stored is not None:
            try:
                refuse_other_run(self.name, json.loads(stored[0]), run)
            except DataError:
                self._connection.close()
                raise

    @property
    def is_empty(self) -> bool:
        """Return whether there are no scores; a damaged file is not empty."""
        try:
            return self._connection.execute("SELECT 1 FROM scores LIMIT 1").fetchone() is None
        except sqlite3.Error:
            return False

    def scores(self) -> tuple[Ints, Ints, Floats]:
        """Return the (scores,) users, items and scores that were added, also by earlier processes."""
        try:
            wrong = self._connection.execute(_WRONG).fetchone()
            rows = self._connection.execute("SELECT user, item, score FROM scores")
            if wrong is None:
                table = np.fromiter(rows, dtype=[("user", np.int64), ("item", np.int64), ("score", np.float64)])
        except sqlite3.Error as error:
            raise self._error(error) from None
        if wrong is not None:
            raise DataError(
                f"{self.name}: is damaged: score {wrong[0]} is of user {wrong[1]!r} and item {wrong[2]!r}, and is "
                f"{wrong[3]!r}; remove the file, and score again"
            )
        return table["user"], table["item"], table["score"]

    def add(self, users: Ints, items: Ints, scores: Floats) -> None:
        """Keep the (pairs,) scores of users and items."""
        try:
            self._connection.execute("BEGIN")
            self._connection.executemany(
                "INSERT INTO scores VALUES (?, ?, ?)", zip(users.tolist(), items.tolist(), scores.tolist(), strict=True)
            )
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._error(error) from None

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the journal. Its file is removed if the run has ended well, or if it has no scores."""
        is_empty = self.is_empty
        self._connection.close()
        if error is None or is_empty:
            self.path.unlink(missing_ok=True)

    def _error(self, error: sqlite3.Error) -> Exception:
        if "locked" in str(error):
            return DataError(f"{self.name}: another run is using it; wait for its end, or take another file")
        if isinstance(error, sqlite3.OperationalError):
            return WriteError(f"{self.name}: cannot be written: {error}")
        return DataError(f"{self.name}: is not a journal of staged ranks: {error}")


def refuse_other_run(name: str, stored: Mapping[str, Any], run: Mapping[str, Any]) -> None:
    """Raise DataError unless a file, by its name, is of this run; the message says what differs."""
    for what, value in run.items():
        if stored.get(what) != value:
            is_digest = isinstance(value, str)
            differs = "is another one" if is_digest else f"is {stored.get(what)} there, and {value} here"
            named = "; ranker (--ranker) gives the ranker a name of its own" if what == "ranker" else ""
            raise DataError(
                f"{name}: is of another run: {what} {differs}; take another file, or remove this one{named}"
            )


Score = Callable[[NDArray[Any], NDArray[Any]], ArrayLike]
"""Function from (pairs,) users and (pairs,) items to (pairs,) scores, higher first."""


@dataclass(frozen=True)
class Request:
    """Pairs to score.

    Attributes:
        users: (pairs,) indices of users.
        items: (pairs,) indices of items.
        rest: what the one who asks wants to know again with the answer.
    """

    users: Ints
    items: Ints
    rest: Any = None


class Work(Protocol):
    """Work that needs scores, of which some depend on others."""

    def next_request(self) -> Request | None:
        """Return pairs to score; None if there are none until an answer is there, or at the end."""

    def take(self, request: Request, scores: Floats) -> None:
        """Take the (pairs,) scores of a request."""


class Scorer:
    """Calls the function of scores, and counts the scores.

    Args:
        score: the function.
        split: of the users and items.
        with_ids: whether the function takes ids of users, and of items, in place of their indices.
        concurrency: how many calls run at a time, in threads.
        journal: where scores are kept, and known ones are looked up; None if they are not kept.

    Attributes:
        count: number of scores so far, those of the journal included.
    """

    def __init__(
        self,
        score: Score,
        split: Split,
        with_ids: tuple[bool, bool],
        concurrency: int,
        journal: Journal | None,
    ) -> None:
        self._split, self._with_ids = split, with_ids
        self._concurrency, self._journal = concurrency, journal
        self._calls: _Calls = (_Threads if concurrency > 1 else _Calls)(score, concurrency)
        pairs = np.empty(0, dtype=np.int64)
        self._known_pairs, self._known_scores = pairs, pairs.astype(np.float64)
        if journal is not None:
            users, items, scores = journal.scores()
            pairs, first = np.unique(users * split.shape.items + items, return_index=True)
            self._known_pairs, self._known_scores = pairs, scores[first]
        self.count = len(self._known_pairs)

    def __enter__(self) -> "Scorer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._calls.close()

    def run(self, work: Work) -> None:
        """Score what work asks for until it asks for nothing more.

        After an error, the calls that run are waited for, and their answers are kept.

        Raises:
            DataError: a score is NaN or +inf, or the function does not return a number for each pair.
        """
        running: dict[Future[Any], Request] = {}
        try:
            while True:
                while len(running) < self._concurrency and (request := work.next_request()) is not None:
                    running[self._call(request)] = request
                if not running:
                    return
                for call in wait(running, return_when=FIRST_COMPLETED).done:
                    request = running.pop(call)
                    work.take(request, self._answer(request, call.result()))
        except Exception:
            self._keep(running)
            raise

    def _keep(self, running: dict[Future[Any], Request]) -> None:
        """Wait for calls, and keep the answers that are right."""
        for call in wait(running).done:
            if call.exception() is None:
                try:
                    self._answer(running[call], call.result())
                except DataError:
                    continue

    def _call(self, request: Request) -> Future[Any]:
        """Begin to score the pairs of a request that are not known."""
        unknown = ~self._known(request)[0]
        users, items = request.users[unknown], request.items[unknown]
        if not len(users):
            call: Future[Any] = Future()
            call.set_result([])
            return call
        self.count += len(users)
        return self._calls.begin(
            self._split.user_ids[users] if self._with_ids[0] else users,
            self._split.item_ids[items] if self._with_ids[1] else items,
        )

    def _answer(self, request: Request, answer: Any) -> Floats:
        """Return the (pairs,) scores of a request; new ones are checked, and kept in the journal."""
        is_known, scores = self._known(request)
        if is_known.all():
            return scores
        users, items = request.users[~is_known], request.items[~is_known]
        new = self._checked(users, items, answer)
        if self._journal is not None:
            self._journal.add(users, items, new)
        scores[~is_known] = new
        return scores

    def _known(self, request: Request) -> tuple[NDArray[np.bool_], Floats]:
        """Return which pairs of a request the journal has, and their scores."""
        if not len(self._known_pairs):
            return np.zeros(len(request.users), dtype=bool), np.empty(len(request.users))
        pairs = request.users * np.int64(self._split.shape.items) + request.items
        place = np.minimum(np.searchsorted(self._known_pairs, pairs), len(self._known_pairs) - 1)
        return self._known_pairs[place] == pairs, self._known_scores[place]

    def _checked(self, users: Ints, items: Ints, scores: Any) -> Floats:
        """Return an answer as (pairs,) numbers."""
        if inspect.isawaitable(scores):
            raise DataError("score is async; a function may run it, such as by asyncio.run, in one of several threads")
        if np.ndim(scores) == 0 and len(users) == 1:  # a function of a single pair
            scores = [scores]
        numbers = as_scores(scores, "must be numbers, one for each pair")
        if numbers.shape != users.shape:
            raise DataError(f"the scores of {len(users)} pairs must have shape ({len(users)},), not {numbers.shape}")
        wide = numbers.astype(np.float64) + 0.0  # no -0.0, which a journal does not tell from 0
        with np.errstate(invalid="ignore"):  # a whole number at the end of its type
            rounded = (wide.astype(numbers.dtype) != numbers) & (numbers.dtype.kind in "iu")
        if rounded.any():
            raise DataError(f"scores are kept as float64, which cannot hold {numbers[rounded][0]} without rounding it")
        is_wrong = np.isnan(wide) | (wide == math.inf)
        if is_wrong.any():
            pair = int(is_wrong.argmax())
            raise DataError(
                f"the score of user {shown(self._split.user_ids[users[pair]])} and item "
                f"{shown(self._split.item_ids[items[pair]])} is NaN or +inf"
            )
        return wide


def called(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function of the user returns. An exit of it is an error, as an interruption is not.

    Raises:
        DataError: the function ends the process by SystemExit, or raises what is no Exception.
    """
    try:
        return function(*arguments)
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise DataError(f"the function of scores ends by {type(error).__name__}: {error}") from error


class _Calls:
    """Calls of a function, one after the other."""

    def __init__(self, score: Score, concurrency: int) -> None:
        self.score = score

    def begin(self, users: NDArray[Any], items: NDArray[Any]) -> Future[Any]:
        """Begin a call, and return its future result."""
        call: Future[Any] = Future()
        call.set_result(called(self.score, users, items))
        return call

    def close(self) -> None:
        """End what runs."""


class _Threads(_Calls):
    """Calls of a function in threads."""

    def __init__(self, score: Score, concurrency: int) -> None:
        super().__init__(score, concurrency)
        self.pool = ThreadPoolExecutor(concurrency)

    def begin(self, users: NDArray[Any], items: NDArray[Any]) -> Future[Any]:
        return self.pool.submit(called, self.score, users, items)

    def close(self) -> None:
        self.pool.shutdown(cancel_futures=True)
