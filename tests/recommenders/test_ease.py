"""EASE against the minimum that defines it and against an inverse written out."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from sampled_metrics.errors import ConfigError
from sampled_metrics.recommenders.ease import EASE


def weights(dense: np.ndarray, regularization: float) -> np.ndarray:
    return np.asarray(EASE(regularization).fit(csr_array(dense), np.random.default_rng(0)).similarity)


@pytest.fixture
def dense() -> np.ndarray:
    return (np.random.default_rng(3).random((40, 12)) < 0.3).astype(float)


@pytest.mark.parametrize("regularization", [0.5, 10, 500])
def test_each_column_is_a_ridge_regression_on_the_other_items(dense: np.ndarray, regularization: float) -> None:
    """Column j minimises ‖x_j - X b‖² + λ ‖b‖² with b_j = 0: normal equations of the other items alone."""
    found = weights(dense, regularization)
    for j in range(12):
        others = np.delete(np.arange(12), j)
        gram = dense[:, others].T @ dense[:, others] + regularization * np.eye(11)
        np.testing.assert_allclose(
            found[others, j], np.linalg.solve(gram, dense[:, others].T @ dense[:, j]), rtol=1e-10
        )
        assert found[j, j] == 0


@pytest.mark.parametrize("regularization", [1e-300, 1e-20, 1e-16])
@pytest.mark.parametrize(
    "dense",
    [
        np.ones((3, 2)),  # two items of the same users
        (np.random.default_rng(3).random((6, 12)) < 0.5).astype(float),  # more items than users
    ],
)
def test_refuses_a_regularization_that_leaves_no_digit(dense: np.ndarray, regularization: float) -> None:
    with pytest.raises(ConfigError, match=r"EASE: regularization 1e-\d+ is too small: .*; take a larger one"):
        weights(dense, regularization)
