"""Bounds of the true metric from a published value alone."""

import itertools
import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from no_numbers import require_a_flag
from scipy.optimize import brentq, linprog
from scipy.special import rel_entr
from scipy.stats import binom, chi2, hypergeom

import sampled_metrics as sm
from sampled_metrics.papers.known_means import KnownMeans


def findings_of(result, kind):
    """The findings of a kind."""
    return [finding for finding in result.findings if finding.kind == kind]


def free_of_many_users(values, n, m, metric):
    """Return the row of free bounds from values whose users are too many to matter."""
    options = {"negatives": m, "candidates": n, "users": 10**9, "estimators": "free"}
    [row] = sm.published({"A": values}, metrics=metric, **options).itertuples()
    return row


def as_written(labels, means):
    """The means by label, with nine decimals."""
    return {label: f"{mean:.9f}" for label, mean in zip(labels, means, strict=True)}


def test_the_published_example():
    """The upper end is that of the share itself, as no user can be better than in the sample."""
    result = sm.published(
        {"A": {"hit-rate@10": "0.62"}}, negatives=99, candidates=20000, users=6040
    )
    assert result["estimator"].tolist() == ["decreasing", "free", "uncorrected"]
    assert result["assumes"].tolist() == ["decreasing", "uniform negatives", "none"]
    upper_end = 0.625 + 1.96 * math.sqrt(0.625 * 0.375 / 6040)
    # a third one is that of the share itself, for other users
    assert result["high"].tolist() == pytest.approx([upper_end] * 3, abs=2e-3)
    low = dict(zip(result["estimator"], result["low"], strict=True))
    assert 0 == low["free"] < low["decreasing"] < 0.01
    assumed = findings_of(result, "interval-assumes")
    assert [finding.values["assumption"] for finding in assumed] == ["decreasing", "free"]


def test_an_exact_value_may_contradict_the_assumption_alone():
    """It is below the least of decreasing ranks, and free allows 0; it moves no bound."""
    options = {"negatives": 99, "candidates": 20000, "users": 6040}
    sampled = {"A": {"hr@10": "0.62"}}
    without = sm.published(sampled, **options)
    result = sm.published(sampled, exact={"A": {"hr@10": "0.001"}}, **options)
    [contradicted] = findings_of(result, "exact-contradicted")
    assert contradicted.values["assumption"] == "decreasing"
    assert contradicted.values["low"] == pytest.approx(without["low"][0], rel=1e-6)
    pd.testing.assert_frame_equal(pd.DataFrame(result), pd.DataFrame(without))


def test_a_range_of_candidates_holds_the_bounds_of_each_number():
    """A sampled Recall@1 of .5 is not one of .2 among 100 candidates, but may be in the range."""
    options = {"negatives": 99, "users": 10**4}
    values = {"A": {"hr@1": "0.500"}}
    exact = {"A": {"hr@1": "0.20"}}
    among_100 = sm.published(values, exact=exact, candidates=100, **options)
    in_a_range = sm.published(values, exact=exact, candidates=(100, 10_000), **options)
    twice = {"A": {"hr@1": "0.500", "recall@1": 0.5}}  # a share once, with all that it says
    among_10_000 = sm.published(values, candidates=10_000, **options)
    assert sm.published(twice, candidates=10_000, metrics="hr@1", **options).equals(among_10_000)
    assert findings_of(among_100, "exact-contradicted")
    assert not findings_of(in_a_range, "exact-contradicted")
    for row in (0, 1):  # decreasing and free
        assert in_a_range["low"][row] <= among_10_000["low"][row] + 1e-9
        assert in_a_range["high"][row] >= among_10_000["high"][row] - 1e-9
        assert in_a_range["high"][row] >= among_100["high"][0] - 1e-9


@pytest.mark.parametrize("shape", ["decreasing", "free"])
def test_a_further_value_moves_no_bound_outward(shape):
    """The values are of one law; ends are up to the error at which a bound stops to move."""
    options = {"negatives": 20, "candidates": 60, "users": 800, "metrics": "auc"}
    rng = np.random.default_rng(1)
    sampled = 1 + rng.binomial(20, rng.beta(1, 3, 800))
    values = {}
    ends = []
    for label in ("hr@10", "mrr", "auc"):
        values[label] = f"{sm.metric(label).of_rank(sampled, 21).mean():.4f}"
        [row] = sm.published({"A": values}, estimators=shape, **options).itertuples()
        ends.append((row.low, row.high))
    for (low_of_fewer, high_of_fewer), (low, high) in pairwise(ends):
        assert low >= low_of_fewer - 2e-3
        assert high <= high_of_fewer + 2e-3


