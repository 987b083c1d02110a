"""Ranks among given negatives by a trained model, against brute force."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from sampled_metrics._progress import no_progress
from sampled_metrics.data.split import Split
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranking.negatives import rank_model_among
from sampled_metrics.recommenders.models.factors import FactorModel
from sampled_metrics.recommenders.models.model import Model
from sampled_metrics.recommenders.models.ranks import RankModel
from sampled_metrics.recommenders.models.scores import ScoreModel
from sampled_metrics.recommenders.models.similarity import SimilarityModel

USERS, ITEMS, M = 60, 40, 12
RNG = np.random.default_rng(4)
HELD_OUT = RNG.integers(ITEMS, size=USERS)
TRAINING = (RNG.random((USERS, ITEMS)) < 0.2) & (np.arange(ITEMS) != HELD_OUT[:, np.newaxis])
SPLIT = Split(csr_array(TRAINING.astype(float)), HELD_OUT, 100 + np.arange(USERS), np.arange(ITEMS))
CANDIDATES = ~TRAINING & (np.arange(ITEMS) != HELD_OUT[:, np.newaxis])
NEGATIVES = np.array([RNG.choice(np.flatnonzero(each), M) for each in CANDIDATES])
MODELS = {  # of whole numbers, so that sums are exact and many tie
    "scores": ScoreModel(RNG.integers(4, size=(USERS, ITEMS))),
    "factors": FactorModel(RNG.integers(3, size=(USERS, 2)) + 0.0, RNG.integers(3, size=(ITEMS, 2)) + 0.0),
    "similarity": SimilarityModel(RNG.integers(3, size=(ITEMS, ITEMS)) + 0.0),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_ranks_with_ties_against_brute_force(model: Model) -> None:
    above, tied = np.zeros(USERS, dtype=int), np.zeros(USERS, dtype=int)
    scores = model.scores(SPLIT.training, slice(0, USERS), slice(0, ITEMS))
    for user in range(USERS):
        for item in NEGATIVES[user]:
            above[user] += scores[user, item] > scores[user, HELD_OUT[user]]
            tied[user] += scores[user, item] == scores[user, HELD_OUT[user]]
    assert (tied > 0).sum() > 10
    ranks = [rank_model_among(model, SPLIT, NEGATIVES, no_progress, seed=seed) for seed in range(300)]
    first = ranks[0]
    assert first["user"].tolist() == SPLIT.user_ids.tolist()
    assert first["candidates"].tolist() == SPLIT.candidates.tolist() == (CANDIDATES.sum(axis=1) + 1).tolist()
    assert (first["negatives"] == M).all()
    assert first["repeated"].tolist() == [M - len(set(each)) for each in NEGATIVES.tolist()]
    x = np.array([each["rank"] - 1 for each in ranks])
    assert (x.min(axis=0) == above).all()  # 300 seeds show each place of a tie of at most 12 others
    assert (x.max(axis=0) == above + tied).all()
    error = np.sqrt(((tied + 1) ** 2 - 1) / 12 / len(x))
    assert (np.abs(x.mean(axis=0) - above - tied / 2) <= 4.5 * error).all()  # uniform over the places


def test_too_little_memory_and_a_model_without_scores() -> None:
    with pytest.raises(ConfigError, match=r"^ranking\.memory: ranking among given negatives takes (\d+) MB .* \1 or "):
        rank_model_among(MODELS["scores"], SPLIT, NEGATIVES, no_progress, seed=0, memory=100)
    with pytest.raises(DataError, match="a recommender that writes ranks has no scores"):
        rank_model_among(RankModel(HELD_OUT, HELD_OUT), SPLIT, NEGATIVES, no_progress, seed=0)
