"""Metrics of ranked lists by the texts' worked examples, by hand, and by loops.

The lecture is the video "Rank-Aware Top-N Metrics" of the Recommender Systems Specialization,
University of Minnesota.
"""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sampled_metrics as sm

LOG2_3 = log2(3)
CLOSE = {"rel": 1e-12, "abs": 1e-14}

GRADES = st.lists(st.sampled_from([0, 0, 1, 2, 2.5, 4]), min_size=1, max_size=12)
"""A list of 1 to 12 grades in ranked order."""
UNLISTED = st.lists(st.sampled_from([0, 1, 3, 4]), max_size=6)
"""Grades of judged items that are not on the list."""
USERS = st.lists(st.tuples(GRADES, UNLISTED), min_size=1, max_size=5)
CUTOFFS = st.integers(1, 15)


def read(users):
    """Return ranked lists of users, each a list of grades and one of grades that it lacks."""
    run = {}
    relevance = {}
    for number, (listed, unlisted) in enumerate(users):
        user = f"{number:03}"  # users are in the order of their ids as text
        run[user] = {item: -item for item in range(len(listed))}
        relevance[user] = dict(enumerate([*listed, *unlisted]))
    return sm.ranked_lists(run, relevance=relevance)


def values_of_labels(labels, users):
    """Return the (users,) values of metrics by label."""
    values = read(users).outcome_values([sm.metric(label) for label in labels]).values
    return dict(zip(labels, values, strict=True))


def user_values(label, users):
    """Return the (users,) values of a metric."""
    return values_of_labels([label], users)[label]


# --- the lecture, in its order and with its words -----------------------------------------------

LECTURE = {
    # "So the reciprocal rank is 1/2."
    "mrr": ([0, 1, 0, 1], 1 / 2),
    # "ten recommendations, six of them are relevant, then … a precision of 0.6"
    "precision@10": ([1, 0, 1, 1, 0, 1, 0, 1, 1, 0], 0.6),
    # "So 1 + 2/3 + 3/4, all over 3, is the average precision of this recommendation list."
    "map": ([1, 0, 1, 1, 0], (1 + 2 / 3 + 3 / 4) / 3),
    # "9.5/10.9 … results in a final metric value of 0.872."
    "ndcg-log-2": ([4, 3, 0, 5], 9.5 / (5 + 4 + 3 / LOG2_3)),
    # "at some point, say five, the probability … goes to 0.5", by "an exponential decay"
    "half-life-5": ([0, 0, 0, 0, 0, 0, 0, 0, 1], 1 / 4),
}


@pytest.mark.parametrize("label", LECTURE)
def test_examples_of_the_lecture(label):
    grades, value = LECTURE[label]
    assert user_values(label, [(grades, [])]) == pytest.approx([value], rel=1e-15)


# --- by hand ------------------------------------------------------------------------------------


BY_HAND = {
    "f1@3": 2 * 2 / (3 + 5),
    "ap@4": (1 / 2 + 2 / 3) / 4,
    "dcg": 3 / LOG2_3 + 1 / 2 + 2 / log2(6),
    "dcg-exp@3": 7 / LOG2_3 + 1 / 2,
    "half-life-2@4": (3 / 2 + 1 / 4) / (3 + 3 / 2 + 2 / 4 + 1 / 8),
    "rbp-0.5@3": 0.5 * (0.5 + 0.5**2),
}
"""Values of the list 0, 3, 1, 0, 2, whose user has other items with the grades 3 and 1."""


@pytest.mark.parametrize("label", BY_HAND)
def test_by_hand(label):
    users = [([0, 3, 1, 0, 2], [3, 1])]
    assert user_values(label, users) == pytest.approx([BY_HAND[label]], rel=1e-14)


def test_a_discount_beyond_double_precision_leaves_nothing():
    """The discount of rank 2,000 is 2^1999: no warning, and no NaN."""
    values = sm.metric("half-life-2").of_rank([1, 2, 2000], 3000)
    assert values.tolist() == [1, 1 / 2, 0]


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("half-life-1", "half-life"),
        ("ndcg-log-0.5@10", "base"),
        ("rbp-1", "between 0 and 1"),
        ("rbp-.", "number"),
    ],
)
def test_a_parameter_that_is_not_allowed_is_refused(label, message):
    with pytest.raises(sm.ConfigError, match=message):
        sm.metric(label)


# --- by loops -----------------------------------------------------------------------------------

DISCOUNTED = {
    "ndcg": (lambda grade: grade, lambda rank: log2(rank + 1)),
    "ndcg-exp": (lambda grade: 2**grade - 1, lambda rank: log2(rank + 1)),
    "ndcg-log-3": (lambda grade: grade, lambda rank: 1 if rank <= 3 else log2(rank) / LOG2_3),
    "half-life-5": (lambda grade: grade, lambda rank: 2 ** ((rank - 1) / 4)),
}
"""The gain of a grade and the discount of a rank."""


@given(users=USERS, k=CUTOFFS)
def test_discounted_gains_are_loops(users, k):
    values = values_of_labels([f"{name}@{k}" for name in DISCOUNTED], users)
    for name, (gain, discount) in DISCOUNTED.items():

        def loop(grades, gain=gain, discount=discount):
            return sum(gain(grade) / discount(rank) for rank, grade in enumerate(grades[:k], 1))

        by_loop = []
        for listed, unlisted in users:
            ideal = loop(sorted(listed + unlisted, reverse=True))
            by_loop.append(loop(listed) / ideal if ideal else 0)
        assert values[f"{name}@{k}"] == pytest.approx(by_loop, **CLOSE), name
