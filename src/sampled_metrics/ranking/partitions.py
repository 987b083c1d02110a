"""Exact ranks of users in parts, from files to parquet files, by any engine that has a map."""

import json
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sampled_metrics import _files
from sampled_metrics._progress import Progress, no_progress
from sampled_metrics._validation import is_whole, shown
from sampled_metrics.errors import ConfigError, DataError, reason
from sampled_metrics.ranking.files import NpyRows, PairsFile, factors_as_npy
from sampled_metrics.ranking.held_out import held_out_items
from sampled_metrics.ranking.item_blocks import count_in_item_blocks
from sampled_metrics.ranks.csv import INCOMPLETE
from sampled_metrics.ranks.table import RankTable

COMPLETE = "_complete.json"

_PART = "part-{:05d}.parquet"
_COPIES = "_users.npy", "_items.npy"  # of factors that are parquet

Map = Callable[[Callable[[int], Path | None], Iterable[int]], Iterable[Path | None]]
"""Function like the built-in map: it calls a function, which can be pickled, with numbers, in any order."""


def rank_to_parquet(
    factors: tuple[str | os.PathLike[str], str | os.PathLike[str]],
    training: str | os.PathLike[str],
    held_out: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    users_per_part: int = 2**14,
    map: Map = map,
    progress: Progress = no_progress,
) -> list[Path]:
    """Rank held-out items by factors in files, in parts, and write each part as a parquet file.

    The ranks are those of `rank`. A part reads its users and, block by block, all items. So neither users, items nor
    events need fit in memory. Parts are independent, and each file appears whole or not at all. A part whose file is
    there is not ranked again, so a call that was stopped goes on when it is repeated.

    Args:
        factors: the files of (users, d) and (items, d) factors, npy or parquet. Parquet is copied to npy in the folder,
            a row group at a time. If both are float32, scores are computed in single precision.
        training: parquet file, or a folder of them, of what users have in training: the columns user and item are rows
            of the factors, from 0. A part reads little of it if it is sorted by user.
        held_out: the held-out items, likewise. Users without one are left out.
        folder: where the parts are written, with the columns user, candidates, above and tied. `read_ranks`, `evaluate`
            and the others read it as a file.
        users_per_part: number of users of a part. The parts follow from it, and from nothing else.
        map: the built-in one or one like it, which may work in other processes or on other machines that share the
            files: `map` of an executor of concurrent.futures, of Dask's `Client.get_executor()` or of MPI's, or
            `imap` of a pool of multiprocessing or Ray. It calls a function that can be pickled.
        progress: wraps the range of parts, for a progress bar.

    Returns:
        The files of the parts, in the order of the users. A part without a held-out item has none.

    Raises:
        DataError: a file cannot be read, is no such array or table, or they do not fit each other; a factor is not
            finite, or a held-out item is one of its user's training items; the folder holds ranks of other files, or
            files that are no parts.
        ConfigError: users_per_part is no whole number from 1 on, factors or pairs are no names of files, or pyarrow is
            not installed.
        WriteError: a file cannot be written.

    Examples:
        >>> import pathlib, tempfile
        >>> import numpy as np
        >>> import pandas as pd
        >>> import sampled_metrics as sm
        >>> here = pathlib.Path(tempfile.mkdtemp())
        >>> np.save(here / "u.npy", np.array([[1.0, 0.0], [0.5, 1.0]]))
        >>> np.save(here / "i.npy", np.array([[3.0, 0.0], [1.0, 1.0], [0.0, 2.0], [2.0, 2.0]]))
        >>> pd.DataFrame({"user": [0, 1], "item": [0, 3]}).to_parquet(here / "train.parquet")
        >>> pd.DataFrame({"user": [0, 1], "item": [1, 2]}).to_parquet(here / "test.parquet")
        >>> parts = sm.rank_to_parquet(
        ...     (here / "u.npy", here / "i.npy"), here / "train.parquet", here / "test.parquet", here / "ranks",
        ...     users_per_part=1,
        ... )
        >>> [part.name for part in parts]
        ['part-00000.parquet', 'part-00001.parquet']
        >>> sm.read_ranks(here / "ranks").above
        array([1, 0])

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 3: the rank of the
        relevant item among all candidates.
    """
    if not (is_whole(users_per_part) and users_per_part >= 1):
        raise ConfigError(f"users_per_part must be a whole number, 1 or more, not {shown(users_per_part)}")
    try:
        users, items = factors
        given = [os.path.abspath(each) for each in (users, items, training, held_out)]
        own = Path(os.path.abspath(folder))
    except (TypeError, ValueError):
        raise ConfigError("factors are the names of two files, and training and held_out of one each") from None
    if not os.fspath(folder):
        raise ConfigError("the name of the folder is empty")
    text = _open_folder(own, {"users_per_part": int(users_per_part), "files": [_state(each) for each in given]})
    of_users, of_items = (factors_as_npy(each, own / copy) for each, copy in zip(given[:2], _COPIES, strict=True))
    job = _Job(of_users, of_items, given[2], given[3], str(own), int(users_per_part))
    parts = range(job.check())
    ranked = [path for _, path in zip(progress(parts), map(partial(_rank_part, job), parts), strict=False)]
    if len(ranked) < len(parts):
        raise ConfigError(f"map gave {len(ranked)} results for {len(parts)} parts")
    _files.write_text(own / COMPLETE, text)
    (own / INCOMPLETE).unlink(missing_ok=True)
    return [path for path in ranked if path is not None]


