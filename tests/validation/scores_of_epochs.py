"""Scores of 200 users and 30 items, as a model has them after an epoch."""

import numpy as np

USERS = 200
ITEMS = 30
HELD_OUT = np.arange(USERS) % ITEMS
NOTHING = np.zeros((USERS, ITEMS))


def scores_by_gain(gain, rng):
    """Random scores in which the held-out items score more by a gain."""
    scores = rng.normal(size=(USERS, ITEMS))
    scores[np.arange(USERS), HELD_OUT] += gain
    return scores


def scores_of_hits(count):
    """Scores by which the held-out items of the first users are first, and of the others last."""
    scores = np.tile(np.arange(ITEMS) / ITEMS, (USERS, 1))
    scores[np.arange(USERS), HELD_OUT] = np.where(np.arange(USERS) < count, 2.0, -1.0)
    return scores
