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


@pytest.mark.parametrize("label", ["", "mn", "b", "xyz", "convex"])
def test_refuses_an_unknown_one(label):
    with pytest.raises(ConfigError) as caught:
        estimator(label, assume_replacement=True)
    assert str(caught.value).startswith(f"unknown estimator {label!r}; it may be decreasing, free, ")
    assert all(entry.label.partition("-")[0] in str(caught.value) for entry in ESTIMATORS)


@pytest.mark.parametrize(
    ("label", "meant"),
    [
        ("mle-0", "mle"),
        ("mes-", "mes"),
        ("decreasing-1", "decreasing"),
        ("bv-", "bv-0.1"),
        ("bv--0.1", "bv-0.1"),
        ("rank-estimat", "rank-estimate"),
    ],
)
def test_says_what_was_meant(label, meant):
    with pytest.raises(ConfigError) as caught:
        estimator(label, assume_replacement=True)
    assert str(caught.value).startswith(f"unknown estimator {label!r} (did you mean {meant}?); it may be decreasing, ")


@pytest.mark.parametrize(
    ("given", "label"),
    [
        ("CLS", "cls"),
        ("MLE", "mle"),
        ("BV0.1", "bv-0.1"),
        ("BV 0.1", "bv-0.1"),
        ("bv-0.1\n", "bv-0.1"),
        ("Decreasing ", "decreasing"),
        ("MES 0.5", "mes-0.5"),
        ("sampled", "uncorrected"),
    ],
)
def test_takes_names_that_people_type(given, label):
    assert estimator(given) == estimator(label)
    assert list(estimators_by_label(given).items()) == [(given.strip(), estimator(label))]


@pytest.mark.parametrize("label", ["uncorrected", "rank-estimate", "bv-0.01", "mle-7", "mes-0.1", "smooth", "free"])
def test_takes_back_what_is_displayed(label):
    assert estimator(estimator_name(label)) == estimator(label)


@pytest.mark.parametrize("label", ["bv-2", "bv-1.0001", "bv-1e5", "bv-1e999"])
def test_refuses_a_gamma_out_of_range(label):
    with pytest.raises(ConfigError, match=r"must lie in \[0, 1\], not"):
        estimator(label, assume_replacement=True)


def test_refuses_other_parameters_out_of_range():
    with pytest.raises(ConfigError, match="must be more than 0"):
        estimator("mes-0")


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
