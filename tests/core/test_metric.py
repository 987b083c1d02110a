"""Metrics of one relevant item by hand and by Table 1, over ties by every order, and by labels."""

import math
import re
from itertools import permutations

import mpmath
import numpy as np
import pytest
from read_and import evaluate

from sampled_metrics.core.metrics import (
    Metric,
    metric,
    metric_name,
    metrics_by_label,
)
from sampled_metrics.errors import ConfigError

LABELS = [
    "auc",
    "ap",
    "ap@5",
    "mrr",
    "mrr@5",
    "ndcg",
    "ndcg@5",
    "recall@5",
    "hit-rate@5",
    "precision@5",
]
LABELS += [
    "rbp-0.8",
    "rbp-0.95@5",
    "ndcg-exp@5",
    "dcg",
    "dcg-exp@5",
    "f1@5",
    "ndcg-log-2",
    "half-life-5@9",
]


@pytest.mark.parametrize(
    ("label", "candidates", "values"),
    [
        ("auc", 5, {1: 1, 2: 0.75, 5: 0}),
        ("auc", 1, {1: np.nan}),
        ("ap", 9, {4: 0.25}),
        ("recall@4", 9, {4: 1, 5: 0}),
        ("precision@4", 9, {4: 0.25, 5: 0}),
        ("f1@4", 9, {4: 2 / 5, 5: 0}),
        ("ndcg", 9, {3: 0.5, 7: 1 / 3}),
        ("ndcg@6", 9, {3: 0.5, 7: 0}),
        ("ap@4", 9, {4: 0.25, 5: 0}),
    ],
)
def test_by_hand(label, candidates, values):
    ours = metric(label).of_rank([*values], candidates).tolist()
    assert ours == pytest.approx([*values.values()], abs=1e-15, nan_ok=True)


@pytest.mark.parametrize("label", LABELS[1:])
def test_one_relevant_item_is_a_list_with_one_relevant_item(label):
    measure = metric(label)
    lists = np.eye(30)
    values = measure.formula.of_lists(lists, lists, measure.cutoff)
    assert values.tolist() == measure.values(30).tolist()


def test_auc_alone_is_linear_in_the_rank():
    assert [label for label in LABELS if metric(label).linear_in_rank] == ["auc"]


TABLE_1 = {
    "A": (
        [100, 100, 100, 100, 100],
        {"auc": 0.990, "ap": 0.010, "ndcg": 0.150, "recall@10": 0.000},
    ),
    "B": (
        [40, 40, 8437, 9266, 4482],
        {"auc": 0.555, "ap": 0.010, "ndcg": 0.122, "recall@10": 0.000},
    ),
    "C": (
        [212, 2, 743, 5342, 1548],
        {"auc": 0.843, "ap": 0.101, "ndcg": 0.208, "recall@10": 0.200},
    ),
}


@pytest.mark.parametrize("recommender", TABLE_1)
def test_table_1_comes_out_to_the_printed_digits(recommender):
    ranks, printed = TABLE_1[recommender]
    assert {
        label: round(float(metric(label).of_rank(ranks, 10_000).mean()), 3) for label in printed
    } == printed


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize(("above", "tied"), [(0, 0), (0, 3), (2, 4), (7, 2)])
def test_over_ties_is_the_mean_over_every_order_of_the_tied_items(label, above, tied):
    ranks = [
        above + 1 + order.index("held out") for order in permutations(["held out", *range(tied)])
    ]
    mean = metric(label).of_rank(ranks, 11).mean()
    assert metric(label).over_ties([above], [tied], [11])[0] == pytest.approx(
        mean, rel=1e-12, abs=1e-15
    )


@pytest.mark.parametrize(
    ("above", "tied"), [(10, 9 * 10**11), (2**20 - 3, 7), (10**17, 5), (0, 10**18 - 1)]
)
def test_ties_of_any_number_take_no_memory_of_that_length(above, tied):
    """AP is a difference of harmonic numbers, and recall a count."""
    with mpmath.workdps(50):
        mean = float((mpmath.harmonic(above + tied + 1) - mpmath.harmonic(above)) / (tied + 1))
    assert metric("ap").over_ties([above], [tied], [10**18])[0] == pytest.approx(mean, rel=1e-12)
    k = 2**20 + 2
    share = max(0, min(above + tied + 1, k) - above) / (tied + 1)
    assert metric(f"recall@{k}").over_ties([above], [tied], [10**18])[0] == pytest.approx(
        share, rel=1e-15
    )


