"""Ranking all users, and parts of them."""

import numpy as np
import pandas as pd
import pytest
from ranked_by_argsort import by_argsort, rows, split_of

from sampled_metrics.data.split import Shape
from sampled_metrics.errors import ConfigError
from sampled_metrics.ranking import ranking, scores
from sampled_metrics.ranking.memory import MEGABYTE
from sampled_metrics.recommenders.models import FactorModel

RNG = np.random.default_rng(4)
TRAINING = RNG.random((1500, 250)) < 0.3
TRAINING[np.arange(1500), np.arange(1500) % 250] = False
SPLIT = split_of(TRAINING, np.arange(1500) % 250)
MODEL = FactorModel(RNG.normal(size=(1500, 4)), RNG.normal(size=(250, 4)))


class Table:
    """A recommender whose scores are given."""

    size = 5 * MEGABYTE

    def __init__(self, given):
        self.given = np.array(given, dtype=np.float64)

    def least_memory(self, size, shape, threads):
        return threads * size

    def counter(self, split, *, precision, threads, spare):
        return scores.ScoreCounter(lambda users: self.given[users], split)


class TestWhole:
    @pytest.mark.parametrize("rows_in_block", [1, 3, 10])
    def test_progress_is_told_of_each_block(self, monkeypatch, rows_in_block):
        rng = np.random.default_rng(1)
        given, training = rng.integers(0, 4, (10, 12)), rng.random((10, 12)) < 0.4
        held_out = rng.integers(0, 12, 10)
        training[np.arange(10), held_out] = False
        monkeypatch.setattr(scores, "BLOCK_BYTES", 8 * 12 * rows_in_block)
        blocks = []
        split = split_of(training, held_out)
        table = ranking.rank_held_out(Table(given), split, lambda steps: blocks.extend(steps) or steps)
        assert blocks == list(range(-(-10 // rows_in_block)))
        assert rows(table) == by_argsort(given, training, held_out)
        assert table.user.tolist() == [100 + user for user in range(10)]
        assert table.candidates.tolist() == (12 - training.sum(axis=1)).tolist()

    def test_a_model_is_asked_for_the_memory_of_all_threads(self):
        table, split = Table(np.ones((4, 3))), split_of(np.zeros((4, 3)), [0] * 4)
        ranking.rank_held_out(table, split, threads=2, memory=10)
        with pytest.raises(
            ConfigError, match=r"^ranking\.memory: ranking takes 10 MB at least, and may take 9; give 10"
        ):
            ranking.rank_held_out(table, split, threads=2, memory=9)


class TestParts:
    @pytest.mark.parametrize("users_in_block", [1, 7, 1024, 2000])
    @pytest.mark.parametrize("parts", [1, 2, 50])
    def test_one_after_another_are_the_whole(self, monkeypatch, users_in_block, parts):
        monkeypatch.setattr(scores, "BLOCK_BYTES", 8 * 250 * users_in_block)
        users = [ranking.part_of_users(SPLIT.shape, part, parts) for part in range(1, parts + 1)]
        assert [user for part in users for user in range(1500)[part]] == list(range(1500))
        assert all(part.start % users_in_block == 0 or part.start == part.stop for part in users)
        tables = [ranking.rank_held_out(MODEL, SPLIT, users=part) for part in users]
        joined = pd.concat([table.to_frame() for table in tables], ignore_index=True)
        assert joined.equals(ranking.rank_held_out(MODEL, SPLIT).to_frame())

    def test_are_about_equal(self):
        shape = Shape(6040, 3706, 1_000_000)
        sizes = [len(range(6040)[ranking.part_of_users(shape, part, 4)]) for part in range(1, 5)]
        assert sizes == [1130, 1695, 1695, 1520]

    def test_blocks_of_scores_are_those_of_all_users(self, monkeypatch):
        """So that scores whose last digit depends on the other users of the block do not change."""
        monkeypatch.setattr(scores, "BLOCK_BYTES", 8 * 12 * 3)
        seen, rng = [], np.random.default_rng(1)
        table, split = Table(rng.random((10, 12))), split_of(np.zeros((10, 12)), rng.integers(0, 12, 10))
        monkeypatch.setattr(
            table,
            "counter",
            lambda some, **_: scores.ScoreCounter(lambda users: seen.append(users) or table.given[users], some),
        )
        ranking.rank_held_out(table, split)
        whole, seen[:] = list(seen), []
        for part in (1, 2, 3):
            ranking.rank_held_out(table, split, users=ranking.part_of_users(split.shape, part, 3))
        assert seen == whole == [slice(0, 3), slice(3, 6), slice(6, 9), slice(9, 10)]
