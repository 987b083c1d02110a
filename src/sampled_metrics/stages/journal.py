"""The journal of a run: a file that keeps each score at once, so that none is asked for twice."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
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


APPLICATION = 0x53_4D_4A_4F
"""The number by which the database says that it is a journal; the letters SMJO."""

_INVALID_SCORE = """
SELECT rowid, user, item, score FROM scores
WHERE typeof(user) != 'integer' OR typeof(item) != 'integer' OR typeof(score) != 'real'
OR typeof(mark) != 'integer' OR user < 0 OR item < 0 OR score >= 9e999 LIMIT 1
"""
"""A score that no run has written, if there is one."""


_ROW = [
    ("user", np.int64),
    ("item", np.int64),
    ("score", np.float64),
    ("mark", np.int64),
    ("row", np.int64),
]
"""Names and types of the columns that are read."""


def _marks(salt: int, pairs: ScoredPairs) -> Ints:
    """Return the (pairs,) marks of scores, by which a changed score is known.

    A mark is a hash of 64 bits by multiplication (splitmix64), which costs little. It is no secret.

    Args:
        salt: a whole number of the run.
        pairs: the scores.
    """
    users = pairs.users.astype(np.int64)
    items = pairs.items.astype(np.int64)
    scores = pairs.scores.astype(np.float64)
    marks = np.full(len(users), salt, dtype=np.uint64)
    for column in (users, items, scores):
        marks = (marks ^ column.view(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
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
        run: what tells the run from others, by name. A file of another run is refused.

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
        with self._file_named():
            self._connection = sqlite3.connect(self.path, timeout=0, isolation_level=None)
        try:
            with self._file_named():
                self._open(dict(run))
            self._identity = self._file_identity()
        except BaseException:
            self._connection.close()
            raise

    def _open(self, run: dict[str, Any]) -> None:
        """Lock the file; make its tables if it is new, or check that it is of this run."""
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
            refuse_other_run(self.name, self._parsed_run(stored[0]), run)

    def _parsed_run(self, content: Any) -> dict[str, Any]:
        """Return what tells the run of the file from others."""
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
    def is_in_place(self) -> bool:
        """Return whether nobody has removed or replaced the file since it was opened."""
        return self._file_identity() == self._identity

    def _file_identity(self) -> tuple[int, int] | None:
        """Return the device and the number of the file; None if it is gone."""
        try:
            status = os.stat(self.path)
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def scores(self) -> ScoredPairs:
        """Return the scores that were added, also by earlier processes.

        Raises:
            DataError: a score was not written by a run, or was changed since.
        """
        with self._file_named():
            invalid = self._connection.execute(_INVALID_SCORE).fetchone()
            if invalid is not None:
                number, user, item, score = invalid
                raise DataError(
                    f"{self.name}: is damaged: score {number} is of user {user!r} and item "
                    f"{item!r}, and is {score!r}; remove the file, and score again"
                )
            rows = self._connection.execute("SELECT user, item, score, mark, rowid FROM scores")
            table = np.fromiter(rows, _ROW)
        pairs = ScoredPairs(table["user"], table["item"], table["score"])
        is_changed = _marks(self._salt, pairs) != table["mark"]
        if is_changed.any():
            raise DataError(
                f"{self.name}: score {table['row'][is_changed.argmax()]} was changed after it was "
                "written, or is damaged; remove the file, and score again"
            )
        return pairs

    def add(self, pairs: ScoredPairs) -> None:
        """Keep scores."""
        columns = (*pairs, _marks(self._salt, pairs))
        rows = zip(*(column.tolist() for column in columns), strict=True)
        with self._file_named(), self._connection:  # an interruption takes the scores back
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
        is_in_place = self.is_in_place
        self._connection.close()
        if is_in_place and (error is None or is_empty):
            self.path.unlink(missing_ok=True)
        if not self.path.exists():
            for ending in ("-wal", "-shm", "-journal"):
                self.path.with_name(self.path.name + ending).unlink(missing_ok=True)

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
        if stored.get(what) == value:
            continue
        is_digest = isinstance(value, str)
        difference = (
            "is another one" if is_digest else f"is {stored.get(what)} there, and {value} here"
        )
        hint = "; a Ranker (--ranker) has a name of its own" if what == "ranker" else ""
        raise DataError(
            f"{name}: is of another run: {what} {difference}; take another file, or remove this "
            f"one{hint}"
        )
