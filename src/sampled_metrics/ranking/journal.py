"""The journal of a run: every score is kept as soon as it is known, so that no score is paid for twice."""

import json
import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.errors import DataError, WriteError

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
        self.path = Path(path)
        self._name = os.fspath(path)
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
            raise DataError(f"{self._name}: is a database of another program, and is left as it is; take another file")
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
                refuse_other_run(self._name, json.loads(stored[0]), run)
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
                f"{self._name}: is damaged: score {wrong[0]} is of user {wrong[1]!r} and item {wrong[2]!r}, and is "
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
            return DataError(f"{self._name}: another run is using it; wait for its end, or take another file")
        if isinstance(error, sqlite3.OperationalError):
            return WriteError(f"{self._name}: cannot be written: {error}")
        return DataError(f"{self._name}: is not a journal of staged ranks: {error}")


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
