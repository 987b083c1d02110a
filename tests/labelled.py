"""Scores, training and held-out items in every form of the contract, and the ranks by the
definition, in plain Python.

A case is *labelled* (all matrices have labels, in any order), *with ids* (labels in any order, or
places, beside user_ids and item_ids), or *in order* (places alone).
"""

from functools import cache

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy.sparse import csr_array

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
LABELLED, WITH_IDS, IN_ORDER = CASES = ("labelled", "with ids", "in order")


def above(user, items):
    """How many of some items score above the held-out item of a user."""
    return sum(bool(SCORES[user, item] > SCORES[user, HELD_OUT[user]]) for item in items)


EXACT_COUNTS = [
    above(user, [item for item in range(len(ITEMS)) if not TRAINING[user, item]])
    for user in range(len(USERS))
]
SAMPLED_COUNTS = [above(user, NEGATIVES[user]) for user in range(len(USERS))]
EXACT = dict(zip(USERS, EXACT_COUNTS, strict=True))


def expected(case, counts):
    """The counts by user, as ranks of a case name users."""
    return dict(zip(range(len(USERS)) if case == IN_ORDER else USERS, counts, strict=True))


def by_user(table, values):
    """The values of a table by user."""
    return dict(zip(table.user.tolist(), values.tolist(), strict=True))


def shuffled(frame, order):
    """A frame or a Series with its rows, and its columns, in another order."""
    rows = order.permutation(len(frame))
    return (
        frame.iloc[rows] if frame.ndim == 1 else frame.iloc[rows, order.permutation(frame.shape[1])]
    )


def matrix_forms(matrix, case, order):
    """A (users, items) matrix in every form."""
    frame = pd.DataFrame(matrix, index=USERS, columns=ITEMS)
    labelled = {
        "frame": shuffled(frame, order),
        "frame of text": shuffled(frame.rename(columns=str), order),
        "frame with names": shuffled(frame.rename_axis(index="user", columns="item"), order),
    }
    places = pd.DataFrame(matrix)
    in_order = {
        "array": matrix,
        "lists": matrix.tolist(),
        "sparse": csr_array(matrix),
        "frame by default": places,
        "frame of numbers": places.rename_axis(index="user", columns="item"),
        "frame of numbers as text": places.rename(index=str, columns=str),
    }
    return {LABELLED: labelled, WITH_IDS: labelled | in_order, IN_ORDER: in_order}[case]


def score_forms(case, order):
    """The scores in every form."""
    frame = pd.DataFrame(SCORES, index=USERS, columns=ITEMS)
    places = pd.DataFrame(SCORES)
    users, items = (
        pd.DataFrame(factors, index=names, columns=["a", "b", "c"])
        for factors, names in zip(FACTORS, (USERS, ITEMS), strict=True)
    )
    labelled = {"factors": (shuffled(users, order)[["a", "b", "c"]], items[::-1])}
    in_order = {
        "arrays": FACTORS,
        "frames": (pd.DataFrame(FACTORS[0]), pd.DataFrame(FACTORS[1])),
        "function": lambda block: SCORES[block],
        "function of a frame": lambda block: places[block],
        "function of a new frame": lambda block: pd.DataFrame(SCORES[block]),
    }
    labelled_function = {"function of labels": lambda block: shuffled(frame.iloc[block], order)}
    if case == WITH_IDS:
        return matrix_forms(SCORES, case, order) | labelled | in_order | labelled_function
    more = labelled if case == LABELLED else in_order
    return matrix_forms(SCORES, case, order) | more


def pair_forms(matrix, case, order):
    """Pairs in every form."""
    user, item = np.nonzero(matrix)
    names = {"user": user, "item": item}
    if case != IN_ORDER:
        names = {"user": np.array(USERS)[user], "item": np.array(ITEMS)[item]}
    table = pd.DataFrame(names | {"rating": 4.0})
    table = table.iloc[order.permutation(len(table))]
    return matrix_forms(matrix, case, order) | {
        "table": table,
        "table of other names": table.rename(columns={"user": "user_id", "item": "movieId"}),
        "table of text": table.astype({"item": str, "user": str}),
        "table by user": table.set_index("user"),
        "table by user and item": table.set_index(["item", "user"])[["rating"]],
    }


def held_out_forms(case, order):
    """The held-out items in every form."""
    items = HELD_OUT if case == IN_ORDER else np.array(ITEMS)[HELD_OUT]
    users = range(len(USERS)) if case == IN_ORDER else USERS
    series = pd.Series(items, index=pd.Index(users, name="user"))
    forms = {"Series": shuffled(series, order), "Series of text": shuffled(series.map(str), order)}
    if case != LABELLED:
        forms |= {"array": HELD_OUT, "list": HELD_OUT.tolist(), "Series in order": pd.Series(items)}
    return pair_forms(IS_HELD_OUT, case, order) | forms


def negative_forms(case):
    """Negatives in every form."""
    users = range(len(USERS)) if case == IN_ORDER else USERS
    items = np.arange(len(ITEMS)) if case == IN_ORDER else np.array(ITEMS)
    lists = dict(zip(users, items[NEGATIVES].tolist(), strict=True))
    table = pd.Series(lists).explode().rename("item").rename_axis("user")
    forms = {"dict": lists, "table": table.reset_index(), "table by user": table.to_frame()}
    if case != LABELLED:
        forms |= {"array": np.array(NEGATIVES), "lists": NEGATIVES}
    return forms


def ids_of_case(case):
    """The options of a case."""
    places = {"user_ids": range(len(USERS)), "item_ids": range(len(ITEMS))}
    return {
        LABELLED: {},
        WITH_IDS: {"user_ids": USERS, "item_ids": ITEMS},
        IN_ORDER: places,
    }[case]


def drawn_form(draw, forms):
    """Any of some forms."""
    return forms[draw(st.sampled_from(sorted(forms)))]


@cache
def forms_of(case, seed):
    """Scores, training and held-out items in every form."""
    order = np.random.default_rng(seed)
    training = pair_forms(TRAINING, case, order)
    return score_forms(case, order), training, held_out_forms(case, order)


def drawn_case(draw, case=WITH_IDS):
    """Scores, training and held-out items of a case in any form, and its options."""
    score, training, held_out = (
        drawn_form(draw, forms) for forms in forms_of(case, draw(st.integers(0, 4)))
    )
    is_alone = callable(score) or draw(st.booleans())  # whether nothing says how many there are
    return (
        score,
        training,
        held_out,
        {} if case == IN_ORDER and not is_alone else ids_of_case(case),
    )
