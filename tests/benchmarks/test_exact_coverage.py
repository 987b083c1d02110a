"""The exact miss rates of hit rates: by the public functions, with every outcome written out."""

from math import comb

import numpy as np
import pytest

import sampled_metrics as sm


@pytest.fixture
def enumeration(script):
    return script("exact_coverage")


def ranks_of(hits, users):
    return sm.exact_ranks([1] * hits + [9] * (users - hits), candidates=10, exact=True)


def test_the_worst_hit_rate_of_25_users_is_the_sum_over_all_numbers_of_hits(enumeration):
    miss, hit_rate = enumeration.largest_miss_of_a_hit_rate(25)
    missed = 0.0
    for hits in range(26):
        row = sm.evaluate(ranks_of(hits, 25), metrics="recall@1").iloc[0]
        if not row["low"] <= hit_rate <= row["high"]:
            missed += comb(25, hits) * hit_rate**hits * (1 - hit_rate) ** (25 - hits)
    assert miss == pytest.approx(missed)
    assert miss == pytest.approx(0.0635, abs=5e-5)


@pytest.mark.parametrize("users", [2, 25, 100])
def test_intervals_of_hit_rates_miss_at_most_as_documented(enumeration, users):
    miss, _ = enumeration.largest_miss_of_a_hit_rate(users)
    assert miss <= 0.0640
    wrong, _ = enumeration.largest_false_verdict_of_two(users)
    assert wrong <= 0.0640


def test_the_worst_pair_of_ten_users_is_the_sum_over_all_differences(enumeration):
    users = 10
    wrong, share = enumeration.largest_false_verdict_of_two(users)
    summed = 0.0
    for losses in range(users + 1):
        for wins in range(users + 1 - losses):
            a = [1] * losses + [9] * (users - losses)
            b = [9] * losses + [1] * wins + [9] * (users - losses - wins)
            tables = sm.exact_ranks({"A": a, "B": b}, candidates=10, exact=True)
            verdict = sm.compare(tables, metrics="recall@1").iloc[0]
            if verdict["conclusion"] in ("A", "B"):
                differing = losses + wins
                summed += (
                    comb(users, differing)
                    * comb(differing, wins)
                    * (share / 2) ** differing
                    * (1 - share) ** (users - differing)
                )
    assert wrong == pytest.approx(summed)
    assert np.isclose(wrong, 0.0510, atol=5e-5)
