"""Corrections under an estimated prior: against the formula of the source in 40 digits."""

from dataclasses import dataclass

import mpmath
import numpy as np
import pytest
from exact_probabilities import chances, dense, exact

from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators import estimator
from sampled_metrics.estimators.bias_variance import BiasVariance
from sampled_metrics.estimators.estimated_prior import EstimatedPriorCorrection
from sampled_metrics.estimators.maximum_entropy import MaximumEntropy
from sampled_metrics.estimators.maximum_likelihood import MaximumLikelihood
from sampled_metrics.metrics.held_out import metric
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.sampling.rank_classes import rank_classes
from sampled_metrics.sampling.sampled_ranks import SampledRanks

LABELS = ["ap", "recall@3", "auc", "ndcg@5"]
METRICS = [metric(label) for label in LABELS]


@dataclass(frozen=True)
class Given:
    """A prior that is told instead of estimated; one row a sample."""

    prior: tuple[tuple[float, ...], ...]
    replacement: bool | None = None

    def __str__(self) -> str:
        return "given"

    def solve(self, users, nodes, counts):
        assert nodes.ranks.tolist() == list(range(1, users.candidates + 1))
        prior = np.array(self.prior)[:, : users.candidates]
        return np.tile(prior / prior.sum(), (len(counts), 1))


def value(label, r, n):
    name, _, k = label.partition("@")
    if k and r > int(k):
        return mpmath.mpf(0)
    return {
        "ap": lambda: 1 / mpmath.mpf(r),
        "recall": lambda: mpmath.mpf(1),
        "ndcg": lambda: 1 / mpmath.log(r + 1, 2),
        "auc": lambda: mpmath.mpf(n - r) / (n - 1),
    }[name]()


def weights_by_formula(n, m, replacement, prior, label, gamma=None, events=None):
    """BV γ, or MN of so many events, as written; 40 digits."""
    with mpmath.workdps(40):
        A = mpmath.matrix([[mpmath.mpf(p.numerator) / p.denominator for p in row] for row in exact(n, m, replacement)])
        D = mpmath.diag([mpmath.mpf(float(p)) for p in prior])
        one, f = mpmath.ones(n, 1), mpmath.matrix([value(label, r, n) for r in range(1, n + 1)])
        if gamma is not None:
            gamma = mpmath.mpf(gamma)
            matrix = (1 - gamma) * A.T * D * A + gamma * mpmath.diag(list(A.T * D * one))
        else:
            matrix = A.T * D * A - A.T * A / events + mpmath.diag(list(A.T * one)) / events
        return np.array([float(w) for w in mpmath.lu_solve(matrix, A.T * D * f)])


def some_prior(n, seed=1):
    raw = np.random.default_rng(seed).random(n) ** 3 + 0.01
    return raw / raw.sum()


