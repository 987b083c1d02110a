"""Factors and similarities that are not numbers, or not of the users and items, are refused."""

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array
from two_groups import two_groups

from sampled_metrics.errors import DataError
from sampled_metrics.recommenders.checks import check_model
from sampled_metrics.recommenders.models import FactorModel, RandomModel, SimilarityModel

SPLIT = two_groups()  # 14 users, 14 items
ONES = np.ones((14, 2))


def with_one(value):
    factors = ONES.copy()
    factors[4, 1] = value
    return factors


@pytest.mark.parametrize(
    "model",
    [
        FactorModel(ONES, ONES),
        SimilarityModel(np.eye(14)),
        SimilarityModel(csr_array(eye_array(14))),
        RandomModel(3),
    ],
    ids=["factors", "dense", "sparse", "random"],
)
def test_what_is_in_order_passes(model):
    check_model(model, SPLIT, "X")


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (FactorModel(with_one(np.nan), ONES), "X: the factors of user 5 of 14 are not finite numbers"),
        (FactorModel(ONES, with_one(-np.inf)), "X: the factors of item 5 of 14 are not finite numbers"),
        (FactorModel(ONES[1:], ONES), r"X: has factors of shape \(13, 2\) for 14 users"),
        (FactorModel(ONES, ONES.ravel()), r"X: has factors of shape \(28,\) for 14 items"),
        (FactorModel(ONES, ONES[:, :1]), "X: the factors of users and items differ in length, 2 and 1"),
        (SimilarityModel(np.eye(13)), r"X: has similarities of shape \(13, 13\), not \(14, 14\)"),
        (SimilarityModel(np.eye(14) * np.nan), "X: has similarities that are not finite numbers"),
        (SimilarityModel(csr_array(eye_array(14)) * np.inf), "X: has similarities that are not finite numbers"),
    ],
)
def test_what_is_not_is_refused(model, says):
    with pytest.raises(DataError, match=says):
        check_model(model, SPLIT, "X")
