"""Negatives that come with a dataset, as NCF publishes them (He et al., 2017): `NAME.test.negative`.

Each line has a held-out event as `(user,item)`, then its negatives, all separated by tabs.
"""

import re
from pathlib import Path

import numpy as np
from tqdm import tqdm

from sampled_metrics._arrays import Ints
from sampled_metrics.data.archives import open_member
from sampled_metrics.data.formats.separated import shown
from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError

_ID = r"([^,\x00-\x1f\x7f]{1,200})"
_LINE = re.compile(rf"\({_ID},{_ID}\)\t([^\x00-\x08\x0a-\x1f\x7f]+)\r?\n?")
_LINE_BYTES = 2**24  # bounds the memory for a file without line ends


def read_negatives(path: Path, split: Split) -> Ints:
    """Read the negatives of each held-out item. A line may repeat an item, as in NCF's own files.

    Args:
        path: the file: plain, gzipped, or a zip archive with one file `*.test.negative`.
        split: training and held-out items, one of each user.

    Returns:
        (users, m) indices of items, in the order of the users.

    Raises:
        DataError: a line is malformed, or is not about the held-out event of a user; a user has no line, or two; a
            negative is unknown, or is no candidate of the user; or the lines differ in the number of negatives.
    """
    if split.user is not None:
        raise DataError(f"{path}: each user must have one held-out item, but some have several, or none")
    users, items = ({str(each): at for at, each in enumerate(ids.tolist())} for ids in (split.user_ids, split.item_ids))
    indptr, lists = split.training.indptr, dict[int, list[int]]()
    with open_member(path, "*.test.negative") as stream:
        name, lines = stream.name, iter(lambda: stream.readline(_LINE_BYTES), b"")
        bar = tqdm(lines, total=len(users), desc=f"reading {path.name}", delay=2, leave=False, disable=None)
        for number, line in enumerate(bar, 1):
            where, found = f"{name}, line {number}", _LINE.fullmatch(line.decode("utf-8", "replace"))
            if not found:
                got = shown(line.rstrip(b"\n"))
                raise DataError(f"{where}: expected (user,item) and its negatives, separated by tabs, got {got}")
            user, drawn = users.get(found[1]), found[3].split("\t")
            if user is None:
                raise DataError(f"{where}: user {found[1]} is not in the split; expected one line of each of its users")
            held_out = int(split.held_out[user])
            if items.get(found[2]) != held_out:
                raise DataError(
                    f"{where}: user {found[1]} has item {split.item_ids[held_out]} held out, not {found[2]}"
                )
            if user in lists:
                raise DataError(f"{where}: a second line of user {found[1]}; expected one")
            lists[user] = [items.get(each, -1) for each in drawn]
            count = len(next(iter(lists.values())))
            if len(drawn) != count:
                raise DataError(f"{where}: {len(drawn)} negatives, but line 1 has {count}; expected as many in all")
            own = {-1, held_out, *split.training.indices[indptr[user] : indptr[user + 1]].tolist()}
            wrong = next((at for at, item in enumerate(lists[user]) if item in own), None)
            if wrong is not None:
                kinds = {-1: "is not an item of the dataset", held_out: "is the held-out item of the user"}
                says = kinds.get(lists[user][wrong], "is a training item of the user")
                raise DataError(f"{where}: the negative {drawn[wrong]:.80} {says}")
    if missing := set(range(len(users))) - set(lists):
        raise DataError(f"{name}: lacks a line of user {split.user_ids[min(missing)]}; expected one of each user")
    return np.array([lists[user] for user in range(len(users))], dtype=np.int64)
