"""Random streams: the same names give the same numbers, other names independent ones."""

import numpy as np
import pytest

from sampled_metrics.study.jobs import stream


def numbers(seed, *names):
    return stream(seed, *names).random(2000)


def test_the_same_names_give_the_same_numbers():
    assert (numbers(2020, "ml-1m", "X", "sample") == numbers(2020, "ml-1m", "X", "sample")).all()


@pytest.mark.parametrize(
    "other",
    [
        (2021, "ml-1m", "X", "sample"),
        (2020, "ml-1m", "Y", "sample"),
        (2020, "ml-1m", "X", "train"),
        (2020, "ml-1m", "X"),
        (2020, "X", "ml-1m", "sample"),
        (2020, "ml-1mX", "sample"),
        (2020, "ml-1m", "X", "sample", ""),
        (2020,),
    ],
    ids=str,
)
def test_anything_else_gives_independent_ones(other):
    correlation = np.corrcoef(numbers(2020, "ml-1m", "X", "sample"), numbers(*other))[0, 1]
    assert abs(correlation) < 4 / np.sqrt(2000)
