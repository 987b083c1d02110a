"""What holds for all estimators, or for all of a kind: full samples, many metrics, mixed events, and refusals."""

import numpy as np
import pytest

from sampled_metrics.errors import DataError
from sampled_metrics.estimators import ESTIMATORS, Estimate, Estimator, estimator
from sampled_metrics.estimators.strict_bounds import ShapeEstimate, has_bounds
from sampled_metrics.metrics.metric import metric
from sampled_metrics.ranks.sampled import SampledRanks
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes

LINEAR = ["uncorrected", "rank-estimate", "rank-estimate-as-printed", "cls", "bv-0", "bv-0.01", "bv-1"]
BV = ["bv-0", "bv-1e-8", "bv-0.01", "bv-0.5", "bv-1"]
ALL = [*LINEAR, "mle", "mes"]
LABELS = ["ap", "ndcg@30", "recall@20", "auc", "precision@25"]


def estimates(label, outcomes, counts, metrics=LABELS):
    return estimator(label).fit(outcomes, [metric(name) for name in metrics]).estimate(np.asarray(counts))


class TestEveryNegativeWithoutReplacement:
    """m = n - 1: x is the number of better candidates itself, and the exact metric is known."""

    N = 40
    COUNTS = np.array([60, 31, 22, 17, 0, 9, 8, 7] + [3, 0, 1] * 10 + [5, 2])

    def exact(self, label):
        r = np.arange(1, self.N + 1)
        f = {"ap": 1 / r, "ndcg@30": (r <= 30) / np.log2(r + 1), "recall@20": r <= 20, "auc": (self.N - r) / 39}
        f["precision@25"] = (r <= 25) / 25
        return (self.COUNTS * f[label]).sum() / self.COUNTS.sum()

    @pytest.mark.parametrize(
        "label",  # A is the identity, so that D cancels from the equations of BV for any γ
        ["uncorrected", "rank-estimate", "cls", *BV, "mle-1", "mle"],
    )
    def test_gives_the_exact_metric(self, label):
        ours = estimates(label, Outcomes.from_design(SamplingDesign(self.N - 1), self.N), self.COUNTS)
        np.testing.assert_allclose(ours, [self.exact(name) for name in LABELS], rtol=1e-10)

    @pytest.mark.parametrize("label", ["uncorrected", "rank-estimate", "cls", "bv-0", "bv-0.5", "bv-1"])
    def test_also_of_users_with_different_numbers_of_candidates(self, label):
        n, rank = np.array([[3, 1], [5, 5], [5, 2], [9, 4], [9, 9], [9, 1], [12, 7]]).T
        outcomes, which = Outcomes.observed(SampledRanks(rank - 1, n - 1, n))
        wanted = [(1 / rank).mean(), (rank <= 4).mean(), ((n - rank) / (n - 1)).mean()]
        ours = estimates(label, outcomes, np.bincount(which), ["ap", "recall@4", "auc"])
        np.testing.assert_allclose(ours, wanted, rtol=1e-10)

    def test_mes_approaches_it_as_entropy_gets_cheap(self):
        # the gaps are 0.22, 0.0094, 0.00035 and 0.000011; the exact values lie between 0.035 and 0.85
        outcomes, exact = (
            Outcomes.from_design(SamplingDesign(self.N - 1), self.N),
            [self.exact(name) for name in LABELS],
        )
        for label, gap in (("mes-1", 0.23), ("mes", 0.01), ("mes-1e-4", 4e-4), ("mes-1e-6", 2e-5)):
            assert gap / 3 < np.abs(estimates(label, outcomes, self.COUNTS) - exact).max() < gap, label


@pytest.mark.parametrize("label", ["bv-0.1", "bv-1", "cls", "mle-20", "mes", "smooth"])
def test_assume_the_replacement_that_they_are_told_whatever_the_design(label):
    outcomes = [Outcomes.from_design(SamplingDesign(5, drawn), 12) for drawn in (True, False)]
    assumed = [estimator(label, assume_replacement=replacement) for replacement in (True, False)]
    counts = np.arange(9, 3, -1)
    found = np.array([[one.fit(drawn, [metric("ap")]).estimate(counts) for drawn in outcomes] for one in assumed])
    np.testing.assert_array_equal(found[:, 0], found[:, 1])
    assert abs(found[0, 0] - found[1, 0]) > 1e-4


