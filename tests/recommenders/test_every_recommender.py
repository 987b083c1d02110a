"""What every registered recommender must do, on a split whose right answer is known (tests/two_groups.py)."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from two_groups import SIZES, two_groups

from sampled_metrics.data.split import Split
from sampled_metrics.recommenders import RECOMMENDERS, recommender
from sampled_metrics.recommenders.models import Model
from sampled_metrics.study.jobs import stream

FIRST, SECOND = SIZES
IN_FIRST = np.arange(FIRST + SECOND) < FIRST

ENTRIES: dict[str, dict[str, Any]] = {
    "ease": {"type": "ease", "regularization": 1},
    "ials": {"type": "ials", "factors": 4, "regularization": 0.1, "unobserved_weight": 0.2, "iterations": 10},
    "implicit als": {"type": "implicit", "model": "als", "options": {"factors": 4}},
    "implicit bpr": {"type": "implicit", "model": "bpr", "options": {"factors": 4, "learning_rate": 0.1}},
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


LARGER_FIRST = np.where(IN_FIRST, SECOND, 0).tolist()
"""Items of the second group have 7 training events, of the first 5."""


every_entry = pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)


def train(entry: dict[str, Any], split: Split) -> Model:
    return recommender(entry).fit(split.training, stream(1, "train"))


def test_every_type_that_can_be_trained_has_an_entry_here() -> None:
    assert {entry["type"] for entry in ENTRIES.values()} == RECOMMENDERS.keys() - {"ranks"}, "add an entry to ENTRIES"


@every_entry
def test_gives_the_right_answer_for_all_users_and_for_a_block(entry: dict[str, Any], tmp_path) -> None:
    split = two_groups()
    model = train(entry, split)
    table, scores = model.rank(split), model.scores(slice(None), split.training)
    assert table.user.tolist() == split.user_ids.tolist()
    assert table.candidates.tolist() == np.where(IN_FIRST, SECOND + 1, FIRST + 1).tolist()
    assert table.tied.tolist() == [0] * len(table)
    if entry["type"] != "random":  # of which one draw says nothing
        assert table.above.tolist() == (LARGER_FIRST if entry["type"] == "popularity" else [0] * len(table))
    assert (scores.shape, scores.dtype) == (split.training.shape, np.float64)
    assert np.isfinite(scores).all()
    for users in (slice(3, 9), slice(13, 14), slice(4, 4)):
        block = model.scores(users, split.training)
        np.testing.assert_allclose(
            block, scores[users], rtol=1e-13, atol=1e-15, strict=True
        )  # a sum's order may differ
    model.write(tmp_path / "one.npz")
    train(entry, split).write(tmp_path / "two.npz")  # by the same stream
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


@every_entry
def test_several_held_out_items_of_a_user(entry: dict[str, Any]) -> None:
    rng = np.random.default_rng(5)
    chosen = rng.random((80, 30)) < rng.random(30) / 2
    held_out = chosen & (rng.random((80, 30)) < 0.4)  # of some users none, of others up to seven
    training = csr_array((chosen & ~held_out).astype(float))
    user, item = np.nonzero(held_out)
    split = Split(training, csr_array(held_out.astype(float)), np.arange(80), np.arange(30))
    model = train(entry, split)
    table = model.rank(split)
    assert table.user.tolist() == user.tolist()
    scores = model.scores(slice(None), training)
    own = scores[user, item][:, np.newaxis]
    candidate = ~chosen[user]  # neither in training nor held out
    tied = np.isclose(scores[user], own, rtol=1e-10, atol=1e-14)
    assert table.candidates.tolist() == (candidate.sum(axis=1) + 1).tolist()
    assert table.above.tolist() == (candidate & ~tied & (scores[user] > own)).sum(axis=1).tolist()
    assert table.tied.tolist() == (candidate & tied).sum(axis=1).tolist()
    parts = (slice(0, 1), slice(1, 33), slice(33, 34), slice(34, 80))
    apart = [model.rank(split, users=users, threads=2).to_frame() for users in parts]
    assert pd.concat(apart, ignore_index=True).equals(table.to_frame())


@pytest.mark.parametrize("kind", sorted(RECOMMENDERS.keys() - {"ranks"}))
def test_no_parameter_is_needed(kind: str) -> None:
    split = two_groups()
    model = recommender({"type": kind}).fit(split.training, np.random.default_rng(1))
    assert np.isfinite(model.scores(slice(0, 5), split.training)).all()