@pytest.mark.parametrize("replacement", [True, False])
class TestFormula:
    N, M = 20, 5
    COUNTS = np.array([30, 11, 0, 4, 2, 3])

    @pytest.mark.parametrize("gamma", ["0.001", "0.01", "0.5", "1"])
    def test_bv(self, gamma, replacement):
        prior = some_prior(self.N)
        correction = EstimatedPriorCorrection(float(gamma), Given((tuple(prior),)))
        ours = correction.fit(Outcomes.of(SamplingDesign(self.M, replacement), self.N), METRICS).estimate(self.COUNTS)
        wanted = [
            self.COUNTS @ weights_by_formula(self.N, self.M, replacement, prior, label, gamma=float(gamma)) / 50
            for label in LABELS
        ]
        np.testing.assert_allclose(ours, wanted, rtol=1e-10, atol=1e-13)

    def test_mn(self, replacement):
        prior = some_prior(self.N)
        correction = EstimatedPriorCorrection(None, Given((tuple(prior),)))
        ours = correction.fit(Outcomes.of(SamplingDesign(self.M, replacement), self.N), METRICS).estimate(self.COUNTS)
        wanted = [
            self.COUNTS @ weights_by_formula(self.N, self.M, replacement, prior, label, events=50) / 50
            for label in LABELS
        ]
        np.testing.assert_allclose(ours, wanted, rtol=1e-10, atol=1e-13)

    @pytest.mark.parametrize(
        ("label", "estimate"), [("mle", MaximumLikelihood(100)), ("mes", MaximumEntropy(0.01))], ids=["mle", "mes"]
    )
    def test_with_the_prior_of_the_same_sample(self, label, estimate, replacement):
        outcomes = Outcomes.of(SamplingDesign(self.M, replacement), self.N)
        [users] = rank_classes(outcomes)
        prior = estimate.solve(users, users.nodes(tuple(METRICS)), self.COUNTS[np.newaxis])[0]
        for name, price in ((f"bv-0.01-{label}", {"gamma": 0.01}), (f"mn-{label}", {"events": 50})):
            ours = estimator(name).fit(outcomes, METRICS).estimate(self.COUNTS)
            wanted = [
                self.COUNTS @ weights_by_formula(self.N, self.M, replacement, prior, each, **price) / 50
                for each in LABELS
            ]
            np.testing.assert_allclose(ours, wanted, rtol=1e-8, atol=1e-11)


class TestMultinomial:
    def test_minimises_bias_and_the_variance_of_multinomial_counts(self):
        # Σ_r π_r ((A w)_r - f_r)² + Σ_r Var(w | r) / M, the definition: its slope is 0 in every direction
        n, m, events = 15, 4, 50
        A, prior = chances(n, m), some_prior(n)
        outcomes = Outcomes.of(SamplingDesign(m), n)
        fitted = EstimatedPriorCorrection(None, Given((tuple(prior),))).fit(outcomes, METRICS)
        counts = np.eye(m + 1, dtype=int) * events  # each x alone, of 50 events: the weights themselves
        weights = fitted.estimate(counts)
        for column, each in enumerate(METRICS):
            f = each.values(n)

            def loss(w, f=f):
                mean = A @ w
                return prior @ (mean - f) ** 2 + (A @ w**2 - mean**2).sum() / events

            for x in range(m + 1):
                step = 0.1 * np.eye(m + 1)[x]
                up, down = (loss(weights[:, column] + sign * step) for sign in (1, -1))
                assert up - down == pytest.approx(0, abs=1e-10)
                assert min(up, down) > loss(weights[:, column])

    def test_more_events_mean_less_bias(self):
        n, m = 60, 10
        A, f, prior = chances(n, m), metric("ap").values(n), some_prior(n)
        fitted = EstimatedPriorCorrection(None, Given((tuple(prior),))).fit(
            Outcomes.of(SamplingDesign(m), n), [metric("ap")]
        )
        bias = []
        for events in (10, 1000, 100_000):
            weights = fitted.estimate(np.eye(m + 1, dtype=int) * events)[:, 0]
            bias.append(prior @ (A @ weights - f) ** 2)
        assert sorted(bias, reverse=True) == bias


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("gamma", [1e-4, 0.01, 0.3, 1.0])
def test_under_the_uniform_prior_bv_is_bv(gamma, replacement):
    n, m = 200, 20
    outcomes, counts = Outcomes.of(SamplingDesign(m, replacement), n), np.eye(m + 1, dtype=int)
    ours = EstimatedPriorCorrection(gamma, Given(((1 / n,) * n,))).fit(outcomes, METRICS).estimate(counts)
    wanted = BiasVariance(gamma, None).fit(outcomes, METRICS).estimate(counts)
    np.testing.assert_allclose(ours, wanted, rtol=1e-8, atol=1e-9 * np.abs(wanted).max())


