"""Estimators by label."""

import pytest

from sampled_metrics import reference
from sampled_metrics.errors import ConfigError
from sampled_metrics.estimators import estimator
from sampled_metrics.estimators.bias_variance import BiasVariance
from sampled_metrics.estimators.least_squares import ConstrainedLeastSquares
from sampled_metrics.estimators.rank_estimate import RankEstimate
from sampled_metrics.estimators.uncorrected import Uncorrected


@pytest.mark.parametrize(
    ("label", "wanted"),
    [
        ("uncorrected", Uncorrected()),
        ("rank-estimate", RankEstimate(0)),
        ("rank-estimate-as-printed", RankEstimate(1)),
        ("cls", ConstrainedLeastSquares(True)),
        ("bv-1", BiasVariance(1.0, True)),
        ("bv-0.1", BiasVariance(0.1, True)),
        ("bv-1e-8", BiasVariance(1e-8, True)),
        ("bv-0", BiasVariance(0.0, True)),
    ],
)
def test_is_found_by_its_label(label, wanted):
    assert estimator(label, assume_replacement=True) == wanted


@pytest.mark.parametrize("label", ["cls", "bv-0.5"])
def test_is_told_what_distribution_to_assume(label):
    assert estimator(label, assume_replacement=False).replacement is False


def test_every_estimator_of_the_paper_is_there():
    for label in reference.ESTIMATORS:
        estimator(label, assume_replacement=True)


@pytest.mark.parametrize("label", ["", "CLS", "mle", "bv", "bv-", "bv-x", "bv--0.1", "bv-0.1 ", "bv-0.1\n", "bv-nan"])
def test_refuses_an_unknown_one(label):
    with pytest.raises(ConfigError) as caught:
        estimator(label, assume_replacement=True)
    assert str(caught.value) == (
        f"unknown estimator {label!r}; it may be uncorrected, rank-estimate, rank-estimate-as-printed, cls, "
        "bv-γ with γ from 0 to 1, such as bv-0.1"
    )


@pytest.mark.parametrize("label", ["bv-0.1.2", "bv-.", "bv-.e5"])
def test_refuses_a_gamma_that_is_no_number(label):
    with pytest.raises(ConfigError, match="γ must be a number from 0 to 1, not"):
        estimator(label, assume_replacement=True)


@pytest.mark.parametrize("label", ["bv-2", "bv-1.0001", "bv-1e5", "bv-1e999"])
def test_refuses_a_gamma_out_of_range(label):
    with pytest.raises(ConfigError, match=r"must lie in \[0, 1\], not"):
        estimator(label, assume_replacement=True)
