"""From chunks to the split in bounded memory: so many bytes an event, whatever the number of events."""

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest

from sampled_metrics.data.events import EventChunk, binarize, k_core
from sampled_metrics.data.split import leave_last_out, split_events

USERS, ITEMS, OF_CHUNK, CHUNKS = 1000, 2500, 50_000, 12

STRATEGIES = ("last-event", "random-event")


def chunks(count: int, rng: np.random.Generator) -> Iterator[EventChunk]:
    """Distinct pairs, one after the other in an order that jumps about."""
    for first in range(0, count * OF_CHUNK, OF_CHUNK):
        pair = np.arange(first, first + OF_CHUNK) * 7919 % (USERS * ITEMS)  # 7919 is prime to it
        yield EventChunk(pair // ITEMS, pair % ITEMS, None, rng.integers(10**9, size=OF_CHUNK))


def peak_bytes(count: int, hold_out, k: int = 0) -> float:
    """Peak memory from the first chunk to the split, an event."""
    rng = np.random.default_rng(1)
    tracemalloc.start()
    try:
        split = hold_out(k_core(binarize(chunks(count, rng), 0), k), rng)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert split.training.nnz == count * OF_CHUNK - USERS
    return peak / (count * OF_CHUNK)


@pytest.mark.parametrize(
    "hold_out", [lambda events, rng, name=name: split_events(events, name, "first", rng) for name in STRATEGIES]
)
def test_an_event_takes_at_most_60_bytes(hold_out):
    # users, items, times: 16; pair numbers and their training matrix: 8, 12 and what they are made of
    assert peak_bytes(CHUNKS, hold_out) < 60


def test_a_core_takes_no_more():
    assert peak_bytes(CHUNKS, lambda events, rng: leave_last_out(events, "first", rng), k=2) < 60
