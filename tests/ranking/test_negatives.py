"""Ranks among sampled negatives: by hand, by their distribution, and against exact ranks."""

from collections import Counter
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from made_up_scores import FACTORS, HELD_OUT, SCORES, TRAINING
from scipy import stats
from scipy.sparse import csr_array

from sampled_metrics import rank_among_negatives
from sampled_metrics.errors import ConfigError, DataError, Remark
from sampled_metrics.ranking.negatives import distinct_numbers


def streams_of(seed):
    return cache(lambda *address: np.random.default_rng([seed, *address]))


def test_each_subset_of_distinct_numbers_is_as_likely():
    """Rows of 6 and of 7 numbers in turn.

    Up to a half of them is drawn with replacement, and duplicates are drawn again.
    """
    free = np.tile([6, 7], 10_000)
    for m, size in product((1, 3, 5), (6, 7)):
        drawn = np.sort(distinct_numbers(free, m, streams_of(m)), axis=1)[free == size].tolist()
        times = Counter(map(tuple, drawn))
        times_of_subsets = [times[subset] for subset in combinations(range(size), m)]
        assert stats.chisquare(times_of_subsets).pvalue > 0.001
        assert times.total() == 10_000


@pytest.mark.parametrize("replacement", [False, True])
def test_all_forms_of_scores_give_the_same_in_batches_of_any_size(replacement):
    def drawn(scores, seed=4, **options):
        options |= {"negatives": 9, "replacement": replacement, "seed": seed}
        return rank_among_negatives(scores, TRAINING, HELD_OUT, **options).to_frame()

    forms = (
        tuple(array.astype(np.float32) for array in FACTORS),
        SCORES,
        csr_array(SCORES),
        lambda users: SCORES[users],
    )
    tables = [*map(drawn, forms), *(drawn(SCORES, batch_size=size) for size in (1, 7))]
    assert all(table.equals(drawn(FACTORS)) for table in tables)
    assert not drawn(SCORES, seed=5).equals(tables[0])


def test_ranks_among_ties_are_uniform():
    """3 negatives are above the held-out item, 4 tie, and 2 are below: x is 3 ... 7 as often."""
    users = 20_000
    scores = [5.0, 1, 1, 0, 6, 1, 1, 7, 1, 0]
    table = rank_among_negatives(
        lambda block: np.tile(scores, (block.stop - block.start, 1)),
        csr_array((users, 10)),
        np.full(users, 2),
        negatives=9,
    )
    times = np.bincount(table.x)
    assert not times[:3].any()
    assert len(times) == 8
    assert stats.chisquare(times[3:]).pvalue > 0.001


@pytest.mark.parametrize("replacement", [False, True])
def test_ranks_have_the_distribution_of_uniform_negatives(replacement):
    """8 candidates are above the held-out item 15, and 12 below: hypergeometric, or binomial."""
    users = 20_000
    items = 30
    training = np.isin(np.arange(items), [0, 3, 4, 17, 20, 21, 22, 28, 29])
    scores = np.tile(np.arange(items, dtype=float), (users, 1))
    held_out = np.full(users, 15)
    table = rank_among_negatives(
        scores, np.tile(training, (users, 1)), held_out, negatives=5, replacement=replacement
    )
    law = stats.binom(5, 8 / 20) if replacement else stats.hypergeom(20, 8, 5)
    times = np.bincount(table.x, minlength=6)
    assert stats.chisquare(times, law.pmf(np.arange(6)) * users).pvalue > 0.001


SMALL = {"scores": np.zeros((2, 5)), "training": [[1, 0, 0, 0, 0], [0] * 5], "held_out": [1, 1]}


@pytest.mark.parametrize("batch_size", [None, 7])
def test_held_out_items_that_are_masked_are_counted_in_one_warning(batch_size):
    masked = SCORES.copy()
    masked[np.arange(20), HELD_OUT[:20]] = -np.inf
    with pytest.warns(Remark, match="20 of 60") as warned:
        ranks = rank_among_negatives(masked, TRAINING, HELD_OUT, negatives=5, batch_size=batch_size)
    assert len(warned) == 1
    assert ranks.to_frame()["rank"][:20].tolist() == [6] * 20


@pytest.mark.parametrize(
    ("negatives", "changes", "word"),
    [
        (4, {}, "3 items"),
        ([[0, 1], [1, 3]], {"drop_held_out": True}, "item 0"),
        ({0: [2, 3], 1: [2, 1]}, {}, "item 1"),
        ([[2, 2], [2, 3]], {}, "twice"),
        (3, {"scores": [[0, 0, np.nan, 0, 0]] * 2}, "NaN"),
        (3, {"scores": (np.ones((2, 1)), np.full((5, 1), -np.inf))}, "finite"),
    ],
)
def test_refuses(negatives, changes, word):
    with pytest.raises(DataError, match=word):
        rank_among_negatives(**(SMALL | changes), negatives=negatives)


@pytest.mark.parametrize("options", [{"drop_held_out": True}, {"seed": -1}])
def test_refuses_options(options):
    with pytest.raises(ConfigError, match=next(iter(options))):
        rank_among_negatives(**SMALL, negatives=2, **options)


def test_lists_that_hold_the_held_out_items():
    """As published evaluations have them: all three items of a user are in one set of
    negatives.
    """
    rng = np.random.default_rng(8)
    held_out = np.zeros(SCORES.shape, dtype=bool)
    free = [rng.permutation(np.flatnonzero(~is_training)) for is_training in TRAINING]
    for user, items in enumerate(free):
        held_out[user, items[:3]] = True
    lists = [rng.permutation(items[:8]) for items in free]
    with pytest.raises(DataError, match="drop_held_out"):
        rank_among_negatives(SCORES, TRAINING, held_out, negatives=lists)
    ranks = rank_among_negatives(SCORES, TRAINING, held_out, negatives=lists, drop_held_out=True)
    for x, user, item in zip(ranks.x, *held_out.nonzero(), strict=True):
        negatives = np.setdiff1d(lists[user], np.flatnonzero(held_out[user]))
        above = (SCORES[user, negatives] > SCORES[user, item]).sum()
        tied = (SCORES[user, negatives] == SCORES[user, item]).sum()
        assert above <= x <= above + tied
