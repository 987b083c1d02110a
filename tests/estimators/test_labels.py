"""Estimators by label."""

import pytest

from sampled_metrics.errors import ConfigError
from sampled_metrics.estimators import (
    BOUNDS,
    ESTIMATORS,
    estimator,
    estimator_name,
    estimators_by_label,
    line_styles,
    linear_estimator,
)
from sampled_metrics.estimators.linear import BiasVariance, ConstrainedLeastSquares, LinearEstimator, RankEstimate
from sampled_metrics.estimators.rank_distribution import MaximumEntropy, MaximumLikelihood
from sampled_metrics.estimators.strict_bounds import StrictBounds


@pytest.mark.parametrize(
    ("label", "wanted"),
    [
        ("rank-estimate", RankEstimate(0)),
        ("rank-estimate-as-printed", RankEstimate(1)),
        ("bv-1e-8", BiasVariance(1e-8, True)),
        ("bv-0", BiasVariance(0.0, True)),
        ("mle", MaximumLikelihood(100, True)),
        ("mle-7", MaximumLikelihood(7, True)),
        ("mes", MaximumEntropy(0.01, True)),
        ("mes-0.5", MaximumEntropy(0.5, True)),
        ("decreasing", StrictBounds("decreasing", True)),
    ],
)
def test_is_found_by_its_label(label, wanted):
    assert estimator(label, assume_replacement=True) == wanted


@pytest.mark.parametrize("label", ["", "mn", "xyz", "convex"])
def test_refuses_an_unknown_one(label):
    with pytest.raises(ConfigError) as caught:
        estimator(label, assume_replacement=True)
    assert str(caught.value).startswith(f"unknown estimator {label!r}; it may be decreasing, free, ")
    assert all(entry.label.partition("-")[0] in str(caught.value) for entry in ESTIMATORS)


MEANT = {"mle-0": "mle", "mes-": "mes", "decreasing-1": "decreasing", "bv-": "bv-0.1", "bv--0.1": "bv-0.1",
         "rank-estimat": "rank-estimate"}  # fmt: skip
TYPED = {"CLS": "cls", "MLE": "mle", "BV0.1": "bv-0.1", "BV 0.1": "bv-0.1", "bv-0.1\n": "bv-0.1",
         "Decreasing ": "decreasing", "MES 0.5": "mes-0.5", "sampled": "uncorrected"}  # fmt: skip


@pytest.mark.parametrize("label", MEANT)
def test_says_what_was_meant(label):
    with pytest.raises(ConfigError, match=rf"^unknown estimator '{label}' \(did you mean {MEANT[label]}\?\)"):
        estimator(label, assume_replacement=True)


@pytest.mark.parametrize("given", TYPED)
def test_takes_names_that_people_type(given):
    assert list(estimators_by_label(given).items()) == [(given.strip(), estimator(TYPED[given]))]


def test_refuses_two_names_of_one():
    for names in (["em", "mle"], ["bv-0.1", "bv-0.10"], ["mle", estimator("mle")]):
        with pytest.raises(ConfigError, match=rf"^estimators: '{names[0]}' and '.*' are the same one; give it once$"):
            estimators_by_label(names)


@pytest.mark.parametrize("label", ["uncorrected", "rank-estimate", "bv-0.01", "mle-7", "mes-0.1", "smooth", "free"])
def test_takes_back_what_is_displayed(label):
    assert estimator(estimator_name(label)) == estimator(label)


@pytest.mark.parametrize("entry", ESTIMATORS, ids=lambda entry: entry.label)
def test_an_entry_says_what_its_estimator_is(entry):
    one = estimator(entry.label, assume_replacement=True)
    assert str(one) == entry.label
    assert one.is_linear == isinstance(one, LinearEstimator) == entry.is_linear
    assert (one.assumed_shape is not None) == (entry.label in BOUNDS)
    assert getattr(one, "replacement", True) is True
    assert all(estimator(alias) == estimator(entry.label) for alias in entry.aliases)


def test_lines_have_the_same_style_in_all_figures():
    of_entries = [number for entry in ESTIMATORS for number in entry.lines.values()]
    assert sorted(of_entries) == list(range(1, len(of_entries) + 1))
    labels = ["BV 0.1", "exact", "mine", "bv-0.5", "mle"]
    after = len(of_entries) + 1
    assert line_styles(labels) == {"BV 0.1": 5, "exact": 0, "mine": after, "bv-0.5": after + 1, "mle": 9}


def test_refuses_what_is_not_linear_where_weights_are_shown():
    assert linear_estimator("cls") == ConstrainedLeastSquares(None)
    with pytest.raises(ConfigError, match="'mle' is not linear in the sample"):
        linear_estimator("mle")
