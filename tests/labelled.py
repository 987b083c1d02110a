"""Scores, training and held-out items with labels in any order, and the ranks by the definition, in
plain Python.
"""

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

USERS = [f"u{number}" for number in (10, 9, 2, 31, 1, 7)]
ITEMS = [5, 40, 12, 3, 111, 20, 9, 1]  # another order as text, and another as numbers
RNG = np.random.default_rng(69)
FACTORS = RNG.normal(size=(len(USERS), 3)), RNG.normal(size=(len(ITEMS), 3))
SCORES = FACTORS[0] @ FACTORS[1].T
HELD_OUT = RNG.integers(len(ITEMS), size=len(USERS))
IS_HELD_OUT = np.arange(len(ITEMS)) == HELD_OUT[:, np.newaxis]
TRAINING = (RNG.random(SCORES.shape) < 0.3) & ~IS_HELD_OUT
NEGATIVES = [
    [item for item in range(len(ITEMS)) if not TRAINING[user, item] and item != HELD_OUT[user]][:2]
    for user in range(len(USERS))
]


def above(user: int, items: Any) -> int:
    """How many of some items score above the held-out item of a user."""
    return sum(bool(SCORES[user, item] > SCORES[user, HELD_OUT[user]]) for item in items)


EXACT = {
    name: above(user, [item for item in range(len(ITEMS)) if not TRAINING[user, item]])
    for user, name in enumerate(USERS)
}
SAMPLED = {name: above(user, NEGATIVES[user]) for user, name in enumerate(USERS)}


def shuffled(frame: Any, order: np.random.Generator) -> Any:
    """A frame or a Series with its rows, and its columns, in another order."""
    rows = order.permutation(len(frame))
    return (
        frame.iloc[rows] if frame.ndim == 1 else frame.iloc[rows, order.permutation(frame.shape[1])]
    )


def wide(matrix: np.ndarray, order: np.random.Generator) -> pd.DataFrame:
    """A matrix as a frame by user and item."""
    return shuffled(pd.DataFrame(matrix, index=USERS, columns=ITEMS), order)


def pairs(matrix: np.ndarray, order: np.random.Generator) -> pd.DataFrame:
    """The pairs of a matrix as a table of ids, with a column that is not used."""
    user, item = np.nonzero(matrix)
    table = pd.DataFrame(
        {"user": np.array(USERS)[user], "item": np.array(ITEMS)[item], "rating": 4.0}
    )
    return table.iloc[order.permutation(len(table))]


def pair_forms(matrix: np.ndarray, order: np.random.Generator) -> dict[str, Any]:
    """Forms of pairs with labels or ids."""
    table = pairs(matrix, order)
    return {
        "wide": wide(matrix.astype(float), order),
        "wide with names": wide(matrix, order).rename_axis(index="user", columns="item"),
        "table": table,
        "table by user": table.set_index("user"),
        "table by user and item": table.set_index(["item", "user"]),
        "nothing but an index": table.set_index(["item", "user"])[[]],
        "Series by user and item": table.set_index(["user", "item"])["rating"],
        "Series by user": table.set_index("user")["item"],
        "Series by item": table.set_index("item")["user"],
        "Series of text": table.astype({"item": str}).set_index("user")["item"],
    }


def score_forms(order: np.random.Generator) -> dict[str, Any]:
    """Forms of scores with labels."""

    def of_block(block: slice) -> pd.DataFrame:
        frame = pd.DataFrame(SCORES, index=USERS, columns=ITEMS).iloc[block]
        return shuffled(frame, order)

    users, items = (
        pd.DataFrame(factors, index=ids, columns=["f0", "f1", "f2"])
        for factors, ids in zip(FACTORS, (USERS, ITEMS), strict=True)
    )
    return {
        "frame": wide(SCORES, order),
        "frame of text": wide(SCORES, order).rename(columns=str),
        "frame with names": wide(SCORES, order).rename_axis(index="user", columns="item"),
        "factors": (shuffled(users, order), shuffled(items, order)),
        "function": of_block,
    }


def drawn_case(draw: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Scores, training, held-out items and ids: labels in any order, or arrays in the order of ids
    that are given.
    """
    order = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    has_ids = draw(st.booleans())
    scores = score_forms(order)
    training = pair_forms(TRAINING, order)
    held_out = pair_forms(IS_HELD_OUT, order)
    if not has_ids:
        del scores["function"]
        name = draw(st.sampled_from(sorted(scores)))
        return (
            scores[name],
            *(forms[draw(st.sampled_from(sorted(forms)))] for forms in (training, held_out)),
            {},
        )
    scores |= {"array": SCORES, "arrays": FACTORS, "frame by default": pd.DataFrame(SCORES)}
    training |= {"array": TRAINING, "frame by default": pd.DataFrame(TRAINING)}
    held_out |= {"array": HELD_OUT, "Series by default": pd.Series(HELD_OUT)}
    chosen = [forms[draw(st.sampled_from(sorted(forms)))] for forms in (scores, training, held_out)]
    # as after rows were left out
    ids = pd.DataFrame({"user": USERS}, index=np.arange(len(USERS)) * 3 + 2)["user"]
    return *chosen, {"user_ids": ids if draw(st.booleans()) else USERS, "item_ids": ITEMS}


def by_user(table: Any, values: Any) -> dict[str, int]:
    """The values of a table by user."""
    return dict(zip(table.user.tolist(), values.tolist(), strict=True))
