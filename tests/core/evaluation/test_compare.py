"""Comparisons: differences by hand, pairing by user, families of three, and margins by
definition.
"""

import numpy as np
import pandas as pd
import pytest
from compared import require_that_equal_seeds_are_named, seeds_of_which_two_are_equal
from read_and import compare
from scipy.optimize import brentq

import sampled_metrics as sm
from sampled_metrics.core.evaluation.compare import BONFERRONI, LARGEST_T
from sampled_metrics.core.evaluation.verdict import VERDICTS, Lead
from sampled_metrics.core.inference.means import mean_interval
from sampled_metrics.errors import ConfigError, DataError

A = [1, 12, 3, 40, 2, 11]
B = [1, 2, 5, 9, 30, 4]


def frame(ranks, users, **more):
    return pd.DataFrame({"user": users, "rank": ranks, **more})


def values_of_kinds(table, *kinds):
    """The values of the findings of some kinds."""
    return [finding.values for finding in table.findings if finding.kind in kinds]


def test_the_finding_names_the_tables_that_are_paired_by_position():
    users = np.arange(10, 16)
    tables = {"plain": sm.exact_ranks(A, candidates=50)}
    tables |= {name: sm.exact_ranks(frame(A, users), candidates=50) for name in ("named", "other")}
    result = sm.compare(tables, metrics="auc")
    assert values_of_kinds(result, "paired-by-position") == [{"without": ["plain"]}]


def test_users_are_paired_by_position_where_one_does_not_name_its_users():
    """Ranks i of both are those of one user, in any numbering."""
    three_orders = np.random.default_rng(5).permuted(np.tile(np.arange(1, 31), (3, 1)), axis=1)
    ranks_a, ranks_b, numbers = three_orders
    ends = mean_interval((ranks_a - ranks_b) / 49, np.ones(30, dtype=int), (-1, 1), 0.05)
    for a, b in (
        (ranks_a, pd.Series(ranks_b, index=numbers)),
        (frame(ranks_a, numbers), list(ranks_b)),
    ):
        row = compare(a, b, metrics=["auc"], candidates=50).iloc[0]
        assert (row["low"], row["high"]) == pytest.approx(ends, rel=1e-9)


@pytest.mark.parametrize(
    ("estimator", "kinds"),
    [
        (None, {"assumes", "supported", "use-plan"}),
        ("free", {"assumes", "use-plan"}),
        ("mle", {"equal-bias", "approximate"}),
        ("uncorrected", {"uncorrected-verdicts"}),
    ],
)
def test_verdicts_stand_beside_what_they_assume(estimator, kinds):
    table = compare([1, 4, 2], [1, 1, 3], candidates=50, negatives=5, estimator=estimator)
    expected = kinds | {"drawn-by-user", "few-users", "paired-by-position", "rows-as-users"}
    expected.add("several-metrics")
    assert {finding.kind for finding in table.findings} - {*VERDICTS} == expected
    assert table.setting.is_uncorrected == (estimator == "uncorrected")
    if "assumes" in kinds:
        [assumed] = values_of_kinds(table, "assumes")
        assert assumed["assumption"] == (estimator or "decreasing")


def test_an_interval_that_falls_back_to_free_is_not_said_to_assume():
    """All true ranks of B are near 90 of 800, which decreasing does not fit; those of A do."""
    rng = np.random.default_rng(1)
    ranks = {"A": rng.geometric(0.02, 600).clip(max=800), "B": rng.integers(85, 95, 600)}
    sampled = {
        name: 1 + rng.hypergeometric(true - 1, 800 - true, 49) for name, true in ranks.items()
    }
    tables = sm.sampled_ranks(sampled, negatives=49, candidates=800)
    compared = sm.compare(tables, metrics="recall@10")
    [assumed] = values_of_kinds(compared, "assumes")
    assert assumed["assumption"] == "decreasing"
    assert assumed["condition"].endswith(" for A")
    assert compared.sentence().endswith(" for A.")


