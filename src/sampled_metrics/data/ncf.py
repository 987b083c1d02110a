"""The split of He et al. (NCF, 2017): `NAME.train.rating`, and beside it `NAME.test.rating`.

The test file has the held-out event of each user.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd

from sampled_metrics.data.events import EventChunk
from sampled_metrics.data.tables import Place, refuse_rows
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


def published_split(
    train: Iterator[tuple[EventChunk, Place]], train_name: str, test: Iterator[tuple[EventChunk, Place]], test_name: str
) -> Iterator[EventChunk]:
    """Yield the training events, then the held-out ones, each in the order of its file.

    Args:
        train: the training events, with their places.
        train_name: name of their file in errors.
        test: the held-out events, with their places.
        test_name: name of their file in errors.

    Raises:
        DataError: a user does not have exactly one held-out event, has no training event, or has the same item in both
            files.
    """
    parts = list(test)
    held_out, place = _joined([chunk for chunk, _ in parts]), partial(_place_in, parts)
    second = pd.Series(held_out.users).duplicated().to_numpy()
    refuse_rows(second, lambda event: f"a second held-out event of user {held_out.users[event]}; expected one", place)
    order = np.argsort(held_out.users)
    users, items = held_out.users[order], held_out.items[order]
    has_training = np.zeros(len(users), dtype=np.bool_)
    for chunk, place_in_train in train:
        position = np.minimum(np.searchsorted(users, chunk.users), len(users) - 1)
        without = np.flatnonzero(users[position] != chunk.users)
        if len(without):
            raise DataError(
                f"{place_in_train(without[0])}: user {chunk.users[without[0]]} has no held-out event in {test_name}; "
                "expected one of each user"
            )
        both = np.flatnonzero(items[position] == chunk.items)
        if len(both):
            event = both[0]
            raise DataError(
                f"{place_in_train(event)}: user {chunk.users[event]} has item {chunk.items[event]}, which "
                f"{place(order[position[event]])}, holds out"
            )
        has_training[position] = True
        yield chunk._replace(held_out=np.zeros(len(chunk.users), dtype=np.bool_))
    if not has_training.all():
        event = order[~has_training].min()
        raise DataError(f"{place(event)}: user {held_out.users[event]} is not in {train_name}")
    yield held_out


def _joined(chunks: Sequence[EventChunk]) -> EventChunk:
    """Return held-out events as one chunk."""
    users, items, ratings, timestamps = (np.concatenate(column) for column in list(zip(*chunks, strict=True))[:4])
    return EventChunk(users, items, ratings, timestamps, np.ones(len(users), dtype=np.bool_))


def _place_in(parts: Sequence[tuple[EventChunk, Place]], event: int) -> str:
    """Return the place of an event of all parts."""
    for chunk, place in parts:
        if event < len(chunk.users):
            return place(event)
        event -= len(chunk.users)
    raise IndexError(event)
