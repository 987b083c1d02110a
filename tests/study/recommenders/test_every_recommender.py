"""What every registered recommender must do, on a split whose right answer is known.

The split is that of tests/two_groups.py.

Trained recommenders are read back as they were written, and files and numbers that are none are
refused.
"""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array, random_array
from two_groups import SIZES, two_groups

from sampled_metrics import file_io
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.rank import TIE
from sampled_metrics.ranking.split import Split
from sampled_metrics_study.jobs import stream
from sampled_metrics_study.recommenders.models import (
    FactorModel,
    RandomModel,
    ScoreModel,
    SimilarityModel,
    SparseSimilarityModel,
    read_model,
)
from sampled_metrics_study.recommenders.ranking import rank_by_model
from sampled_metrics_study.recommenders.registry import RECOMMENDERS, recommender

FIRST_SIZE, SECOND_SIZE = SIZES
IN_FIRST = np.arange(FIRST_SIZE + SECOND_SIZE) < FIRST_SIZE

ENTRIES: dict[str, dict[str, Any]] = {
    "ease": {"type": "ease", "regularization": 1},
    "ials": {
        "type": "ials",
        "factors": 4,
        "regularization": 0.1,
        "unobserved_weight": 0.2,
        "iterations": 10,
    },
    "implicit als": {"type": "implicit", "model": "als", "options": {"factors": 4}},
    "implicit bpr": {
        "type": "implicit",
        "model": "bpr",
        "options": {"factors": 4, "learning_rate": 0.1},
    },
    "implicit lmf": {"type": "implicit", "model": "lmf", "options": {"factors": 4}},
    "implicit cosine": {"type": "implicit", "model": "cosine"},
    "implicit tfidf": {"type": "implicit", "model": "tfidf"},
    "implicit bm25": {"type": "implicit", "model": "bm25"},
    "item-cf": {"type": "item-cf", "exponent": 1},
    "item-cf of neighbours": {"type": "item-cf", "exponent": 1, "neighbours": 7},
    "popularity": {"type": "popularity"},
    "random": {"type": "random"},
}
"""The least that config must say of every type; a new recommender needs an entry here."""


every_entry = pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)


def train(entry, split):
    return recommender(entry).fit(split.training, stream(1, "train"))


@every_entry
def test_gives_the_right_answer_for_all_users_and_for_a_block(entry, tmp_path):
    split = two_groups()
    model = train(entry, split)
    table = rank_by_model(model, split)
    scores = model.scores(slice(None), split.training)
    assert table.user.tolist() == split.user_ids.tolist()
    candidates = np.where(IN_FIRST, SECOND_SIZE + 1, FIRST_SIZE + 1)
    assert table.candidates.tolist() == candidates.tolist()
    assert table.tied.tolist() == [0] * len(table)
    if entry["type"] == "popularity":
        # items of the second group have 7 training events, of the first 5
        assert table.above.tolist() == (SECOND_SIZE * IN_FIRST).tolist()
    elif entry["type"] != "random":  # of which one draw says nothing
        assert table.above.tolist() == [0] * len(table)
    assert (scores.shape, scores.dtype) == (split.training.shape, np.float64)
    assert np.isfinite(scores).all()
    for users in (slice(3, 9), slice(13, 14), slice(4, 4)):
        block = model.scores(users, split.training)
        # the order of a sum may differ
        np.testing.assert_allclose(block, scores[users], rtol=1e-13, atol=1e-15, strict=True)
    model.write(tmp_path / "one.npz")
    train(entry, split).write(tmp_path / "two.npz")  # by the same stream
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


@pytest.mark.parametrize("kind", sorted(RECOMMENDERS.keys() - {"ranks"}))
def test_no_parameter_is_needed(kind):
    assert kind in {entry["type"] for entry in ENTRIES.values()}, "add an entry to ENTRIES"
    scores = train({"type": kind}, two_groups()).scores(slice(0, 5), two_groups().training)
    assert np.isfinite(scores).all()


