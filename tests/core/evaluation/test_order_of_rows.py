"""The order of the rows changes no result, with users and without."""

import numpy as np
import pytest

import sampled_metrics as sm

RNG = np.random.default_rng(1)
RANKS = {
    "a": RNG.integers(1, 20, 60) * RNG.integers(0, 2, 60) + 1,
    "b": RNG.integers(1, 25, 60),
}
IN_ORDER = np.arange(60)
SHUFFLED = RNG.permutation(60)
USERS = {
    "none": {},
    "a row each": {"user": np.array([f"u{number}" for number in IN_ORDER])},
    "two rows each": {"user": np.array([f"u{number}" for number in IN_ORDER // 2])},
}


def tables(order, users):
    shuffled = {}
    for name, ranks in RANKS.items():
        columns = {"rank": ranks} | users
        shuffled[name] = {column: values[order] for column, values in columns.items()}
    return sm.sampled_ranks(shuffled, negatives=30, candidates=200)


@pytest.mark.parametrize("users", USERS.values(), ids=USERS)
def test_the_order_of_the_rows_changes_nothing(users):
    options = {"metrics": ["recall@10", "ap"], "estimator": "decreasing"}
    in_order = sm.compare(tables(IN_ORDER, users), **options)
    shuffled = sm.compare(tables(SHUFFLED, users), **options)
    for column in ("value_a", "low", "high", "p_value"):
        assert in_order[column].notna().all()
        np.testing.assert_allclose(in_order[column], shuffled[column], rtol=1e-12)


def test_each_user_is_in_each_fold_equally_often():
    """With a fixed seed, the best rank would be in the same fold in all samples."""
    rng = np.random.default_rng(2)
    rival = sm.sampled_ranks(rng.integers(1, 101, 50), negatives=99, candidates=1000)
    folds_of_best = []
    for _ in range(100):
        table = sm.sampled_ranks(rng.permutation(50) + 1, negatives=99, candidates=1000)
        [numbers, _], _ = table.pair([rival], ["a", "b"])
        folds_of_best.append(numbers[table.x.argmin()] % 5)
    counts = np.bincount(folds_of_best, minlength=5)
    assert ((counts - 20) ** 2 / 20).sum() < 18.5  # the 0.999 quantile of chi-squared