class TestSeveralMetrics:
    @pytest.mark.parametrize("label", ALL)
    def test_at_once_are_what_each_is_alone(self, label):
        outcomes = Outcomes.from_design(SamplingDesign(12), 200)
        counts = np.random.default_rng(1).poisson([20, 9, 5, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1], size=(3, 13))
        together = estimates(label, outcomes, counts)
        assert together.shape == (3, 5)
        for column, name in enumerate(LABELS):
            alone = estimates(label, outcomes, counts, [name])
            np.testing.assert_allclose(together[:, column], alone[:, 0], rtol=1e-8, atol=1e-12)


class TestWhatTheySayOfThemselves:
    DESIGN, N = SamplingDesign(12), 200

    def fitted(self, label):
        return estimator(label).fit(Outcomes.from_design(self.DESIGN, self.N), [metric("ap"), metric("recall@5")])

    @pytest.mark.parametrize("entry", ESTIMATORS, ids=lambda entry: entry.label)
    def test_estimates_answer_as_their_estimators(self, entry):
        one, estimate = estimator(entry.label), self.fitted(entry.label)
        assert isinstance(one, Estimator)
        assert isinstance(estimate, Estimate)
        assert estimate.is_linear == one.is_linear
        assert estimate.assumed_shape == one.assumed_shape
        assert has_bounds(estimate) == isinstance(estimate, ShapeEstimate)

    @pytest.mark.parametrize("entry", ESTIMATORS, ids=lambda entry: entry.label)
    def test_linear_ones_have_weights_and_their_bounds(self, entry):
        one, estimate = estimator(entry.label), self.fitted(entry.label)
        number = one.condition_number(self.DESIGN, self.N, (metric("ap"),))
        if not one.is_linear:
            assert (estimate.weights, estimate.of_groups, estimate.bounds, number) == (None, (), None, None)
            return
        assert number >= 1
        assert estimate.weights.shape == (2, 13)
        np.testing.assert_array_equal(estimate.bounds, (estimate.weights.min(axis=1), estimate.weights.max(axis=1)))

    def test_one_is_not_corrected_and_one_is_wrong_for_auc(self):
        known = [estimator(entry.label) for entry in ESTIMATORS]
        assert [str(one) for one in known if one.is_uncorrected] == ["uncorrected"]
        assert [str(one) for one in known if one.underestimates_auc] == ["mes"]
        assert {one.assumed_shape for one in known} == {None, "decreasing", "free"}

    def test_one_of_your_own_needs_no_more_than_its_methods(self):
        class Half(Estimate):
            def estimate(self, counts):
                return np.full((*counts.shape[:-1], 1), 0.5)

        class Halves(Estimator):
            def fit(self, outcomes, metrics):
                return Half()

        one, estimate = Halves(), Halves().fit(None, ())
        assert not any([one.is_linear, one.is_uncorrected, one.underestimates_auc, one.assumed_shape])
        assert not any([estimate.is_linear, estimate.bounds, estimate.assumed_shape])


class TestMixedEvents:
    @pytest.mark.parametrize("label", LINEAR)
    def test_count_as_in_fits_of_their_own(self, label):
        rng = np.random.default_rng(2)
        m, n = np.array([[5, 100], [5, 150], [9, 100], [30, 31]])[rng.integers(0, 4, size=60)].T
        x = rng.integers(0, m + 1)
        outcomes, which = Outcomes.observed(SampledRanks(x, m, n))
        metrics = ["ap", "auc", "recall@31"]
        ours = estimates(label, outcomes, np.bincount(which), metrics)
        total = np.zeros(3)
        for mm, nn in {*zip(m.tolist(), n.tolist(), strict=True)}:
            own = (m == mm) & (n == nn)
            counts = np.bincount(x[own], minlength=mm + 1)
            total += own.sum() * estimates(label, Outcomes.from_design(SamplingDesign(mm), nn), counts, metrics)
        np.testing.assert_allclose(ours, total / 60, rtol=1e-9)


@pytest.mark.parametrize("label", LINEAR)
def test_linear_ones_refuse_events_without_negatives(label):
    outcomes, _ = Outcomes.observed(SampledRanks([0, 1], [0, 2], 9))
    with pytest.raises(DataError, match=f"^{label} has no weights for the 1 of 2 rows without .* take decreasing, or"):
        estimator(label).fit(outcomes, [metric("ap")])


@pytest.mark.parametrize("label", ["mle", "mes"])
def test_a_distribution_of_ranks_needs_no_negatives(label):
    outcomes, which = Outcomes.observed(SampledRanks([0, 0], [0, 0], 9))
    assert estimates(label, outcomes, np.bincount(which), ["recall@3"]).tolist() == pytest.approx([1 / 3])
