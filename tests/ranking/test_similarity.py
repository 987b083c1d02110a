"""Ranking by similarities of all items, stored or made by blocks, against an argsort of the whole scores."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranked_by_argsort import by_argsort, rows, split_of

from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranking import ranking, similarity
from sampled_metrics.ranking.similarity import SimilarityCounter
from sampled_metrics.recommenders.cosine import ROW_BYTES
from sampled_metrics.recommenders.models import CosineModel, SimilarityModel


def case(seed, users, items):
    rng = np.random.default_rng(seed)
    training = rng.random((users, items)) < rng.beta(0.5, 2, items)
    held_out = rng.integers(0, items, users)
    training[np.arange(users), held_out] = False
    return training, held_out


def plain_scores(training, weighting):
    """Eqs 27-30 on whole matrices, and each user's similarities added up in the order of the items."""
    together = training.T.astype(float) @ training.astype(float)
    users = np.maximum(together.diagonal(), 1.0)
    similar = np.sqrt(together**2 / np.outer(users, users))
    if not weighting.keep_self:
        np.fill_diagonal(similar, 0.0)
    similar = similar**weighting.exponent
    if weighting.row_norm == "l2":
        norms = np.sqrt(np.einsum("ij,ij->i", similar, similar))
        similar = similar / np.where(norms > 0, norms, 1.0)[:, np.newaxis]
    scores = np.zeros(training.shape)
    for user, has in enumerate(training):
        for item in np.flatnonzero(has):
            scores[user] += similar[:, item]
    return scores


weightings = st.sampled_from(
    [CosineModel(q, own, norm, False) for q in (1, 3) for own in (0, 1) for norm in ("l2", "none")]
)


class TestCosines:
    @settings(deadline=None, max_examples=50)
    @given(
        st.integers(0, 2**32 - 1),
        st.integers(1, 20),
        st.integers(1, 30),
        weightings,
        st.sampled_from([1, 3, 8]),
        st.sampled_from([1, 5, 64]),
        st.sampled_from([0, 500, 1e9]),
    )
    def test_counts_are_those_of_an_argsort_of_the_scores(
        self, seed, users, items, weighting, rows_made, width, kept_bytes
    ):
        training, held_out = case(seed, users, items)
        split = split_of(training, held_out)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(similarity, "USERS", 7)
            patched.setattr(similarity, "WIDTHS", (width,))
            spare = kept_bytes + (rows_made - 1) * ROW_BYTES * items
            counter = weighting.counter(split, precision="float64", threads=1, spare=spare)
            above, tied = counter.count(slice(0, len(held_out)), 1, lambda steps: steps)
        # rounded, because the last digits may separate scores that are equal in exact arithmetic
        wanted = by_argsort(plain_scores(training, weighting).round(10), training, held_out)
        assert list(zip(above.tolist(), tied.tolist(), strict=True)) == wanted

    def test_do_not_depend_on_memory_threads_or_parts(self):
        training, held_out = case(4, 900, 150)
        model, split = CosineModel(3, True, "l2", False), split_of(training, held_out)
        one = rows(ranking.rank_held_out(model, split))
        for threads in (1, 3):
            least = -(-model.least_memory(0, split.shape, threads) // 2**20)
            for memory in (least, least + 1, 1000):
                ranked = ranking.rank_held_out(model, split, threads=threads, memory=memory)
                assert rows(ranked) == one
                parts = [
                    ranking.rank_held_out(model, split, users=slice(first, last), threads=threads, memory=memory)
                    for first, last in pairwise([0, 1, 50, 300, 301, 700, 700, 900])
                ]
                assert [row for part in parts for row in rows(part)] == one

    def test_without_memory_nothing_is_kept_between_the_passes_and_with_enough_nothing_is_computed_twice(self):
        training, held_out = case(5, 60, 40)
        split = split_of(training, held_out)
        similar = np.random.default_rng(0).random((40, 40))
        for kept_bytes, made in ((0, 10), (8 * 40 * 8 * 2, 8), (np.inf, 5)):
            asked = []

            def columns(items, asked=asked):
                asked.append(items)
                return np.ascontiguousarray(similar[:, items])

            counter = SimilarityCounter(columns, split, width=8, kept_bytes=kept_bytes)
            counter.count(slice(0, len(held_out)), 1, lambda steps: steps)
            assert len(asked) == made

    def test_too_little_memory_is_refused_with_what_would_do(self):
        training, held_out = case(7, 40, 30)
        model, split = CosineModel(1, True, "l2", False), split_of(training, held_out)
        with pytest.raises(ConfigError, match=r"^ranking\.memory: ranking takes (\d+) MB at least") as no:
            ranking.rank_held_out(model, split, memory=5)
        enough = int(str(no.value).split()[3])
        ranking.rank_held_out(model, split, memory=enough)
        with pytest.raises(ConfigError, match=f"give {enough} or more"):
            ranking.rank_held_out(model, split, memory=enough - 1)
        with pytest.raises(ConfigError):
            ranking.rank_held_out(model, split, memory=enough, threads=2)


class TestStored:
    @settings(deadline=None, max_examples=30)
    @given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(1, 30), st.sampled_from([1, 5, 64]))
    def test_counts_are_those_of_an_argsort(self, seed, users, items, width):
        training, held_out = case(seed, users, items)
        similar = np.random.default_rng(seed).integers(-2, 3, (items, items)).astype(float)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(similarity, "WIDTHS", (width,))
            table = ranking.rank_held_out(SimilarityModel(similar), split_of(training, held_out))
        assert rows(table) == by_argsort(training @ similar, training, held_out)


class TestRefusals:
    @pytest.mark.parametrize("score", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("item", [0, 2])
    @pytest.mark.parametrize("threads", [1, 2])
    def test_scores_that_are_no_finite_number_name_the_user(self, score, item, threads):
        similarity = np.ones((3, 3))
        similarity[1, item] = score
        split = split_of(np.array([[False, False, False], [False, True, False]]), [0, 0])
        with pytest.raises(DataError, match="gives user 101 a score that is not a finite number"):
            ranking.rank_held_out(SimilarityModel(similarity), split, threads=threads)

    def test_sums_that_overflow(self):
        split = split_of(np.array([[False, False, True, True], [False, False, True, False]]), [0, 0])
        with pytest.raises(DataError, match="gives user 100 a score"):
            ranking.rank_held_out(SimilarityModel(np.full((4, 4), 1e308)), split)

    @pytest.mark.parametrize("score", [np.nan, np.inf, -np.inf])
    def test_what_a_training_item_scores_does_not_matter(self, score):
        similarity = np.zeros((3, 3))
        similarity[1, 1], similarity[1, 2] = score, 1
        split = split_of(np.array([[False, True, False]] * 2), [0, 2])
        assert rows(ranking.rank_held_out(SimilarityModel(similarity), split)) == [(1, 0), (0, 0)]
