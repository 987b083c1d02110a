"""Simulated comparisons of new users: whose ranks they have, and how many decide."""

import numpy as np
import pytest

import sampled_metrics as sm
from sampled_metrics.evaluation.simulated_comparisons import Contender, _sample, simulated_comparisons
from sampled_metrics.metrics.metric import metrics_by_label
from sampled_metrics.sampling.design import SamplingDesign

N = 50
[RECALL] = metrics_by_label("recall@10", "metric").values()


def contender(ranks, user):
    return Contender(sm.exact_ranks(np.asarray(ranks), candidates=N, exact=True), np.asarray(user))


def test_a_new_user_has_all_rows_of_one_user():
    """Samples of all negatives are the ranks themselves."""
    given = contender([7, 50, 3, 9, 1], [1, 0, 1, 2, 0])
    sample = _sample(given, np.array([1, 2, 1, 0]), SamplingDesign(N - 1), np.random.default_rng(0))
    assert (sample.x + 1).tolist() == [7, 3, 9, 7, 3, 50, 1]
    assert np.asarray(sample.user).tolist() == [0, 0, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(("worse", "decided"), [((1, 51), 6), ((1, 12), 0)])
def test_they_decide_where_the_difference_is_large_and_not_where_there_is_none(worse, decided):
    rng = np.random.default_rng(0)
    sides = [
        contender(rng.integers(low, high, 400), np.arange(400)) for low, high in (worse, (1, 12))
    ]  # worse and better
    simulated = simulated_comparisons(*sides, SamplingDesign(30), "decreasing", RECALL, 6)
    assert simulated == (30, decided, 6)


@pytest.mark.slow
def test_a_plan_counts_the_samples_that_do_not_support_its_assumption():
    """A law at the edge of decreasing, with which a fifth of the samples makes `compare` take free."""
    rng, n = np.random.default_rng(0), 5000
    ranks = {
        "A": np.floor(n * rng.random(2000) ** 4).astype(int) + 1,
        "B": np.floor(n / 4 * rng.random(2000)).astype(int) + 1,
    }
    tables = sm.exact_ranks(ranks, candidates=n, exact=True)
    m = int(sm.plan(tables, metric="hr@10", estimators=["decreasing"])["negatives"].iloc[0])
    decided = []
    for _ in range(60):
        users = rng.integers(2000, size=2000)
        x = {name: rng.hypergeometric(of_one[users] - 1, n - of_one[users], m) + 1 for name, of_one in ranks.items()}
        compared = sm.compare(sm.sampled_ranks(x, negatives=m, candidates=n), metrics="hr@10")
        decided.append(compared["conclusion"].iloc[0] == "A")
    assert np.mean(decided) >= 0.95 - 2 * np.sqrt(0.95 * 0.05 / 60)
