"""Linear programmes of few rows, against HiGHS."""

import numpy as np
import pytest
from scipy.optimize import linprog

from sampled_metrics.papers.dual_simplex import smallest


def programme(seed, count=6, size=80):
    """A programme that some x of the sum 1 solves, with columns in the order of smooth curves."""
    rng = np.random.default_rng(seed)
    place = np.linspace(0, 1, size)
    rows = np.stack([np.cos(rng.uniform(1, 9) * place + rng.uniform(0, 6)) for _ in range(count)])
    possible = rng.dirichlet(np.full(size, 0.1))
    return rng.normal(size=size), rows, rows @ possible - 0.01, np.ones(size)


def of_highs(objective, rows, ends, sums):
    solution = linprog(objective, -rows, -ends, sums[np.newaxis], [1.0], method="highs")
    assert solution.status == 0
    return solution.fun


@pytest.mark.parametrize("seed", range(12))
def test_values_are_those_of_highs(seed):
    objective, rows, ends, sums = programme(seed)
    x, _ = smallest(objective, rows, ends, sums)
    assert x.min() >= 0
    assert sums @ x == pytest.approx(1, abs=1e-9)
    assert (rows @ x - ends).min() > -1e-9
    assert objective @ x == pytest.approx(of_highs(objective, rows, ends, sums), abs=1e-7)


def test_nothing_is_found_where_nothing_is():
    rows = np.array([[0.0, 0.5]])
    assert smallest(np.zeros(2), rows, np.array([0.9]), np.ones(2)) is None
