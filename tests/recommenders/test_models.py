"""Trained recommenders are read back as they were written, and files and numbers that are none are refused."""

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array, random_array
from two_groups import two_groups

from sampled_metrics import _files
from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.rank import TIE
from sampled_metrics.recommenders.models import (
    FactorModel,
    RandomModel,
    ScoreModel,
    SimilarityModel,
    SparseSimilarityModel,
    read_model,
)

RNG = np.random.default_rng(3)
SPLIT = two_groups()  # 14 users, 14 items
ONES = np.ones((14, 2))
MODELS = {
    "factors": FactorModel(RNG.normal(size=(14, 2)), RNG.normal(size=(14, 2))),
    "dense similarity": SimilarityModel(RNG.random((14, 14))),
    "sparse similarity": SparseSimilarityModel(csr_array(random_array((14, 14), density=0.2, rng=RNG))),
    "sparse similarity without entries": SparseSimilarityModel(csr_array((14, 14))),
    "random": RandomModel(2**64 - 1),
    "scores": ScoreModel(RNG.random((14, 14))),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_model_is_read_as_it_was_written_and_written_as_the_same_bytes_twice(tmp_path, model):
    for path in (tmp_path / "1.npz", tmp_path / "2.npz"):
        model.write(path)
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()
    again = read_model(tmp_path / "1.npz")
    assert type(again) is type(model)
    assert (again.scores(slice(14), SPLIT.training) == model.scores(slice(14), SPLIT.training)).all()


@pytest.mark.parametrize(("tolerance", "above", "tied"), [(0.0, 1, 0), (TIE, 0, 1)])
def test_scores_tie_within_the_tolerance_also_as_read_from_a_file(tmp_path, tolerance, above, tied):
    """Item 1 and the held-out item 0 differ by rounding alone, as sums in different orders do."""
    split = Split(csr_array((1, 3)), csr_array([[1.0, 0.0, 0.0]]), np.arange(1), np.arange(3))
    ScoreModel(np.array([[0.3, 0.1 + 0.2, 0.1]]), tolerance).write(tmp_path / "model.npz")
    table = read_model(tmp_path / "model.npz").rank(split)
    assert (table.above.item(), table.tied.item()) == (above, tied)


@pytest.mark.parametrize(
    "arrays",
    [
        {"x": np.arange(3)},
        {"kind": "tree"},
        {"kind": "factors", "user_factors": ONES},
        {"kind": "random", "key": np.arange(2)},
        {"kind": "sparse similarity", "data": ONES[0], "indices": np.arange(2), "indptr": np.arange(5)},
    ],
)
def test_arrays_that_make_no_model_are_refused(tmp_path, arrays):
    _files.write_npz(tmp_path / "model.npz", **{name: np.asarray(array) for name, array in arrays.items()})
    says = ": lacks item_factors" if "user_factors" in arrays else ", or is damaged" if len(arrays) > 1 else ""
    with pytest.raises(DataError, match=rf"model\.npz: is not a model of this project{says}"):
        read_model(tmp_path / "model.npz")


def with_one(value):
    factors = ONES.copy()
    factors[4, 1] = value
    return factors


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
        (SparseSimilarityModel(csr_array(eye_array(14)) * np.inf), "X: has similarities that are not finite numbers"),
    ],
)
def test_a_model_that_does_not_fit_its_split_is_refused(model, says):
    with pytest.raises(DataError, match=says):
        model.check(SPLIT, "X")
