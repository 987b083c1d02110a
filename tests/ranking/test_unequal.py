"""Negatives by popularity: against samples of items, with the published ranks of MovieLens 1M as the truth."""

from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from sampled_metrics.errors import DataError
from sampled_metrics.estimators import estimator
from sampled_metrics.metrics.held_out import metric
from sampled_metrics.ranking.unequal import hansen_hurwitz_rank, thin
from sampled_metrics.ranks.table import read_ranks
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.sampling.sampled_ranks import SampledRanks

PUBLISHED = Path(__file__).resolve().parents[2] / "published/ml-1m"
USERS, M = 400, 500


def popularity(pool, better, rng):
    """Chances of a user's negatives, those above the held-out item first; popular items tend to be above it."""
    q = rng.permutation(np.linspace(1, 6, pool))
    q[:better] *= 1.6
    return q / q.sum()


@cache
def samples():
    """A weighted sample of M negatives, item by item, of some users of the published ranks.

    Returns:
        rank and n, (users,); whether each drawn item is above and its q, (users, M); q_min, (users,).
    """
    table, rng = read_ranks(PUBLISHED / "X.csv.gz"), np.random.default_rng(1)
    some = np.flatnonzero(table.tied == 0)
    some = some[:: len(some) // USERS][:USERS]
    above, chance, smallest = np.empty((USERS, M), dtype=bool), np.empty((USERS, M)), np.empty(USERS)
    for user, (better, n) in enumerate(zip(table.above[some], table.candidates[some], strict=True)):
        q = popularity(n - 1, better, rng)
        items = rng.choice(n - 1, size=M, p=q)
        above[user], chance[user], smallest[user] = items < better, q[items], q.min()
    return table.above[some] + 1, table.candidates[some], above, chance, smallest


REPEATED = 400


@cache
def of_one_user():
    """Many weighted samples of one user: 60 negatives, 15 of them above the held-out item."""
    rng = np.random.default_rng(2)
    q = popularity(60, 15, rng)
    items = np.array([rng.choice(60, size=30, p=q) for _ in range(REPEATED * 10)])
    return items < 15, q[items], q.min()


class TestThin:
    def test_keeps_a_binomial_number(self):
        above, chance, smallest = of_one_user()
        _, m = thin(above, chance, smallest, np.random.default_rng(3))
        kept = 60 * smallest  # Σ q_j · q_min / q_j
        expected = stats.binom.pmf(np.arange(31), 30, kept) * len(m)
        assert chi_square(m, expected) > 0.001

    def test_what_is_kept_is_uniform(self):
        above, chance, smallest = of_one_user()
        x, m = thin(above, chance, smallest, np.random.default_rng(3))
        for size in np.flatnonzero(np.bincount(m) > 200):
            of_size = x[m == size]
            expected = stats.binom.pmf(np.arange(size + 1), size, 15 / 60) * len(of_size)
            assert chi_square(of_size, expected) > 0.001

    def test_the_comparison_tells_that_what_was_drawn_is_not(self):
        above, _, _ = of_one_user()
        expected = stats.binom.pmf(np.arange(31), 30, 15 / 60) * len(above)
        assert chi_square(above.sum(axis=1), expected) < 1e-10

    def test_mean_size_of_the_published_users(self):
        _, n, above, chance, smallest = samples()
        sizes = np.array([thin(above, chance, smallest, np.random.default_rng(seed))[1] for seed in range(20)])
        p = (n - 1) * smallest
        # the draws are the same in all runs: their deviation and that of the thinning of a run together
        error = sqrt((M * p * (1 - p)).sum()) / USERS
        assert abs(sizes.mean() - (M * p).mean()) < 4 * error

    def test_x_given_m_of_the_published_users(self):
        rank, n, above, chance, smallest = samples()
        x, m = thin(above, chance, smallest, np.random.default_rng(4))
        theta = (rank - 1) / (n - 1)
        z = (x - m * theta).sum() / sqrt((m * theta * (1 - theta)).sum())
        assert abs(z) < 4
        spread = ((x - m * theta) ** 2).sum() / (m * theta * (1 - theta)).sum()
        assert spread == pytest.approx(1, abs=4 * sqrt(2 / USERS))
        untouched = (above.sum(axis=1) - M * theta).sum() / sqrt((M * theta * (1 - theta)).sum())
        assert untouched > 50

    def test_listed_in_fractions(self):
        # q = 1/2, 1/3, 1/6, the first two above; two draws: P(x, m) over every pair of draws and of coins
        q, above = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], [True, True, False]
        wanted = {}
        for drawn in product(range(3), repeat=2):
            for coins in product([True, False], repeat=2):
                chance, end = (
                    Fraction(1),
                    (sum(above[j] and kept for j, kept in zip(drawn, coins, strict=True)), sum(coins)),
                )
                for j, kept in zip(drawn, coins, strict=True):
                    chance *= q[j] * (q[2] / q[j] if kept else 1 - q[2] / q[j])
                wanted[end] = wanted.get(end, 0) + chance
        for (x, m), chance in wanted.items():  # a uniform sample of a size that is binomial
            size = comb(2, m) * Fraction(1, 2) ** 2
            assert chance == size * comb(m, x) * Fraction(2, 3) ** x * Fraction(1, 3) ** (m - x)
        rng = np.random.default_rng(5)
        items = rng.choice(3, size=(60_000, 2), p=[float(each) for each in q])
        x, m = thin(np.array(above)[items], np.array([float(each) for each in q])[items], 1 / 6, rng)
        ends = sorted(wanted)
        observed = [((x == end[0]) & (m == end[1])).sum() for end in ends]
        assert stats.chisquare(observed, [60_000 * float(wanted[end]) for end in ends]).pvalue > 0.001

    def test_equal_probabilities_keep_everything(self):
        above = np.random.default_rng(1).random((50, 20)) < 0.3
        x, m = thin(above, np.full((50, 20), 1 / 70), 1 / 70, np.random.default_rng(2))
        assert m.tolist() == [20] * 50
        assert x.tolist() == above.sum(axis=1).tolist()

    def test_may_keep_nothing_and_mle_takes_that(self):
        x, m = thin([[True, False]] * 4, [[0.9, 0.09]] * 4, 1e-9, np.random.default_rng(1))
        assert m.tolist() == [0] * 4
        outcomes, which = Outcomes.observed(SampledRanks(x, m, 10, replacement=True))
        [estimate] = estimator("mle").fit(outcomes, [metric("auc")]).estimate(np.bincount(which))
        assert estimate == pytest.approx(0.5)  # nothing was seen: every rank is as likely

    def test_a_smallest_probability_for_each_event(self):
        above, chance = [[True] * 400, [True] * 400], [[0.01] * 400, [0.01] * 400]
        _, m = thin(above, chance, [0.01, 0.005], np.random.default_rng(1))
        assert m[0] == 400
        assert abs(m[1] - 200) < 40

    def test_same_seed_same_sample(self):
        above, chance, smallest = of_one_user()
        one, other = (thin(above, chance, smallest, np.random.default_rng(7)) for _ in range(2))
        assert [column.tolist() for column in one] == [column.tolist() for column in other]

    def test_one_event_as_a_row(self):
        x, m = thin([True, False, True], [0.2, 0.2, 0.2], 0.2, np.random.default_rng(1))
        assert (x.tolist(), m.tolist()) == ([2], [3])


