"""Metrics against hand-computed numbers, against the paper's own sums written as loops, and against each other."""

import math
import re
from itertools import permutations
from math import log2
from typing import ClassVar

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampled_metrics.errors import ConfigError
from sampled_metrics.metrics import held_out
from sampled_metrics.metrics.held_out import metric, metric_labels, metric_name

LABELS = ["auc", "ap", "ap@5", "mrr", "mrr@5", "ndcg", "ndcg@5", "recall@5", "hit-rate@5", "precision@5"]
rank_sets = st.integers(2, 25).flatmap(
    lambda n: st.tuples(st.sets(st.integers(1, n), min_size=1, max_size=n - 1), st.just(n))
)


# the sums of section 3, one for one


def of_sets(label, ranks, candidates=30):
    return metric(label).of_sets(ranks, candidates)


def at(family, k):
    return family if k is None else f"{family}@{k}"


def naive_auc(relevant, n):
    irrelevant = set(range(1, n + 1)) - relevant
    return sum(r < other for r in relevant for other in irrelevant) / (len(relevant) * (n - len(relevant)))


def naive_precision(relevant, k):
    return len({r for r in relevant if r <= k}) / k


def naive_recall(relevant, k):
    return len({r for r in relevant if r <= k}) / len(relevant)


def naive_average_precision(relevant, k):
    total = 0.0
    for i in range(1, k + 1):
        if i in relevant:
            total += naive_precision(relevant, i)
    return total / min(len(relevant), k)


def naive_ndcg(relevant, k):
    ideal = sum(1 / log2(i + 1) for i in range(1, min(len(relevant), k) + 1))
    return sum(1 / log2(i + 1) for i in range(1, k + 1) if i in relevant) / ideal


class TestSetsByHand:
    """Three relevant items, at ranks 1, 3 and 5 of 10."""

    RANKS = ((5, 1, 3),)

    def test_auc(self):
        # the item at 1 is above all 7 irrelevant ones, that at 3 above 6, that at 5 above 5
        assert of_sets("auc", self.RANKS, 10) == pytest.approx((7 + 6 + 5) / 21)

    @pytest.mark.parametrize(("k", "value"), [(1, 1), (2, 1 / 2), (3, 2 / 3), (5, 3 / 5), (10, 3 / 10)])
    def test_precision(self, k, value):
        assert of_sets(f"precision@{k}", self.RANKS) == pytest.approx(value)

    @pytest.mark.parametrize(("k", "value"), [(1, 1 / 3), (2, 1 / 3), (3, 2 / 3), (5, 1)])
    def test_recall(self, k, value):
        assert of_sets(f"recall@{k}", self.RANKS) == pytest.approx(value)

    @pytest.mark.parametrize(
        ("k", "value"),
        [(None, (1 + 2 / 3 + 3 / 5) / 3), (5, (1 + 2 / 3 + 3 / 5) / 3), (3, (1 + 2 / 3) / 3), (2, 1 / 2), (1, 1)],
    )
    def test_average_precision(self, k, value):
        assert of_sets(at("ap", k), self.RANKS) == pytest.approx(value)

    @pytest.mark.parametrize(
        ("k", "gain", "ideal"),
        [
            (None, 1 + 0.5 + 0.386852807, 1 + 0.630929754 + 0.5),
            (3, 1 + 0.5, 1 + 0.630929754 + 0.5),
            (2, 1, 1 + 0.630929754),
        ],
    )
    def test_ndcg(self, k, gain, ideal):
        assert of_sets(at("ndcg", k), self.RANKS) == pytest.approx(gain / ideal, rel=1e-8)

    def test_reciprocal_rank_is_that_of_the_best(self):
        assert of_sets("mrr", [[4, 9, 2]]).tolist() == [0.5]
        assert of_sets("mrr@1", [[4, 9, 2]]).tolist() == [0]

    def test_hit_rate_needs_one_relevant_item(self):
        assert of_sets("hit-rate@2", [[4, 9, 2], [4, 9, 3]]).tolist() == [1, 0]

    def test_perfect_ranking_is_worth_1(self):
        for label in ("auc", "ap", "ap@2", "ndcg", "ndcg@2", "mrr", "recall@3", "precision@3", "hit-rate@1"):
            assert of_sets(label, [[2, 3, 1]], 10) == pytest.approx(1), label

    def test_no_relevant_item_within_the_cutoff_is_worth_0(self):
        for label in ("ap@2", "ndcg@2", "mrr@2", "recall@2", "precision@2", "hit-rate@2"):
            assert of_sets(label, [[3, 4]], 10) == 0, label


