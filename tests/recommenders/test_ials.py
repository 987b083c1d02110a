"""Implicit ALS: the factors are those of a plain solver of the paper's own loss (section 9)."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from sampled_metrics.recommenders.ials import IALS

# implicit looks at how many threads the linear algebra has, which depends on the environment of the tests
pytestmark = pytest.mark.filterwarnings("ignore:.*(OpenBLAS|MKL):RuntimeWarning")

RNG = np.random.default_rng(11)
TRAINING = (RNG.random((14, 10)) < 0.35).astype(float)
TRAINING[3] = 0  # a user without events
D = 3
START = {14: RNG.normal(size=(14, D)), 10: RNG.normal(size=(10, D))}


class Given:
    """A random stream that is asked for normal numbers and gives those of START, noting what it is asked."""

    def __init__(self):
        self.asked = []

    def normal(self, scale, size):
        self.asked.append((scale, size))
        return scale * START[size[0]].copy()


def solve(fixed, events, alpha, weight):
    """The factors that minimise the paper's loss, given those of the other side: a ridge regression for each row."""
    gram = alpha * fixed.T @ fixed + weight * np.eye(fixed.shape[1])
    rows = [np.linalg.solve(gram + fixed[row > 0].T @ fixed[row > 0], fixed[row > 0].sum(axis=0)) for row in events]
    return np.array(rows)


def papers_factors(iterations, alpha, weight, deviation):
    # the library's factors at its start are the paper's times √(1 + α)
    items = deviation * START[10] / np.sqrt(1 + alpha)
    for _ in range(iterations):
        users = solve(items, TRAINING, alpha, weight)
        items = solve(users, TRAINING.T, alpha, weight)
    return users, items


def fit(iterations, alpha, weight, deviation=0.1, rng=None):
    algorithm = IALS(
        factors=D, regularization=weight, unobserved_weight=alpha, iterations=iterations, initial_deviation=deviation
    )
    return algorithm.fit(csr_array(TRAINING), rng or Given())


@pytest.mark.parametrize(("alpha", "weight"), [(0.2, 0.5), (1, 0.1), (0.25, 2), (0.05, 1)])
@pytest.mark.parametrize("iterations", [1, 6])
def test_takes_the_same_steps_as_a_plain_solver_of_the_papers_loss(iterations, alpha, weight):
    model = fit(iterations, alpha, weight)
    users, items = papers_factors(iterations, alpha, weight, 0.1)
    # implicit keeps the weights of events in single precision
    np.testing.assert_allclose(model.user_factors, users, rtol=0, atol=1e-6 * np.abs(users).max())
    np.testing.assert_allclose(model.item_factors, items, rtol=0, atol=1e-6 * np.abs(items).max())
