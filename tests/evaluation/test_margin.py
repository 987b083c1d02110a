"""Margins: intervals of b - (1 + d) a by definition, and false claims at the edge; test_verdicts.py has conclusions."""

import numpy as np
import pytest
from read_and import compare
from scipy.optimize import brentq

from sampled_metrics.errors import ConfigError
from sampled_metrics.evaluation.wording import LESS, MORE
from sampled_metrics.inference.means import mean_interval

HIT, MISS = 1, 40
A = [HIT] * 20 + [MISS] * 80
B = [HIT] * 10 + [MISS] * 10 + [HIT] * 30 + [MISS] * 50  # 10 hits of A are missed, and 30 others found
RECALL = {"metrics": ["recall@10"], "candidates": 50, "exact": True}


def row(one=A, other=B, **options):
    return compare(one, other, **RECALL, **options).iloc[0]


def hits(probabilities, users, rng):
    """Ranks of independent recommenders that hit with some probabilities."""
    return [np.where(rng.random(users) < probability, HIT, MISS) for probability in probabilities]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        *((given, "margin must be a number above 0") for given in (0, np.nan, np.inf, "2 parts", "-2%", True, [1])),
        *((given, r"a difference of recall@10 is never above .* from 0 to 1; .* \"2%\"") for given in (1, "1e9")),
    ],
)
def test_refuses(given, says):
    with pytest.raises(ConfigError, match=says):
        row(margin=given)


@pytest.mark.parametrize(
    ("margin", "size"),
    [(0.05, MORE), (0.2, ""), (0.35, LESS), ("20 %", MORE), ("60%", ""), ("400%", LESS)],
)
def test_are_judged_by_the_interval_of_the_difference_less_the_margin(margin, size):
    a, b = (np.array(ranks) <= 10 for ranks in (A, B))
    ratio, least = (1 + float(margin[:-1]) / 100, 0.0) if isinstance(margin, str) else (1.0, margin)
    low, high = mean_interval(b - ratio * a, np.ones(100, dtype=int), (-ratio, 1.0), 0.05)
    assert size == (MORE if low > least else LESS if high < least else "")
    for one, other in ((A, B), (B, A)):
        found, plain = row(one, other, margin=margin), row(one, other)
        assert found[plain.index].equals(plain)
        assert {found["higher_a"], found["higher_b"]} == {0.1, 0.3}  # of the users
        assert (found["size"], found["difference"] > 0) == (size, found["conclusion"] == "B")
        assert found["relative"] == pytest.approx(found["difference"] / 0.2)


@pytest.mark.parametrize(("percent", "alone", "of_three"), [(17, True, True), (23, True, False)])
def test_relative_ones_of_several_pairs_are_judged_at_the_level_of_their_intervals(percent, alone, of_three):
    """That level is the one at which the interval of the difference itself is the stated one."""
    a, b = (np.array(ranks) <= 10 for ranks in (A, B))
    ones, ratio = np.ones(100, dtype=int), 1 + percent / 100
    found = compare({"A": A, "B": B, "C": A[::-1]}, **RECALL, margin=f"{percent}%").iloc[0]
    alpha = brentq(lambda alpha: mean_interval(1 * b - a, ones, (-1, 1), alpha)[0] - found["low"], 1e-3, 0.2)
    lows = [mean_interval(b - ratio * a, ones, (-ratio, 1.0), each)[0] for each in (0.05, alpha)]
    assert [low > 0 for low in lows] == [alone, of_three]
    assert (found["size"] == MORE) == of_three


@pytest.mark.slow
@pytest.mark.parametrize("margin", [0.1, "40%"])
def test_of_three_pairs_at_the_edge_claims_are_rare_together(margin):
    """The pairs A, C and B, C are at the edge, and A, B are equal."""
    rng, runs, wrong = np.random.default_rng(46), 150, 0
    for _ in range(runs):
        ranks = dict(zip("ABC", hits((0.25, 0.25, 0.35), 300, rng), strict=True))
        rows = compare(ranks, **RECALL, margin=margin)
        with_c = rows["b"] == "C"
        of_c = (rows["size"] != "") | rows["conclusion"].isin(["equivalent", "A", "B"])
        of_equals = rows["conclusion"].isin(["A", "B"])
        wrong += bool(np.where(with_c, of_c, of_equals).any())
    assert wrong / runs <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)
