"""Ranking by a sparse similarity against an argsort of the same scores, made dense."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranked_by_argsort import by_argsort, rows, split_of
from scipy.sparse import csr_array

from sampled_metrics.errors import DataError
from sampled_metrics.ranking import ranking, sparse
from sampled_metrics.ranking.sparse import SparseCounter
from sampled_metrics.recommenders.models import SparseSimilarityModel


def case(seed, users, items):
    """Few different values, of both signs, so that sums tie, and cancel to a stored 0."""
    rng = np.random.default_rng(seed)
    training = rng.random((users, items)) < rng.choice([0, 0.2, 0.6])
    held_out = rng.integers(0, items, users)
    training[np.arange(users), held_out] = False
    similarity = rng.choice([-2.0, -1.0, 1.0, 2.0, 0.25], (items, items))
    similarity[rng.random((items, items)) > rng.choice([0, 0.3, 1])] = 0.0
    return csr_array(similarity), training, held_out


class TestCounts:
    @settings(deadline=None, max_examples=80)
    @given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 15), st.integers(1, 40))
    def test_are_those_of_an_argsort_of_dense_scores(self, seed, users, items, entries):
        similarity, training, held_out = case(seed, users, items)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(sparse, "ENTRIES", entries)
            table = ranking.rank_held_out(SparseSimilarityModel(similarity), split_of(training, held_out))
        assert rows(table) == by_argsort(training @ similarity.toarray(), training, held_out)

    def test_by_hand_above_at_and_below_zero(self):
        # items 0 and 1 train; 2 scores 3, 3 scores 1 - 1 = 0, stored, 4 and 5 score 0, not stored, 6 scores -1
        similarity = np.zeros((7, 7))
        similarity[0, [2, 3, 6]] = 3, 1, -1
        similarity[1, [0, 3]] = 9, -1  # 9 is a training item's
        training = np.zeros((4, 7), dtype=bool)
        training[:, :2] = True
        table = ranking.rank_held_out(SparseSimilarityModel(csr_array(similarity)), split_of(training, [2, 3, 4, 6]))
        assert rows(table) == [(0, 0), (1, 2), (1, 2), (4, 0)]

    def test_stored_zeros_are_scores_of_zero(self):
        similarity = csr_array((np.array([0.0, 1.0]), np.array([1, 2]), np.array([0, 2, 2, 2])), shape=(3, 3))
        assert similarity.nnz == 2
        training = np.array([[True, False, False]] * 2)
        table = ranking.rank_held_out(SparseSimilarityModel(similarity), split_of(training, [1, 2]))
        assert rows(table) == [(1, 0), (0, 0)]

    def test_a_user_without_training_items_ties_with_all(self):
        table = ranking.rank_held_out(
            SparseSimilarityModel(csr_array(np.eye(4))), split_of(np.zeros((1, 4), bool), [2])
        )
        assert rows(table) == [(0, 3)]

    def test_do_not_depend_on_threads_parts_or_memory(self):
        similarity, training, held_out = case(3, 400, 60)
        model, split = SparseSimilarityModel(similarity), split_of(training, held_out)
        one = rows(ranking.rank_held_out(model, split))
        for memory in (260, 1000):
            assert rows(ranking.rank_held_out(model, split, threads=3, memory=memory)) == one
            parts = [
                ranking.rank_held_out(model, split, users=slice(first, last), memory=memory)
                for first, last in pairwise([0, 1, 50, 300, 300, 400])
            ]
            assert [row for part in parts for row in rows(part)] == one


class TestBlocks:
    def test_hold_each_user_once_and_no_more_scores_than_they_may(self):
        similarity, training, held_out = case(11, 200, 40)
        split = split_of(training, held_out)
        counter = SparseCounter(similarity, split, entries=100)
        assert np.concatenate(counter.blocks).tolist() == list(range(200))
        scores = (split.training @ similarity).indptr
        for block in counter.blocks:
            assert len(block) == 1 or scores[block[-1] + 1] - scores[block[0]] <= 100

    def test_are_one_where_everything_is_little(self):
        assert [len(block) for block in sparse._blocks(np.zeros(9, dtype=np.int64), 5)] == [9]
        assert [block.tolist() for block in sparse._blocks(np.array([3, 9, 2, 3, 1]), 5)] == [
            [0],
            [1],
            [2, 3],
            [4],
        ]


class TestRefusals:
    @pytest.mark.parametrize("score", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("item", [0, 2])
    def test_scores_that_are_no_finite_number_name_the_user(self, score, item):
        similarity = np.zeros((3, 3))
        similarity[1, item] = score
        training = np.array([[False, False, False], [False, True, False]])
        with pytest.raises(DataError, match="gives user 101 a score that is not a finite number"):
            ranking.rank_held_out(SparseSimilarityModel(csr_array(similarity)), split_of(training, [0, 0]))

    @pytest.mark.parametrize("score", [np.nan, np.inf, -np.inf])
    def test_what_a_training_item_scores_does_not_matter(self, score):
        similarity = np.zeros((3, 3))
        similarity[1, 1], similarity[1, 2] = score, 1
        table = ranking.rank_held_out(
            SparseSimilarityModel(csr_array(similarity)), split_of(np.array([[False, True, False]] * 2), [0, 2])
        )
        assert rows(table) == [(1, 0), (0, 0)]
