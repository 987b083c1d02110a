"""The same table with its rows in another order gives the same numbers."""

import numpy as np
import pandas as pd
import pytest
import read_and

import sampled_metrics as sm

RNG = np.random.default_rng(3)


def ranks(users: int, rows: int, negatives: int | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the ranks of two recommenders, with ties or among negatives; users are text and n differs by user."""
    user, n = np.repeat(np.arange(users), rows), np.repeat(RNG.integers(150, 300, users), rows)
    tables = []
    for shape in (0.3, 0.5):
        above, tied = (RNG.beta(shape, 2, len(user)) * (n - 10)).astype(int), RNG.integers(0, 5, len(user))
        table = pd.DataFrame({"user": [f"u{each}" for each in user], "candidates": n})
        if negatives is None:
            tables.append(table.assign(above=above, tied=tied))
        else:
            x = RNG.hypergeometric(above, n - 1 - above, negatives)
            tables.append(table.assign(negatives=negatives, rank=x + 1))
    return tables[0], tables[1]


def shuffled(table: pd.DataFrame) -> pd.DataFrame:
    return table.iloc[RNG.permutation(len(table))].reset_index(drop=True)


def same(function, *tables, **options) -> None:
    found = function(*tables, **options)
    again = function(*map(shuffled, tables), **options)
    pd.testing.assert_frame_equal(pd.DataFrame(again), pd.DataFrame(found), rtol=1e-9, atol=1e-12)
    assert again.remarks == found.remarks
    assert [(one.kind, one.names) for one in again.findings] == [(one.kind, one.names) for one in found.findings]


@pytest.mark.parametrize("rows", [1, 2])
class TestOrderOfRows:
    def test_exact(self, rows):
        one, other = ranks(60, rows)
        same(read_and.evaluate, one)
        same(read_and.compare, one, other)
        same(lambda *tables: read_and.compare(dict(zip("abc", tables, strict=True))), one, other, one)

    def test_sampled(self, rows):
        one, other = ranks(30, rows, 20)
        same(read_and.correct, one, estimators=["decreasing", "bv-0.1", "mle"])
        for estimator in ("decreasing", "bv-0.1", "mle"):
            same(read_and.compare, one, other, estimator=estimator)

    def test_lists(self, rows):
        pairs = [(user, f"i{item}") for user in range(30) for item in RNG.choice(40, 20, replace=False)]
        judged = pd.DataFrame(pairs[::3], columns=["user", "item"]).assign(
            relevance=RNG.integers(4, size=len(pairs[::3]))
        )
        run = pd.DataFrame(pairs, columns=["user", "item"]).assign(score=RNG.integers(9, size=len(pairs)))
        same(lambda run, judged: read_and.evaluate(run, relevance=judged), run, judged)


@pytest.mark.parametrize("rows", [1, 2])
def test_expect_and_plan(rows):
    one, other = ranks(30, rows)
    same(lambda *tables: read_and.expect(dict(zip("ab", tables, strict=True)), negatives=20), one, other)
    if rows == 1:
        same(read_and.plan, one, other, estimators="uncorrected")


def test_negatives_and_their_ties():
    scores = RNG.integers(6, size=(50, 100)).astype(float)
    training = pd.DataFrame([(user, item) for user in range(50) for item in RNG.choice(50, 5, replace=False)])
    held_out = pd.DataFrame([(user, 50 + item) for user in range(50) for item in RNG.choice(50, 2, replace=False)])
    for table in (training, held_out):
        table.columns = ["user", "item"]
    for options in ({}, {"replacement": True}):
        found = sm.rank_among_negatives(scores, training, held_out, negatives=20, **options)
        again = sm.rank_among_negatives(scores, shuffled(training), shuffled(held_out), negatives=20, **options)
        pd.testing.assert_frame_equal(again.to_frame(), found.to_frame())
