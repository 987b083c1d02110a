"""benchmarks/promises.py: what it simulates is what it says, and it finds a promise that is broken
on purpose.
"""

import importlib
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sampled_metrics.core.metrics import metric

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def benchmark():
    """The search, imported as a script imports it."""
    sys.path.insert(0, str(FOLDER))
    yield importlib.import_module("promises")
    sys.path.remove(str(FOLDER))
    for name in ("promises", "laws", "statements"):
        del sys.modules[name]


@pytest.fixture
def laws(benchmark):
    return benchmark.laws


def test_starts_are_of_the_class_and_as_equal_as_promised(benchmark, laws):
    for promise in list(benchmark.promises())[::3]:
        starts = promise.starts()
        assert len(starts) == len(set(starts)) >= 10
        if promise.way:  # its truths are many evaluations
            continue
        for start in starts[:4]:
            assert start.keeps(promise.shape, promise.n)
            truths = promise.truths(start)[promise.metrics[0]]
            if promise.recommenders > 1 and promise.equal != "no":
                ratio, margin = (
                    (1 + promise.margin, 0) if promise.is_relative else (1, promise.margin)
                )
                assert truths[1] == pytest.approx(ratio * truths[0] + margin, abs=1e-9)


@pytest.mark.parametrize("shape", ["free", "decreasing"])
def test_changed_laws_are_distributions_of_the_shape(laws, shape):
    rng = np.random.default_rng(3)
    n = 200
    others = [
        start
        for start in laws.starts(n, 50)
        if laws.has_shape(laws.rank_probabilities(start, n), shape)
    ]
    law = others[0]
    different = set()
    for _ in range(60):
        law = laws.changed(law, shape, n, others, rng)
        probabilities = laws.rank_probabilities(law, n)
        assert probabilities.min() >= 0
        assert probabilities.sum() == pytest.approx(1)
        assert laws.has_shape(probabilities, shape)
        different.add(law)
    assert len(different) > 30


def test_shapes_are_those_of_the_better_half(laws):
    assert laws.has_shape(np.array([3, 2, 2, 1, 9, 0, 5, 0]) / 22, "decreasing")
    assert not laws.has_shape(np.array([3, 2, 3, 1, 0, 0, 0, 0]) / 9, "decreasing")
    shapes = [
        laws.has_shape(laws.rank_probabilities(one, 3541), "decreasing") for one in laws.usual()
    ]
    assert shapes == [True] * 3 + [False] * 4


def test_drawn_ranks_have_the_law(benchmark, laws):
    sides = (laws.law(laws.ranks(1, 2)), laws.law(laws.ranks(4), laws.ranks(1, 3, share=2)))
    drawn = laws.Population(sides, 0.5).draw(4, 30_000, 3, np.random.default_rng(1))
    for ranks, side in zip(drawn, (*sides, sides[0]), strict=True):
        shares = np.bincount(ranks, minlength=5)[1:] / len(ranks)
        np.testing.assert_allclose(shares, laws.rank_probabilities(side, 4), atol=0.012)
    np.testing.assert_array_equal(
        *laws.Population(sides[:1], 1.0).draw(4, 100, 2, np.random.default_rng(1))
    )
    seeds = benchmark.Promise("", None, 3000, recommenders=2, seeds=(40, 2), spread=0.5, n=4)
    ranks = seeds.draw(laws.Population(sides), np.random.default_rng(2))[:40]
    assert (ranks == 4).mean() == pytest.approx(1 / 6, abs=0.03)
    assert (ranks == 4).mean(axis=1).std() > 0.05


def test_a_promise_on_seeds_is_that_of_new_runs(benchmark):
    """These runs are decided, as the users hardly vary, and new runs are not, as the seeds do."""
    ranks = np.full((4, 60), 50)
    for seed, hits in enumerate((20, 30, 34, 44)):
        ranks[seed, :hits] = 1
    promise = benchmark.Promise(
        "", benchmark.say.compare, 60, ("recall@10",), n=100, recommenders=2, seeds=(2, 2)
    )
    statement = promise.say(promise, ranks, {"recall@10": (0.5, 0.5)}, 0)["recall@10"]
    gap = (34 + 44 - 20 - 30) / 120
    assert statement.low < 0 < gap < statement.high
    assert not statement.is_false


def test_false_verdicts_are_counted(benchmark):
    """At the margin, a difference is neither more nor less; a better recommender has to be
    better.
    """
    promise = benchmark.Promise("", benchmark.say.compare, 60, ("ap",), n=100, recommenders=2)

    def is_false(promise, ranks, truths):
        return promise.say(promise, np.array(ranks), {"ap": truths}, 0)["ap"].is_false

    apart = [[9] * 60, [1] * 60]
    alike = [[1] * 60] * 2
    assert [
        is_false(promise, apart, truths) for truths in ((0.1, 0.2), (0.2, 0.2), (0.2, 0.1))
    ] == [False, True, True]
    margin = replace(promise, margin=0.1)
    assert [is_false(margin, apart, (0, gap)) for gap in (0.05, 0.1, 0.2)] == [True, True, False]
    assert [is_false(margin, alike, (0, gap)) for gap in (0.05, 0.1, 0.2)] == [False, True, True]
    in_a_group = [[80] * 30 + [1] * 30, [80] * 60]
    assert is_false(replace(promise, groups=(0.5, 0.5)), in_a_group, (0.1, 0.1))