def means_at_ranks(n, m, labels):
    """The (n, labels) means of sampled metrics at each true rank."""
    x = np.arange(m + 1)
    functions = np.stack([sm.metric(label).of_rank(x + 1, m + 1) for label in labels], axis=1)
    return hypergeom.pmf(x, n - 1, np.arange(n)[:, np.newaxis], m) @ functions


def ends_of(shown, means, label):
    """The smallest and the largest true metric of all distributions of ranks that show the means.

    They are NaN if there is no such distribution.
    """
    n = len(shown)
    metric = sm.metric(label).of_rank(np.arange(1, n + 1), n)
    options = {"A_eq": np.column_stack((shown, np.ones(n))).T, "b_eq": [*means, 1]}
    smallest = linprog(metric, **options)
    largest = linprog(-metric, **options)
    if smallest.status == largest.status == 2:  # infeasible
        return [np.nan, np.nan]
    assert smallest.success, smallest.message
    assert largest.success, largest.message
    return [smallest.fun, -largest.fun]


@pytest.mark.parametrize(
    ("n", "m"),
    [
        (300, 100),
        pytest.param(300, 299, marks=pytest.mark.slow),
        pytest.param(2000, 300, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        (("hr@10", "ndcg@10", "mrr"), "hr@100"),
        (("hr@90", "auc"), "hr@250"),
        (("hr@50", "hr@90"), "mrr"),
    ],
)
def test_the_bounds_among_many_negatives_hold_those_of_the_full_problem(n, m, labels, wanted):
    """Of 10⁹ users; a law of three ranks and one of all.

    The whole programme has all ranks and each x.
    """
    shown = means_at_ranks(n, m, labels)
    rank = np.arange(1, n + 1)
    for law in (1 / (rank + 3.0), 1e-9 + np.isin(rank, (4, 150, n // 3))):
        means = (law / law.sum() @ shown).round(9)
        low, high = ends_of(shown, means, wanted)
        row = free_of_many_users(as_written(labels, means), n, m, wanted)
        assert (row.low, row.high) == pytest.approx((low, high), abs=2e-3)
        assert row.low <= low + 1e-4
        assert row.high >= high - 1e-4


def test_of_many_negatives_the_free_bounds_are_those_in_closed_form():
    """Who is not among the best 100 is at rank 101 at best.

    The item of that rank is first in the sample with a chance of .37.
    """
    row = free_of_many_users({"hr@1": "0.620000000"}, 10**5, 1000, "hr@100")
    chance = hypergeom.pmf(0, 10**5 - 1, 100, 1000)
    low = (0.62 - chance) / (1 - chance)
    assert (row.low, row.high) == pytest.approx((low, 1), abs=1e-4)


def ends_of_share(share, users, t):
    """The shares p of which `users` times the divergence of a share seen is t (Wilks)."""

    def excess(p):
        return users * (rel_entr(share, p) + rel_entr(1 - share, 1 - p)) - t

    return [brentq(excess, 1e-6, share), brentq(excess, share, 1 - 1e-6)]


def test_among_all_999_negatives_the_bounds_are_those_of_a_share():
    """Each share has the threshold of a value alone, 1.92, and not that of several values, 7.03.

    The shares are of whole users, so that nothing is rounded.
    """
    options = {"negatives": 999, "candidates": 1000, "users": 25_000, "estimators": "free"}
    result = sm.published({"A": {"hr@1": "0.24000", "hr@50": "0.70000"}}, **options)
    alone = chi2.ppf(0.95, 1) / 2
    expected = [ends_of_share(share, 25_000, alone) for share in (0.24, 0.7)]
    for ends, (low, high) in zip(result[["low", "high"]].to_numpy(), expected, strict=True):
        assert ends == pytest.approx([low, high], abs=4e-5)


@pytest.mark.parametrize("share", [0.02, 0.35, 0.41, 0.9])
def test_the_divergence_from_a_rounded_share_is_that_from_its_nearer_end(share):
    """The shares 0.4 to 0.42 are known. Their divergence from p is the least one, by Bernoulli."""
    function = np.array([1.0, 1, 0, 0, 0])
    known = KnownMeans(function[np.newaxis], np.array([0.40]), np.array([0.42]), 500)
    probabilities = np.array([share / 4, 3 * share / 4, 0, (1 - share) / 2, (1 - share) / 2])
    nearest = min(max(share, 0.40), 0.42)
    expected = 500 * (rel_entr(nearest, share) + rel_entr(1 - nearest, 1 - share))
    assert known.steepest(probabilities)[1] == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_two_values_together_have_the_threshold_of_seven_degrees_of_freedom():
    """Of three candidates, both hit rates are all proportions of ranks, and bound MRR.

    The largest mean within a divergence is that of proportions over (a constant - values), by
    Lagrange. Each hit rate alone leaves wider bounds.
    """
    seen = np.array([0.5, 0.2, 0.3])
    users = 10_000
    values = 1 / np.arange(1, 4)
    divergence = chi2.ppf(0.95, 7) / 2 / users

    def furthest(values):
        def tilted(distance):
            weights = seen / (values.max() + distance - values)
            return weights / weights.sum()

        def excess(distance):
            return rel_entr(seen, tilted(distance)).sum() - divergence

        return float(values @ tilted(brentq(excess, 1e-6, 1e6)))

    [row] = sm.published(
        {"A": {"hr@1": "0.5000", "hr@2": "0.7000"}},
        negatives=2,
        candidates=3,
        users=users,
        metrics="mrr",
        estimators="free",
    ).itertuples()
    for end, expected in ((row.low, -furthest(-values)), (row.high, furthest(values))):
        width = abs(expected - values @ seen)
        assert width * 0.999 <= abs(end - values @ seen) <= width * 1.02


def subsets(labels):
    """All subsets of the labels but the empty one; the last has all labels."""
    sizes = range(1, len(labels) + 1)
    return [subset for size in sizes for subset in itertools.combinations(labels, size)]


def ends_by_subset(labels, shown, means, label):
    """The ends of a true metric if only some of the means are known."""
    columns = {subset: [labels.index(label) for label in subset] for subset in subsets(labels)}
    return {
        subset: ends_of(shown[:, chosen], means[chosen], label)
        for subset, chosen in columns.items()
    }


def test_values_that_no_ranks_explain_are_named():
    """By linear programmes, no ranks show the three named values, but some show any two of them."""
    n = 30
    m = 10
    labels = ("hr@1", "hr@2", "hr@3", "auc")
    means = np.array([0.30, 0.30, 0.60, 0.80])
    ends = ends_by_subset(labels, means_at_ranks(n, m, labels), means, "auc")
    written = as_written(labels, means)
    result = sm.published(
        {"A": written, "B": {"auc": "0.7"}},
        negatives=m,
        candidates=n,
        users=10**6,
        estimators="free",
    )
    [finding] = findings_of(result, "published-unexplained")
    named = tuple(finding.values["values"])
    assert not findings_of(result, "published-undecided")
    assert np.isnan(ends[named]).all()
    assert not any(np.isnan(ends[fewer]).any() for fewer in subsets(named)[:-1])
    assert finding.values["values"] == {label: written[label] for label in named}


@pytest.mark.parametrize("label", ["hr@5", pytest.param("mrr", marks=pytest.mark.slow)])
def test_an_exact_value_that_the_sampled_ones_exclude_is_named_with_the_fewest_that_do(
    label,
):
    """The exact value is just within or beyond the ends of the linear programme of all values.

    Fewer values have other ends.
    """
    n = 30
    m = 10
    labels = ("hr@1", "hr@5", "auc")
    shown = means_at_ranks(n, m, labels)
    law = 1 / (np.arange(1, n + 1) + 1.0)
    means = (law / law.sum() @ shown).round(9)
    ends = ends_by_subset(labels, shown, means, label)
    low, high = ends[labels]
    options = {"negatives": m, "candidates": n, "users": 10**9, "estimators": "free"}
    for value, is_excluded in (
        (low - 4e-3, True),
        (low + 4e-3, False),
        (high - 4e-3, False),
        (high + 4e-3, True),
    ):
        if not 0 <= value <= 1:
            continue
        exact = {"A": {label: f"{value:.9f}"}}
        result = sm.published(
            {"A": as_written(labels, means)}, exact=exact, metrics="hr@10", **options
        )
        contradicted = findings_of(result, "exact-contradicted")
        assert len(contradicted) == is_excluded
        for finding in contradicted:
            named = tuple(finding.values["values"])
            named_ends = (finding.values["low"], finding.values["high"])
            assert named_ends == pytest.approx(ends[named], abs=1e-3)
            assert not ends[named][0] <= value <= ends[named][1]
            for fewer in subsets(named)[:-1]:
                assert ends[fewer][0] - 2e-3 <= value <= ends[fewer][1] + 2e-3


def test_a_value_may_have_all_digits_of_a_number():
    """So that it stands for less than 10⁻¹² around it."""
    options = {"negatives": 49, "candidates": 1000, "users": 10**5, "estimators": "free"}
    [with_all_digits] = sm.published({"A": {"mrr": "0.6444251537322998"}}, **options).itertuples()
    [with_six_digits] = sm.published({"A": {"mrr": "0.644425"}}, **options).itertuples()
    assert with_all_digits.high == pytest.approx(with_six_digits.high, abs=1e-4)


@pytest.mark.parametrize("mean", [0.03, 0.97])
def test_few_users_who_decide_a_mean_allow_a_larger_deviance(mean):
    """3 of 100 users, and one more: 1.96² / 2 + (log 40 - 1.96² / 2) / 4."""
    known = KnownMeans(np.array([[1.0, 0.0]]), np.array([mean]), np.array([mean]), 100)
    assert known.limit(0.05) == pytest.approx(1.920729 + 1.768150 / 4, abs=1e-6)
    assert known.p_value(1.920729 + 1.768150 / 4) == pytest.approx(0.05, abs=1e-6)


def test_pairs_are_bounded_by_the_ends_of_both_at_a_share_of_the_rate():
    """The rows of a recommender are those of it alone, at the whole rate."""
    options = {"negatives": 99, "candidates": 1000, "users": 500, "metrics": "auc"}
    values = {"A": {"auc": "0.80"}, "B": {"auc": "0.90"}, "C": {"auc": "0.81"}}
    result = sm.published(values, **options)
    alone = sm.published({"A": values["A"]}, **options)
    rows = result[result["recommender"] == "A"]
    pd.testing.assert_frame_equal(pd.DataFrame(rows), pd.DataFrame(alone))
    orders = {finding.names: finding.values for finding in findings_of(result, "published-order")}
    assert set(orders) == {("B", "A"), ("B", "C")}
    [undecided] = findings_of(result, "published-undecided")
    assert (undecided.names, undecided.values["assumption"]) == (("A", "C"), "decreasing")
    options |= {"estimators": "free", "confidence_level": 1 - 0.05 / 3}
    [a] = sm.published({"A": values["A"]}, **options).itertuples()
    [b] = sm.published({"B": values["B"]}, **options).itertuples()
    order = orders["B", "A"]
    assert order["assumption"] == "free"
    ends = pytest.approx((b.low - a.high, b.high - a.low), abs=2e-3)
    assert (order["low"], order["high"]) == ends


def test_a_whole_number_beside_numbers_with_decimals_is_rounded_as_they_are():
    """So 0 beside .12 is up to 4 of 1000 users; alone it is nobody."""
    options = {"negatives": 99, "candidates": 1000, "users": 1000, "metrics": "hr@1"}

    def high(value):
        result = sm.published({"A": {"hr@1": value}, "B": {"hr@1": 0.12}}, **options)
        return result["high"][0]

    assert high(0) == high("0.00") > 0.005 > high("0")


def test_an_assumption_is_contradicted_only_if_all_counts_of_a_rounded_value_contradict_it():
    """Of N users, 1.000 is .9995 N to N.

    All with x = 0 fits; 40, 210 and 50 with x = 1 to 4, 5 to 9 and more not.
    """
    options = {
        "negatives": 100,
        "candidates": 3541,
        "users": 604_000,
        "estimators": "decreasing",
        "metrics": "recall@1",
    }
    labels = ("recall@1", "recall@5", "recall@10")
    rounded = sm.published({"A": dict.fromkeys(labels, "1.000")}, **options)
    assert set(rounded["assumes"]) == {"decreasing"}
    assert not findings_of(rounded, "published-contradicted")
    shares = [f"{users / 604_000:.9f}" for users in (603_700, 603_740, 603_950)]
    contradicts = sm.published({"A": dict(zip(labels, shares, strict=True))}, **options)
    assert set(contradicts["assumes"]) == {"uniform negatives"}
    [finding] = findings_of(contradicts, "published-contradicted")
    assert finding.values["assumption"] == "decreasing"
    assert (rounded["low"] <= contradicts["low"] + 1e-12).all()


def test_coverage_of_a_binomial_share_by_enumeration():
    """With m = n - 1 the value is that of the true ranks, also at 0 and 1.

    So the coverage is a sum over all counts of users.
    """
    users = 20
    counts = np.arange(users + 1)
    options = {
        "negatives": 99,
        "candidates": 100,
        "users": users,
        "estimators": "free",
        "metrics": "recall@10",
    }
    ends = [
        sm.published({"A": {"recall@10": f"{count / users:.3f}"}}, **options)[["low", "high"]]
        for count in counts
    ]
    low, high = np.concatenate(ends).T
    for truth in np.linspace(0.01, 0.99, 99):
        assert binom.pmf(counts, users, truth) @ ((low <= truth) & (truth <= high)) >= 0.93


def test_a_share_that_no_number_of_users_has_is_said_and_bounded_as_it_is_written():
    """Its bounds are between those of the nearest shares."""
    options = {"negatives": 99, "candidates": 1000, "users": 100, "metrics": "recall@10"}
    result = sm.published({"A": {"precision@10": "0.0333333"}}, **options)
    [finding] = findings_of(result, "no-share")
    assert (finding.metric, finding.names) == ("precision@10", ("A",))
    nearest = {"below": pytest.approx(0.033), "above": pytest.approx(0.034)}
    assert finding.values == {"value": "0.0333333", "users": 100} | nearest
    below = sm.published({"A": {"hr@10": 0.33}}, **options)["high"]
    above = sm.published({"A": {"hr@10": 0.34}}, **options)["high"]
    assert (below <= result["high"]).all()
    assert (result["high"] <= above).all()


HUGE = 10**400


@pytest.mark.parametrize(
    ("values", "more", "word"),
    [
        ({}, {}, "by recommender"),
        ({"A": 0.68}, {}, "by recommender"),
        ({"A": dict.fromkeys([f"hr@{k}" for k in range(1, 8)], 0.5)}, {}, "at most 6"),
        ({"A": {"recall@5": 0.5}}, {"estimators": "mle"}, "mle"),
        ({"A": {"precision@5": 0.3}}, {}, "to 0.2"),
        ({"A": {"hr@10": 69.7}}, {}, "0.697"),
        ({"A": {"hr@10": HUGE}}, {}, "from 0 to 1"),
        ({"A": {"recall@10": "many"}}, {}, "many"),
        ({"A": {"recall@200": 0.5}}, {}, "99 negatives"),
        ({"A": {"mrr": "0.001"}}, {}, "mrr"),
        ({"A": {"hr@10": 0.70, "hr@20": 0.61, "mrr": 0.35}}, {}, "hr@10 .* above hr@20"),
        ({"A": {"hr@10": 0.5, "recall@10": 0.6}}, {}, "hr@10 and recall@10"),
        # MRR is at most .2 + .2 / 2 + .6 / 3
        (
            {"A": {"hr@1": 0.2, "hr@2": 0.4, "mrr": 0.55, "auc": 0.8}},
            {},
            r"mrr \(0.55\), hr@2 \(0.4\) and hr@1 \(0.2\)",
        ),
        ({"A": {"recall@5": 0.5}}, {"candidates": (300, 200)}, "candidates"),
        ({"A": {"recall@5": 0.5}}, {"exact": {"B": {"hr@5": 0.1}}}, "'B'"),
        ({"A": {"recall@5": 0.5}}, {"exact": {"A": 0.1}}, "exact"),
        ({"A": {"recall@5": 0.5}}, {"users": 0}, "users"),
        ({"A": {"recall@5": 0.5}}, {"drawn": "once"}, "drawn"),
        (
            {"A": {"recall@5": 0.5}},
            {"drawn": "popularity", "exact": {"A": {"hr@5": "0.5"}}},
            "exact",
        ),
    ],
)
def test_refuses(values, more, word):
    options = {"negatives": 99, "candidates": 20000, "users": 6040} | more
    with pytest.raises((sm.DataError, sm.ConfigError), match=word):
        sm.published(values, **options)


@pytest.mark.parametrize("number", [np.int8, np.uint64])
def test_numbers_of_few_bits_are_those_of_python(number):
    values = {"A": {"recall@5": 0.25}}
    sizes = {"negatives": 10, "candidates": 100, "users": 100}
    few_bits = {option: number(size) for option, size in sizes.items()}
    assert str(sm.published(values, **few_bits)) == str(sm.published(values, **sizes))


def test_replacement_is_true_or_false():
    values = {"A": {"recall@5": 0.5}}
    sizes = {"negatives": 10, "candidates": 100, "users": 100}
    require_a_flag(lambda flag: sm.published(values, replacement=flag, **sizes), "replacement")


def test_precision_has_the_ends_of_its_hit_rate():
    options = {"negatives": 99, "candidates": 1000, "users": 100}
    hits = sm.published({"A": {"hr@10": "0.50"}}, **options)
    precision = sm.published({"A": {"precision@10": "0.050"}}, **options)
    for column in ("low", "high"):
        assert (10 * precision[column]).tolist() == pytest.approx(hits[column].tolist(), abs=1e-6)
