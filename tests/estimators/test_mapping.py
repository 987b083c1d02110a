"""Mapping functions: values by hand, and Recall at the mapped ranks."""

from itertools import pairwise
from math import gamma

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators.many_relevant import fit_many
from sampled_metrics.estimators.mapping import Mapping
from sampled_metrics.metrics.held_out import metric
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.sampling.sampled_ranks import SampledRanks


class TestFunctions:
    """n = 101, m = 10: one sampled negative stands for ten."""

    K = np.arange(1.0, 12)

    def test_linear(self):
        assert Mapping("linear").function(self.K, 101, 10).tolist() == [1, 11, 21, 31, 41, 51, 61, 71, 81, 91, 101]

    def test_bound(self):
        assert Mapping("bound").function(self.K, 101, 10).tolist() == [6, 16, 26, 36, 46, 56, 66, 76, 86, 96, 101]

    def test_beta_1(self):
        np.testing.assert_allclose(
            Mapping("beta", 1).function(self.K, 101, 10), [1 + 100 * k / 11 for k in range(1, 12)], rtol=1e-12
        )

    def test_beta_2(self):
        # Γ(k+2)/Γ(k) = k (k+1)
        wanted = [1 + 100 * (k * (k + 1) / (11 * 12)) ** 0.5 for k in range(1, 12)]
        np.testing.assert_allclose(Mapping("beta", 2).function(self.K, 101, 10), wanted, rtol=1e-12)

    def test_beta_one_half(self):
        wanted = [1 + 100 * (gamma(k + 0.5) * gamma(11) / gamma(k) / gamma(11.5)) ** 2 for k in range(1, 12)]
        np.testing.assert_allclose(Mapping("beta", 0.5).function(self.K, 101, 10), wanted, rtol=1e-12)

    @given(st.integers(2, 10**6), st.integers(1, 2000), st.floats(0.05, 20))
    def test_rise_to_the_last_rank(self, n, m, a):
        k = np.arange(1.0, m + 2)
        for mapping in (Mapping("linear"), Mapping("bound"), Mapping("beta", a)):
            ranks = mapping.function(k, n, m)
            assert ranks[-1] == pytest.approx(n, rel=1e-10)
            assert (np.diff(ranks) > 0).all()
            assert ranks[0] >= 1


class TestRecall:
    @pytest.mark.parametrize(
        ("kind", "shape", "n", "m", "ranks"),
        [
            ("linear", 1, 101, 10, [1, 11, 21, 31, 41, 51, 61, 71, 81, 91, 101]),
            ("bound", 1, 101, 10, [6, 16, 26, 36, 46, 56, 66, 76, 86, 96, 101]),
            ("beta", 1, 111, 10, [11, 21, 31, 41, 51, 61, 71, 81, 91, 101, 111]),
        ],
    )
    def test_of_the_sample_is_recall_at_the_mapped_rank(self, kind, shape, n, m, ranks):
        counts = np.random.default_rng(1).integers(0, 50, size=m + 1)
        fitted = Mapping(kind, shape).fit(
            Outcomes.of(SamplingDesign(m), n), [metric(f"recall@{rank}") for rank in ranks]
        )
        shares = np.cumsum(counts) / counts.sum()
        np.testing.assert_allclose(fitted.estimate(counts), shares, rtol=1e-12)

    def test_grows_evenly_in_between(self):
        counts = np.array([10, 30, 0, 0, 0, 0, 0, 0, 0, 0, 60])
        labels = ["recall@6", "recall@7", "recall@11", "recall@15", "recall@16", "recall@17"]
        fitted = Mapping("bound").fit(Outcomes.of(SamplingDesign(10), 101), [metric(label) for label in labels])
        np.testing.assert_allclose(fitted.estimate(counts), [0.1, 0.13, 0.25, 0.37, 0.4, 0.4], rtol=1e-12)


