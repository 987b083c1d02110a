"""Scores that are whole numbers, so that many tie and none is rounded, and a held-out item each."""

import numpy as np

RNG = np.random.default_rng(5)
USERS = 60
ITEMS = 40
HELD_OUT = RNG.integers(ITEMS, size=USERS)
TRAINING = (RNG.random((USERS, ITEMS)) < 0.3) & (np.arange(ITEMS) != HELD_OUT[:, np.newaxis])
FACTORS = (
    RNG.integers(-3, 4, (USERS, 3)).astype(float),
    RNG.integers(-3, 4, (ITEMS, 3)).astype(float),
)
SCORES = FACTORS[0] @ FACTORS[1].T
