"""Distinct random numbers: each subset is as likely, and rows get the same numbers in one call as in several."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from sampled_metrics.ranking.negatives import distinct_numbers, draw_numbers


def streams_of(seed: int):
    return cache(lambda *address: np.random.default_rng([seed, *address]))


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
def test_each_subset_is_as_likely(m: int) -> None:
    """Rows of 6 and of 7 numbers in turn; up to a half of them is drawn with replacement, and duplicates again."""
    rows = 30_000
    free = np.tile([6, 7], rows)
    drawn = np.sort(distinct_numbers(free, m, streams_of(m)), axis=1)
    for size in (6, 7):
        subsets = {each: place for place, each in enumerate(combinations(range(size), m))}
        found = np.bincount([subsets[tuple(each)] for each in drawn[free == size].tolist()], minlength=len(subsets))
        assert stats.chisquare(found).pvalue > 0.001


def test_rows_get_the_same_numbers_in_one_call_as_in_several() -> None:
    free = np.random.default_rng(2).integers(0, 40, 500)
    row, number = draw_numbers(free, 9, streams_of(3))
    assert np.bincount(row, minlength=500).tolist() == np.minimum(free, 9).tolist()
    for ends in ([250], [1, 2, 3, 300, 301], range(1, 500)):
        streams = streams_of(3)
        parts = [draw_numbers(each, 9, streams)[1] for each in np.split(free, ends)]
        assert np.concatenate(parts).tolist() == number.tolist()
