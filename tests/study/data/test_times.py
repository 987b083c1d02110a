"""Dates in the unit of the times of a file."""

import numpy as np
import pytest

from sampled_metrics_study.data.times import in_unit_of, split_options

DAY = 16_436  # 2015-01-01, in days since 1970


@pytest.mark.parametrize("unit", [1, 10**3, 10**6, 10**9])
def test_a_date_has_the_unit_of_the_times(unit):
    times = np.array([10**9, 1_420_000_000]) * unit
    assert in_unit_of(times, "2015-01-01T00:00:00+00:00") == DAY * 86_400 * unit
    assert in_unit_of(times.astype(float), "2015-01-01T00:00:00.5+00:00") == pytest.approx(
        (DAY * 86_400 + 0.5) * unit
    )


def test_a_number_stays():
    split = {"strategy": "global-time", "test_from": 17}
    assert split_options(split, np.array([10**9])) == split
