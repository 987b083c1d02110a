"""Training, held-out items and scores of any size, and a check that ranks are those of the
definition.
"""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import strategies as st
from ranked_by_argsort import by_definition

from sampled_metrics.ranking import factors, rank

DRAWN = {
    "seed": st.integers(0, 2**32 - 1),
    "users": st.integers(1, 12),
    "items": st.integers(1, 15),
    "size": st.integers(1, 5),
    "threads": st.integers(1, 2),
    "together": st.sampled_from([1, 20, 2**16]),
    "data": st.data(),
}
"""Of a test of a `Case`."""


class Case:
    """Training and held-out items, (users, items), factors, a similarity, and the scores by each of
    them.
    """

    def __init__(self, seed, users, items):
        rng = np.random.default_rng(seed)
        chosen = rng.random((users, items)) < rng.choice([0.1, 0.4, 0.7], (users, 1))
        # of them, all, some or none are held out
        share = rng.choice([0, 0.2, 1], (users, 1), p=[0.2, 0.6, 0.2])
        self.held_out = chosen & (rng.random((users, items)) < share)
        self.held_out[0] |= np.arange(items) == rng.integers(items)  # at least one
        self.training = chosen & ~self.held_out
        self.factors = (
            rng.integers(-2, 3, (users, 3)).astype(float),
            rng.integers(-2, 3, (items, 3)).astype(float),
        )
        self.products = self.factors[0] @ self.factors[1].T
        self.similarity = (
            rng.integers(-2, 3, (items, items)) * (rng.random((items, items)) < 0.5) / 4
        )
        self.sums = self.training @ self.similarity
        self.masked = np.where(rng.random((users, items)) < 0.3, -np.inf, self.products)
        # what is in training may score so
        self.masked[self.training & (rng.random((users, items)) < 0.5)] = np.nan


@contextmanager
def small_blocks(size, together):
    """Let ranks be counted in small blocks, and warn of no user without a held-out item."""
    with pytest.MonkeyPatch.context() as patched, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        patched.setattr(factors, "ROWS", 3 * size)
        patched.setattr(factors, "ITEMS", 2 * size)
        patched.setattr(factors, "SCORES", size * size)
        patched.setattr(factors, "UNDECIDED", size)
        patched.setattr(factors, "NUMBERS", size)
        patched.setattr(factors, "_FEW_ROWS", size)
        patched.setattr(rank, "_MUCH_WORK", 0)
        patched.setattr(rank, "threads_of_linear_algebra", lambda: 1 + size % 2)
        patched.setattr(rank, "_TOGETHER", together)
        patched.setattr(rank, "_TOGETHER_ON_DEVICE", together)
        yield patched


def require_definition(
    ranked,
    case,
    scores,
    data,
    kind,
):
    """Ranks of all users, of a slice and of a choice of them are those of the definition."""
    users = len(case.training)
    expected = by_definition(scores, case.training, case.held_out)
    start, stop = sorted(data.draw(st.lists(st.integers(0, users), min_size=2, max_size=2)))
    chosen = data.draw(st.lists(st.integers(0, users - 1), unique=True, min_size=1))
    assert rows_of_users(ranked()) == expected
    if start < stop:
        assert rows_of_users(ranked(slice(start, stop))) == [
            row for row in expected if start <= row[0] < stop
        ]
    assert rows_of_users(ranked(kind(chosen))) == [row for row in expected if row[0] in chosen]


def rows_of_users(table):
    """User, candidates, above and tied of each row, of users 100, 101, …"""
    columns = (table.user - 100, table.candidates, table.above, table.tied)
    return list(zip(*(column.tolist() for column in columns), strict=True))