class TestSetsOfSeveralInstances:
    def test_rows_with_fewer_relevant_items_are_filled_up_with_zeros(self):
        together = [[2, 7, 0], [1, 3, 5], [0, 4, 0]]
        alone = [[[2, 7]], [[1, 3, 5]], [[4]]]
        for label in LABELS:
            found = of_sets(label, together, 12).tolist()
            assert found == pytest.approx([of_sets(label, one, 12)[0] for one in alone]), label

    def test_each_instance_may_have_its_own_candidates(self):
        assert of_sets("auc", [[1, 4], [1, 4]], [4, 6]).tolist() == pytest.approx([2 / 4, (4 + 2) / 8])

    def test_auc_is_nan_where_every_candidate_is_relevant(self):
        assert np.isnan(of_sets("auc", [[1, 2]], 2)).all()
        assert np.isnan(held_out.auc([1], 1)).all()

    @pytest.mark.parametrize(
        ("ranks", "message"), [([[1, -2]], "start at 1"), ([[0, 0]], "at least one"), ([[]], "one")]
    )
    def test_refuses(self, ranks, message):
        with pytest.raises(ValueError, match=message):
            of_sets("recall@3", ranks)


class TestSetsAgainstThePapersSums:
    @given(rank_sets, st.integers(1, 30))
    def test_every_equation(self, ranks_and_n, k):
        relevant, n = ranks_and_n
        row = [sorted(relevant, reverse=True)]
        close = {"rel": 1e-12, "abs": 1e-15}
        assert of_sets("auc", row, n)[0] == pytest.approx(naive_auc(relevant, n), **close)
        assert of_sets(f"precision@{k}", row)[0] == pytest.approx(naive_precision(relevant, k), **close)
        assert of_sets(f"recall@{k}", row)[0] == pytest.approx(naive_recall(relevant, k), **close)
        assert of_sets(f"ap@{k}", row)[0] == pytest.approx(naive_average_precision(relevant, k), **close)
        assert of_sets(f"ndcg@{k}", row)[0] == pytest.approx(naive_ndcg(relevant, k), **close)
        # without a cut-off: k = n
        assert of_sets("ap", row)[0] == pytest.approx(naive_average_precision(relevant, n), **close)
        assert of_sets("ndcg", row)[0] == pytest.approx(naive_ndcg(relevant, n), **close)


class TestOneRelevantItem:
    @pytest.mark.parametrize(
        ("label", "rank", "candidates", "value"),
        [
            ("auc", 1, 5, 1),
            ("auc", 2, 5, 0.75),
            ("auc", 5, 5, 0),
            ("precision@4", 4, 9, 0.25),
            ("precision@4", 5, 9, 0),
            ("recall@4", 4, 9, 1),
            ("recall@4", 5, 9, 0),
            ("ap", 4, 9, 0.25),
            ("ap@4", 4, 9, 0.25),
            ("ap@4", 5, 9, 0),
            ("ndcg", 3, 9, 0.5),
            ("ndcg", 7, 9, 1 / 3),
            ("ndcg@7", 7, 9, 1 / 3),
            ("ndcg@6", 7, 9, 0),
        ],
    )
    def test_by_hand(self, label, rank, candidates, value):
        assert metric(label).of_rank(rank, candidates) == pytest.approx(value, abs=1e-15)

    @pytest.mark.parametrize("label", LABELS)
    def test_equals_a_set_of_one(self, label):
        ranks = np.arange(1, 13)
        assert metric(label).of_rank(ranks, 12) == pytest.approx(of_sets(label, ranks[:, np.newaxis], 12), rel=1e-14)

    @given(st.sampled_from(LABELS), st.integers(2, 400))
    def test_lies_in_0_to_1_and_never_rises_with_the_rank(self, label, candidates):
        values = metric(label).values(candidates)
        assert values.shape == (candidates,)
        assert ((values >= 0) & (values <= 1)).all()
        assert (np.diff(values) <= 0).all()

    def test_auc_alone_is_linear_in_the_rank(self):
        assert [label for label in LABELS if metric(label).linear_in_rank] == ["auc"]
        assert np.diff(metric("auc").values(30), 2) == pytest.approx(0, abs=1e-14)


