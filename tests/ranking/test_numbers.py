"""Numbers as scores, and ids of `rank`: what is refused, and what is left out or escaped."""

import numpy as np
import pandas as pd
import pytest
from no_numbers import require_a_flag

import sampled_metrics as sm
from sampled_metrics.errors import DataError


def test_replacement_is_true_or_false():
    matrices = np.arange(12.0).reshape(3, 4), np.eye(3, 4), np.eye(3, 4, 1)
    require_a_flag(
        lambda flag: sm.rank_among_negatives(*matrices, negatives=2, replacement=flag),
        "replacement",
    )


def test_masked_numbers_are_refused():
    masked = np.ma.array([[0.5, 0.9, 0.1]], mask=[[False, True, False]])
    right = {"scores": np.zeros((1, 3)), "training": np.zeros((1, 3)), "held_out": [0]}
    for name in ("scores", "training"):
        with pytest.raises(DataError, match=f"^{name}.*masked"):
            sm.rank(**(right | {name: masked}))
    with pytest.raises(DataError, match=r"^held_out.*masked"):
        sm.rank(np.zeros((3, 3)), np.zeros((3, 3)), masked[0])


# --- ids ---

USERS = 2.0**53 + np.arange(3)
"""Of which float64 has two."""


def test_rankings_refuse_them():
    scores = np.eye(3)
    none = np.zeros((3, 3))
    pairs = pd.DataFrame({"user": USERS[:2], "item": [0, 1]})
    for changes, place in (
        ({"user_ids": USERS[:3]}, "user_ids: entry 1,"),
        ({"item_ids": [5.0, 2.0**60, 1.0]}, "item_ids: entry 2,"),
        ({"held_out": pairs}, "held_out, row 1: user is"),
    ):
        arguments = {"training": none, "held_out": [0, 1, 2]} | changes
        with pytest.raises(DataError, match=f"^{place}"):
            sm.rank(scores, **arguments)
