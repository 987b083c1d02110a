"""The same table with its rows in another order gives the same numbers."""

import numpy as np
import pandas as pd
import pytest
import read_and

import sampled_metrics as sm

RNG = np.random.default_rng(3)


def ranks(users: int, rows: int, negatives: int | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the ranks of two recommenders, with ties or among negatives; users are text and n differs by user."""
    user, n = np.repeat(np.arange(users), rows), np.repeat(RNG.choice([150, 220, 300], users), rows)
    tables = []
    for shape in (0.3, 0.5):
        above, tied = (RNG.beta(shape, 2, len(user)) * (n - 10)).astype(int), RNG.integers(0, 5, len(user))
        columns = {"above": above, "tied": tied}
        if negatives is not None:
            columns = {"rank": 1 + RNG.hypergeometric(above, n - 1 - above, negatives), "negatives": negatives}
        tables.append(pd.DataFrame({"user": [f"u{each}" for each in user], "candidates": n} | columns))
    return tables[0], tables[1]


def shuffled(table: pd.DataFrame) -> pd.DataFrame:
    return table.iloc[RNG.permutation(len(table))].reset_index(drop=True)


def same(function, *tables, **options) -> None:
    found, again = function(*tables, **options), function(*map(shuffled, tables), **options)
    pd.testing.assert_frame_equal(pd.DataFrame(again), pd.DataFrame(found), rtol=1e-9, atol=1e-12)
    assert [(one.kind, one.names) for one in again.findings] == [(one.kind, one.names) for one in found.findings]


def test_of_exact_ranks():
    one, other = ranks(40, 2)
    same(read_and.evaluate, one)
    same(lambda *tables: read_and.compare(dict(zip("abc", tables, strict=True))), one, other, one)
    same(lambda *tables: read_and.expect(dict(zip("ab", tables, strict=True)), negatives=20), one, other)


@pytest.mark.parametrize("estimator", ["decreasing", "mle"])
def test_of_sampled_ranks(estimator):
    one, other = ranks(12, 2, 8)
    same(read_and.correct, one, estimators=estimator)
    same(read_and.compare, one, other, estimator=estimator)


def test_of_negatives_and_their_ties():
    scores = RNG.integers(6, size=(50, 100)).astype(float)
    training, held_out = (
        pd.DataFrame([(user, first + item) for user in range(50) for item in RNG.choice(50, number, replace=False)],
                     columns=["user", "item"])
        for first, number in ((0, 5), (50, 2))
    )  # fmt: skip
    found, again = (
        sm.rank_among_negatives(scores, *tables, negatives=20)
        for tables in ((training, held_out), (shuffled(training), shuffled(held_out)))
    )
    pd.testing.assert_frame_equal(again.to_frame(), found.to_frame())