class TestSharesOfSeveralRelevantItems:
    ALL: ClassVar = [*LABELS, "ap@1", "mrr@1", "ndcg@1", "recall@1", "hit-rate@1", "precision@1", "ndcg@2", "ap@30"]
    ALL += ["ndcg-exp@2", "dcg", "dcg-exp@5", "f1@4"]

    def test_every_metric_of_the_registry_is_looked_at(self):
        assert {label.partition("@")[0] for label in self.ALL} == set(held_out.FAMILIES)

    @given(rank_sets, st.sampled_from(ALL))
    def test_sum_up_to_the_metric_of_the_set(self, ranks_and_n, label):
        relevant, n = ranks_and_n
        size, total = len(relevant), 0.0
        for position, rank in enumerate(sorted(relevant), start=1):
            # what it is a function of is the rank among the irrelevant items and itself
            among = sum(other not in relevant for other in range(1, rank)) + 1
            share = metric(label).at_position(position, size)
            total += float(share.of_rank(among, n - size + 1))
            assert share.values(n - size + 1)[among - 1] == share.of_rank(among, n - size + 1)
        assert total == pytest.approx(metric(label).of_sets([list(relevant)], n)[0], rel=1e-12, abs=1e-15)

    @given(rank_sets, st.integers(1, 30))
    def test_sum_up_to_the_papers_sums(self, ranks_and_n, k):
        relevant, n = ranks_and_n
        of_paper = {
            "auc": naive_auc(relevant, n),
            f"precision@{k}": naive_precision(relevant, k),
            f"recall@{k}": naive_recall(relevant, k),
            f"ap@{k}": naive_average_precision(relevant, k),
            f"ndcg@{k}": naive_ndcg(relevant, k),
            "ap": naive_average_precision(relevant, n),
            "ndcg": naive_ndcg(relevant, n),
            f"hit-rate@{k}": float(min(relevant) <= k),
            "mrr": 1 / min(relevant),
            f"mrr@{k}": 1 / min(relevant) if min(relevant) <= k else 0,
        }
        for label, wanted in of_paper.items():
            shares = [
                metric(label).at_position(i, len(relevant)).of_rank(rank - i + 1, n - len(relevant) + 1)
                for i, rank in enumerate(sorted(relevant), start=1)
            ]
            assert sum(map(float, shares)) == pytest.approx(wanted, rel=1e-12, abs=1e-15), label

    def test_by_hand(self):
        # the second of three relevant items, with 2 of 5 irrelevant ones above it: rank 4 of 8, 3 of 6 without the rest
        for label, value in {
            "auc": 3 / 5 / 3,
            "precision@4": 1 / 4,
            "precision@3": 0,
            "recall@4": 1 / 3,
            "recall@3": 0,
            "hit-rate@4": 0,
            "mrr": 0,
            "ap": 2 / 4 / 3,
            "ap@4": 2 / 4 / 3,
            "ap@3": 0,
            "ndcg": 0.43067655807 / 2.13092975357,  # 1/log2 5, and 1 + 1/log2 3 + 1/2
            "ndcg@4": 0.43067655807 / 2.13092975357,
            "ndcg@3": 0,
        }.items():
            assert float(metric(label).at_position(2, 3).of_rank(3, 6)) == pytest.approx(value, rel=1e-10), label

    @pytest.mark.parametrize("label", ALL)
    def test_the_one_of_one_is_the_metric_itself(self, label):
        assert metric(label).at_position(1, 1) is metric(label)

    @pytest.mark.parametrize("label", ALL)
    def test_never_rise_with_the_rank(self, label):
        for position, relevant in ((1, 2), (2, 2), (3, 7)):
            values = metric(label).at_position(position, relevant).values(30)
            assert values.shape == (30,)
            assert (values >= 0).all()
            assert (np.diff(values) <= 1e-15).all()

    def test_are_the_same_object_for_the_same_place(self):
        assert metric("ap").at_position(2, 3) is metric("ap").at_position(2, 3)
        assert metric("ap").at_position(2, 3).label == "ap of 2/3"

    @pytest.mark.parametrize(("position", "relevant"), [(0, 2), (3, 2), (-1, 1), (1, 0)])
    def test_refuse_a_place_that_is_not_there(self, position, relevant):
        with pytest.raises(
            ValueError, match=f"position must be from 1 to {relevant}, the relevant items, not {position}"
        ):
            metric("ap").at_position(position, relevant)


