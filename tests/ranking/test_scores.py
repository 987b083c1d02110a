"""Rank tables of scores of any origin: by hand, against sorting, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from sampled_metrics import rank
from sampled_metrics.errors import DataError
from sampled_metrics.ranks.exact import ExactRanks

SCORES = np.array([[0.9, 0.5, 0.5, 0.1, 0.5], [0.1, 0.2, 0.3, 0.4, 0.5]])
TRAINING = np.array([[1, 0, 0, 0, 0], [0, 0, 0, 1, 1]])
HELD_OUT = np.array([2, 0])


def columns(table: ExactRanks) -> list[list[int]]:
    return [table.candidates.tolist(), table.above.tolist(), table.tied.tolist()]


@pytest.mark.parametrize(
    "scores",
    [
        [[2**60, 2**60 + 1, 2**60 + 2]],
        np.array([[2**60, 2**60 + 1, 2**60 + 2]]),
        np.array([[2**63, 2**63 + 1, 2**63 + 2]], dtype=np.uint64),
        np.array([[1, 1, 1]], dtype=np.longdouble) + np.array([[0, 1, 2]]) * np.finfo(np.longdouble).eps,
        lambda users: np.array([[2**60, 2**60 + 1, 2**60 + 2]])[users],
    ],
)
def test_scores_are_compared_without_rounding(scores) -> None:
    """In float64 all three would be the same number."""
    assert columns(rank(scores, np.zeros((1, 3)), [0])) == [[3], [2], [0]]


@pytest.mark.parametrize(
    "scores",
    [
        [[0.5, 2**60, 2**60 + 1]],
        pd.DataFrame({"a": [0.5], "b": [2**60], "c": [2**60 + 1]}),
        np.array([[0.5, 2**60, 2**60 + 1]], dtype=object),
    ],
)
def test_refuses_numbers_that_only_float64_would_hold_together_and_not_all_of_them(scores) -> None:
    with pytest.raises(DataError, match="float64 cannot hold 1152921504606846977 without rounding it"):
        rank(scores, np.zeros((1, 3)), [1])


@pytest.mark.parametrize("score", [np.nan, np.inf])
def test_refuses_a_candidate_without_a_score(score: float) -> None:
    scores = SCORES.copy()
    scores[1, 2] = score
    with pytest.raises(
        DataError,
        match=r"user b a score that is NaN or \+inf; scores are finite numbers, or -inf for",
    ):
        rank(scores, TRAINING, HELD_OUT, user_ids=["a", "b"])


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"held_out": [2, 4]}, "user 1: the held-out item is one of the user's training items"),
        ({"held_out": [2, 5]}, "user 1: held_out must be an index of the 5 items, 0 to 4, not 5"),
        ({"held_out": [-1, -1]}, "held_out: no user has a held-out item"),
        ({"held_out": [2]}, r"held_out must be an item of each of the 2 users, .*, not of shape \(1,\)"),
        ({"held_out": 2}, r"held_out must be an item of each of the 2 users, .*, not of shape \(\)"),
        ({"held_out": [[2], [0, 1]]}, r"held_out must be an item of each of the 2 users"),
        ({"held_out": [2.5, 0.0]}, "user 0: held_out must be an index of the 5 items, 0 to 4, not 2.5"),
        ({"held_out": [2, -np.inf]}, "user 1: held_out must be an index of the 5 items, 0 to 4, not -inf"),
        ({"held_out": [True, None]}, "held_out must hold indices of the 5 items, whole numbers, not bool"),
        ({"user_ids": [1, 2, 3]}, r"user_ids must have an id for each of the 2 users, not the shape \(3,\)"),
        ({"user_ids": ["a", "a"]}, "user_ids: a is there twice; each user needs an id of its own"),
        ({"user_ids": [1, np.nan]}, "user_ids: entry 2 is missing"),
        ({"training": np.where(TRAINING, np.nan, 0)}, "training must be numbers.*; some are not finite"),
        ({"training": [["a", "b"]]}, "training must be numbers, a row of them for each user"),
        ({"training": [1, 0]}, "training must be numbers, a row of them for each user"),
        ({"scores": [["1.5"] * 5] * 2}, "scores must be numbers"),
        ({"scores": [[10**400] * 5] * 2}, "scores must be numbers"),
        ({"scores": SCORES[:, :4]}, r"scores have shape \(2, 4\), but training has 2 users and 5 items"),
        ({"scores": lambda users: SCORES[:, :4]}, r"scores of a block of users have shape \(2, 4\), not \(2, 5\)"),
        ({"scores": lambda users: SCORES[0]}, r"scores of a block of users have shape \(5,\), not \(2, 5\)"),
    ],
)
def test_refuses(changes: dict, says: str) -> None:
    arguments = {"scores": SCORES, "training": TRAINING, "held_out": HELD_OUT} | changes
    with pytest.raises(DataError, match=says):
        rank(**arguments)
