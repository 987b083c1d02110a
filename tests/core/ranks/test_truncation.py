"""Ranks that end as among sampled negatives, where exact ones were meant, or more negatives."""

from itertools import product
from math import comb

import numpy as np
import pytest
import read_and

import sampled_metrics as sm
from sampled_metrics.core.ranks.truncation import log_share_of_compositions, seems_truncated


def test_share_of_compositions_is_that_of_their_list_or_of_a_recurrence() -> None:
    for parts, total, largest in ((8, 14, 3), (8, 20, 4), (8, 8, 2), (8, 24, 3)):
        lists = product(range(1, largest + 1), repeat=parts)
        ways = sum(sum(numbers) == total for numbers in lists)
        share = np.exp(log_share_of_compositions(parts, total, largest))
        assert share == pytest.approx(ways / comb(total - 1, parts - 1), rel=0.05)
    parts = 60
    total = 900
    largest = 40
    # of the ways to write a number as parts up to the largest, one part more at a time
    counts = [1] + [0] * total
    for _ in range(parts):
        sums = np.cumsum(np.array([0, *counts], dtype=object))
        counts = [sums[number] - sums[max(0, number - largest)] for number in range(total + 1)]
    share = np.exp(log_share_of_compositions(parts, total, largest))
    assert share == pytest.approx(counts[total] / comb(total - 1, parts - 1), rel=0.01)


@pytest.mark.parametrize("name", ["X", "Y", "Z"])
def test_published_ranks_are_exact_and_samples_of_them_are_not(name: str) -> None:
    table = sm.exact_ranks(f"published/ml-1m/{name}.csv.gz")
    rng = np.random.default_rng(20)
    ranks = table.above + 1 + rng.integers(0, table.tied + 1)
    assert not seems_truncated(ranks, 3541)
    assert not any(seems_truncated(rng.choice(ranks, 50), 3541) for _ in range(100))
    for m in (20, 100):
        drawn = 1 + rng.hypergeometric(
            ranks - 1, table.candidates - ranks, np.minimum(m, table.candidates - 1)
        )
        assert seems_truncated(drawn, 3541)


LAWS = {
    "geometric": lambda rng, n, users: rng.geometric(
        1 / np.exp(rng.uniform(0.2, np.log(n / 2))), users
    ),
    "power": lambda rng, n, users: n ** (rng.random(users) ** rng.uniform(0.5, 4)),
    "log-normal": lambda rng, n, users: np.exp(rng.normal(rng.uniform(0, np.log(n)), 1.5, users)),
    "nearly perfect": lambda rng, n, users: np.where(
        rng.random(users) < 0.95, 1, rng.geometric(0.3, users)
    ),
    "random": lambda rng, n, users: 1 + rng.random(users) * n,
}


@pytest.mark.parametrize("law", LAWS)
def test_exact_ranks_are_hardly_ever_refused(law: str) -> None:
    """At most 2 of 600 tables of each law.

    The limit for ranks that fall off geometrically is 0.0001.
    """
    rng = np.random.default_rng(5)
    refused = 0
    for _ in range(600):
        n = int(np.exp(rng.uniform(3, 13)))
        users = int(np.exp(rng.uniform(2, 8)))
        refused += seems_truncated(np.clip(LAWS[law](rng, n, users).astype(int), 1, n), n)
    assert refused <= 2


@pytest.mark.parametrize(
    ("law", "users", "m", "most"),
    [
        ("random", 300, 100, 2),
        ("power", 3000, 100, 10),
        ("power", 20_000, 20, 0),
        ("nearly perfect", 3000, 100, 40),
    ],
)
def test_share_of_sampled_tables_that_pass(law: str, users: int, m: int, most: int) -> None:
    """Of 40 tables with n = 5000; a nearly perfect recommender has no user below all negatives."""
    rng = np.random.default_rng(9)
    n = 5000
    passed = 0
    for _ in range(40):
        share = rng.random(users)
        power = n ** (share ** rng.uniform(0.5, 2))
        laws = {
            "random": 1 + share * n,
            "power": power,
            "nearly perfect": np.where(share < 0.95, 1, 3),
        }
        ranks = laws[law].astype(int)
        passed += not seems_truncated(1 + rng.hypergeometric(ranks - 1, n - ranks, m), n)
    assert passed <= most
    assert law != "nearly perfect" or passed == 40


def test_they_are_refused_unless_they_are_said_to_be_exact() -> None:
    among_100 = 1 + np.random.default_rng(0).integers(0, 101, 400)  # of a random recommender
    with pytest.raises(
        sm.DataError, match="is above 101 of 3541 candidates, as among 100 sampled negatives"
    ):
        sm.exact_ranks(among_100, candidates=3541)
    assert sm.exact_ranks(among_100, candidates=3541, exact=True).cautions == ()


@pytest.mark.parametrize(
    ("candidates", "options", "kinds"),
    [
        pytest.param(100, {}, ["usual-sample"], id="99 negatives"),
        pytest.param(1001, {}, ["usual-sample"], id="1000 negatives"),
        pytest.param(102, {}, [], id="another number"),
        pytest.param([101] * 399 + [100], {}, [], id="numbers that differ"),
        pytest.param(100, {"exact": True}, [], id="said to be exact"),
    ],
)
def test_as_many_candidates_as_a_sample_has_are_a_caution(candidates, options, kinds) -> None:
    ranks = 1 + np.random.default_rng(0).integers(0, np.min(candidates), 400)
    table = sm.exact_ranks(ranks, candidates=candidates, **options)
    assert [finding.kind for finding in table.findings] == kinds
    assert len(table.cautions) == len(kinds)


def test_few_ranks_among_100_candidates_have_no_caution() -> None:
    assert sm.exact_ranks([1, 5, 90], candidates=100).cautions == ()


SHALLOW = np.random.default_rng(1).geometric(0.1, 400).clip(max=85)
"""Exact ranks, or ranks among 99 negatives, of which none is above a tenth of 900 candidates."""


def test_a_caution_stands_before_the_numbers_of_ranks_that_may_be_sampled() -> None:
    result = read_and.evaluate(SHALLOW, candidates=900)
    said = f"No rank of 400 is above {SHALLOW.max()} of 900"
    assert said in repr(result).split("\n")[0]
    assert result[:1].cautions == result.cautions
    assert [finding.kind for finding in result.found(result.findings).findings].count(
        "shallow-ranks"
    ) == 1
    assert not any(
        said in remark for remark in read_and.evaluate(SHALLOW, candidates=900, exact=True).remarks
    )
    assert read_and.evaluate(SHALLOW[:20], candidates=900).cautions
    assert not read_and.evaluate(SHALLOW[:19], candidates=900).cautions


def test_samples_of_a_tenth_of_the_items_have_a_caution() -> None:
    """Ranks among n / 10 negatives go up to n / 10 + 1."""
    for users, exponent in product((50, 300), (0.5, 1.0, 3.0)):
        rng = np.random.default_rng(users)
        above = np.floor(999 * rng.random(users) ** exponent).astype(int)
        ranks = 1 + rng.hypergeometric(above, 999 - above, 100)
        if seems_truncated(ranks, 1000):
            with pytest.raises(sm.DataError, match="sampled negatives"):
                sm.exact_ranks(ranks, candidates=1000)
        else:
            assert sm.exact_ranks(ranks, candidates=1000).cautions