def test_the_auc_alone_needs_no_correction():
    """The mean of the sampled AUC is the true one, whatever the ranks are."""
    table = compare(
        [1, 4, 2], [1, 1, 3], candidates=50, negatives=5, estimator="uncorrected", metrics="AUC"
    )
    assert values_of_kinds(table, "uncorrected-verdicts") == []


@pytest.mark.parametrize(
    ("ranks", "options", "error", "word"),
    [
        ({"A": A}, {}, DataError, "two"),
        ({"A": A, "B": B}, {"estimator": "mle"}, DataError, "estimator"),
        ({"A": A, "B": B}, {"negatives": 49, "estimator": ["mle", "cls"]}, ConfigError, "cls"),
        ({"A": [A, B[:-1]], "B": B}, {}, DataError, "seed"),
    ],
    ids=["one recommender", "estimator of exact ranks", "two estimators", "users of seeds"],
)
def test_refuses(ranks, options, error, word):
    with pytest.raises(error, match=word):
        compare(ranks, candidates=50, **options)


# --- three recommenders -------------------------------------------------------------------------


@pytest.fixture
def ranks():
    rng = np.random.default_rng(12)
    base = rng.integers(1, 100, size=300)
    good, fair = (np.maximum(1, base - rng.integers(0, 30, 300)) for _ in range(2))
    return {"good": good, "fair": fair, "poor": base}


def test_many_by_strict_bounds_are_those_at_the_level_of_bonferroni(ranks):
    rng = np.random.default_rng(3)
    sampled = {
        name: 1 + rng.hypergeometric(exact[:100] - 1, 100 - exact[:100], 9)
        for name, exact in ranks.items()
    }
    options = {"negatives": 9, "estimator": "free", "candidates": 100, "metrics": "auc"}
    table = compare(sampled, **options)
    [family] = values_of_kinds(table, "family")
    assert (family["pairs"], family["method"]) == (3, BONFERRONI)
    assert family["rate"] == pytest.approx(0.05 / 3)
    for row in table.itertuples():
        pair = {name: sampled[name] for name in (row.a, row.b)}
        alone = compare(pair, **options, confidence_level=1 - 0.05 / 3).iloc[0]
        assert (row.low, row.high) == pytest.approx((alone["low"], alone["high"]))


def test_the_best_alone_have_the_intervals_of_all_pairs(ranks):
    tables = sm.exact_ranks(ranks, candidates=100)
    options = {"metrics": ["auc", "recall@10"]}
    all_pairs = sm.compare(tables, best=3, **options)
    best = sm.compare(tables, best=2, **options)
    pd.testing.assert_frame_equal(all_pairs, sm.compare(tables, **options))
    [family] = values_of_kinds(all_pairs, "family")
    assert (family["pairs"], family["method"], family["rate"]) == (3, LARGEST_T, 0.0)
    rows_of_pair = all_pairs[(all_pairs["a"] == "good") & (all_pairs["b"] == "fair")].reset_index(
        drop=True
    )
    pd.testing.assert_frame_equal(best, rows_of_pair.drop(columns="p_value"))
    numbers = {"most": 2, "recommenders": 3, "pairs": 3, "method": LARGEST_T}
    assert values_of_kinds(best, "best-pairs") == [numbers]
    assert values_of_kinds(best, "family") == []


# --- margins: intervals of b - (1 + d) a by definition; test_verdict.py has conclusions ---------

HIT = 1
MISS = 40
FEW = [HIT] * 20 + [MISS] * 80
# 10 hits of the others are missed, and 30 others found
MANY = [HIT] * 10 + [MISS] * 10 + [HIT] * 30 + [MISS] * 50
HITS_AT_10 = {"metrics": ["recall@10"], "candidates": 50, "exact": True}


def row(ranks_a=FEW, ranks_b=MANY, **options):
    return compare(ranks_a, ranks_b, **HITS_AT_10, **options).iloc[0]


@pytest.mark.parametrize(
    ("margin", "word"),
    [("2 parts", "margin"), (0, "margin"), (True, "margin"), ("1000001%", "margin"), (1, "recall")],
)
def test_refuses_margins(margin, word):
    with pytest.raises(ConfigError, match=word):
        row(margin=margin)