@dataclass(frozen=True)
class _Job:
    users: str
    items: str
    training: str
    held_out: str
    folder: str
    users_per_part: int

    def check(self) -> int:
        """Return the number of parts; raise DataError if files are wrong or do not fit each other."""
        users, items = NpyRows(self.users).shape, NpyRows(self.items).shape
        if users[1] != items[1]:
            raise DataError(
                f"{self.users} has {users[1]} factors of each user, and {self.items} {items[1]} of each item"
            )
        for pairs in (self.training, self.held_out):
            PairsFile(pairs).check(users[0], items[0])
        return -(-users[0] // self.users_per_part)


def _rank_part(job: _Job, number: int) -> Path | None:
    """Write a part, unless it is there, and return its file; None if no user has a held-out item."""
    path = Path(job.folder, _PART.format(number))
    if path.exists():
        return path
    users, items = NpyRows(job.users), NpyRows(job.items)
    first, (count, _), n = number * job.users_per_part, users.shape, items.shape[0]
    last = min(first + job.users_per_part, count)
    held_out = PairsFile(job.held_out).read(first, last, n)
    user = np.flatnonzero(np.diff(held_out.indptr))
    if not len(user):
        return None
    training = PairsFile(job.training).read(first, last, n)[user]
    data = held_out_items(training, held_out[user], (len(user), n), first + user, None)
    own = users[first:last][user]
    precision = "float32" if users.dtype == items.dtype == np.float32 else "float64"
    rows = []
    for row, split in data.parts():
        try:
            above, tied = count_in_item_blocks(own[row], items, split, precision)
        except DataError as error:
            raise DataError(f"{job.items}, and rows {first} to {last - 1} of {job.users}: {error}") from None
        rows.append((split.user_ids, split.candidates, above, tied))
    user_ids, candidates, above, tied = (np.concatenate(each) for each in zip(*rows, strict=True))
    _files.write_table(path, RankTable(user_ids, candidates, above, tied).to_frame())
    return path


def _open_folder(folder: Path, job: Any) -> str:
    """Write down, and return, what the parts are of; raise DataError if the folder has parts of something else."""
    text = json.dumps(job, indent=2)
    states = [folder / name for name in (INCOMPLETE, COMPLETE) if (folder / name).exists()]
    others = [each for each in states if each.read_text(encoding="utf-8").rstrip() != text]
    there = sorted(each.name for each in folder.glob("[!._]*"))
    foreign = [name for name in there if not (states and re.fullmatch(r"part-\d{5,}\.parquet", name))]
    if foreign:
        raise DataError(f"{folder}: holds {foreign[0]}, which is no part of these ranks; give another folder")
    if others and there:
        raise DataError(f"{folder}: holds ranks of other files, or of parts of another size; give another folder")
    for each in (*others, *(folder / copy for copy in _COPIES if others)):  # of a call that ranked nothing
        each.unlink(missing_ok=True)
    _files.write_text(folder / INCOMPLETE, text)
    return text


def _state(path: str) -> list[tuple[str, int, int]]:
    """Return names, sizes and times of a file, or of the files of a folder, by which a change is noticed."""
    try:
        folder = os.path.isdir(path)
        files = sorted(filter(Path.is_file, Path(path).rglob("[!._]*"))) if folder else [Path(path)]
        return [(str(each), each.stat().st_size, each.stat().st_mtime_ns) for each in files]
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {reason(error)}") from None
