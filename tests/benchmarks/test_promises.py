"""benchmarks/promises.py: it simulates what it says, and finds a promise broken on purpose."""

from dataclasses import replace

import numpy as np
import pytest

from sampled_metrics.core.metrics import metric


@pytest.fixture
def benchmark(script):
    return script("promises")


@pytest.fixture
def laws(benchmark):
    return benchmark.laws


def test_drawn_ranks_have_the_law(benchmark, laws):
    """Within four standard errors."""
    users = 30_000
    sides = (laws.law(laws.ranks(1, 2)), laws.law(laws.ranks(4), laws.ranks(1, 3, share=2)))
    drawn = laws.Population(sides, 0.5).draw(4, users, 3, np.random.default_rng(1))
    for ranks, side in zip(drawn, (*sides, sides[0]), strict=True):
        shares = np.bincount(ranks, minlength=5)[1:] / len(ranks)
        chances = laws.rank_probabilities(side, 4)
        assert (np.abs(shares - chances) <= 4 * np.sqrt(chances * (1 - chances) / users)).all()
    seeds = benchmark.Promise("", None, 3000, recommenders=2, seeds=(40, 2), spread=0.5, n=4)
    ranks = seeds.draw(laws.Population(sides), np.random.default_rng(2))[:40]
    assert (ranks == 4).mean() == pytest.approx(1 / 6, abs=0.03)
    assert (ranks == 4).mean(axis=1).std() > 0.05


def test_false_verdicts_are_counted(benchmark):
    """At the margin, a difference is neither more nor less; a better recommender has to be
    better.
    """
    promise = benchmark.Promise("", benchmark.say.compare, 60, ("ap",), n=100, recommenders=2)

    def is_false(promise, ranks, truths):
        return promise.say(promise, np.array(ranks), {"ap": truths}, 0)["ap"].is_false

    apart = [[9] * 60, [1] * 60]
    alike = [[1] * 60] * 2
    assert not is_false(promise, apart, (0.1, 0.2))
    assert is_false(promise, apart, (0.2, 0.2))
    assert is_false(promise, apart, (0.2, 0.1))
    with_margin = replace(promise, margin=0.1)
    gaps = (0.05, 0.1, 0.2)
    assert [is_false(with_margin, apart, (0, gap)) for gap in gaps] == [True, True, False]
    assert [is_false(with_margin, alike, (0, gap)) for gap in gaps] == [False, True, True]
    in_a_group = [[80] * 30 + [1] * 30, [80] * 60]
    assert is_false(replace(promise, groups=(0.5, 0.5)), in_a_group, (0.1, 0.1))


def test_shares_are_of_all_statements(benchmark):
    statements = [
        benchmark.Statement(-0.1, 0.1),
        benchmark.Statement(0.1, 0.2, is_false=True),
        benchmark.Statement(-0.2, -0.1),
        benchmark.Statement(np.nan, np.nan, is_contradicted=True),
        benchmark.Statement(0.0, 0.1),
    ]
    tally = benchmark.tally(statements)
    assert (tally.wrong, tally.missed) == (0.4, 0.4)
    assert (tally.false_verdicts, tally.refused, tally.contradicted) == (0.2, 0.2, 0.2)
    estimates = [
        benchmark.Statement(value - 0.1, value + 0.1, value=value) for value in (0.4, 0.4, 0.4, 0.7)
    ]
    assert benchmark.tally(estimates, is_of_estimator=True).wrong == 0.25  # of their mean


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


@pytest.mark.parametrize(
    "name",
    [
        "evaluate",
        "evaluate staged",
        "compare of 3",
        "seeds 2 and 10",
        "correct free",
        "published hit rates free",
        "drawn once, 3 times",
    ],
)
def test_intervals_of_a_flat_law_hold_in_most_of_a_few_simulations(benchmark, laws, name):
    promise = next(promise for promise in benchmark.promises() if promise.name == name)
    m = min(promise.m, 10)
    depth = min(promise.depth, 100.0)
    promise = replace(promise, n=100, m=m, depth=depth, users=60)
    flat = laws.Population((laws.law(laws.ranks(1, 100)),) * min(promise.recommenders, 2))
    for tally in benchmark.simulate(promise, flat, "fresh", 4, 0).values():
        assert tally.refused == 0
        assert tally.wrong <= 0.5
