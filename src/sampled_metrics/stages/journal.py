"""The journal of a run: a file that keeps each score at once, so that none is asked for twice."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from sampled_metrics.checks import Floats, Ints
from sampled_metrics.errors import DataError, WriteError


class ScoredPairs(NamedTuple):
    """Indices of (pairs,) users and items, and their (pairs,) scores."""

    users: Ints
    items: Ints
    scores: Floats


_ROW = [("user", np.int64), ("item", np.int64), ("score", np.float64)]
"""Names and types of the columns of the scores."""


class Journal:
    """The scores of a run in a SQLite file, which is locked while the journal is open.

    A killed process loses no score that was added. Several threads may add scores.

    Args:
        path: the file.
        name: the name of the file in messages.
        run: what tells the run from others, by name. A file of another run is refused.
        begun: the date, which a new file keeps.

    Attributes:
        begun: the date of the first score.

    Raises:
        DataError: the file belongs to another run, is no journal, or another process has it open.
        WriteError: the file cannot be written.
    """

    def __init__(self, path: Path, name: str, run: Mapping[str, Any], begun: str) -> None:
        self.name = name
        self._path = path
        self._lock = Lock()
        with self._file_named():
            self._connection = sqlite3.connect(
                path, timeout=0, isolation_level=None, check_same_thread=False
            )
        try:
            with self._file_named():
                stored = self._open({**run, "begun": begun})
            refuse_other_run(name, stored, run)
        except BaseException:
            self._connection.close()
            raise
        self.begun: str = stored["begun"]

    def _open(self, run: dict[str, Any]) -> dict[str, Any]:
        """Lock the file, make its tables if it is new, and return the run that it belongs to."""
        execute = self._connection.execute
        execute("PRAGMA locking_mode = EXCLUSIVE")
        execute("PRAGMA journal_mode = WAL")  # a commit is one write at the end of a file
        execute("PRAGMA synchronous = NORMAL")
        execute("BEGIN EXCLUSIVE")
        execute("CREATE TABLE IF NOT EXISTS run (content TEXT)")
        execute("CREATE TABLE IF NOT EXISTS scores (user INTEGER, item INTEGER, score REAL)")
        execute("INSERT INTO run SELECT ? WHERE NOT EXISTS (SELECT * FROM run)", (json.dumps(run),))
        execute("COMMIT")
        [content] = execute("SELECT content FROM run").fetchone()
        stored: dict[str, Any] = json.loads(content)
        return stored

    def scores(self) -> ScoredPairs:
        """Return the scores that were added, also by earlier processes."""
        with self._file_named():
            rows = self._connection.execute("SELECT user, item, score FROM scores")
            table = np.fromiter(rows, _ROW)
        return ScoredPairs(table["user"], table["item"], table["score"])

    def add(self, pairs: ScoredPairs) -> None:
        """Keep scores."""
        rows = zip(*(column.tolist() for column in pairs), strict=True)
        # an interruption takes the scores back
        with self._lock, self._file_named(), self._connection:
            self._connection.execute("BEGIN")
            self._connection.executemany("INSERT INTO scores VALUES (?, ?, ?)", rows)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the journal, and remove its file if the run has ended well or it has no scores.

        Otherwise the error says where the scores are.
        """
        is_empty = False
        with self._lock:
            with suppress(sqlite3.Error):  # of a damaged file, which stays
                scores = self._connection.execute("SELECT 1 FROM scores LIMIT 1")
                is_empty = scores.fetchone() is None
            self._connection.close()
        if error is None or is_empty:
            self._path.unlink(missing_ok=True)
        else:
            error.add_note(
                f"what was scored is in {self.name}, and the same call goes on from there"
            )

    @contextmanager
    def _file_named(self) -> Iterator[None]:
        """Name the file in the errors of SQLite."""
        try:
            yield
        except sqlite3.Error as error:
            if "locked" in str(error):
                raise DataError(
                    f"{self.name}: another run is using it; wait for its end, or take another file"
                ) from None
            if isinstance(error, sqlite3.OperationalError):
                raise WriteError(f"{self.name}: cannot be written: {error}") from None
            raise DataError(f"{self.name}: is not a journal of staged ranks: {error}") from None


def refuse_other_run(name: str, stored: Mapping[str, Any], run: Mapping[str, Any]) -> None:
    """Raise DataError, which says what differs, unless a file belongs to this run."""
    for what, value in run.items():
        if stored.get(what) == value:
            continue
        is_shown = what in ("k", "seed", "ranker")
        difference = (
            f"is {stored.get(what)} there, and {value} here" if is_shown else "is another one"
        )
        raise DataError(
            f"{name}: belongs to another run: {what} {difference}; take another file, or remove "
            "this one"
        )
