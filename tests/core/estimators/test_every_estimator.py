"""Estimators by label, and what holds for all estimators of a kind.

It holds for full samples, for several metrics and samples at once, and for mixed events.
"""

import numpy as np
import pytest

from sampled_metrics.core.estimators import (
    BOUNDS,
    ESTIMATORS,
    estimator,
    estimator_name,
    estimators_by_label,
    line_styles,
)
from sampled_metrics.core.estimators.linear import (
    BiasVariance,
    ConstrainedLeastSquares,
    LinearEstimator,
    RankEstimate,
)
from sampled_metrics.core.estimators.rank_distribution import MaximumEntropy, MaximumLikelihood
from sampled_metrics.core.estimators.strict_bounds import StrictBounds, has_bounds
from sampled_metrics.core.metrics import metric
from sampled_metrics.core.ranks.sampled import SampledRanks
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.core.sampling.outcomes import Outcomes
from sampled_metrics.errors import ConfigError, DataError

LINEAR = [
    "uncorrected",
    "rank-estimate",
    "rank-estimate-as-printed",
    "cls",
    "bv-0",
    "bv-0.01",
    "bv-1",
]
LABELS = ["ap", "ndcg@30", "recall@20", "auc", "precision@25"]


def fit(label, outcomes, metrics=LABELS):
    return estimator(label).fit(outcomes, [metric(name) for name in metrics])


