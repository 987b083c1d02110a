"""Checks of arguments and results on the way: labels, masked arrays, types of numbers, sums."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from read_and import compare, correct, evaluate

import sampled_metrics as sm
from sampled_metrics.checks import check_labels, require_sum_of_one
from sampled_metrics.core.estimators import linear
from sampled_metrics.core.estimators.linear import BiasVariance, LinearEstimator
from sampled_metrics.core.metrics import metric
from sampled_metrics.core.ranks.sampled import SampledRanks
from sampled_metrics.core.sampling import distributions
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.core.sampling.outcomes import Outcomes
from sampled_metrics.errors import ConfigError, DataError, NumericError


@pytest.mark.parametrize(
    ("labels", "word"),
    [(None, "None"), ([], "one"), ([np.int64(3)], "text"), (b"auc", "text"), (["ap", "ap"], "ap")],
)
def test_what_is_no_list_of_labels_is_refused(labels, word):
    for form in ("auc", np.array(["auc"]), pd.Series(["auc"]), {"auc": 1}):
        assert check_labels(form, "metrics") == ["auc"]
    with pytest.raises(ConfigError, match=f"metrics.*{word}"):
        check_labels(labels, "metrics")


# --- masked arrays: whatever takes numbers refuses them, as it would NaN ------------------------

MASKED = np.ma.array([1, 3, 2], mask=[False, True, False])


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: evaluate(MASKED, candidates=9), "ranks"),
        (lambda: evaluate([1, 3, 2], candidates=MASKED), "ranks: candidates"),
        (lambda: correct([1, 3, 2], candidates=9, negatives=MASKED), "ranks: negatives"),
        (lambda: compare([1, 3, 2], MASKED, candidates=9), "B"),
        (
            lambda: sm.ExactRanks(None, np.full(3, 9), MASKED, np.zeros(3, dtype=int)),
            "above",
        ),
        (lambda: SampledRanks(MASKED, 5, 9), "x"),
    ],
)
def test_masked_numbers_are_refused(call, what):
    with pytest.raises(DataError, match=f"^{what}: has 1 masked"):
        call()


# --- numbers of numpy, fractions, and numbers beyond double precision as arguments of the verbs -

RANKS = sm.exact_ranks({"A": [1, 2, 3] * 20, "B": [2, 3, 4] * 20}, candidates=100, exact=True)
HUGE = 10**400


@pytest.mark.parametrize("options", [{"confidence_level": HUGE}, {"margin": Fraction(HUGE)}])
def test_numbers_beyond_double_precision_are_refused(options):
    with pytest.raises(ConfigError, match=next(iter(options))):
        sm.compare(RANKS, **options)


def test_fractions_and_numbers_of_few_bits_are_those_of_python():
    exact = RANKS["A"]
    assert str(sm.compare(RANKS, confidence_level=Fraction(9, 10))) == str(
        sm.compare(RANKS, confidence_level=0.9)
    )
    for number in (np.int8, np.uint64):
        assert sm.expect(exact, negatives=number(3)).equals(sm.expect(exact, negatives=3))


# --- sums of probabilities, and weights that are no numbers -------------------------------------


@pytest.mark.parametrize(
    ("probabilities", "says"),
    [
        ([[0.5, 0.5], [0.5, 0.50001]], "1.00001"),
        ([0.5, np.nan], "nan"),
        ([1.5, -0.5], "-0.5"),
    ],
)
def test_probabilities_that_are_no_distribution_are_refused(probabilities, says):
    require_sum_of_one([[1 / 3, 1 / 3, 1 / 3], [0.0, 1.0, 0.0]], "P")
    with pytest.raises(NumericError, match=says):
        require_sum_of_one(probabilities, "P")


@pytest.mark.parametrize(
    ("precise", "of"), [(True, "n = 9 candidates and m = 3 negatives"), (False, "m = 3 nega")]
)
def test_a_pmf_that_loses_a_hundredth_stops_the_equations_of_a_correction(monkeypatch, precise, of):
    for module in (distributions, linear):
        pmf = module.pmf
        monkeypatch.setattr(
            module, "pmf", lambda *args, pmf=pmf, **options: 0.99 * pmf(*args, **options)
        )
    for cached in (distributions.rank_distribution, linear.reduced):
        cached.cache_clear()
    with pytest.raises(NumericError, match=rf"of {of}.* sum to 0\.99"):
        linear.reduced((9,), SamplingDesign(3, replacement=False), (metric("ap"),), precise)
    for cached in (distributions.rank_distribution, linear.reduced):
        cached.cache_clear()


class Diverging(LinearEstimator):
    def __str__(self):
        return "diverging"

    def weights(self, design, candidates, metrics):
        return np.full((len(candidates), len(metrics), design.negatives + 1), np.inf)


def test_weights_of_an_estimator_are_finite():
    with pytest.raises(NumericError, match=r"diverging .*4 of 4"):
        Diverging().fit(
            Outcomes.from_design(SamplingDesign(3, replacement=False), 9), [metric("ap")]
        )


@pytest.mark.parametrize("gamma", [0.5, 0.01])
def test_the_condition_number_is_that_of_the_normal_equations_written_down_densely(gamma):
    likelihood = distributions.rank_distribution(60, design := SamplingDesign(8, replacement=False))
    quadratic = likelihood.T @ likelihood / 60
    scale = 1 / np.sqrt(likelihood.mean(axis=0))
    normal = (1 - gamma) * scale[:, None] * quadratic * scale + gamma * np.eye(9)
    number = BiasVariance(gamma, None).condition_number(
        design, 60, (metric("ap"), metric("recall@5"))
    )
    assert number == pytest.approx(np.sqrt(np.linalg.cond(normal)), rel=1e-9)
    assert number <= gamma**-0.5
