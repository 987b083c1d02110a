"""Metrics against hand-computed numbers, and against each other."""

import math
import re
from itertools import permutations

import mpmath
import numpy as np
import pytest
from read_and import evaluate

from sampled_metrics.errors import ConfigError
from sampled_metrics.metrics.metric import (
    METRICS,
    Family,
    Formula,
    Metric,
    alike,
    metric,
    metric_name,
    metrics_by_label,
)

LABELS = ["auc", "ap", "ap@5", "mrr", "mrr@5", "ndcg", "ndcg@5", "recall@5", "hit-rate@5", "precision@5"]
LABELS += ["ndcg-exp@5", "dcg", "dcg-exp@5", "f1@5"]


class TestOneRelevantItem:
    @pytest.mark.parametrize(
        ("label", "candidates", "values"),
        [
            ("auc", 5, {1: 1, 2: 0.75, 5: 0}),
            ("precision@4", 9, {4: 0.25, 5: 0}),
            ("recall@4", 9, {4: 1, 5: 0}),
            ("ap", 9, {4: 0.25}),
            ("ap@4", 9, {4: 0.25, 5: 0}),
            ("ndcg", 9, {3: 0.5, 7: 1 / 3}),
            ("ndcg@6", 9, {3: 0.5, 7: 0}),
            ("f1@4", 9, {4: 2 / 5, 5: 0}),
        ],
    )
    def test_by_hand(self, label, candidates, values):
        assert metric(label).of_rank([*values], candidates).tolist() == pytest.approx([*values.values()], abs=1e-15)

    @pytest.mark.parametrize("label", [label for label in LABELS if label != "auc"])
    def test_is_the_metric_of_a_list_with_one_relevant_item(self, label):
        one, lists = metric(label), np.eye(30)
        assert one.formula.of_lists(lists, lists, one.cutoff).tolist() == one.values(30).tolist()

    def test_auc_of_one_candidate_is_not_defined(self):
        assert np.isnan(metric("auc").of_rank([1], 1)).all()

    def test_auc_alone_is_linear_in_the_rank(self):
        assert [label for label in LABELS if metric(label).linear_in_rank] == ["auc"]
        assert np.diff(metric("auc").values(30), 2) == pytest.approx(0, abs=1e-14)


TABLE_1 = {
    "A": ([100, 100, 100, 100, 100], {"auc": 0.990, "ap": 0.010, "ndcg": 0.150, "recall@10": 0.000}),
    "B": ([40, 40, 8437, 9266, 4482], {"auc": 0.555, "ap": 0.010, "ndcg": 0.122, "recall@10": 0.000}),
    "C": ([212, 2, 743, 5342, 1548], {"auc": 0.843, "ap": 0.101, "ndcg": 0.208, "recall@10": 0.200}),
}


@pytest.mark.parametrize("recommender", TABLE_1)
def test_table_1_comes_out_to_the_printed_digits(recommender):
    ranks, printed = TABLE_1[recommender]
    assert {label: round(float(metric(label).of_rank(ranks, 10_000).mean()), 3) for label in printed} == printed


class TestTies:
    @pytest.mark.parametrize("label", LABELS)
    @pytest.mark.parametrize(("above", "tied"), [(0, 0), (0, 3), (2, 4), (4, 1), (7, 2)])
    def test_is_the_mean_over_every_order_of_the_tied_items(self, label, above, tied):
        ranks = [above + 1 + order.index("held out") for order in permutations(["held out", *range(tied)])]
        mean = metric(label).of_rank(ranks, 11).mean()
        assert metric(label).over_ties([above], [tied], [11])[0] == pytest.approx(mean, rel=1e-12, abs=1e-15)

    @pytest.mark.parametrize(
        ("above", "tied"), [(10, 9 * 10**11), (2**20, 0), (2**20 - 3, 7), (10**6, 10**5), (10**17, 5), (0, 10**18 - 1)]
    )
    def test_of_any_number_takes_no_memory_of_that_length(self, above, tied):
        """AP is a difference of harmonic numbers, and recall a count."""
        with mpmath.workdps(50):
            mean = float((mpmath.harmonic(above + tied + 1) - mpmath.harmonic(above)) / (tied + 1))
        assert metric("ap").over_ties([above], [tied], [10**18])[0] == pytest.approx(mean, rel=1e-12)
        k = 2**20 + 2
        share = max(0, min(above + tied + 1, k) - above) / (tied + 1)
        assert metric(f"recall@{k}").over_ties([above], [tied], [10**18])[0] == pytest.approx(share, rel=1e-15)

    @pytest.mark.parametrize(("above", "tied"), [(2**20 - 50, 3000), (2**21, 1), (2**20, 40_000)])
    @pytest.mark.parametrize("label", ["ndcg", f"ndcg@{2**20 + 500}", f"ap@{2**21 + 1}", f"precision@{2**21 + 1}"])
    def test_beyond_what_is_summed_is_the_sum_still(self, label, above, tied):
        ranks = np.arange(above + 1, above + tied + 2)
        mean = math.fsum(metric(label).of_rank(ranks, 0)) / (tied + 1)
        assert metric(label).over_ties([above, 3], [tied, 0], [10**18] * 2)[0] == pytest.approx(mean, rel=1e-12)
        squares = math.fsum(metric(label).of_rank(ranks, 0) ** 2) / (tied + 1)
        found = metric(label).squares_over_ties(np.array([above]), np.array([tied]))[0]
        assert found == pytest.approx(squares, rel=1e-12)


TYPED = {
    **{"Recall@10": "recall@10", "HR@10": "hit-rate@10", "Hit@5": "hit-rate@5", "Hit rate@5": "hit-rate@5"},
    **{"hit_rate@5": "hit-rate@5", "MRR@10": "mrr@10", "MAP@10": "ap@10", "MAP": "ap", " recall@10\n": "recall@10"},
}