RNG = np.random.default_rng(3)
SPLIT = two_groups()  # 14 users, 14 items
ONES = np.ones((14, 2))
MODELS = {
    "factors": FactorModel(RNG.normal(size=(14, 2)), RNG.normal(size=(14, 2))),
    "dense similarity": SimilarityModel(RNG.random((14, 14))),
    "sparse similarity": SparseSimilarityModel(
        csr_array(random_array((14, 14), density=0.2, rng=RNG))
    ),
    "sparse similarity without entries": SparseSimilarityModel(csr_array((14, 14))),
    "random": RandomModel(2**64 - 1),
    "scores": ScoreModel(RNG.random((14, 14))),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_model_is_read_as_it_was_written_and_written_as_the_same_bytes_twice(tmp_path, model):
    for path in (tmp_path / "1.npz", tmp_path / "2.npz"):
        model.write(path)
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()
    read = read_model(tmp_path / "1.npz")
    assert type(read) is type(model)
    scores = model.scores(slice(14), SPLIT.training)
    assert read.scores(slice(14), SPLIT.training).tolist() == scores.tolist()


@pytest.mark.parametrize(
    ("tolerance", "above", "tied"), [(0.0, 1, 0), (TIE, 0, 1)], ids=["no tolerance", "TIE"]
)
def test_scores_tie_within_the_tolerance_also_as_read_from_a_file(tmp_path, tolerance, above, tied):
    """Item 1 and the held-out item 0 differ by rounding alone, as sums in different orders do."""
    split = Split(csr_array((1, 3)), csr_array([[1.0, 0.0, 0.0]]), np.arange(1), np.arange(3))
    ScoreModel(np.array([[0.3, 0.1 + 0.2, 0.1]]), tolerance).write(tmp_path / "model.npz")
    table = rank_by_model(read_model(tmp_path / "model.npz"), split)
    assert (table.above.item(), table.tied.item()) == (above, tied)


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        pytest.param(
            {"kind": "factors", "user_factors": ONES}, ": lacks item_factors", id="an array less"
        ),
        pytest.param(
            {
                "kind": "sparse similarity",
                "data": ONES[0],
                "indices": np.arange(2),
                "indptr": np.arange(5),
            },
            ", or is damaged",
            id="no sparse matrix",
        ),
        pytest.param({"kind": "tree"}, "", id="an unknown kind"),
    ],
)
def test_arrays_that_make_no_model_are_refused(tmp_path, arrays, says):
    file_io.write_npz(
        tmp_path / "model.npz", **{name: np.asarray(array) for name, array in arrays.items()}
    )
    with pytest.raises(DataError, match=rf"model\.npz.*{says}"):
        read_model(tmp_path / "model.npz")


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (FactorModel(ONES * np.nan, ONES), "the factors of user 1 of 14 are not finite numbers"),
        (FactorModel(ONES[1:], ONES), r"has factors of shape \(13, 2\) for 14 users"),
        (
            FactorModel(ONES, ONES[:, :1]),
            "the factors of users and items differ in length, 2 and 1",
        ),
        (SimilarityModel(np.eye(13)), r"has similarities of shape \(13, 13\), not \(14, 14\)"),
        (
            SparseSimilarityModel(csr_array(eye_array(14)) * np.inf),
            "has similarities that are not finite numbers",
        ),
        (SimilarityModel(np.eye(14) * np.nan), "has similarities that are not finite numbers"),
    ],
    ids=[
        "user factors that are NaN",
        "users of another number",
        "factors of other lengths",
        "items of another number",
        "sparse similarities that are NaN",
        "similarities that are NaN",
    ],
)
def test_a_model_that_does_not_fit_its_split_is_refused(model, says):
    with pytest.raises(DataError, match=f"^X: .*{says}"):
        model.check(SPLIT, "X")
