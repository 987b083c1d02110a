"""The sample sizes of a figure follow the candidates of the user who has the fewest."""

import numpy as np
import pytest

from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.study.figures import default_sizes


@pytest.mark.parametrize(
    ("candidates", "steps", "sizes"),
    [
        (1393, (1, 3), [10, 30, 100, 300, 1000]),
        (10**6, (1, 3), [10, 30, 100, 300, 1000]),
        (101, (1, 3), [10, 30, 100]),
        (100, (1, 3), [1, 3, 10, 30]),
        (10**6, (1, 1.5, 5), [10, 15, 50, 100, 150, 500, 1000, 1500]),
        (4, (1, 1.5, 2, 3, 5), [1, 2, 3]),
        (2, (1, 3), [1]),
    ],
)
def test_sizes(candidates: int, steps: tuple[float, ...], sizes: list[int]) -> None:
    none = np.zeros(2, dtype=np.int64)
    tables = {
        name: ExactRanks(np.arange(2), np.array([most, most + 5]), none, none)
        for name, most in {"A": candidates + 7, "B": candidates}.items()
    }
    assert default_sizes(tables, steps) == sizes
