"""Ranks from factors, sparse matrices, functions and tables, against sorting; what is left out, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from ranked_by_argsort import by_argsort, rows
from scipy.sparse import csr_array

from sampled_metrics import rank
from sampled_metrics.errors import ConfigError, DataError

RNG = np.random.default_rng(5)
USERS, ITEMS = 37, 23
HELD_OUT = RNG.integers(ITEMS, size=USERS)
TRAINING = (RNG.random((USERS, ITEMS)) < 0.3) & (np.arange(ITEMS) != HELD_OUT[:, np.newaxis])
FACTORS = RNG.integers(-3, 4, (USERS, 3)).astype(float), RNG.integers(-3, 4, (ITEMS, 3)).astype(float)
SCORES = FACTORS[0] @ FACTORS[1].T  # whole numbers, so many tie and none is rounded
EXPECTED = by_argsort(SCORES, TRAINING, HELD_OUT)
USER_IDS, ITEM_IDS = np.array([f"u{each}" for each in range(USERS)]), np.arange(ITEMS) * 10 + 7


def table_of(matrix: np.ndarray, users=USER_IDS, items=ITEM_IDS, names=("user", "item")) -> pd.DataFrame:
    """The pairs of a matrix, in any order."""
    user, item = np.nonzero(matrix)
    return pd.DataFrame({names[0]: users[user], names[1]: items[item]}).sample(frac=1, random_state=1)


def as_matrix(held_out: np.ndarray) -> np.ndarray:
    return np.arange(ITEMS) == held_out[:, np.newaxis]


@pytest.mark.parametrize("names", [("user", "item"), ("user_id", "item_id"), ("userId", "itemId")])
def test_tables_of_ids_give_the_same_as_matrices(names) -> None:
    training, held_out = (table_of(each, names=names) for each in (TRAINING, as_matrix(HELD_OUT)))
    table = rank(FACTORS, training, held_out, user_ids=USER_IDS, item_ids=ITEM_IDS)
    assert rows(table) == EXPECTED
    assert table.user.tolist() == USER_IDS.tolist()
    text = training.astype(str)  # as a csv file has it
    assert rows(rank(FACTORS, text, held_out.astype(str), user_ids=USER_IDS, item_ids=ITEM_IDS)) == EXPECTED


@pytest.mark.parametrize(
    "form",
    [
        lambda kept: np.where(kept, HELD_OUT, -1),
        lambda kept: np.where(kept, HELD_OUT, np.nan),
        lambda kept: [item if keep else None for item, keep in zip(HELD_OUT.tolist(), kept, strict=True)],
        lambda kept: pd.Series(np.where(kept, HELD_OUT, np.nan)).astype("Int64"),
        lambda kept: csr_array(as_matrix(HELD_OUT) & kept[:, np.newaxis]),
        lambda kept: table_of(as_matrix(HELD_OUT) & kept[:, np.newaxis]),
    ],
)
@pytest.mark.parametrize("scores", [FACTORS, SCORES, lambda users: SCORES[users]])
def test_users_without_a_held_out_item_are_left_out_and_counted(form, scores) -> None:
    kept = np.arange(USERS) % 5 > 1
    with pytest.warns(UserWarning, match=r"^16 of 37 users have no held-out item, and are left out$") as warned:
        table = rank(scores, TRAINING, form(kept), user_ids=USER_IDS, item_ids=ITEM_IDS, **_batches(scores, 4))
    assert warned[0].filename == __file__
    assert rows(table) == [each for each, keep in zip(EXPECTED, kept, strict=True) if keep]
    assert table.user.tolist() == USER_IDS[kept].tolist()


def _batches(scores, size: int) -> dict:
    return {} if isinstance(scores, tuple) else {"batch_size": size}


@pytest.mark.parametrize(("batch_size", "calls"), [(None, [37]), (1, [1] * 37), (10, [10, 10, 10, 7])])
def test_a_function_is_called_with_batches_of_users(batch_size, calls) -> None:
    lengths, steps = [], []

    def scores(users: slice) -> np.ndarray:
        lengths.append(len(SCORES[users]))
        return SCORES[users]

    table = rank(
        scores, TRAINING, HELD_OUT, batch_size=batch_size, progress=lambda blocks: steps.extend(blocks) or blocks
    )
    assert rows(table) == EXPECTED
    assert lengths == calls
    assert steps == list(range(len(calls)))


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"scores": (FACTORS[0], FACTORS[1][:, :2])}, DataError, r"not arrays of \(37, 3\), \(23, 2\)"),
        ({"scores": FACTORS[:1]}, DataError, r"a tuple of scores must be two factors"),
        ({"scores": FACTORS[::-1]}, DataError, r"scores have shape \(23, 37\), but training has 37 users and 23 items"),
        ({"scores": (np.full((USERS, 3), np.inf), FACTORS[1])}, DataError, "factors are not finite"),
        ({"scores": (FACTORS[0][:, :0], FACTORS[1][:, :0])}, DataError, "one dimension or more"),
        ({"scores": FACTORS, "batch_size": 4}, ConfigError, "leave it out for factors"),
        ({"batch_size": 0}, ConfigError, "batch_size must be a whole number, 1 or more, not 0"),
        ({"batch_size": 2.0}, ConfigError, "batch_size must be a whole number"),
        ({"item_ids": [1, 2]}, DataError, r"item_ids must have an id for each of the 23 items, not the shape \(2,\)"),
        (
            {"training": table_of(TRAINING)},
            DataError,
            r"training, user '(u\d+)': .* is not an index from 0 to 36; "
            r"give user_ids \(--user-ids\) if the table has ids",
        ),
        (
            {"training": pd.DataFrame({"user": [0], "product": [1]})},
            DataError,
            r"training: lacks the column item \(the ",
        ),
        (
            {"training": pd.DataFrame({"user": [0], "item": [None]})},
            DataError,
            "item None is not an index from 0 to 22",
        ),
        (
            {"held_out": pd.DataFrame({"user": [0, 1], "item": [1, 23]})},
            DataError,
            "held_out, user 1: item 23 is not an",
        ),
        (
            {"held_out": pd.DataFrame({"user": ["u1"], "item": [8]}), "user_ids": USER_IDS, "item_ids": ITEM_IDS},
            DataError,
            "held_out, user 'u1': item 8 is not in item_ids",
        ),
        (
            {"scores": lambda users: SCORES[users], "training": table_of(TRAINING)},
            DataError,
            r"the number of users and items is not known: give user_ids \(--user-ids\) and item_ids",
        ),
        ({"held_out": TRAINING}, DataError, "the held-out item is one of the user's training items"),
    ],
)
def test_refuses(changes: dict, error: type, says: str) -> None:
    arguments = {"scores": SCORES, "training": TRAINING, "held_out": HELD_OUT} | changes
    with pytest.raises(error, match=says):
        rank(**arguments)


class Unfitted:
    """A model of implicit before its fit."""

    user_factors = item_factors = None


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        ((Unfitted.user_factors, Unfitted.item_factors), "scores must be numbers"),
        (Unfitted.item_factors, "scores must be numbers"),
        (lambda users: Unfitted.user_factors, "scores must be numbers"),
        (lambda users: 0.5, "scores must be numbers"),
        (lambda users, items: 0.5, "one of pairs is for staged_ranks"),
    ],
)
def test_what_gives_no_scores_is_named(scores, says: str) -> None:
    with pytest.raises((ConfigError, DataError), match=says):
        rank(scores, TRAINING, HELD_OUT)


def test_an_error_of_the_model_says_for_which_users() -> None:
    def score(users: slice) -> np.ndarray:
        if users.stop > 20:
            raise LookupError("the model does not know user 23")
        return SCORES[users]

    with pytest.raises(LookupError, match="does not know") as caught:
        rank(score, TRAINING, HELD_OUT, batch_size=10)
    assert caught.value.__notes__ == ["scores of the users 20 to 29"]


def test_a_batch_of_any_size():
    given = np.arange(12.0).reshape(3, 4), np.eye(3, 4), np.eye(3, 4, 1)
    assert rank(*given, batch_size=2**70).to_frame().equals(rank(*given).to_frame())
