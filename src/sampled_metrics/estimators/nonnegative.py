"""Non-negative least squares."""

import numpy as np

from sampled_metrics._validation import Floats

_SLOPE = 1e-5  # largest slope at an optimum, relative to that at 0


def nonnegative_least_squares(matrix: Floats, target: Floats) -> Floats:
    """Return the (columns,) x >= 0 for which ‖matrix x - target‖ is least.

    The active-set method of `scipy.optimize.nnls` may end before the optimum where columns are almost alike. The slower
    method of `scipy.optimize.lsq_linear` takes its place then.
    """
    from scipy.optimize import lsq_linear, nnls  # slow to import

    solution: Floats = nnls(matrix, target, maxiter=30 * matrix.shape[1])[0]
    slope = matrix.T @ (matrix @ solution - target)
    most = _SLOPE * np.abs(matrix.T @ target).max()
    if np.abs(slope[solution > 0]).max(initial=0.0) > most or slope.min() < -most:
        solution = lsq_linear(matrix, target, bounds=(0, np.inf), method="bvls", tol=1e-14).x
    return solution
