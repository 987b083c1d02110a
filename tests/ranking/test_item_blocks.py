"""Counts by blocks of items against those of all items at once, and against Python's own floats."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranked_by_argsort import by_argsort, split_of

from sampled_metrics._progress import no_progress
from sampled_metrics.ranking import item_blocks
from sampled_metrics.ranking.factors import FactorCounter
from sampled_metrics.ranking.near_ties import block_scores


def counted(users, items, split, width, precision="float64"):
    """Above and tied, by blocks of `width` items."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(item_blocks, "BLOCK_BYTES", width * 8 * items.shape[1])
        return item_blocks.count_in_item_blocks(users, items, split, precision)


def random_split(rng, users, items, dense=0.1):
    held_out = rng.integers(items, size=users)
    training = rng.random((users, items)) < dense
    training[np.arange(users), held_out] = False
    return split_of(training, held_out), training


def integers(rng, n, d):
    return rng.integers(-2, 3, (n, d)).astype(float)


def duplicates(rng, n, d):
    return rng.normal(size=(7, d))[rng.integers(7, size=n)]


def with_zero_rows(rng, n, d):
    found = rng.normal(size=(n, d))
    found[rng.random(n) < 0.4] = 0
    return found


def last_digits(rng, n, d):
    return np.ones((1, d)) * (1 + 2.0**-52 * rng.integers(-2, 3, (n, d)))


def of_many_sizes(rng, n, d):
    return rng.normal(size=(n, d)) * 10.0 ** rng.integers(-30, 31, (n, 1))


def sorted_by_size(rng, n, d):
    """Blocks with an exponent of their own: 1e30 in the first items, 1e-30 in the last ones."""
    return rng.normal(size=(n, d)) * 10.0 ** np.linspace(30, -30, n).round()[:, np.newaxis]


KINDS = [integers, duplicates, with_zero_rows, last_digits, of_many_sizes, sorted_by_size]


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("of_items", KINDS)
@pytest.mark.parametrize("of_users", [integers, with_zero_rows, of_many_sizes])
def test_counts_are_those_of_all_items_at_once_and_of_sorting(of_users, of_items, precision):
    rng = np.random.default_rng(1)
    users, items = of_users(rng, 120, 5), of_items(rng, 203, 5)
    if precision == "float32":  # the products must stay below 3e38
        users, items = (np.sign(each) * np.abs(each) ** 0.5 for each in (users, items))
    users, items = users.astype(precision), items.astype(precision)
    split, training = random_split(rng, 120, 203)
    counter = FactorCounter(users, items, split, precision)
    whole = np.array(counter.count(counter.blocks, 1, no_progress))
    by_sorting = by_argsort(block_scores(users, items), training, split.held_out)
    for width in (1, 7, 64, 202, 203, 1000):
        found = counted(users, items, split, width, precision)
        assert np.array_equal(found, whole), width
        assert list(zip(*np.array(found).tolist(), strict=True)) == by_sorting


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 40), st.integers(1, 45), st.sampled_from(KINDS))
def test_any_blocks_give_the_counts_of_sorting(seed, users, items, width, of_items):
    rng = np.random.default_rng(seed)
    u, v = integers(rng, users, 3), of_items(rng, items, 3)
    split, training = random_split(rng, users, items)
    found = counted(u, v, split, width)
    assert list(zip(*np.array(found).tolist(), strict=True)) == by_argsort(block_scores(u, v), training, split.held_out)


def test_a_target_beyond_the_floats_of_a_block_of_tiny_items():
    """Scaled to the tiny items, the held-out item's score is infinite, and so is the bound of the rounding error."""
    users, items = np.array([[1e-320], [1e-320], [-1e-320]]), np.array([[1.0], [1e-320], [-1e-320], [0.0]])
    training = np.zeros((3, 4))
    split = split_of(training, [0, 1, 0])
    found = counted(users, items, split, 1)
    expected = by_argsort(users @ items.T, training, split.held_out)
    assert list(zip(*np.array(found).tolist(), strict=True)) == expected == [(0, 0), (1, 2), (3, 0)]


def test_ten_thousand_users_with_all_of_it():
    rng = np.random.default_rng(2)
    users = np.concatenate([kind(rng, 2500, 8) for kind in (integers, with_zero_rows, of_many_sizes, last_digits)])
    items = np.concatenate([kind(rng, 150, 8) for kind in KINDS])
    split, _ = random_split(rng, len(users), len(items), 0.02)
    counter = FactorCounter(users, items, split, "float64")
    whole = np.array(counter.count(counter.blocks, 1, no_progress))
    assert np.array_equal(counted(users, items, split, 128), whole)
    assert np.array_equal(counted(users, items, split, 333), whole)
