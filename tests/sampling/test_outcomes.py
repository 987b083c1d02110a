"""Outcomes of samples: which there are, how they are counted, what they make likely, and what cannot be."""

import re
from fractions import Fraction

import numpy as np
import pytest
from exact_probabilities import chances, exact
from hypothesis import given
from hypothesis import strategies as st

from sampled_metrics.errors import DataError
from sampled_metrics.ranks.sampled import SampledRanks
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes


class TestObserved:
    def test_by_hand(self):
        # (n, m, x) = (9, 4, 2) twice, (9, 4, 0), (9, 3, 2), (8, 4, 2)
        outcomes, which = Outcomes.observed(SampledRanks([2, 0, 2, 2, 2], [4, 4, 3, 4, 4], [9, 9, 9, 9, 8]))
        found = list(zip(outcomes.candidates.tolist(), outcomes.negatives.tolist(), outcomes.x.tolist(), strict=True))
        assert len(outcomes) == 4
        assert sorted(found) == sorted({(9, 4, 2), (9, 4, 0), (9, 3, 2), (8, 4, 2)})
        assert [found[each] for each in which] == [(9, 4, 2), (9, 4, 0), (9, 3, 2), (9, 4, 2), (8, 4, 2)]
        assert outcomes.events.tolist() == [1 + (each == (9, 4, 2)) for each in found]

    @given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 4), st.integers(0, 9)), min_size=1, max_size=30))
    def test_every_event_has_its_own(self, events):
        m, x, extra = np.array(events).T
        x, n = np.minimum(x, m), m + 1 + extra
        outcomes, which = Outcomes.observed(SampledRanks(x, m, n))
        for column, wanted in ((outcomes.x, x), (outcomes.negatives, m), (outcomes.candidates, n)):
            assert column[which].tolist() == wanted.tolist()
        assert np.bincount(which, minlength=len(outcomes)).tolist() == outcomes.events.tolist()
        assert outcomes.events.min() >= 1
        assert len(outcomes) == len(set(zip(x.tolist(), m.tolist(), n.tolist(), strict=True)))

    @pytest.mark.parametrize(
        ("x", "m", "n", "replacement", "message"),
        [
            ([], [], [], False, "there are no ranks to estimate from"),
            ([0, -1], 4, 9, False, "row 2: rank 0 is not from 1 to 5, among the item and 4 negatives"),
            ([0, 5], 4, 9, False, "row 2: rank 6 is not from 1 to 5, among the item and 4 negatives"),
            ([0, 1], [1, 0], 9, False, "row 2: rank 2 is not from 1 to 1, among the item and 0 negatives"),
            ([0, 0], [-1, 0], 9, False, "row 1: negatives must be 0 or more, not -1"),
            ([0, 0], 0, [3, 0], False, "row 2: candidates must be 1 or more, not 0"),
            ([0], 9, 9, False, "row 1: 9 negatives cannot be sampled without replacement from 8 (9 candidates)"),
            ([0], 1, 1, False, "row 1: 1 negative cannot be sampled without replacement from 0 (1 candidates)"),
            ([0], 1, 1, True, "row 1: 1 negative, but no other candidate to sample from"),
            (
                [0, 100, 4],
                100,
                2,
                True,
                "row 3: rank 5 is not possible: with 2 candidates all 100 negatives are the same",
            ),
            (
                [5000, 10],
                5000,
                3,
                True,
                "row 2: rank 11 is not possible: the chance of that, of 5000 negatives drawn from",
            ),
        ],
    )
    def test_refuses_what_cannot_be_in_one_line(self, x, m, n, replacement, message):
        with pytest.raises(DataError, match=f"^{re.escape(message)}"):
            Outcomes.observed(SampledRanks(x, m, n, replacement=replacement))


class TestGroups:
    def test_share_n_and_m(self):
        x, m, n = [2, 0, 2, 1, 2, 0], [4, 4, 3, 4, 4, 3], [9, 9, 9, 9, 8, 9]
        outcomes, _ = Outcomes.observed(SampledRanks(x, m, n))
        found = {(g.candidates, g.negatives): (outcomes.x[g.outcomes].tolist(), g.x.tolist()) for g in outcomes.groups}
        assert {key: sorted(both[0]) for key, both in found.items()} == {(9, 4): [0, 1, 2], (9, 3): [0, 2], (8, 4): [2]}
        assert all(one == other for one, other in found.values())
        assert sorted(np.concatenate([g.outcomes for g in outcomes.groups]).tolist()) == list(range(len(outcomes)))


class TestProbabilities:
    @pytest.mark.parametrize("replacement", [True, False])
    def test_of_a_design(self, replacement):
        outcomes = Outcomes.from_design(SamplingDesign(4, replacement), 9)
        assert outcomes.x.tolist() == [0, 1, 2, 3, 4]
        assert outcomes.events.tolist() == [1] * 5
        [group], ranks = outcomes.groups, np.arange(1.0, 10)
        np.testing.assert_allclose(group.pmf(ranks), chances(9, 4, replacement), atol=1e-14)
        for assumed in (True, False):
            np.testing.assert_allclose(group.pmf(ranks, assumed), chances(9, 4, assumed), atol=1e-14)
        np.testing.assert_allclose(group.pmf(ranks[[6, 2]]), chances(9, 4, replacement)[[6, 2]], atol=1e-14)

    @pytest.mark.parametrize("replacement", [True, False])
    def test_of_mixed_events_is_each_groups_own(self, replacement):
        outcomes, _ = Outcomes.observed(
            SampledRanks([2, 0, 2, 2, 0, 0], [4, 4, 3, 4, 0, 2], [9, 9, 9, 8, 5, 3], replacement=replacement)
        )
        assert len(outcomes.groups) == 5
        for group in outcomes.groups:
            n, m = group.candidates, group.negatives
            rows = exact(n, m, replacement) if m else [[Fraction(1)]] * n
            wanted = [[float(p) for p in row] for row in rows]
            np.testing.assert_allclose(group.pmf(np.arange(1.0, n + 1)), wanted, rtol=1e-12, atol=1e-14)