class TestOtherMetrics:
    @pytest.mark.parametrize("label", ["ap", "ndcg", "auc", "ndcg@7"])
    def test_is_the_mean_over_the_ranks_that_an_outcome_stands_for(self, label):
        # bound, n = 101, m = 10: 6 ranks for x = 0, then 10 each, and the last 5
        value = metric(label).values(101)
        ends = [0, 6, 16, 26, 36, 46, 56, 66, 76, 86, 96, 101]
        wanted = [value[a:b].mean() for a, b in pairwise(ends)]
        weights = Mapping("bound").fit(Outcomes.of(SamplingDesign(10), 101), [metric(label)]).weights[0]
        np.testing.assert_allclose(weights, wanted, rtol=1e-12, atol=1e-15)

    def test_a_rank_that_is_cut_counts_in_part(self):
        # n = 6, m = 2, bound: f = 2.25, 4.75, 6; AP of ranks 1 … 6
        wanted = [
            (1 + 1 / 2 + 0.25 / 3) / 2.25,
            (0.75 / 3 + 1 / 4 + 0.75 / 5) / 2.5,
            (0.25 / 5 + 1 / 6) / 1.25,
        ]
        weights = Mapping("bound").fit(Outcomes.of(SamplingDesign(2), 6), [metric("ap")]).weights[0]
        np.testing.assert_allclose(weights, wanted, rtol=1e-12)


class TestRefusals:
    @pytest.mark.parametrize(
        ("kind", "name", "label", "first"),
        [
            ("bound", "mapping-bound", "recall@18", "18.7"),
            ("beta", "mapping-beta-1", "ndcg@36", "36.0"),
            ("bound", "mapping-bound", "ap@1", "18.7"),
        ],
    )
    def test_a_cutoff_below_the_first_mapped_rank(self, kind, name, label, first):
        outcomes = Outcomes.of(SamplingDesign(100), 3541)
        with pytest.raises(DataError) as caught:
            Mapping(kind).fit(outcomes, [metric("ap"), metric(label)])
        message = str(caught.value)
        assert message.startswith(f"{name} is not valid for {label} with 100 negatives of 3541 candidates: ")
        assert f"stands for all ranks up to {first}" in message
        assert message.endswith("; draw more negatives")
        assert "\n" not in message

    def test_a_cutoff_at_the_first_mapped_rank_is_accepted(self):
        fitted = Mapping("bound").fit(Outcomes.of(SamplingDesign(10), 101), [metric("recall@6")])
        np.testing.assert_allclose(fitted.weights, [[1] + [0] * 10], atol=1e-15)
        Mapping("linear").fit(Outcomes.of(SamplingDesign(10), 101), [metric("recall@1")])

    def test_also_of_the_second_of_two_relevant_items(self):
        # recall@3 asks whether the second relevant item is among the first 2 of it and 100 irrelevant ones; f(1) = 6
        outcomes, _ = Outcomes.observed(SampledRanks([0], 10, 101), position=2, relevant=2)
        with pytest.raises(DataError, match="mapping-bound is not valid for recall@3 of 2/2"):
            Mapping("bound").fit(outcomes, [metric("recall@3")])
        # what is 0 at every rank needs no rank to be told from another
        assert Mapping("bound").fit(outcomes, [metric("hit-rate@3")]).weights.tolist() == [[0]]

    def test_several_relevant_items_are_accepted_where_the_cutoff_allows(self):
        estimate = fit_many(Mapping("linear"), [metric("recall@11")], [[0, 2]], 10, 100).estimate([1])
        # the first is certainly there, f(1) = 1; the second has x = 2, which stands for ranks from 12 to 21
        assert estimate.tolist() == pytest.approx([0.5])

    @pytest.mark.parametrize("a", [0, -1, float("nan")])
    def test_a_shape_that_is_not_more_than_0(self, a):
        with pytest.raises(ConfigError, match="a of mapping-beta-a must be more than 0"):
            Mapping("beta", a)
