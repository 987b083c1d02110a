"""Ranks in parts: the same results as of all of them at once, in any order, and over processes."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from functools import reduce
from multiprocessing import get_context

import numpy as np
import pandas as pd
import pytest

from sampled_metrics import RankAccumulator, RankTable, correct, evaluate
from sampled_metrics.errors import ConfigError, DataError

RNG = np.random.default_rng(7)
EXACT = pd.DataFrame({"candidates": RNG.integers(20, 60, 400), "above": RNG.geometric(0.1, 400) % 18, "tied": 0})
EXACT.loc[::7, "tied"] = 2
SAMPLED = pd.DataFrame(
    {"candidates": RNG.integers(20, 22, 400), "negatives": 9, "rank": RNG.geometric(0.4, 400) % 9 + 1}
)
SAMPLED.loc[::5, "negatives"] = 8
PARTS = [slice(0, 50), slice(50, 51), slice(51, 400)]


def assert_same(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(pd.DataFrame(found), pd.DataFrame(expected), rtol=1e-12, atol=1e-14)
    assert found.remarks == expected.remarks


def accumulated(part: pd.DataFrame) -> RankAccumulator:
    ranks = RankAccumulator()
    ranks.update(part)
    return ranks


@pytest.mark.parametrize("options", [{}, {"method": "bootstrap", "n_resamples": 200}, {"confidence_level": 0.8}])
def test_exact_ranks_give_what_evaluate_gives(options: dict) -> None:
    ranks = RankAccumulator()
    for part in PARTS[::-1]:
        ranks.update(EXACT[part])
    assert_same(ranks.compute(**options), evaluate(EXACT, **options))


def test_rank_tables_and_plain_ranks_are_counted_alike() -> None:
    tables, plain = RankAccumulator(), RankAccumulator(candidates=70)
    for part in PARTS:
        rows = EXACT[part]
        tables.update(RankTable(None, np.full(len(rows), 70), rows["above"].to_numpy(), 0 * rows["tied"].to_numpy()))
        plain.update(rows["above"].to_numpy() + 1)
    expected = evaluate(EXACT["above"] + 1, candidates=70)
    assert_same(tables.compute(), expected)
    assert_same(plain.compute(), expected)


@pytest.mark.parametrize("estimators", [["decreasing", "free"], ["uncorrected", "bv-0.1"], ["mle"]])
def test_sampled_ranks_give_what_correct_gives(estimators: list[str]) -> None:
    ranks = RankAccumulator()
    for part in PARTS[::-1]:
        ranks.update(SAMPLED[part])
    options = {"metrics": ["recall@5", "auc"], "estimators": estimators, "n_resamples": 100}
    assert_same(ranks.compute(**options), correct(SAMPLED, **options))


def test_negatives_as_an_argument_make_ranks_sampled() -> None:
    ranks = RankAccumulator(candidates=50, negatives=9, replacement=True)
    ranks.update(SAMPLED["rank"])
    expected = correct(SAMPLED["rank"], candidates=50, negatives=9, replacement=True, metrics="recall@5")
    assert_same(ranks.compute(metrics="recall@5"), expected)


def test_accumulators_of_processes_are_merged() -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(accumulated, [EXACT[part] for part in PARTS]))
    assert_same(reduce(RankAccumulator.merge, found, RankAccumulator()).compute(), evaluate(EXACT))


def test_merging_leaves_the_other_one_as_it_is() -> None:
    one, other = accumulated(EXACT[:100]), accumulated(EXACT[100:])
    assert_same(one.merge(other).compute(), evaluate(EXACT))
    assert_same(other.compute(), evaluate(EXACT[100:]))


def test_the_size_does_not_grow_with_the_users() -> None:
    ranks = accumulated(EXACT)
    size = len(pickle.dumps(ranks))
    for _ in range(50):
        ranks.update(EXACT)
    assert len(pickle.dumps(ranks)) < 1.1 * size
    assert ranks.compute()["users"].tolist() == [51 * 400] * 4


def test_refuses_what_does_not_fit() -> None:
    ranks = accumulated(EXACT)
    with pytest.raises(DataError, match="these ranks are sampled, and those before are exact"):
        ranks.update(SAMPLED)
    with pytest.raises(DataError, match="these ranks are sampled, and those before are exact"):
        ranks.merge(accumulated(SAMPLED))
    with pytest.raises(DataError, match="must have the same replacement"):
        ranks.merge(RankAccumulator(replacement=True))
    with pytest.raises(DataError, match="rank must be a whole number"):
        ranks.update(pd.DataFrame({"candidates": [9, 9], "rank": [1, 0]}))
    assert_same(ranks.compute(), evaluate(EXACT))
    with pytest.raises(ConfigError, match="these ranks are exact"):
        ranks.compute(estimators="mle")
    with pytest.raises(DataError, match="there are no ranks yet"):
        RankAccumulator().compute()


def test_refuses_users_with_several_rows():
    ranks = RankAccumulator(candidates=9)
    with pytest.raises(DataError, match="user 2 has several rows, and an accumulator keeps no users"):
        ranks.update({"user": [1, 2, 2], "rank": [1, 2, 3]})
    with pytest.raises(DataError, match="there are no ranks yet"):
        ranks.compute()


def test_takes_names_that_people_type():
    ranks = RankAccumulator(candidates=9)
    ranks.update([1, 2, 3])
    assert ranks.compute(metrics="HR@2")["metric"].tolist() == ["hit-rate@2"]