def test_shares_are_of_all_statements(benchmark):
    said = [(-0.1, 0.1), (0.1, 0.2, True), (-0.2, -0.1), (np.nan, np.nan, False, True), (0.0, 0.1)]
    tally = benchmark.tally([benchmark.Statement(*one) for one in said])
    assert [tally.wrong, tally.missed, tally.false_verdicts] == [0.4, 0.4, 0.2]
    assert [tally.refused, tally.contradicted] == [0.2, 0.2]
    of_estimator = [
        benchmark.Statement(value - 0.1, value + 0.1, value=value) for value in (0.4, 0.4, 0.4, 0.7)
    ]
    assert benchmark.tally(of_estimator, is_of_estimator=True).wrong == 0.25  # of their mean


def test_the_law_that_a_bad_interval_misses_is_found(benchmark):
    """Student's interval is bad where hits are rare."""

    def say(promise, sides, truths, seed):
        values = metric("ap").of_rank(sides[0], promise.n)
        reach = 2 * values.std() / np.sqrt(len(values))
        gap = values.mean() - truths["ap"][0]
        return {"ap": benchmark.Statement(gap - reach, gap + reach)}

    [row] = benchmark.searched(benchmark.Promise("student", say, 40, ("ap",), n=100), 20, 100, 0)
    assert row["missed"] > 0.3
    assert row["is_broken"]


def test_the_same_seed_gives_the_same_file(benchmark, monkeypatch, tmp_path):
    for name, seed in (("one", "3"), ("two", "3"), ("other", "4")):
        words = [
            "evaluate: n = 1000, 30 users",
            "--search",
            "2",
            "--simulations",
            "12",
            "--seed",
            seed,
        ]
        monkeypatch.setattr("sys.argv", ["promises.py", *words, "--output", str(tmp_path / name)])
        benchmark.main()
    one, two, other = ((tmp_path / name).read_bytes() for name in ("one", "two", "other"))
    assert one == two != other


PLANS = ("plan, all candidates", "plan of stages, stages", "plan, bv-0.1")
ASKED = [
    "evaluate",
    "evaluate staged",
    "compare of 3",
    "seeds 2 and 10",
    "correct free",
    "published hit rates free",
]
ASKED += ["drawn once, 3 times", *(pytest.param(name, marks=pytest.mark.slow) for name in PLANS)]


@pytest.mark.parametrize("name", ASKED)
def test_the_library_is_asked(benchmark, laws, name):
    """Intervals of laws that are not extreme hold the truth in most of a few simulations."""
    promise = next(promise for promise in benchmark.promises() if promise.name == name)
    users = (
        {"users": 300, "pilot": 200, "m": min(promise.m, 20)} if name in PLANS else {"users": 60}
    )
    promise = replace(
        promise,
        **{
            "n": 100,
            "m": min(promise.m, 10),
            "depth": min(promise.depth, 100.0 if name not in PLANS else 20.0),
        }
        | users,
    )
    power = laws.whole("power", 0.9, 0.0)
    steep = laws.whole("power", 1.05, 0.0)
    flat = laws.Population((laws.law(laws.ranks(1, 100)),) * min(promise.recommenders, 2))
    population = laws.Population((power, steep)) if name in PLANS else flat
    for tally in benchmark.simulate(promise, population, "fresh", 4, 0).values():
        assert tally.refused == 0
        assert tally.wrong <= 0.5 or name in PLANS


def test_the_users_of_rank_tables_are_drawn(laws, tmp_path):
    ranks = {"A": [1, 5, 9] * 5, "B": [2, 2, 10] * 5}
    for name, of_one in ranks.items():
        table = pd.DataFrame({"user": range(15), "candidates": 10, "rank": of_one})
        table.to_csv(tmp_path / f"{name}.csv.gz", index=False)
    one, _, both = laws.of_tables(tmp_path, "ml")
    assert (one.words(), both.words(), both.n) == ("ml A", "ml A, B", 10)
    drawn = both.draw(10, 900, 2, np.random.default_rng(0))
    assert {tuple(pair) for pair in drawn.T.tolist()} == {(1, 2), (5, 2), (9, 10)}
    assert both.means(1 / np.arange(1, 11)) == pytest.approx(
        [np.mean(1 / np.array(side)) for side in both.ranks]
    )
