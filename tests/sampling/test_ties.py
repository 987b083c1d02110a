"""P(x) with ties, against lists of every sample and of every way to break its ties, in fractions."""

from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb, prod

import numpy as np
import pytest
from scipy import stats

from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.sampling.distributions import SamplingDesign, distribution_over_ties

WITH, WITHOUT = True, False

# (above, tied, candidates, m): small enough that every sample can be listed
SMALL = [(0, 1, 2, 1), (1, 1, 4, 2), (0, 3, 4, 3), (2, 2, 6, 3), (0, 4, 5, 2), (1, 3, 6, 4), (3, 1, 5, 4), (0, 2, 6, 3)]


def places_among(tied, rule):
    """How many of `tied` drawn copies stand above the held-out item, for each order that is equally likely."""
    rivals = tied if rule == "random" else max(tied - 1, 0)  # beats-one: one of them is below, whatever the order
    return [order.index("held-out") for order in permutations(["held-out", *range(rivals)])]


def listed(above, tied, candidates, m, replacement, rule):
    """P(x) by listing every sample of items, and for each the orders of its tied copies and the held-out item."""
    items = ["above"] * above + ["tied"] * tied + ["below"] * (candidates - 1 - above - tied)
    samples = list(product(items, repeat=m) if replacement else combinations(items, m))
    chances = [Fraction(0)] * (m + 1)
    for sample in samples:
        places = places_among(sample.count("tied"), rule)
        for place in places:
            chances[sample.count("above") + place] += Fraction(1, len(samples) * len(places))
    assert sum(chances) == 1
    return [float(chance) for chance in chances]


@pytest.mark.parametrize("rule", ["random", "beats-one"])
@pytest.mark.parametrize("replacement", [WITH, WITHOUT])
class TestEverySampleListed:
    @pytest.mark.parametrize(("above", "tied", "candidates", "m"), SMALL)
    def test_one_event(self, above, tied, candidates, m, replacement, rule):
        ours = distribution_over_ties([above], [tied], [candidates], SamplingDesign(m, replacement), rule)
        wanted = listed(above, tied, candidates, m, replacement, rule)
        np.testing.assert_allclose(ours, [wanted], rtol=1e-12, atol=1e-15)

    def test_many_events_at_once(self, replacement, rule):
        events = [(1, 1, 4), (0, 0, 6), (0, 5, 6), (5, 0, 6), (2, 2, 6), (0, 2, 5), (4, 1, 6), (0, 1, 4)]
        ours = distribution_over_ties(*np.array(events).T, SamplingDesign(3, replacement), rule)
        wanted = [listed(*event, 3, replacement, rule) for event in events]
        np.testing.assert_allclose(ours, wanted, rtol=1e-12, atol=1e-15)


BELOW_AND_ABOVE_THE_SWITCH = [(3, 8, 200), (190, 8, 200), (3, 9, 200), (190, 9, 200), (0, 64, 200), (0, 199, 200)]
BELOW_AND_ABOVE_THE_SWITCH += [(7, 1000, 3541), (3000, 2, 3541)]


class TestManyTies:
    @pytest.mark.parametrize("m", [1, 10, 100])
    @pytest.mark.parametrize(("above", "tied", "candidates"), BELOW_AND_ABOVE_THE_SWITCH)
    def test_without_replacement_in_whole_numbers(self, above, tied, candidates, m):
        pool = candidates - 1
        of_x = [sum(comb(r, x) * comb(pool - r, m - x) for r in range(above, above + tied + 1)) for x in range(m + 1)]
        wanted = [float(Fraction(ways, comb(pool, m) * (tied + 1))) for ways in of_x]
        ours = distribution_over_ties([above], [tied], [candidates], SamplingDesign(m))[0]
        np.testing.assert_allclose(ours, wanted, atol=1e-12)

    @pytest.mark.parametrize("replacement", [WITH, WITHOUT])
    @pytest.mark.parametrize(("above", "tied", "candidates"), BELOW_AND_ABOVE_THE_SWITCH)
    def test_one_beaten_is_the_sum_over_what_is_drawn(self, above, tied, candidates, replacement):
        m, pool = 12, candidates - 1
        shares = [above, tied, pool - above - tied]
        wanted = np.zeros(m + 1)
        for better in range(m + 1):
            for equal in range(m + 1 - better):
                drawn = [better, equal, m - better - equal]
                if replacement:
                    chance = stats.multinomial.pmf(drawn, m, np.array(shares) / pool)
                else:
                    chance = Fraction(prod(map(comb, shares, drawn)), comb(pool, m))
                places = max(equal, 1)
                wanted[better : better + places] += float(chance) / places
        ours = distribution_over_ties([above], [tied], [candidates], SamplingDesign(m, replacement), "beats-one")[0]
        np.testing.assert_allclose(ours, wanted, atol=1e-12)


class TestRefusals:
    @pytest.mark.parametrize("tied", [0, 3])
    def test_an_unknown_rule_whether_there_are_ties_or_not(self, tied):
        with pytest.raises(ConfigError, match="unknown tie rule 'loses-one'; it may be random, beats-one"):
            distribution_over_ties([1], [tied], [9], SamplingDesign(3), "loses-one")

    def test_no_negative_to_draw(self):
        with pytest.raises(DataError, match="no negative can be drawn"):
            distribution_over_ties([0], [0], [1], SamplingDesign(2, WITH))
