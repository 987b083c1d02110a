"""The variances that values leave open, against intervals of shares and searches over laws."""

import numpy as np
import pytest
from scipy.optimize import minimize

from sampled_metrics.core.inference.means import mean_interval
from sampled_metrics.planning.variances import extreme_laws


def moments(law, values, largest=1.0):
    shares = np.append(law.seen, [law.least, law.most])
    points = np.append(values, [0.0, largest])
    mean = shares @ points
    return mean, shares @ (points - mean) ** 2, shares.sum()


@pytest.mark.parametrize("users", [1, 2, 7, 20])
def test_of_hits_are_those_of_the_interval_of_their_share(users):
    """The smallest and the largest p (1 - p) of a share p in its interval, by number of hits."""
    for hits in range(users + 1):
        values = np.repeat([0.0, 1.0], [users - hits, hits])
        counts = np.array([users - hits, hits])
        low, high = mean_interval(np.array([0.0, 1.0]), counts, (0.0, 1.0), alpha=0.05)
        narrow_law, wide_law = extreme_laws(values, 1.0, alpha=0.05)
        variances_at_ends = low * (1 - low), high * (1 - high)
        smallest = min(variances_at_ends)
        largest = 0.25 if low < 0.5 < high else max(variances_at_ends)
        for law, variance in ((narrow_law, smallest), (wide_law, largest)):
            assert moments(law, values)[1:] == pytest.approx((variance, 1.0), abs=3e-4)


def test_no_distribution_that_explains_values_as_well_has_a_smaller_or_a_larger_variance():
    """SLSQP over all distributions on the values and both bounds, with the deviance of the law."""
    values = 1 / np.array([1, 1, 2, 3, 3, 5, 8, 20, 20, 20, 40, 90])
    points = np.append(values, [0.0, 1.0])
    for sign, law in zip((1, -1), extreme_laws(values, 1.0, alpha=0.05), strict=True):
        deviance = -np.log(len(values) * law.seen).sum()
        assert 1.5 < deviance < 5  # z²/2 = 1.9, and more for few users

        def variance(shares, sign=sign):
            return sign * (shares @ points**2 - (shares @ points) ** 2)

        best = minimize(
            variance,
            np.append(np.full(12, 0.98 / 12), [0.01, 0.01]),
            bounds=[(1e-9, 1.0)] * 14,
            constraints=[
                {"type": "eq", "fun": lambda shares: shares.sum() - 1},
                {
                    "type": "ineq",
                    "fun": lambda shares, most=deviance: most + np.log(12 * shares[:12]).sum(),
                },
            ],
            options={"maxiter": 1000, "ftol": 1e-12},
        )
        assert best.success
        assert moments(law, values)[1] == pytest.approx(sign * best.fun, rel=1e-3)
