"""The split of He et al. (NCF, 2017): `NAME.train.rating`, and beside it `NAME.test.rating`.

Each line has user, item, rating and timestamp of one event, separated by tabs. The test file has the held-out event of
each user.
"""

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import pandas as pd

from sampled_metrics.data.events import EventChunk
from sampled_metrics.data.formats.movielens import LAYOUT_OF_100K as LAYOUT
from sampled_metrics.data.formats.registry import register
from sampled_metrics.data.formats.separated import read_events
from sampled_metrics.errors import DataError

_TRAIN, _TEST = ".train.rating", ".test.rating"


def name_of_test_file(train_file: str) -> str:
    """Return the name of the test file that belongs to a train file.

    Raises:
        DataError: it is not the name of a train file.
    """
    before, train, after = train_file.rpartition(_TRAIN)
    if not train:
        raise DataError(f"{train_file}: expected a file named NAME{_TRAIN}, with NAME{_TEST} beside it")
    return before + _TEST + after


@register("ncf", member=f"*{_TRAIN}", other_file=name_of_test_file)
def parse(train: BinaryIO, train_name: str, test: BinaryIO, test_name: str) -> Iterator[EventChunk]:
    """Yield the training events, then the held-out ones, each in the order of its file; see `read_events`.

    Raises:
        DataError: a line is malformed; there are no events; a user does not have exactly one held-out event, has no
            training event, or has the same item in both files.
    """
    held_out = _held_out(test, test_name)
    order = np.argsort(held_out.users)
    users, items = held_out.users[order], held_out.items[order]
    has_training = np.zeros(len(users), dtype=np.bool_)
    lines_before = 0
    for chunk in read_events(train, train_name, LAYOUT):
        position = np.minimum(np.searchsorted(users, chunk.users), len(users) - 1)
        is_without = users[position] != chunk.users
        if is_without.any():
            event = int(is_without.argmax())
            raise DataError(
                f"{train_name}, line {lines_before + event + 1}: user {chunk.users[event]} has no held-out event "
                f"in {test_name}; expected one of each user"
            )
        is_held_out = items[position] == chunk.items
        if is_held_out.any():
            event = int(is_held_out.argmax())
            raise DataError(
                f"{train_name}, line {lines_before + event + 1}: user {chunk.users[event]} has item "
                f"{chunk.items[event]}, which {test_name}, line {order[position[event]] + 1}, holds out"
            )
        has_training[position] = True
        lines_before += len(chunk.users)
        yield chunk._replace(held_out=np.zeros(len(chunk.users), dtype=np.bool_))
    if not has_training.all():
        event = int(order[~has_training].min())
        raise DataError(f"{test_name}, line {event + 1}: user {held_out.users[event]} is not in {train_name}")
    yield held_out


def _held_out(test: BinaryIO, name: str) -> EventChunk:
    """Read the held-out events, one of each user, as one chunk."""
    chunks = list(read_events(test, name, LAYOUT))
    users, items, ratings, timestamps = (np.concatenate(column) for column in list(zip(*chunks, strict=True))[:4])
    again = pd.Series(users).duplicated().to_numpy()
    if again.any():
        event = int(again.argmax())
        raise DataError(f"{name}, line {event + 1}: a second held-out event of user {users[event]}; expected one")
    return EventChunk(users, items, ratings, timestamps, np.ones(len(users), dtype=np.bool_))
