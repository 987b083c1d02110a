"""Mixtures: what their members show, by sums over all ranks and in closed form."""

import numpy as np
import pytest
from exact_probabilities import dense
from scipy import stats

from sampled_metrics.estimators.shapes import SHAPES, mixtures
from sampled_metrics.metrics.metric import metric
from sampled_metrics.ranks.sampled import SampledRanks
from sampled_metrics.sampling.outcomes import Outcomes, rank_classes

LABELS = ("recall@3", "ndcg@3", "ap", "auc")
METRICS = tuple(metric(label) for label in LABELS)


def class_of(n, m, replacement=False):
    """The class of users with these n and m, of whom each shows x = 0."""
    n, m = np.broadcast_arrays(n, m)
    outcomes, _ = Outcomes.observed(SampledRanks(np.zeros(len(m), dtype=int), m, n, replacement))
    (users,) = rank_classes(outcomes)
    return users


def shown(n, m, ranks, replacement):
    """P(x | rank) by scipy, (ranks, m + 1)."""
    x, better = np.arange(m + 1), np.asarray(ranks)[:, np.newaxis] - 1
    law = stats.binom(m, better / (n - 1)) if replacement else stats.hypergeom(n - 1, better, m)
    return law.pmf(x)


def values(n, ranks):
    r = np.asarray(ranks)
    return np.stack((r <= 3, (r <= 3) / np.log2(r + 1), 1 / r, (n - r) / (n - 1)), axis=1)


def member(shape, k, n, after=None):
    """A member by its definition, as (n,) probabilities; the last of `convex` has k = None.

    Members that stand for a single rank k have all ranks above `after`, by default k - 1.
    """
    ranks, half = np.arange(1, n + 1), n // 2
    if k is None:
        of_shape = ranks <= half
    elif shape == "free" or min(k, n) > half:
        of_shape = (ranks <= min(k, n)) & (ranks > (min(k, n) - 1 if after is None else after))
    else:
        of_shape = {"decreasing": ranks <= k, "convex": np.maximum(k + 1 - ranks, 0)}[shape]
    return of_shape / of_shape.sum()


def members(shape, n, largest):
    """All members, (members, n), where the class has n up to `largest`."""
    return np.stack([member(shape, k, n) for k in [*range(1, largest + 1), *[None] * (shape == "convex")]])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("replacement", [False, True])
class TestMembers:
    @pytest.mark.parametrize("m", [1, 5, 11])
    def test_are_sums_over_all_ranks(self, shape, replacement, m):
        found = mixtures(class_of([12, 12], [m, m], replacement).sizes, METRICS)[shape]
        each = members(shape, 12, 12)
        np.testing.assert_allclose(found.probabilities, each @ shown(12, m, np.arange(1, 13), replacement), atol=1e-12)
        np.testing.assert_allclose(found.values, each @ values(12, np.arange(1, 13)), atol=1e-12)

    def test_of_users_with_other_n_and_m_are_those_of_the_smallest_and_of_the_largest_n(self, shape, replacement):
        n, m = [12, 10, 12, 11, 11], [3, 3, 7, 7, 7]
        found = mixtures(class_of(n, m, replacement).sizes, METRICS)[shape]
        chances, of_metrics = [], []
        for smallest_of_3, smallest_of_7 in ((10, 11), (12, 12)):
            of_m, of_values = [], 0
            for candidates, negatives, share in ((smallest_of_3, 3, 2 / 5), (smallest_of_7, 7, 3 / 5)):
                each, ranks = share * members(shape, candidates, 12), np.arange(1, candidates + 1)
                of_m.append(each @ shown(candidates, negatives, ranks, replacement))
                of_values = of_values + each @ values(candidates, ranks)
            chances.append(np.hstack(of_m))
            of_metrics.append(of_values)
        np.testing.assert_allclose(found.probabilities, np.vstack(chances), atol=1e-12)
        np.testing.assert_allclose(found.values, np.vstack(of_metrics), atol=1e-12)

    def test_of_a_large_catalogue_are_sums_over_all_ranks(self, shape, replacement):
        n, m, ranks = 3541, 30, np.arange(1, 3542)
        found = mixtures(class_of([n], [m], replacement).sizes, METRICS)[shape]
        of_ranks, of_metrics = dense(n, m, replacement), values(n, ranks)
        chosen = {0: 1, 1: 2, 2: 3, 3: 4, 59: 60}  # the first 60 members are those of k = 1 … 60
        last, k_of = len(found.values) - 1 - (shape == "convex"), sizes(mixtures(class_of([n], [m]).sizes, METRICS), n)
        for at, k in [*chosen.items(), (last, n), (len(found.values) - 1, None if shape == "convex" else n)]:
            probabilities = member(shape, k, n, after=k_of[last - 1] if at >= last else None)
            np.testing.assert_allclose(found.probabilities[at], probabilities @ of_ranks, atol=1e-9)
            np.testing.assert_allclose(found.values[at], probabilities @ of_metrics, atol=1e-9)

    @pytest.mark.parametrize(("n", "m"), [(2, 1), (50, 49), (3541, 100), (10**7, 500)])
    def test_are_distributions(self, shape, replacement, n, m):
        found = mixtures(class_of([n], [m], replacement).sizes, METRICS)[shape]
        np.testing.assert_allclose(found.probabilities.sum(axis=1), 1, rtol=1e-9)
        assert found.probabilities.min() >= -1e-15
        assert found.values.min() >= 0
        assert found.values.max() <= 1 + 1e-9


@pytest.mark.parametrize(("n", "m"), [(12, 5), (3541, 20), (3541, 100), (10**6, 50)])
def test_uniform_ones_have_a_closed_form(n, m):
    """The (x + 1)-th best of m + 1 items that are drawn is among the best k."""
    found = mixtures(class_of([n], [m]).sizes, METRICS)
    k, x = sizes(found, n), np.arange(m + 1)
    k = k[k <= n // 2]
    assert len(k) > n / 3 or len(k) > 100
    expected = n / ((m + 1) * k[:, np.newaxis]) * stats.hypergeom(n, k[:, np.newaxis], m + 1).sf(x)
    np.testing.assert_allclose(found["decreasing"].probabilities[: len(k)], expected, rtol=1e-6, atol=1e-9)


def sizes(found, n):
    """k of the members, from the mean ranks of `free`: each has the ranks from the k before it on."""
    k = [0]
    for mean in n - found["free"].values[:, 3] * (n - 1):
        k.append(round(2 * mean - k[-1] - 1))
    return np.array(k[1:])


@pytest.mark.parametrize("shape", SHAPES)
def test_distances_have_the_products_of_scaled_differences(shape):
    """Between members; the shares may add the same to all products."""
    found = mixtures(class_of([300], [40]).sizes, METRICS)[shape]
    rng = np.random.default_rng(1)
    shares, scale = rng.dirichlet(np.ones(41)), rng.uniform(1, 100, 41)
    differences = (found.probabilities - shares) * scale
    products, expected = (each - each.mean() for each in (
        found.distances(shares, scale).T @ found.distances(shares, scale), differences @ differences.T
    ))  # fmt: skip
    np.testing.assert_allclose(products, expected, atol=1e-8 * np.abs(expected).max())
