"""Products with a banded matrix against loops over the whole of it."""

import numpy as np
import pytest
from exact_probabilities import chances
from hypothesis import given
from hypothesis import strategies as st

from sampled_metrics.estimators.rank_distribution import Banded


def check(matrix, tolerance):
    """Compare every product with loops; the tolerance is relative to the largest number."""
    rng = np.random.default_rng(1)
    ranks, outcomes = matrix.shape
    banded = Banded.from_matrix(matrix)
    assert banded.shape == matrix.shape
    distributions, values = rng.random((2, 3, ranks)), rng.normal(size=(2, outcomes))
    of_outcomes = np.zeros((2, 3, outcomes))
    of_ranks = np.zeros((2, ranks))
    for r in range(ranks):
        for x in range(outcomes):
            of_outcomes[:, :, x] += distributions[:, :, r] * matrix[r, x]
            of_ranks[:, r] += values[:, x] * matrix[r, x]
    for ours, wanted in (
        (banded.to_outcomes(distributions), of_outcomes),
        (banded.to_outcomes(distributions[0, 0]), of_outcomes[0, 0]),
        (banded.to_ranks(values), of_ranks),
        (banded.to_ranks(values[1]), of_ranks[1]),
    ):
        assert ours.shape == wanted.shape
        np.testing.assert_allclose(ours, wanted, rtol=0, atol=tolerance * max(np.abs(wanted).max(), 1e-300))


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize(("n", "m"), [(2, 1), (9, 4), (128, 5), (129, 5), (300, 40)])
def test_of_rank_distributions(n, m, replacement):
    check(chances(n, m, replacement), 1e-13)


@given(
    st.integers(1, 400),
    st.integers(1, 6),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 0.5, 0.95]),
)
def test_of_any_matrix(ranks, outcomes, seed, empty):
    rng = np.random.default_rng(seed)
    check(rng.random((ranks, outcomes)) * (rng.random((ranks, outcomes)) >= empty), 1e-13)
