"""Mixtures: what their members show, by sums over all ranks and in closed form."""

import numpy as np
import pytest
from exact_probabilities import chances, dense
from scipy.stats import hypergeom

from sampled_metrics.core.estimators.shapes import MIXTURES, SHAPES, cells, mixtures
from sampled_metrics.core.metrics import metric
from sampled_metrics.core.ranks.sampled import SampledRanks
from sampled_metrics.core.sampling.outcomes import Outcomes, rank_classes

METRICS = tuple(metric(label) for label in ("recall@3", "ndcg@3", "ap", "auc"))


def mixtures_of(n, m, replacement=False):
    """The mixtures of the class of users with these n and m, of whom each shows x = 0."""
    outcomes, _ = Outcomes.observed(SampledRanks(np.zeros(len(m), dtype=int), m, n, replacement))
    [users] = rank_classes(outcomes)
    return mixtures(users.sizes, METRICS)


def values(n):
    return np.stack([metric.values(n) for metric in METRICS], axis=1)


def member(shape, k, n, after=None):
    """A member by its definition, as (n,) probabilities; the last of `convex` has k = None.

    Members that stand for a single rank k have all ranks above `after`, by default k - 1.
    """
    ranks = np.arange(1, n + 1)
    half = n // 2
    if k is None:
        weights = ranks <= half
    elif shape == "free" or min(k, n) > half:
        last = min(k, n)
        before = last - 1 if after is None else after
        weights = (before < ranks) & (ranks <= last)
    elif shape == "decreasing":
        weights = ranks <= k
    else:
        weights = np.maximum(k + 1 - ranks, 0)
    return weights / weights.sum()


# n and m of users, and for each m the share of the users and the n of the members
CLASSES = [
    pytest.param([12, 12], [1, 1], [{1: (1, 12)}], id="m = 1"),
    pytest.param([12], [11], [{11: (1, 12)}], id="m = 11"),
    # the members are those of the smallest and of the largest n
    pytest.param(
        [12, 10, 12, 11, 11],
        [3, 3, 7, 7, 7],
        [{3: (2 / 5, 10), 7: (3 / 5, 11)}, {3: (2 / 5, 12), 7: (3 / 5, 12)}],
        id="several n and m",
    ),
]


@pytest.mark.parametrize("shape", MIXTURES)
@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize(("n", "m", "ends"), CLASSES)
def test_members_are_sums_over_all_ranks(n, m, ends, replacement, shape):
    mixture = mixtures_of(n, m, replacement)[shape]
    probabilities = []
    metric_values = []
    for end in ends:
        for k in [*range(1, 13), *[None] * (shape == "convex")]:
            laws = {
                negatives: share * member(shape, k, size)
                for negatives, (share, size) in end.items()
            }
            shown = [
                law @ chances(len(law), negatives, replacement) for negatives, law in laws.items()
            ]
            probabilities.append(np.concatenate(shown))
            metric_values.append(sum(law @ values(len(law)) for law in laws.values()))
    np.testing.assert_allclose(mixture.probabilities, probabilities, atol=1e-12)
    np.testing.assert_allclose(mixture.values, metric_values, atol=1e-12)


def members_k(free, n):
    """k of the members of `free`, from their mean ranks.

    Each member has the ranks from the k before it on.
    """
    k = [0]
    for mean_rank in n - free.values[:, 3] * (n - 1):
        k.append(round(2 * mean_rank - k[-1] - 1))
    return np.array(k[1:])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("replacement", [False, True])
def test_members_of_a_large_catalogue_are_sums_over_all_ranks(shape, replacement):
    n = 3541
    m = 30
    by_shape = mixtures_of([n], [m], replacement)
    mixture = by_shape[shape]
    k = members_k(by_shape["free"], n)
    assert k[:60].tolist() == list(range(1, 61))
    A = dense(n, m, replacement)
    for row in (0, 1, 3, 59, 100, len(k) - 1):
        law = member(shape, k[row], n, after=k[row - 1] if row else None)
        np.testing.assert_allclose(mixture.probabilities[row], law @ A, atol=1e-9)
        np.testing.assert_allclose(mixture.values[row], law @ values(n), atol=1e-9)


def test_members_of_ten_million_candidates_are_distributions():
    for mixture in mixtures_of([10**7], [500]).values():
        np.testing.assert_allclose(mixture.probabilities.sum(axis=1), 1, rtol=1e-9)
        assert mixture.probabilities.min() >= -1e-15
        assert mixture.values.min() >= 0
        assert mixture.values.max() <= 1 + 1e-9


@pytest.mark.parametrize("shape", SHAPES)
def test_distances_have_the_products_of_scaled_differences(shape):
    """Between members; the shares may add the same to all products."""
    mixture = mixtures_of([300], [40])[shape]
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.ones(41))
    scale = rng.uniform(1, 100, 41)
    distances = mixture.distances(shares, scale)
    products = distances.T @ distances
    differences = (mixture.probabilities - shares) * scale
    expected = differences @ differences.T
    products -= products.mean()
    expected -= expected.mean()
    np.testing.assert_allclose(products, expected, atol=1e-8 * np.abs(expected).max())


def test_similar_m_share_cells_if_there_are_many():
    n = 100
    all_m = np.arange(20, 56)  # 36 * 38.5 cells, more than a thousand
    outcomes, _ = Outcomes.observed(SampledRanks(np.zeros(36, dtype=int), all_m, np.full(36, n)))
    [users] = rank_classes(outcomes)
    ranks = np.arange(1, n + 1)
    expected = []
    for similar in (range(20, 26), range(26, 33), range(33, 42), range(42, 53), range(53, 56)):
        shared = np.zeros((n, similar[0] + 1))
        for m in similar:
            for x in range(m + 1):
                nearest = round(x * similar[0] / m)
                shared[:, nearest] += hypergeom.pmf(x, n - 1, ranks - 1, m) / 36
        expected.append(shared)
    np.testing.assert_allclose(
        mixtures(users.sizes, METRICS)["free"].probabilities, np.hstack(expected), atol=1e-12
    )
    cell_of_outcome, count = cells(users)
    starts = np.cumsum([0, 21, 27, 34, 43])
    assert count == 179
    assert set(cell_of_outcome) == set(starts)  # x = 0 of each m is in the first cell