class TestTable1:
    PRINTED: ClassVar = {
        "A": ([100, 100, 100, 100, 100], {"auc": 0.990, "ap": 0.010, "ndcg": 0.150, "recall@10": 0.000}),
        "B": ([40, 40, 8437, 9266, 4482], {"auc": 0.555, "ap": 0.010, "ndcg": 0.122, "recall@10": 0.000}),
        "C": ([212, 2, 743, 5342, 1548], {"auc": 0.843, "ap": 0.101, "ndcg": 0.208, "recall@10": 0.200}),
    }

    @pytest.mark.parametrize("recommender", PRINTED)
    def test_comes_out_to_the_printed_digits(self, recommender):
        ranks, printed = self.PRINTED[recommender]
        ours = {label: round(float(metric(label).of_rank(ranks, 10_000).mean()), 3) for label in printed}
        assert ours == printed


class TestTies:
    @pytest.mark.parametrize("label", LABELS)
    @pytest.mark.parametrize(("above", "tied"), [(0, 0), (0, 3), (2, 4), (4, 1), (7, 2)])
    def test_is_the_mean_over_every_order_of_the_tied_items(self, label, above, tied):
        ranks = [above + 1 + order.index("held out") for order in permutations(["held out", *range(tied)])]
        mean = metric(label).of_rank(ranks, 11).mean()
        assert metric(label).over_ties([above], [tied], [11])[0] == pytest.approx(mean, rel=1e-12, abs=1e-15)

    def test_every_event_has_its_own(self):
        assert metric("recall@2").over_ties([0, 1, 1], [3, 0, 1], [9, 9, 9]).tolist() == pytest.approx([0.5, 1, 0.5])
        assert metric("auc").over_ties([0, 2], [2, 0], [3, 5]).tolist() == pytest.approx([0.5, 0.5])

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

    def test_no_events(self):
        assert metric("ndcg").over_ties([], [], []).shape == (0,)


class TestLabels:
    def test_keeps_its_label(self):
        assert metric("ndcg@10").label == "ndcg@10"

    def test_other_names_of_the_same_metric(self):
        assert (metric("mrr@7").values(20) == metric("ap@7").values(20)).all()
        assert (metric("hit-rate@7").values(20) == metric("recall@7").values(20)).all()

    @pytest.mark.parametrize(
        "label",
        [
            "",
            "recall",
            "recall@",
            "recall@0",
            "recall@-1",
            "recall@+1",
            "recall@1.5",
            "recall@05",
            "recall@ten",
            "recall@1@2",
            "recall@٣",
            "ap@",
            "auc@10",
            "auc@",
            "@10",
        ],
    )
    def test_refuses(self, label):
        with pytest.raises(ConfigError) as caught:
            metric(label)
        message = str(caught.value)
        assert message.startswith(f"unknown metric {label!r}; it may be ")
        for shape in ("recall@k", "ap or ap@k", "auc", "k a whole number from 1"):
            assert shape in message
        assert "\n" not in message

    @pytest.mark.parametrize(
        ("typed", "label"),
        [
            ("Recall@10", "recall@10"),
            ("HR@10", "hit-rate@10"),
            ("Hit@5", "hit-rate@5"),
            ("Hit rate@5", "hit-rate@5"),
            ("hit_rate@5", "hit-rate@5"),
            ("NDCG@10", "ndcg@10"),
            ("MRR@10", "mrr@10"),
            ("MAP@10", "ap@10"),
            ("MAP", "ap"),
            ("AUC", "auc"),
            (" recall@10\n", "recall@10"),
        ],
    )
    def test_takes_names_that_people_type(self, typed, label):
        assert metric(typed) is metric(label)
        assert metric(typed).label == label

    def test_takes_back_what_it_prints(self):
        for label in LABELS:
            assert metric(metric_name(label)) is metric(label)

    @pytest.mark.parametrize(
        ("typed", "meant"), [("recal@10", "recall@10"), ("ncdg@5", "ndcg@5"), ("precison@3", "precision@3")]
    )
    def test_says_what_was_meant(self, typed, meant):
        with pytest.raises(
            ConfigError, match=re.escape(f"unknown metric {typed!r} (did you mean {meant}?); it may be")
        ):
            metric(typed)

    def test_refuses_a_metric_in_two_spellings(self):
        with pytest.raises(ConfigError, match="metrics: 'hit-rate@10' is there twice"):
            metric_labels(["HR@10", "ap", "hit-rate@10"])
