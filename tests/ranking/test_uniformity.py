"""Given negatives that are not uniform are noticed, and uniform ones are not.

Those that users share are read so.
"""

import re

import numpy as np
import pytest

from sampled_metrics import rank_among_negatives

USERS = 150
ITEMS = 400
M = 15
RNG = np.random.default_rng(5)
WEIGHT = 1 / (np.arange(ITEMS) + 5.0)
OWN = np.array(
    [RNG.choice(ITEMS, 11, replace=False, p=WEIGHT / WEIGHT.sum()) for _ in range(USERS)]
)
TRAINING = np.zeros((USERS, ITEMS))
np.put_along_axis(TRAINING, OWN[:, 1:], 1.0, axis=1)
POPULARITY = TRAINING.sum(axis=0) + 1
FREE = np.ones((USERS, ITEMS), dtype=bool)
np.put_along_axis(FREE, OWN, False, axis=1)


def drawn(rng, weight, *, replacement=False):
    """Negatives of each user, by weight.

    Without replacement they are the first arrivals of processes with these rates.
    """
    weights = np.where(FREE, weight, 0.0)
    if replacement:
        shares = weights.cumsum(axis=1) / weights.sum(axis=1, keepdims=True)
        return [np.searchsorted(ends, rng.random(M), side="right") for ends in shares]
    with np.errstate(divide="ignore"):
        return list(np.argsort(rng.exponential(size=FREE.shape) / weights, axis=1)[:, :M])


def read(negatives, **options):
    negatives = dict(enumerate(negatives))
    scores = np.random.default_rng(0).random((USERS, ITEMS))
    return rank_among_negatives(scores, TRAINING, OWN[:, 0], negatives=negatives, **options)


@pytest.mark.parametrize("repetitions", [10, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("replacement", [False, True])
def test_uniform_negatives_of_each_user_raise_few_alarms_and_are_read_so(replacement, repetitions):
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(repetitions):
        table = read(drawn(rng, 1.0, replacement=replacement), replacement=replacement)
        assert table.drawn == "by user"
        assert {finding.kind for finding in table.findings} <= {"not-uniform"}
        alarms += bool(table.findings)
    assert alarms / repetitions <= 0.01 + 2 * np.sqrt(0.01 * 0.99 / repetitions)


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        (POPULARITY, "popular items are drawn too often"),
        (1.0 / POPULARITY, "popular items are drawn too rarely"),
        (1.0 * (np.arange(ITEMS) % 2), "of 400 items are never drawn, by chance [0-9],"),
    ],
)
@pytest.mark.parametrize("replacement", [False, True])
def test_other_negatives_are_noticed(weight, sentence, replacement):
    negatives = drawn(np.random.default_rng(2), weight, replacement=replacement)
    table = read(negatives, replacement=replacement)
    assert (table.drawn, table.notes) == ("by user", ())
    [caution] = table.cautions
    assert "do not look as if they were drawn uniformly" in caution
    assert re.search(sentence, caution)


def in_batches(rng, size, number=M):
    """One set of uniform negatives for each batch of so many users who follow one another."""
    starts = range(0, USERS, size)
    free = [np.flatnonzero(FREE[start : start + size].all(axis=0)) for start in starts]
    sets = [rng.permutation(items)[:number] for items in free]
    return [sets[user // size] for user in range(USERS)]


def test_uniform_negatives_that_users_share_are_read_as_drawn_once():
    rng = np.random.default_rng(3)
    listed = rng.permutation(ITEMS)[: M + 10]
    for shared, partners in (
        (in_batches(rng, USERS), USERS - 1),
        (in_batches(rng, 2), 1),
        ([np.setdiff1d(listed, own) for own in OWN], USERS - 1),  # one list without what a user has
        # each user of a batch has the items of the others; nine batches of 16 and one of 6
        ([np.delete(items, user % 16) for user, items in enumerate(in_batches(rng, 16, 16))], 14.4),
    ):
        table = read(shared)
        assert table.drawn == "once"
        said = re.search(r"with ([0-9.]+) other users on average", *table.notes).group(1)
        assert float(said) == pytest.approx(partners, rel=0.05)


def test_shared_negatives_that_are_not_uniform_are_noticed_too():
    """By the users of whom no two share negatives, such as one of each batch."""
    [caution] = read(in_batches(np.random.default_rng(3), USERS)).cautions
    assert "popular items are drawn too rarely" in caution
    assert read(in_batches(np.random.default_rng(3), 2)).cautions == ()
    assert read([np.flatnonzero(free) for free in FREE]).cautions == ()  # all that there are


def test_two_users_with_the_same_negatives_are_not_all():
    negatives = drawn(np.random.default_rng(6), 1.0)
    negatives[1] = negatives[0] = np.flatnonzero(FREE[:2].all(axis=0))[:M]
    assert read(negatives).drawn == "by user"