@pytest.mark.parametrize(
    ("label", "sizes"),
    [
        ("bv-1e-8", (40,)),
        ("mle", (40,)),
        ("uncorrected", (5, 9, 40)),
        ("rank-estimate", (5, 9, 40)),
        ("cls", (5, 9, 40)),
        ("bv-0.5", (5, 9, 40)),
    ],
)
def test_a_sample_of_every_negative_gives_the_exact_metric(label, sizes):
    """The number x of negatives above the item is that of all better candidates.

    A is the identity, so that D cancels from the equations of BV for any γ.
    """
    n = np.repeat(sizes, 300 // len(sizes))
    rank = 1 + (np.random.default_rng(1).random(len(n)) ** 2 * n).astype(int)
    outcomes, which = Outcomes.observed(SampledRanks(rank - 1, n - 1, n))
    exact = [metric(name).of_rank(rank, n).mean() for name in LABELS]
    ours = fit(label, outcomes).estimate(np.bincount(which))
    np.testing.assert_allclose(ours, exact, rtol=1e-10)


@pytest.mark.parametrize("label", ["bv-0.1", "cls", "mle-20", "mes", "smooth"])
def test_the_assumed_replacement_counts_whatever_the_design(label):
    counts = np.arange(9, 3, -1)

    def estimate(*, assumed, design):
        outcomes = Outcomes.from_design(SamplingDesign(5, design), 12)
        fitted = estimator(label, assume_replacement=assumed).fit(outcomes, [metric("ap")])
        return fitted.estimate(counts)

    with_replacement = estimate(assumed=True, design=True)
    without_replacement = estimate(assumed=False, design=False)
    assert estimate(assumed=True, design=False) == with_replacement
    assert estimate(assumed=False, design=True) == without_replacement
    assert abs(with_replacement - without_replacement) > 1e-4


# the active sets of neighbouring n are often the same
MIXED = np.array(
    [[5, 100], [5, 150], [9, 100], [30, 31], [30, 1000], [30, 1001], [30, 1002], [30, 1003]]
)


@pytest.mark.parametrize("label", [*LINEAR, "mle", "mes"])
def test_several_metrics_and_samples_at_once_are_what_each_is_alone(label):
    m, n = np.repeat(MIXED, 6, axis=0).T
    outcomes, _ = Outcomes.observed(SampledRanks(np.tile(np.arange(6), len(MIXED)), m, n))
    counts = np.random.default_rng(1).poisson(1.5, (2, 3, len(outcomes)))
    counts[0, 0] = 7 * (outcomes.x == 3)  # one x alone
    together = fit(label, outcomes).estimate(counts)
    for sample in np.ndindex(2, 3):
        estimates = fit(label, outcomes).estimate(counts[sample])
        np.testing.assert_allclose(estimates, together[sample], rtol=1e-8)
    alone = [fit(label, outcomes, [name]).estimate(counts[1, 2])[0] for name in LABELS]
    np.testing.assert_allclose(together[1, 2], alone, rtol=1e-8)


@pytest.mark.parametrize("label", LINEAR)
def test_linear_ones_fit_each_n_and_m_alone(label):
    m, n = MIXED.T
    outcomes, _ = Outcomes.observed(SampledRanks(m, m, n))
    fitted = fit(label, outcomes)
    for group, weights in zip(outcomes.groups, fitted.of_groups, strict=True):
        alone = fit(label, Outcomes.from_design(SamplingDesign(group.negatives), group.candidates))
        np.testing.assert_allclose(weights, alone.weights, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("label", ["cls", "bv-0.01"])
def test_linear_ones_refuse_events_without_negatives(label):
    outcomes, _ = Outcomes.observed(SampledRanks([0, 1], [0, 2], 9))
    with pytest.raises(DataError, match="1 of 2 rows"):
        fit(label, outcomes)


def test_entries_say_what_their_estimators_are():
    for entry in ESTIMATORS:
        built = estimator(entry.label, assume_replacement=True)
        estimate = fit(entry.label, Outcomes.from_design(SamplingDesign(12), 200))
        assert {str(built), *map(str, map(estimator, entry.aliases))} == {entry.label}
        assert built.is_linear == isinstance(built, LinearEstimator)
        assert entry.is_linear == estimate.is_linear == built.is_linear
        shape = entry.label if entry.label in BOUNDS else None
        assert estimate.assumed_shape == built.assumed_shape == shape
        assert has_bounds(estimate) == (entry.label in BOUNDS)
        if not built.is_linear:
            assert estimate.bounds is None
            assert built.condition_number(SamplingDesign(12), 200, (metric("ap"),)) is None


BY_LABEL = {
    "rank-estimate-as-printed": RankEstimate(1),
    "CLS": ConstrainedLeastSquares(None),
    "bv-1e-8": BiasVariance(1e-8, None),
    "BV 0.1\n": BiasVariance(0.1, None),
    "em": MaximumLikelihood(100),
    "mle-7": MaximumLikelihood(7),
    "MES 0.5": MaximumEntropy(0.5),
    "Decreasing ": StrictBounds("decreasing"),
}


@pytest.mark.parametrize("label", BY_LABEL)
def test_is_found_by_its_label_and_by_its_displayed_name(label):
    assert list(estimators_by_label(label).items()) == [(label.strip(), BY_LABEL[label])]
    assert estimator(estimator_name(label)) == BY_LABEL[label]


@pytest.mark.parametrize(("label", "meant"), [("xyz", ""), ("mes-", "mes"), ("bv--0.1", "bv-0.1")])
def test_refuses_an_unknown_label_and_says_what_was_meant(label, meant):
    with pytest.raises(ConfigError, match=f"{label}.*{meant}"):
        estimator(label)


@pytest.mark.parametrize("names", [["em", "mle"], ["bv-0.1", "bv-0.10"], ["mle", estimator("mle")]])
def test_refuses_two_names_of_one(names):
    with pytest.raises(ConfigError, match=names[0]):
        estimators_by_label(names)


def test_lines_have_the_same_style_in_all_figures():
    numbers = [number for entry in ESTIMATORS for number in entry.lines.values()]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))
    next_free = len(numbers) + 1
    expected = {"BV 0.1": 5, "exact": 0, "mine": next_free, "bv-0.5": next_free + 1, "mle": 9}
    assert line_styles(expected) == expected
