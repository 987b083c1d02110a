"""Orders of the candidates that are functions: each user's is asked for once, and is kept."""

from collections import Counter

import numpy as np
import pytest

import sampled_metrics as sm

pytestmark = pytest.mark.filterwarnings("ignore:depth=")

RNG = np.random.default_rng(6)
USERS = 80
ITEMS = 700
TRAINING = RNG.random((USERS, ITEMS)) < 0.05
SCORES = RNG.normal(size=(USERS, ITEMS))
HELD_OUT = np.where(TRAINING, -np.inf, SCORES + RNG.gumbel(size=SCORES.shape)).argmax(axis=1)
RANKER = sm.Ranker(lambda users, items: SCORES[users, items], name="A", pairs_per_call=200)
OPTIONS = {"k": 5, "depth": 40}
EXACT = sm.rank(SCORES, TRAINING, HELD_OUT)


def staged(order, ranker=RANKER, **options):
    return sm.staged_ranks(ranker, TRAINING, HELD_OUT, order=order, **OPTIONS | options)


@pytest.mark.parametrize("depth", [40, None])
def test_a_random_order_is_asked_for_once_and_counts_each_candidate_once(depth):
    asked = Counter()
    scored = Counter()
    numbers = np.random.default_rng(0)

    def order(user):
        asked[user] += 1
        return numbers.random(ITEMS)

    def score(users, items):
        scored.update(zip(users.tolist(), items.tolist(), strict=True))
        return SCORES[users, items]

    ranks = staged(order, score, depth=depth)
    assert asked == Counter(range(USERS))
    assert set(scored.values()) == {1}
    completed = ranks.complete
    assert completed.any()
    np.testing.assert_array_equal(ranks.above[completed], EXACT.above[completed])
    assert (EXACT.above[ranks.is_beaten] >= 5).all()


def test_an_order_of_users_gives_the_ranks_of_the_same_order_in_one_matrix():
    """The function is kept only as far as a user may go, and at no other items."""
    same_for_all = RNG.random(ITEMS)
    by_function = staged(lambda user: same_for_all)
    by_numbers = staged(same_for_all)
    for name in by_numbers.per_row:
        np.testing.assert_array_equal(getattr(by_function, name), getattr(by_numbers, name), name)


def test_other_orders_of_the_same_code_are_refused(tmp_path):
    def order(shift):
        return lambda user: np.cos(user + shift + np.arange(ITEMS))

    staged(order(0), file=tmp_path / "x.npz")
    with pytest.raises(sm.DataError, match="order"):
        staged(order(1), file=tmp_path / "x.npz")
    with pytest.raises(sm.DataError, match="order"):
        staged("popularity", file=tmp_path / "x.npz")
    with pytest.raises(sm.DataError, match="order"):  # the orders of two users are exchanged
        staged(lambda user: order(0)({0: 1, 1: 0}.get(user, user)), file=tmp_path / "x.npz")
    with pytest.warns(UserWarning, match="scores nothing"):
        staged(order(0), file=tmp_path / "x.npz")