@pytest.mark.parametrize(("above", "tied"), [(2**20 - 50, 3000), (2**21, 1)])
@pytest.mark.parametrize("label", ["ndcg", f"ndcg@{2**20 + 500}", f"precision@{2**21 + 1}"])
def test_ties_beyond_what_is_summed_are_the_sum_still(label, above, tied):
    values = metric(label).of_rank(np.arange(above + 1, above + tied + 2), 0)
    mean = metric(label).over_ties([above, 3], [tied, 0], [10**18] * 2)[0]
    assert mean == pytest.approx(math.fsum(values) / (tied + 1), rel=1e-12)
    mean_square = metric(label).squares_over_ties(np.array([above]), np.array([tied]))[0]
    assert mean_square == pytest.approx(math.fsum(values**2) / (tied + 1), rel=1e-12)


@pytest.mark.parametrize(("above", "tied"), [(0, 0), (3, 8), (40, 10**6), (2**20 + 5, 10**9)])
@pytest.mark.parametrize(("p", "k"), [("0.5", None), ("0.95", 20), ("0.9999999", None)])
def test_ties_of_rank_biased_precision_are_a_geometric_sum(p, k, above, tied):
    """(1 - p) (p^a + … + p^(l - 1)) = p^a - p^l, for the ranks a + 1 … l of a tie."""
    last = above + tied + 1 if k is None else max(above, min(above + tied + 1, k))
    with mpmath.workdps(50):
        mean = float((mpmath.mpf(p) ** above - mpmath.mpf(p) ** last) / (tied + 1))
    label = f"rbp-{p}" if k is None else f"rbp-{p}@{k}"
    value = metric(label).over_ties([above], [tied], [10**10])[0]
    assert value == pytest.approx(mean, rel=1e-8, abs=1e-15)


def test_a_family_has_a_parameter_in_the_name():
    assert metric("rbp-0.8").of_rank([1, 2, 3], 9) == pytest.approx([0.2, 0.16, 0.128])
    assert metric("rbp-0.5@2").of_rank([1, 2, 3], 9) == pytest.approx([0.5, 0.25, 0])
    lists = np.array([[1.0, 0.0, 1.0]])
    assert metric("rbp-0.5").formula.of_lists(lists, lists, None) == pytest.approx([0.625])
    assert list(metrics_by_label(["rbp-0.5", "rbp-0.8"])) == ["rbp-0.5", "rbp-0.8"]


TYPED = {
    "HR@10": "hit-rate@10",
    "Hit rate@5": "hit-rate@5",
    "MAP": "ap",
    " recall@10\n": "recall@10",
    "RBP 0.8@5": "rbp-0.8@5",
    "rbp-8e-1@5": "rbp-0.8@5",
}


@pytest.mark.parametrize("typed", [*TYPED, *LABELS])
def test_takes_names_that_people_type_and_those_that_it_prints(typed):
    usual = TYPED.get(typed, typed)
    assert metric(typed) is metric(usual) is metric(metric_name(usual))
    assert metric(typed).label == usual


@pytest.mark.parametrize(
    "label", ["", "recall@0", "auc@10", "recall@05", "recall@٣", "hr10", "Hit rate", "rbp"]
)
def test_refuses_a_label(label):
    with pytest.raises(ConfigError, match=re.escape(repr(label))):
        metric(label)


@pytest.mark.parametrize(("label", "word"), [("rbp-1", "rbp"), ("rbp-1.2.3", "rbp"), (5, "label")])
def test_refuses_a_parameter_of_a_family_and_what_is_no_label(label, word):
    with pytest.raises(ConfigError, match=word):
        metric(label)


@pytest.mark.parametrize(
    "names", [["hr@10", "hit-rate@10"], ["recall@5", metric("recall@5")], ["rbp-0.8", "rbp-0.80"]]
)
def test_refuses_two_names_of_one(names):
    with pytest.raises(ConfigError, match=names[0]):
        metrics_by_label(names)


def test_metrics_of_ones_own_are_asked_for_ranks_that_occur_alone():
    gains = np.array([1.0, 0.5, 0.25])
    functions = [
        Metric(name, lambda rank, _: gains[np.asarray(rank).astype(int) - 1], False, None)
        for name in ("one", "other")
    ]
    result = evaluate([1, 2, 3, 1, 1, 2], candidates=9, metrics=functions)
    assert result["value"].tolist() == [4.25 / 6] * 2