class TestHansenHurwitz:
    def test_by_hand(self):
        # draws: an item of q = 1/4 above, one of 1/2 below, one of 1/8 above: 1 + (4 + 0 + 8) / 3
        assert hansen_hurwitz_rank([[True, False, True]], [[0.25, 0.5, 0.125]]).tolist() == [5]

    def test_unbiased_over_every_sample_listed(self):
        q, better = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(1, 8)], 3
        mean = 0.0
        for drawn in product(range(4), repeat=3):
            chance = float(np.prod([float(q[j]) for j in drawn]))
            mean += chance * hansen_hurwitz_rank([[j < better for j in drawn]], [[float(q[j]) for j in drawn]])[0]
        assert mean == pytest.approx(better + 1)

    def test_unbiased_for_the_rank_of_an_event(self):
        above, chance, _ = of_one_user()
        found = hansen_hurwitz_rank(above, chance)
        assert abs(found.mean() - 16) < 4 * found.std() / sqrt(len(found))

    def test_unbiased_for_the_mean_rank_and_auc_of_the_published_users(self):
        rank, n, above, chance, _ = samples()
        found = hansen_hurwitz_rank(above, chance)
        off = found - rank
        assert abs(off.mean()) < 4 * off.std() / sqrt(USERS)
        auc, exact = ((n - each) / (n - 1) for each in (found, rank))
        assert abs((auc - exact).mean()) < 4 * (auc - exact).std() / sqrt(USERS)

    def test_equal_probabilities_scale_the_share_up(self):
        above = np.random.default_rng(1).random((50, 20)) < 0.3
        found = hansen_hurwitz_rank(above, np.full((50, 20), 1 / 70))
        np.testing.assert_allclose(found, 1 + 70 * above.mean(axis=1), rtol=1e-12)

    def test_nothing_above_is_the_first_rank(self):
        assert hansen_hurwitz_rank([[False] * 5], [[1e-300] * 5]).tolist() == [1]


