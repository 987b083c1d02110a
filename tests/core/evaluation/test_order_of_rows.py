"""Ranks without users: the order of the rows changes no result."""

import numpy as np
import pytest

import sampled_metrics as sm

RNG = np.random.default_rng(1)
RANKS = {
    "a": RNG.integers(1, 60, 120) * RNG.integers(0, 2, 120) + 1,
    "b": RNG.integers(1, 90, 120),
}
SHUFFLED = RNG.permutation(120)


def tables(order):
    return {
        name: sm.sampled_ranks(ranks[order], negatives=100, candidates=1000)
        for name, ranks in RANKS.items()
    }


@pytest.mark.parametrize("function", [sm.correct, sm.compare])
def test_the_order_of_the_rows_changes_nothing(function) -> None:
    in_order, shuffled = (
        function(tables(order), metrics=["recall@10", "ap"]) for order in (np.arange(120), SHUFFLED)
    )
    columns = ["low", "high"]
    assert np.isfinite(in_order[columns]).all(axis=None)
    np.testing.assert_array_equal(in_order[columns], shuffled[columns])


def test_by_user_has_the_rows_in_their_order() -> None:
    table = sm.compare(tables(np.arange(120)), metrics="recall@10", estimator="uncorrected").by_user
    for name, ranks in RANKS.items():
        rows = table[table["recommender"] == name]
        assert rows["user"].tolist() == list(range(1, 121))
        assert (rows["recall@10"] == (ranks <= 10)).all()


def test_each_user_is_in_each_fold_equally_often() -> None:
    """With a fixed seed, the best rank would be in the same fold in all samples."""
    rng = np.random.default_rng(2)
    numbers_of_best = []
    for _ in range(500):
        table = sm.sampled_ranks(rng.permutation(50) + 1, negatives=99, candidates=1000)
        rival = sm.sampled_ranks(rng.integers(1, 101, 50), negatives=99, candidates=1000)
        [numbers, _], _ = table.pair([rival], ["a", "b"])
        numbers_of_best.append(numbers[table.x.argmin()] % 5)
    counts = np.bincount(numbers_of_best, minlength=5)
    assert ((counts - 100) ** 2 / 100).sum() < 18.5  # the 0.999 quantile of chi-squared
