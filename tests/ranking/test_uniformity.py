"""Given negatives that are not uniform are noticed, and uniform ones are not."""

import re

import numpy as np
import pytest

from sampled_metrics import rank_among_negatives

USERS, ITEMS, M = 150, 400, 15
RNG = np.random.default_rng(5)
WEIGHT = 1 / (np.arange(ITEMS) + 5.0)
OWN = np.array([RNG.choice(ITEMS, 11, replace=False, p=WEIGHT / WEIGHT.sum()) for _ in range(USERS)])
TRAINING = np.zeros((USERS, ITEMS))
np.put_along_axis(TRAINING, OWN[:, 1:], 1.0, axis=1)
POPULARITY = TRAINING.sum(axis=0) + 1


def drawn(rng, weight, *, replacement=False):
    free = [np.setdiff1d(np.arange(ITEMS), own) for own in OWN]
    weights = [weight[items] / weight[items].sum() for items in free]
    return [rng.choice(items, M, replacement, p) for items, p in zip(free, weights, strict=True)]


def cautions(negatives, **options):
    scores = np.random.default_rng(0).random((USERS, ITEMS))
    return rank_among_negatives(scores, TRAINING, OWN[:, 0], negatives=negatives, **options).cautions


@pytest.mark.parametrize("replacement", [False, True])
def test_uniform_negatives_raise_few_alarms(replacement):
    rng, uniform, repetitions = np.random.default_rng(1), np.ones(ITEMS), 60
    alarms = [
        cautions(drawn(rng, uniform, replacement=replacement), replacement=replacement) for _ in range(repetitions)
    ]
    assert sum(map(bool, alarms)) / repetitions <= 0.01 + 2 * np.sqrt(0.01 * 0.99 / repetitions)


@pytest.mark.parametrize(
    ("weight", "says"),
    [
        (POPULARITY, "popular items are drawn too often"),
        (1.0 / POPULARITY, "popular items are drawn too rarely"),
        (1.0 * (np.arange(ITEMS) % 2), "of 400 items are never drawn, by chance [0-9],"),
    ],
)
def test_other_negatives_are_noticed(weight, says):
    weight = np.maximum(weight, 1e-12)
    [caution] = cautions(drawn(np.random.default_rng(2), weight))
    assert "do not look as if they were drawn uniformly" in caution
    assert re.search(says, caution)


def test_negatives_that_users_share_are_noticed():
    shared = np.random.default_rng(3).permutation(np.setdiff1d(np.arange(ITEMS), OWN))[:M]
    assert len(cautions(np.tile(shared, (USERS, 1)))) == 1


def test_all_negatives_are_uniform():
    free = [np.setdiff1d(np.arange(ITEMS), own) for own in OWN]
    assert cautions(free) == ()
