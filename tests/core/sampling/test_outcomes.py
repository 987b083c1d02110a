"""Outcomes of samples, classes of users with means over them, and sums over nodes of ranks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampled_metrics.core.metrics import metric
from sampled_metrics.core.ranks.sampled import SampledRanks
from sampled_metrics.core.sampling.distributions import SamplingDesign, pmf
from sampled_metrics.core.sampling.outcomes import FACTOR, Outcomes, rank_classes, rank_nodes
from sampled_metrics.errors import DataError


def observed(x, m, n, **options):
    return Outcomes.observed(SampledRanks(x, m, n, **options))[0]


@given(
    st.lists(
        st.tuples(st.integers(1, 4), st.integers(0, 4), st.integers(0, 9)), min_size=1, max_size=30
    )
)
def test_every_event_has_its_outcome_and_every_outcome_its_group(events):
    m, x, extra = np.array(events).T
    x = np.minimum(x, m)
    n = m + 1 + extra
    events = np.stack((x, m, n))
    outcomes, which = Outcomes.observed(SampledRanks(*events))
    columns = np.stack((outcomes.x, outcomes.negatives, outcomes.candidates))
    assert columns[:, which].tolist() == events.tolist()
    assert columns.shape == np.unique(events, axis=1).shape
    assert outcomes.events.tolist() == np.bincount(which).tolist()
    assert len(outcomes.groups) == len(np.unique(events[1:], axis=1).T)
    in_groups = np.concatenate([group.outcomes for group in outcomes.groups])
    assert sorted(in_groups.tolist()) == list(range(len(outcomes)))
    for group in outcomes.groups:
        x_of_group, m_of_group, n_of_group = columns[:, group.outcomes]
        assert x_of_group.tolist() == group.x.tolist()
        assert (m_of_group == group.negatives).all()
        assert (n_of_group == group.candidates).all()
        assert group.events == outcomes.events[group.outcomes].sum()


@pytest.mark.parametrize(
    ("x", "m", "n", "says"),
    [
        ([], [], [], "no ranks"),
        ([0, -1], 4, 9, "row 2: rank 0"),
        ([0, 1], [1, 0], 9, "row 2: rank 2"),
        ([0, 0], 0, [3, 0], "row 2: candidates"),
    ],
)
def test_refuses_what_cannot_be(x, m, n, says):
    with pytest.raises(DataError, match=says):
        observed(x, m, n)


@pytest.mark.parametrize(
    ("smallest_share", "wanted"),
    [
        # from the largest: 100 down to 80, 79 down to 64 (63.2), 63
        (0.0, [[100, 90, 80], [79, 64], [63]]),
        # one of seven users is no class of its own
        (0.2, [[100, 90, 80], [79, 64, 63]]),
    ],
)
def test_classes_by_hand(smallest_share, wanted):
    outcomes = observed([0] * 7, 2, [80, 100, 63, 79, 64, 90, 100])
    classes = rank_classes(outcomes, smallest_share)
    assert [[group.candidates for group in users.groups] for users in classes] == wanted
    assert [users.candidates for users in classes] == [largest for largest, *_ in wanted]
    assert FACTOR == 1.25


@given(st.lists(st.integers(2, 400), min_size=1, max_size=40))
def test_every_outcome_is_in_one_class_and_classes_are_as_wide_as_they_may(n):
    outcomes = observed(np.zeros(len(n), dtype=int), 1, n)
    classes = rank_classes(outcomes)
    in_classes = np.concatenate([users.outcomes for users in classes])
    assert sorted(in_classes.tolist()) == list(range(len(outcomes)))
    largest_above = np.inf
    for users in classes:
        candidates = outcomes.candidates[users.outcomes]
        assert users.candidates == candidates.max() <= 1.25 * candidates.min()
        # the largest of this class would not fit into the one above
        assert largest_above > 1.25 * candidates.max()
        largest_above = candidates.max()


X = [0, 0, 2, 1, 3, 0, 2, 1]
M = [4, 4, 4, 2, 3, 0, 3, 2]
N = [8, 10, 8, 10, 9, 8, 9, 8]
RANKS = np.arange(1.0, 11)


def test_the_values_of_a_class_are_means_over_the_users_whose_n_has_the_rank():
    [users] = rank_classes(observed(X, M, N))
    ours = users.values(tuple(metric(label) for label in ("ap", "recall@9", "auc")), RANKS)
    wanted = []
    for r in RANKS:
        values_of_users = [(1 / r, r <= 9, (n - r) / (n - 1)) for n in N if r <= n]
        wanted.append(np.mean(values_of_users, axis=0))
    np.testing.assert_allclose(ours, wanted, rtol=1e-14, atol=1e-16)


CUTOFFS = (1, 7, 50, 599, 3000, 12_345)


def functions(ranks, n):
    """Functions of which metrics are made, (ranks, functions)."""
    discount = 1 / np.log2(ranks + 1)
    cuts = [ranks <= k for k in CUTOFFS]
    cut_discounts = [discount * cut for cut in cuts]
    return np.stack([0 * ranks + 1, 1 / ranks, discount, n - ranks, *cuts, *cut_discounts], axis=1)


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize(("n", "m"), [(600, 1), (3541, 1000), (20_000, 10)])
def test_sums_over_nodes_are_those_over_all_ranks(n, m, replacement):
    design = SamplingDesign(m, replacement)
    grid = rank_nodes(n, design, CUTOFFS)
    assert (grid.ranks[0], grid.ranks[-1]) == (1, n)
    assert (np.diff(grid.ranks) > 0).all()
    assert (grid.weights > 0).all()
    ranks = np.arange(1.0, n + 1)
    f = functions(ranks, n)
    f_of_nodes = functions(grid.ranks, n)
    np.testing.assert_allclose(grid.weights @ f_of_nodes, f.sum(axis=0), rtol=1e-12)

    x = np.unique(np.linspace(0, m, 9).astype(int))
    chances_of_x = pmf(ranks - 1, n - 1, design, x)
    at_nodes = pmf(grid.ranks - 1, n - 1, design, x)
    weighted = grid.weights[:, np.newaxis] * at_nodes
    for ours, wanted in (
        (weighted.sum(axis=0), chances_of_x.sum(axis=0)),
        (weighted.T @ at_nodes, chances_of_x.T @ chances_of_x),
        (weighted.T @ f_of_nodes, chances_of_x.T @ f),
    ):
        np.testing.assert_allclose(ours, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())


def test_nodes_of_a_class_are_those_of_its_largest_n_and_m():
    [users] = rank_classes(observed([0, 0, 0], [3, 50, 9], [900, 1000, 1000]))
    nodes = users.nodes((metric("ap"), metric("recall@77")))
    assert len(nodes.ranks) < 1000
    assert nodes.weights.sum() == pytest.approx(1000)
    for end in (77, 900):
        assert nodes.weights @ (nodes.ranks <= end) == pytest.approx(end, rel=1e-12)