@pytest.mark.parametrize(
    ("margin", "size"),
    [
        (0.05, Lead.MORE.value),
        (0.2, ""),
        (0.35, Lead.LESS.value),
        ("20 %", Lead.MORE.value),
        ("60%", ""),
        ("400%", Lead.LESS.value),
    ],
)
def test_margins_are_judged_by_the_interval_of_the_difference_less_the_margin(margin, size):
    a, b = (np.array(ranks) <= 10 for ranks in (FEW, MANY))
    is_relative = isinstance(margin, str)
    ratio = 1 + float(margin[:-1]) / 100 if is_relative else 1.0
    threshold = 0.0 if is_relative else margin
    low, high = mean_interval(b - ratio * a, np.ones(100, dtype=int), (-ratio, 1.0), 0.05)
    assert (low > threshold) == (size == Lead.MORE.value)
    assert (high < threshold) == (size == Lead.LESS.value)
    plain = row()
    judged = row(margin=margin)
    assert judged[plain.index].equals(plain)
    assert (judged["size"], judged["conclusion"]) == (size, "B")
    assert (judged["higher_a"], judged["higher_b"]) == (0.1, 0.3)  # of the users
    assert judged["relative"] == pytest.approx(0.2 / 0.2)
    mirrored = row(MANY, FEW, margin=margin)
    assert (mirrored["size"], mirrored["conclusion"]) == (size, "A")


@pytest.mark.parametrize(
    ("percent", "is_more_alone", "is_more_of_three"), [(17, True, True), (23, True, False)]
)
def test_relative_margins_of_several_pairs_are_judged_at_the_level_of_their_intervals(
    percent, is_more_alone, is_more_of_three
):
    """That level is the one at which the interval of the difference itself is the stated one."""
    a, b = (np.array(ranks) <= 10 for ranks in (FEW, MANY))
    ones = np.ones(100, dtype=int)
    ratio = 1 + percent / 100
    ranks = {"A": FEW, "B": MANY, "C": FEW[::-1]}
    pair = compare(ranks, **HITS_AT_10, margin=f"{percent}%").iloc[0]
    alpha = brentq(
        lambda alpha: mean_interval(1 * b - a, ones, (-1, 1), alpha)[0] - pair["low"], 1e-3, 0.2
    )

    def is_more(rate):
        return mean_interval(b - ratio * a, ones, (-ratio, 1.0), rate)[0] > 0

    assert (is_more(0.05), is_more(alpha)) == (is_more_alone, is_more_of_three)
    assert (pair["size"] == Lead.MORE.value) == is_more_of_three


def test_seeds_with_the_same_ranks_are_named_in_whatever_order():
    seeds = seeds_of_which_two_are_equal(lambda frame: sm.exact_ranks(frame, candidates=40))
    require_that_equal_seeds_are_named(*seeds, {})
    assert values_of_kinds(sm.evaluate(seeds[:2]), "equal-seeds") == [{"seeds": ["1", "2"]}]


def test_values_are_those_of_the_same_user_in_any_order_of_rows():
    """The average precision of one relevant item is one over its rank; that of a user, the mean
    over the rows.
    """
    frame_a = pd.DataFrame({"user": ["b", "a", "b"], "rank": [4, 2, 1]})
    frame_b = pd.DataFrame({"user": ["a", "b", "b"], "rank": [5, 10, 2]})
    result = sm.compare(sm.exact_ranks({"A": frame_a, "B": frame_b}, candidates=50), metrics="MAP")
    values = {"A": [0.5, (0.25 + 1) / 2], "B": [0.2, (0.1 + 0.5) / 2]}
    assert result.by_user.to_dict("list") == {
        "recommender": ["A", "A", "B", "B"],
        "user": ["a", "b", "a", "b"],
        "MAP": pytest.approx(values["A"] + values["B"]),
    }
    assert result["difference"][0] == pytest.approx(np.mean(values["B"]) - np.mean(values["A"]))
    assert result["users"][0] == 2


def test_bounds_have_no_values_of_users():
    table = compare([1, 4, 2], [1, 1, 3], candidates=50, negatives=5)
    with pytest.raises(DataError, match=r"by_user"):
        table.by_user  # noqa: B018