def chi_square(values, expected):
    """P value of a chi-square test of counts of 0, 1, …; what is rare counted together."""
    observed = np.bincount(values, minlength=len(expected))
    often = expected > 5
    observed, expected = (np.append(each[often], each[~often].sum()) for each in (observed, expected))
    expected = expected / expected.sum() * observed.sum()
    return stats.chisquare(observed[expected > 0], expected[expected > 0]).pvalue


class TestTruth:
    LABELS = ("recall@50", "ndcg@50", "ap", "auc")

    def found(self):
        rank, n, above, chance, smallest = samples()
        metrics = [metric(label) for label in self.LABELS]
        truth = np.array([each.of_rank(rank, n).mean() for each in metrics])
        x, m = thin(above, chance, smallest, np.random.default_rng(8))
        on = {}
        for what, (of_what, size, name) in {
            "thinned": (x, m, "mle"),
            "unthinned": (above.sum(axis=1), np.full(USERS, M), "mle"),
            "uncorrected": (above.sum(axis=1), np.full(USERS, M), "uncorrected"),
        }.items():
            outcomes, which = Outcomes.observed(SampledRanks(of_what, size, n, replacement=True))
            fitted = estimator(name).fit(outcomes, metrics)
            on[what] = fitted.estimate(np.bincount(which, minlength=len(outcomes)))
        return truth, on

    def test_mle_on_what_is_kept_is_close_and_the_others_are_not(self):
        truth, on = self.found()
        recall, auc = self.LABELS.index("recall@50"), self.LABELS.index("auc")
        # recall@50 of 400 users varies by .02 from one set of users to another
        assert abs(on["thinned"][recall] - truth[recall]) < 0.06
        assert abs(on["thinned"][auc] - truth[auc]) < 0.01
        for what in ("unthinned", "uncorrected"):
            assert abs(on[what][auc] - truth[auc]) > 4 * abs(on["thinned"][auc] - truth[auc])
            assert abs(on[what][auc] - truth[auc]) > 0.03
        assert abs(on["uncorrected"][recall] - truth[recall]) > 0.3
        assert abs(on["unthinned"][recall] - truth[recall]) > 1.5 * abs(on["thinned"][recall] - truth[recall])


class TestRefusals:
    def test_negatives_that_are_never_drawn(self):
        for smallest in (0, 0.0, [0.1, 0.0], -0.1, np.nan):
            with pytest.raises(DataError, match=r"never drawn.*nothing can correct") as refused:
                thin([[True, False]] * 2, [[0.5, 0.3]] * 2, smallest, np.random.default_rng(1))
            assert "\n" not in str(refused.value)

    def test_names_the_event(self):
        with pytest.raises(DataError, match=r"^event 2: has negatives that are never drawn"):
            thin([[True, False]] * 2, [[0.5, 0.3]] * 2, [0.1, 0.0], np.random.default_rng(1))

    @pytest.mark.parametrize("wrong", [0.0, -0.2, 1.2, np.nan, np.inf])
    def test_a_drawn_negative_with_a_chance_that_cannot_be(self, wrong):
        above, chance = [[True, False]] * 2, [[0.5, 0.3], [0.5, wrong]]
        with pytest.raises(DataError, match=r"^event 2: has a probability outside \(0, 1\]$"):
            hansen_hurwitz_rank(above, chance)
        with pytest.raises(DataError, match=r"^event 2: has a probability outside \(0, 1\]$"):
            thin(above, chance, 0.1, np.random.default_rng(1))

    def test_one_below_the_smallest(self):
        with pytest.raises(DataError, match=r"^event 1: has drawn a negative of less than the smallest probability$"):
            thin([[True, False]], [[0.5, 0.3]], 0.4, np.random.default_rng(1))

    def test_rounding_of_the_smallest_is_not_refused(self):
        thin([[True, False]], [[0.3 * (1 - 1e-15), 0.3]], 0.3, np.random.default_rng(1))

    @pytest.mark.parametrize(
        ("above", "chance"), [([[True, False]], [[0.5]]), ([[]], [[]]), ([[True], [False]], [[0.5, 0.5]])]
    )
    def test_shapes_that_differ(self, above, chance):
        with pytest.raises(DataError, match="must have the same shape"):
            hansen_hurwitz_rank(above, chance)
        with pytest.raises(DataError, match="must have the same shape"):
            thin(above, chance, 0.1, np.random.default_rng(1))
