"""How many threads the libraries of linear algebra may take while a function computes."""

from contextlib import contextmanager

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import sampled_metrics as sm
from sampled_metrics.core.metrics import Metric

TABLES = {
    name: sm.ExactRanks(None, np.full(12, 100), np.array(ranks) - 1, np.zeros(12, dtype=int))
    for name, ranks in {"x": [30, 25, 40, 12, 60, 33] * 2, "y": [1, 30, 2, 50, 9, 70] * 2}.items()
}


def threads_of_blas():
    return {
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    }


class Seen:
    """Notes how many threads the libraries of linear algebra may take whenever it is used."""

    def __init__(self):
        self.threads = set()

    def metric(self):
        def of_rank(rank, _):
            self.threads |= threads_of_blas()
            return 1 / np.asarray(rank)

        return Metric("mine", of_rank, False, None)

    def progress(self, steps):
        for step in steps:
            self.threads |= threads_of_blas()
            yield step


@contextmanager
def two_threads():
    """Allow two threads, and see that they are allowed afterwards."""
    import scipy.linalg.blas  # noqa: F401  # has a library of its own

    with threadpool_limits(2, "blas"):
        if 2 not in threads_of_blas():
            pytest.skip("the libraries of linear algebra have one thread only")
        yield
        assert 2 in threads_of_blas()


def threads_seen(function):
    """Call a function with a `Seen` while two threads are allowed, and return how many it saw."""
    seen = Seen()
    with two_threads():
        function(seen)
    return seen.threads