class TestLabels:
    def test_other_names_of_the_same_metric(self):
        assert (metric("mrr@7").values(20) == metric("ap@7").values(20)).all()
        assert (metric("hit-rate@7").values(20) == metric("recall@7").values(20)).all()

    @pytest.mark.parametrize(
        "label",
        [
            *("", "@10", "recall@", "recall@0", "recall@-1", "recall@+1", "recall@1.5", "recall@05", "recall@ten"),
            *("recall@1@2", "recall@٣", "ap@", "auc@10", "auc@"),
        ],
    )
    def test_refuses(self, label):
        shapes = "recall@k.*ap or ap@k.*auc.*k a whole number from 1"
        with pytest.raises(ConfigError, match=rf"^unknown metric '{re.escape(label)}'; it may be {shapes}"):
            metric(label)

    @pytest.mark.parametrize("label", ["recall", "Hit rate", "f1"])
    def test_says_that_a_cut_off_is_needed(self, label):
        with pytest.raises(ConfigError, match=rf"^metric '{label}' needs a cut-off, such as {label}@10$"):
            metric(label)

    def test_metrics_of_ones_own_are_asked_for_ranks_that_occur_alone(self):
        gains = np.array([1.0, 0.5, 0.25])
        own = [
            Metric(name, lambda rank, _: gains[np.asarray(rank).astype(int) - 1], False, None)
            for name in ("one", "other")
        ]
        assert alike(metrics_by_label([*own, "ap", "mrr"])) == [["ap", "mrr"]]
        assert evaluate([1, 2, 3, 1, 1, 2], candidates=9, metrics=own)["value"].tolist() == [4.25 / 6] * 2

    @pytest.mark.parametrize("typed", TYPED)
    def test_takes_names_that_people_type(self, typed):
        assert metric(typed) is metric(TYPED[typed])
        assert metric(typed).label == TYPED[typed]

    def test_refuses_two_names_of_one(self):
        for names in (["hr@10", "hit-rate@10"], ["map", "AP"], ["recall@5", metric("recall@5")]):
            with pytest.raises(ConfigError, match=rf"^metrics: '{names[0]}' and '.*' are the same one; give it once$"):
                metrics_by_label(names)

    def test_takes_back_what_it_prints(self):
        for label in LABELS:
            assert metric(metric_name(label)) is metric(label)

    def test_says_what_was_meant(self):
        for typed, meant in {"recal@10": "recall@10", "ncdg@5": "ndcg@5", "precison@3": "precision@3"}.items():
            with pytest.raises(ConfigError, match=rf"unknown metric '{typed}' \(did you mean {meant}\?\); it may be"):
                metric(typed)

    def test_names_are_those_of_the_paper(self):
        names = {"auc": "AUC", "ap@5": "AP@5", "hit-rate@3": "Hit rate@3", "unknown@3": "unknown@3"}
        names |= {"recall@1-50": "Recall@1-50"}  # the mean over the cut-offs
        assert [metric_name(label) for label in names] == [*names.values()]
        formulas = [formula.name for formula in METRICS.values() if not isinstance(formula, Family)]
        assert len(set(formulas)) == len(formulas) > 5


class TestParameterInTheName:
    """Rank-biased precision (Moffat and Zobel 2008), a family in one entry."""

    @staticmethod
    def rbp(p):
        if not p < 1:
            raise ConfigError(f"p of rbp must be below 1, not {p:g}")
        return Formula(f"RBP {p:g}", ("", "@k"), lambda r, i, g: (1 - p) * p ** (r - 1), lambda relevant, k: 1)

    @pytest.fixture(autouse=True)
    def _family(self, monkeypatch):
        monkeypatch.setitem(METRICS, "rbp-p", Family(self.rbp))

    def test_by_hand(self):
        assert metric("rbp-0.8").of_rank([1, 2, 3], 9) == pytest.approx([0.2, 0.16, 0.128])
        assert metric("rbp-0.5@2").of_rank([1, 2, 3], 9) == pytest.approx([0.5, 0.25, 0])
        lists = np.array([[1.0, 0.0, 1.0]])
        assert metric("rbp-0.5").formula.of_lists(lists, lists, None) == pytest.approx([0.625])

    @pytest.mark.parametrize("typed", ["RBP 0.8@5", "rbp-.80@5", "rbp0.8@5", "rbp-8e-1@5"])
    def test_is_written_in_one_way(self, typed):
        assert metric(typed) is metric("rbp-0.8@5")
        assert metric(typed).label == "rbp-0.8@5"
        assert metric_name(typed) == "RBP 0.8@5"

    def test_two_parameters_are_two_metrics(self):
        assert list(metrics_by_label(["rbp-0.5", "rbp-0.8"])) == ["rbp-0.5", "rbp-0.8"]
        with pytest.raises(ConfigError, match=r"'rbp-0.8' and 'rbp-0.80' are the same one"):
            metrics_by_label(["rbp-0.8", "rbp-0.80"])

    @pytest.mark.parametrize(
        ("typed", "message"),
        [
            ("rbp", "unknown metric 'rbp'.*; it may be .*rbp-p or rbp-p@k, with k"),
            ("rbp-p", "unknown metric 'rbp-p'"),
            ("rbp-1.2.3", "rbp-1.2.3: '1.2.3' is not a number"),
            ("rbp-1", "p of rbp must be below 1, not 1"),
            ("recall-0.8@10", "unknown metric 'recall-0.8@10'"),
        ],
    )
    def test_refusals(self, typed, message):
        with pytest.raises(ConfigError, match=message):
            metric(typed)
