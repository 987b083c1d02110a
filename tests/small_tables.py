"""Small rank tables for tests."""

import numpy as np

from sampled_metrics.core.ranks.exact import ExactRanks


def table_of(rows):
    """Return the table of rows of (candidates, above, tied)."""
    candidates, above, tied = np.array(rows, dtype=np.int64).T
    return ExactRanks(np.arange(len(rows)), candidates, above, tied)


def random_table(seed, events, *, ties=True):
    """Return a table of events with 60 to 89 candidates, many of them with ties."""
    rng = np.random.default_rng(seed)
    candidates = rng.integers(60, 90, size=events)
    above = np.minimum(rng.geometric(0.06, size=events) - 1, candidates - 1)
    tied = np.where(rng.random(events) < 0.4, rng.integers(0, 40, size=events), 0) * ties
    return table_of(np.column_stack([candidates, above, np.minimum(tied, candidates - 1 - above)]))