class TestSamples:
    @pytest.mark.parametrize("label", ["bv-0.01-mle", "mn-mle", "bv-0.1-mes", "mn-mes"])
    def test_of_a_batch_equal_one_by_one(self, label):
        outcomes = Outcomes.of(SamplingDesign(9), 40)
        counts = np.random.default_rng(1).poisson(3, size=(2, 3, 10))
        fitted = estimator(label).fit(outcomes, METRICS)
        together = fitted.estimate(counts)
        assert together.shape == (2, 3, 4)
        for repetition in np.ndindex(2, 3):
            np.testing.assert_allclose(fitted.estimate(counts[repetition]), together[repetition], rtol=1e-9)

    @pytest.mark.parametrize("price", [{"gamma": 0.05}, {"events": 7}], ids=["bv", "mn"])
    def test_mixed_events_of_one_n_have_weights_of_their_own_m_under_one_prior(self, price):
        x, m, prior = [0, 0, 2, 1, 3, 0, 2], [4, 4, 4, 2, 3, 4, 3], some_prior(12)
        gamma = 0.05 if "gamma" in price else None
        outcomes, which = Outcomes.observed(SampledRanks(x, m, 12))
        ours = EstimatedPriorCorrection(gamma, Given((tuple(prior),))).fit(outcomes, METRICS)
        wanted = []
        for label in LABELS:
            of_m = {mm: weights_by_formula(12, mm, False, prior, label, **price) for mm in m}
            wanted.append(np.mean([of_m[mm][xx] for xx, mm in zip(x, m, strict=True)]))
        np.testing.assert_allclose(ours.estimate(np.bincount(which)), wanted, rtol=1e-9)

    @pytest.mark.parametrize("price", ["bv", "mn"])
    def test_mixed_events_of_a_class_have_the_mean_likelihood_and_metrics_of_its_users(self, price):
        x, m, n = [0, 0, 2, 1, 3, 0, 2, 2], [4, 4, 4, 2, 3, 4, 3, 2], [10, 12, 10, 12, 12, 12, 11, 10]
        prior = some_prior(12)
        gamma = 0.05 if price == "bv" else None
        outcomes, which = Outcomes.observed(SampledRanks(x, m, n))
        ours = EstimatedPriorCorrection(gamma, Given((tuple(prior),))).fit(outcomes, METRICS)

        def mean_over_users(of_user, sizes):
            return np.array([np.mean([of_user(r, nn) for nn in sizes if r <= nn], axis=0) for r in range(1, 13)])

        f = mean_over_users(lambda r, nn: np.array([float(value(label, r, nn)) for label in LABELS]), n)
        total = np.zeros(4)
        for of_event, mm in zip(x, m, strict=True):
            sizes = [nn for other, nn in zip(m, n, strict=True) if other == mm]
            A = mean_over_users(lambda r, nn, mm=mm: chances(nn, mm)[r - 1], sizes)
            quadratic, marginal = A.T @ np.diag(prior) @ A, np.diag(prior @ A)
            if price == "bv":
                matrix = 0.95 * quadratic + 0.05 * marginal
            else:
                matrix = quadratic - A.T @ A / len(x) + np.diag(A.sum(axis=0)) / len(x)
            total += np.linalg.solve(matrix, A.T @ (prior[:, np.newaxis] * f))[of_event]
        np.testing.assert_allclose(ours.estimate(np.bincount(which)), total / len(x), rtol=1e-9)

    @pytest.mark.parametrize("label", ["bv-0.01-mle", "bv-0.1-mes"])
    def test_classes_far_apart_are_the_mean_of_each_class_alone(self, label):
        rng = np.random.default_rng(4)
        n, m = rng.choice([30, 16, 14, 13, 12], size=60), np.full(60, 5)
        x = rng.integers(0, 6, size=60)
        classes = [n == 30, (n <= 16) & (n >= 13), n == 12]

        def estimated(some):
            outcomes, which = Outcomes.observed(SampledRanks(x[some], m[some], n[some]))
            return estimator(label).fit(outcomes, METRICS).estimate(np.bincount(which))

        wanted = sum(some.sum() / 60 * estimated(some) for some in classes)
        np.testing.assert_allclose(estimated(np.full(60, True)), wanted, rtol=1e-10)

    @pytest.mark.parametrize("replacement", [True, False])
    @pytest.mark.parametrize("price", ["bv", "mn"])
    def test_on_nodes_is_the_formula_over_all_ranks(self, price, replacement):
        n, m, events = 2000, 20, 500
        better = np.floor((n - 1) * np.random.default_rng(1).random(events) ** 3) / (n - 1)
        counts = np.bincount(np.random.default_rng(2).binomial(m, better), minlength=m + 1)
        A, r, h = dense(n, m, replacement), np.arange(1, n + 1), counts / events
        prior = np.full(n, 1 / n)
        for _ in range(100):
            prior = prior * (A[:, h > 0] @ (h[h > 0] / (prior @ A[:, h > 0])))
        matrix = A.T @ (prior[:, np.newaxis] * A)
        if price == "bv":
            matrix = 0.9 * matrix + 0.1 * np.diag(prior @ A)
        else:
            matrix += (np.diag(A.sum(axis=0)) - A.T @ A) / events
        f = np.stack([1 / r, r <= 3, (n - r) / (n - 1), (r <= 5) / np.log2(r + 1)], axis=1)
        wanted = h @ np.linalg.solve(matrix, A.T @ (prior[:, np.newaxis] * f))
        label = "bv-0.1-mle" if price == "bv" else "mn-mle"
        ours = estimator(label).fit(Outcomes.of(SamplingDesign(m, replacement), n), METRICS).estimate(counts)
        np.testing.assert_allclose(ours, wanted, rtol=1e-6)

    def test_ranks_that_the_prior_excludes_do_not_matter(self):
        # only ranks 1 and 2 of 9: without replacement x = 0 or 1; two unknowns
        prior = np.array([0.25, 0.75] + [0] * 7)
        ours = EstimatedPriorCorrection(0.2, Given((tuple(prior),))).fit(Outcomes.of(SamplingDesign(4), 9), METRICS)
        # P(x = 0) = 1 and 1/2
        A = np.array([[1, 0], [0.5, 0.5]])
        matrix = 0.8 * A.T @ np.diag([0.25, 0.75]) @ A + 0.2 * np.diag(A.T @ [0.25, 0.75])
        wanted = np.linalg.solve(matrix, A.T @ (np.array([0.25, 0.75]) * [1, 0.5]))
        estimates = ours.estimate(np.eye(5, dtype=int))[:, 0]
        np.testing.assert_allclose(estimates, [*wanted, 0, 0, 0], rtol=1e-12, atol=1e-15)


