"""Ranking all users, and parts of them."""

import numpy as np
import pytest
from ranked_by_argsort import by_argsort, rows, split_of

from sampled_metrics.errors import ConfigError, DataError
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
    @pytest.mark.parametrize("parts", [1, 2, 50])
    def test_gathered_are_the_whole(self, parts):
        each = [ranking.rank_part(MODEL, SPLIT, part=part, parts=parts) for part in range(1, parts + 1)]
        assert rows(ranking.gather(SPLIT, reversed(each))) == rows(ranking.rank_held_out(MODEL, SPLIT))

    def test_one_missing_or_twice_is_refused(self):
        first, second = (ranking.rank_part(MODEL, SPLIT, part=part, parts=2) for part in (1, 2))
        for parts in ([first], [first, first], [first, second, second]):
            with pytest.raises(DataError, match="not each of the 1500 once"):
                ranking.gather(SPLIT, parts)
