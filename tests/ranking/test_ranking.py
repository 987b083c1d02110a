"""Ranking against a plain argsort of each user's candidates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError
from sampled_metrics.ranking import ranking


class Table:
    """A recommender whose scores are given."""

    def __init__(self, scores):
        self.given = np.array(scores, dtype=np.float64)

    def scores(self, training, users, items):
        return self.given[users, items].copy()


def split_of(training, held_out):
    training = csr_array(np.array(training, dtype=np.float64))
    users, items = training.shape
    return Split(training, np.array(held_out), 100 + np.arange(users), np.arange(items))


def by_argsort(scores, training, held_out):
    """Best and worst place of the held-out item among the user's candidates, ties broken for and against it."""
    rows = []
    for values, seen, item in zip(scores, training, held_out, strict=True):
        candidates = np.flatnonzero(np.array(seen) == 0)
        places = []
        for favour in (-1, 1):
            tie_break = np.where(candidates == item, favour, 0)
            order = np.lexsort((tie_break, -values[candidates]))
            places.append(int(np.flatnonzero(candidates[order] == item)[0]))
        rows.append((len(candidates), places[0], places[1] - places[0]))
    return rows


def rows_of(table):
    return list(zip(table.candidates.tolist(), table.above.tolist(), table.tied.tolist(), strict=True))


class TestByHand:
    SCORES = ((5, 1, 3, 3, 9), (2, 2, 2, 2, 2), (0, -1, -2, -3, -4))

    def test_counts_candidates_above_and_tied(self):
        # user 0 has item 4, which is no candidate then; user 1's all tie; user 2's is the last
        split = split_of([[0, 0, 0, 0, 1], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0]], [2, 3, 4])
        table = ranking.rank_held_out(Table(self.SCORES), split)
        assert rows_of(table) == [(4, 1, 1), (4, 0, 3), (5, 4, 0)]
        assert table.user.tolist() == [100, 101, 102]

    def test_a_user_with_all_other_items_has_one_candidate(self):
        table = ranking.rank_held_out(Table(self.SCORES[:1]), split_of([[1, 0, 1, 1, 1]], [1]))
        assert rows_of(table) == [(1, 0, 0)]

    def test_what_a_training_item_scores_does_not_matter(self):
        table = ranking.rank_held_out(Table([[0, -np.inf, 1], [0, np.nan, -1]]), split_of([[0, 1, 0]] * 2, [0, 0]))
        assert rows_of(table) == [(2, 1, 0), (2, 0, 0)]

    @pytest.mark.parametrize("score", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("item", [0, 2])
    def test_refuses_scores_that_are_no_finite_number_and_names_the_user(self, score, item):
        scores = np.ones((3, 3))
        scores[1, item] = score
        split = split_of([[0, 1, 0]] * 3, [0, 0, 0])
        with pytest.raises(DataError, match="gives user 101 a score that is not a finite number"):
            ranking.rank_held_out(Table(scores), split)


cases = st.integers(0, 2**32 - 1)


def random_case(seed):
    rng = np.random.default_rng(seed)
    users, items = rng.integers(1, 9), rng.integers(1, 12)
    held_out = rng.integers(0, items, users)
    training = rng.random((users, items)) < rng.choice([0, 0.5, 1])
    training[np.arange(users), held_out] = False
    # few different scores, so that many tie
    scores = rng.choice([rng.normal(), 0.1 + 0.2, 0.3, 0.0, -1e-300], (users, items))
    return scores, training, held_out


class TestAgainstArgsort:
    @given(cases)
    def test_every_user(self, seed):
        scores, training, held_out = random_case(seed)
        table = ranking.rank_held_out(Table(scores), split_of(training, held_out))
        assert rows_of(table) == by_argsort(scores, training, held_out)

    @pytest.mark.parametrize("block_bytes", [1, 8 * 12, 8 * 12 * 3])
    def test_in_small_blocks_of_users(self, monkeypatch, block_bytes):
        rng = np.random.default_rng(1)
        scores = rng.integers(0, 4, (10, 12)).astype(float)
        held_out = rng.integers(0, 12, 10)
        training = rng.random((10, 12)) < 0.4
        training[np.arange(10), held_out] = False
        monkeypatch.setattr(ranking, "BLOCK_BYTES", block_bytes)
        blocks = []
        table = ranking.rank_held_out(
            Table(scores), split_of(training, held_out), lambda firsts: blocks.extend(firsts) or firsts
        )
        assert blocks == list(range(-(-10 // max(1, block_bytes // 96))))
        assert rows_of(table) == by_argsort(scores, training, held_out)

    def test_a_refused_score_in_a_later_block_names_its_user(self, monkeypatch):
        monkeypatch.setattr(ranking, "BLOCK_BYTES", 1)
        scores = np.ones((4, 3))
        scores[2, 1] = np.nan
        with pytest.raises(DataError, match="user 102"):
            ranking.rank_held_out(Table(scores), split_of(np.zeros((4, 3)), [0] * 4))