class TestRefusals:
    @pytest.mark.parametrize("label", ["bv-0.01-mle", "mn-mes"])
    def test_adaptive_samples_and_events_without_negatives(self, label):
        adaptive, _ = Outcomes.observed(SampledRanks([0, 1], [4, 2], 9, adaptive=True))
        empty, _ = Outcomes.observed(SampledRanks([0, 1], [0, 2], 9))
        for outcomes, why in (
            (adaptive, "is not valid on an adaptive sample; mle is valid"),
            (empty, "has no weights for an event without sampled negatives; mle is valid"),
        ):
            with pytest.raises(DataError) as caught:
                estimator(label).fit(outcomes, METRICS)
            assert str(caught.value) == f"{label} {why}"

    @pytest.mark.parametrize("gamma", [0, -0.1, 1.1, float("nan")])
    def test_a_gamma_out_of_range(self, gamma):
        with pytest.raises(ConfigError, match=r"must lie in \(0, 1\]"):
            EstimatedPriorCorrection(gamma, Given(()))

    def test_equations_beyond_double_precision(self):
        correction = EstimatedPriorCorrection(1e-18, Given(((1 / 400,) * 400,)))
        fitted = correction.fit(Outcomes.of(SamplingDesign(60), 400), METRICS)
        with pytest.raises(DataError, match=r"^bv-1e-18-given: its equations cannot be solved .* take a larger γ$"):
            fitted.estimate(np.eye(61, dtype=int)[:1])
