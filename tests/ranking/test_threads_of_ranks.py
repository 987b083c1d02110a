"""How many threads `rank` takes."""

import numpy as np
from threadpoolctl import threadpool_limits
from threads_seen import Seen, two_threads

import sampled_metrics as sm
from sampled_metrics.ranking import rank


def test_rank_takes_the_threads_of_linear_algebra_for_much_work_by_factors(monkeypatch):
    """Each thread multiplies on one, and the number that a user allows is that of the threads."""
    numbers: list[int] = []  # of threads
    parallel = rank.parallel
    monkeypatch.setattr(
        rank, "parallel", lambda threads: numbers.append(threads) or parallel(threads)
    )
    seen = Seen()
    factors = (np.ones((3, 2)), np.ones((4, 2)))
    with two_threads():
        sm.rank(factors, np.eye(3, 4), [1, 2, 3])
        monkeypatch.setattr(rank, "_MUCH_WORK", 0)
        sm.rank(factors, np.eye(3, 4), [1, 2, 3], progress=seen.progress)
        sm.rank(lambda users: np.zeros((3, 4))[users], np.eye(3, 4), [1, 2, 3])
        with threadpool_limits(1, "blas"):
            sm.rank(factors, np.eye(3, 4), [1, 2, 3])
    assert numbers == [1, 2, 1, 1]
    assert seen.threads == {1}
