"""How many negatives and users it takes: each m against all others, and the number of users by simulation."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from read_and import compare, expect, plan
from scipy import stats

import sampled_metrics as sm
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators import linear_estimator
from sampled_metrics.evaluation.pilot_samples import pilots_that_fit
from sampled_metrics.inference.intervals import IntervalOptions, evaluated, linear, uncertainty
from sampled_metrics.metrics.metric import metric as metric_of
from sampled_metrics.ranks.sampled import SampledRanks
from sampled_metrics.sampling.design import SamplingDesign

ROOT = Path(__file__).resolve().parents[2]

N = 300


def ranks(rng, users, shift):
    return (1 + rng.geometric(1 / 40, size=users) + shift).clip(1, N)


RNG = np.random.default_rng(12)
A = ranks(RNG, 400, 2)
B = np.where(RNG.random(400) < 0.8, ranks(RNG, 400, -2), N)  # better at the top, and sometimes hopeless


def chance(negatives, label, a=A, b=B, metric="recall@10", replacement=False):
    """Of the right order, from the two moments of each recommender, which `expect` gives."""
    found = expect(
        {"A": a, "B": b},
        negatives=negatives,
        metrics=[metric],
        candidates=N,
        estimators=[label],
        replacement=replacement,
    ).set_index("recommender")
    sign = np.sign(found["exact"]["B"] - found["exact"]["A"])
    gap = sign * (found["expected"]["B"] - found["expected"]["A"])
    deviation = np.hypot(*found["deviation"])
    if label in ("uncorrected", "rank-estimate") and metric == "recall@10":  # hits, which can tie
        return right_by_convolution(*((a, b) if sign > 0 else (b, a)), N, negatives, label, points=1)
    return stats.norm.cdf(gap / deviation) if deviation > 0 else float(gap > 0)


def weights(label, m, n, metric="recall@10"):
    """(m + 1,) weights of an estimator."""
    return linear_estimator(label).checked_weights(SamplingDesign(m), np.array([n]), (metric_of(metric),))[0, 0]


def right_by_convolution(worse, better, n, m, label, points=60):
    """P(sum > 0) of the users' gains, on a grid in which the largest weight is `points` steps.

    A weight between two points is split between them, and half of P(sum = 0) counts then.
    """
    w, x = weights(label, m, n), np.arange(m + 1)
    size = 2 ** int(np.ceil(np.log2(2 * 2 * len(better) * points + 2)))
    spectrum, are_hits = np.ones(size // 2 + 1, dtype=complex), len(np.unique(w)) == 2
    for sign, ranks in ((1, better), (-1, worse)):
        at = np.round(sign * w * points / np.abs(w).max(), 9)
        low = np.floor(at).astype(int)
        on_grid = np.zeros((m + 1, size))
        on_grid[x, low % size] += 1 - (at - low)
        on_grid[x, (low + 1) % size] += at - low
        pmf = stats.hypergeom.pmf(x, n - 1, ranks[:, np.newaxis] - 1, m)
        spectrum *= np.fft.rfft(pmf @ on_grid, axis=1).prod(axis=0)
    found = np.fft.irfft(spectrum, size)
    return found[1 : size // 2].sum() + (0 if are_hits else found[0] / 2)


class TestSmallest:
    """Against every m, with chances by convolution."""

    @pytest.mark.parametrize(
        ("label", "users", "probability"),
        [("rank-estimate", 20, 0.8), ("uncorrected", 30, 0.9), ("bv-0.1", 55, 0.95)],
    )
    def test_is_that_from_which_on_all_are_enough(self, label, users, probability):
        rng = np.random.default_rng([4, users])
        n = 70
        worse = np.minimum(5 + rng.geometric(1 / 15, size=users), n)
        better = np.where(rng.random(users) < 0.7, rng.geometric(1 / 8, size=users), rng.integers(35, n, size=users))
        better = np.minimum(better, n)
        assert (better <= 10).mean() > (worse <= 10).mean()
        row = plan(worse, better, estimators=label, candidates=n, probability=probability).iloc[0]
        chances = {m: right_by_convolution(worse, better, n, m, label) for m in range(1, n)}
        off = 1e-3 if label == "bv-0.1" else 1e-9  # its weights lie between the points of a grid

        def smallest(least):
            return 1 + max(m for m, chance in chances.items() if chance < least)

        assert 1 < smallest(probability - off) <= row["negatives"] <= smallest(probability + off)
        assert row["probability"] == pytest.approx(chances[row["negatives"]], abs=0.01)


class TestTies:
    """A tie orders nothing: the chance that is stated is that of the order, on users who are hit or not."""

    @pytest.mark.parametrize("users", [60, pytest.param(300, marks=pytest.mark.slow), 3000])
    def test_are_no_right_order(self, users):
        rng = np.random.default_rng([6, users])
        worse = 1 + rng.geometric(1 / 30, size=users).clip(1, 199)
        better = np.where(rng.random(users) < 5 / users**0.5, worse // 2 + 1, worse)
        table = plan(worse, better, candidates=200, estimators="uncorrected", probability=0.9)
        m, stated = int(table["negatives"][0]), table["probability"][0]
        hits = [
            (rng.hypergeometric(each - 1, 200 - each, m, size=(1000, users)) < 10).sum(axis=1)
            for each in (worse, better)
        ]
        assert (hits[0] == hits[1]).mean() > 0.01
        assert stated >= 0.9
        assert (hits[1] > hits[0]).mean() == pytest.approx(stated, abs=4 * np.sqrt(0.09 / 1000))

    def test_of_the_pilot_of_the_documentation(self):
        """The m of X and Z gives the right order in .95 of 3,000 samples; their hits tie in 2 %."""
        x, z = (pd.read_csv(f"docs/examples/pilot-{name}.csv")["rank"].to_numpy() for name in "xz")
        table = plan(x, z, candidates=500, estimators="uncorrected")
        rng, m = np.random.default_rng(7), int(table["negatives"][0])
        hits = [
            np.sum([rng.hypergeometric(r - 1, 500 - r, m, size=3000) < 10 for r in each], axis=0) for each in (x, z)
        ]
        assert (hits[1] > hits[0]).mean() == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / 3000))
        assert table["probability"][0] == pytest.approx((hits[1] > hits[0]).mean(), abs=3 * np.sqrt(0.05 / 3000))


class TestPilot:
    """What the pilot decides, and what it does not."""

    @pytest.mark.parametrize("swapped", [False, True])
    def test_that_is_undecided_states_no_order(self, swapped):
        """9 users hit by new only and 6 by old only: p = .6 by the sign test."""
        old, new = np.full(60, 50), np.full(60, 50)
        old[:6], new[6:15] = 1, 1
        a, b, names = (new, old, ("new", "old")) if swapped else (old, new, ("old", "new"))
        said = plan(a, b, candidates=100, estimators="uncorrected", names=names).remarks[0]
        found = compare(old, new, candidates=100, metrics="recall@10").iloc[0]
        assert found["conclusion"] == "undecided"
        assert said == (
            "By the exact Recall@10, the pilot does not decide between old and new. The difference (new - old) is "
            f"+0.0500, with a 95 % interval of {found['low']:+.4f} to {found['high']:+.4f} that includes 0 "
            f"(p = {found['p_value']:.2g}). The plan takes new as the better one, by as much as in the pilot. A "
            "smaller true difference takes more, and the true order may be the other one."
        )

    def test_of_one_user_shows_no_order(self):
        said = plan([40], [2], candidates=50, estimators="uncorrected").remarks[0]
        assert said.startswith("By the exact Recall@10, one user shows no order of the population. B has the higher")


class TestConclusive:
    """The chance that `compare` concludes, with users and negatives drawn anew."""

    @pytest.mark.parametrize(
        ("label", "m", "users"),
        [
            ("bv-0.1", 40, 60),
            ("bv-0.1", 40, 200),
            ("uncorrected", 150, 60),
            ("uncorrected", 150, 200),
            ("exact", None, 60),
        ],
    )
    def test_is_that_of_simulation(self, label, m, users):
        """500 comparisons at once; the first is what `compare` says."""
        rng = np.random.default_rng([5, users])
        n = 200
        worse = np.minimum(1 + rng.geometric(1 / 25, size=users), n)
        better = np.maximum(1, worse - rng.integers(0, 12, size=users))
        drawn = rng.integers(users, size=(500, users))
        if m is None:
            chance = plan(worse, better, estimators=["uncorrected"], candidates=n)["conclusive"].iloc[-1]
            values, sampled = (np.arange(n) < 10).astype(float), [worse[drawn], better[drawn]]
        else:
            chance = chance_of_a_conclusion(worse, better, n, m, label)
            values = weights(label, m, n)
            sampled = [1 + rng.hypergeometric(each[drawn] - 1, n - each[drawn], m) for each in (worse, better)]
        gains, most = values[sampled[1] - 1] - values[sampled[0] - 1], np.ptp(values)
        ones = np.ones(users, dtype=np.int64)
        values = evaluated(linear(gains), ones, IntervalOptions(), gains)
        low = uncertainty(values, ones, IntervalOptions(), bounds=(-most, most), weights=gains).low
        said = compare(
            sampled[0][0], sampled[1][0], candidates=n, metrics="recall@10", negatives=m,
            estimator=None if m is None else label,
        )  # fmt: skip
        assert said["low"][0] == pytest.approx(low[0], abs=1e-9)
        assert chance == pytest.approx((low > 0).mean(), abs=0.08)

    def test_of_fewer_than_six_users_is_never_the_aim(self):
        table = plan([50] * 10, [1] * 10, candidates=50, estimators=["uncorrected"])
        assert table["users"].iloc[-1] == 6


def chance_of_a_conclusion(worse, better, n, m, label, users=None):
    """P(T > t) of the gain of a new user, with the normal approximation of a noncentral T."""
    w, x = weights(label, m, n), np.arange(m + 1)
    moments = []
    for ranks in (worse, better):
        pmf = stats.hypergeom.pmf(x, n - 1, np.asarray(ranks)[:, np.newaxis] - 1, m)
        moments.append((pmf @ w, pmf @ w**2 - (pmf @ w) ** 2))
    gains = moments[1][0] - moments[0][0]
    deviation = np.sqrt(gains.var(ddof=1) + (moments[0][1] + moments[1][1]).mean())
    return above_t(gains.mean() / deviation, users or len(gains))


def above_t(effect, users):
    t = stats.t.ppf(0.975, users - 1)
    return stats.norm.cdf((effect * np.sqrt(users) - t) / np.sqrt(1 + t**2 / (2 * (users - 1))))


class TestSeveralRows:
    def test_of_a_user_twice_are_those_of_once_by_the_exact_metric(self):
        users, pair = np.tile(np.arange(100), 2), (A[:100], B[:100])
        once = plan(*pair, candidates=N, estimators=["uncorrected"])
        frames = [pd.DataFrame({"userId": users, "rank": np.tile(each, 2), "candidates": N}) for each in pair]
        twice = plan(*frames, estimators=["uncorrected"])
        assert twice["gap"].iloc[-1] == pytest.approx(once["gap"].iloc[-1])
        assert twice["users"].iloc[-1] == once["users"].iloc[-1]
        assert twice["negatives"][0] < once["negatives"][0]  # two samples of each user


class TestNegatives:
    @pytest.mark.parametrize(
        ("label", "confidence"),
        [("uncorrected", 0.95), ("rank-estimate", 0.8), ("bv-0.1", 0.8), ("bv-0.01", 0.95)],
    )
    def test_are_the_fewest_that_are_enough(self, label, confidence):
        row = plan(A, B, estimators=[label], candidates=N, probability=confidence).iloc[0]
        m = row["negatives"]
        assert row["probability"] == pytest.approx(chance(m, label), abs=1e-9)
        assert row["probability"] >= confidence
        assert m > 1
        assert chance(m - 1, label) < confidence
        tried = {round(10 ** (tenth / 10)) for tenth in range(25)} | {N - 1}
        assert all(chance(more, label) >= confidence for more in tried if m < more < N)

    def test_exact_is_the_last_row_and_needs_no_sample(self):
        table = plan(A, B, candidates=N, estimators="bv-0.1")
        last = table.iloc[-1]
        assert last["estimator"] == "exact"
        assert last["probability"] == 1
        assert last["gap"] == pytest.approx(abs((B <= 10).mean() - (A <= 10).mean()))
        assert last["negatives"] is pd.NA

    def test_are_missing_where_no_sample_is_enough(self):
        table = plan(A, B, estimators=["uncorrected"], candidates=N, replacement=True, probability=0.9999999)
        assert table["negatives"].isna().all()
        assert table["negatives"].iloc[0] is pd.NA
        assert "no sample of up to 299 negatives is enough" in table.remarks[1]

    def test_of_an_order_that_is_always_wrong(self):
        """Exactly B has 30 hits of 100 and A none; among so few negatives A's 14th places are hits, too."""
        a, b = np.full(100, 11), np.where(np.arange(100) < 30, 1, 20)
        table = plan(a, b, estimators=["uncorrected"], candidates=20, replacement=True)
        row = table.iloc[0]
        assert row["gap"] < 0
        assert row["negatives"] is pd.NA
        assert row["users"] is pd.NA
        assert "orders the two wrongly on average even with 19 negatives; more users do not help" in table.remarks[1]


class TestUsers:
    @pytest.mark.parametrize("probability", [0.6, 0.95])
    def test_are_the_fewest_of_which_compare_concludes_so_often(self, probability):
        table = plan(A, B, candidates=N, probability=probability, estimators=["bv-0.1"])
        of_user = (B <= 10).astype(float) - (A <= 10)
        for row, chance_of in (
            (table.iloc[-1], lambda users: above_t(of_user.mean() / of_user.std(ddof=1), users)),
            (
                table.iloc[0],
                lambda users: chance_of_a_conclusion(A, B, N, int(table["negatives"][0]), "bv-0.1", users),
            ),
        ):
            assert chance_of(row["users"]) >= probability
            assert chance_of(row["users"] - 1) < probability


class TestForms:
    def test_a_progress_bar_may_watch(self):
        seen = []
        plan(
            A[:50], B[:50], candidates=N, estimators=["uncorrected"], progress=lambda sizes: seen.extend(sizes) or sizes
        )
        assert seen[0] == 1
        assert seen[-1] == N - 1
        assert seen == sorted(set(seen))

    @pytest.mark.parametrize(
        ("arguments", "error", "says"),
        [
            ({"probability": 0.5}, ConfigError, "above 0.5 and below 1"),
            ({"probability": 1}, ConfigError, "above 0.5 and below 1"),
            ({"probability": float("nan")}, ConfigError, "above 0.5 and below 1"),
            ({"other": A}, DataError, "A and B have the same exact Recall@10: no order is the right one"),
            ({"other": B[:-1]}, DataError, "must have the same users"),
            ({"ranks": pd.DataFrame({"rank": A, "negatives": 9})}, DataError, "A: has a column negatives"),
            ({"probability": "a"}, ConfigError, "probability must be a number above 0.5 and below 1, not 'a'"),
            ({"metric": None}, ConfigError, "metric: give one label or a list of them, not None"),
            ({"estimators": []}, ConfigError, "estimators: give one label or more"),
            ({"estimators": ["bv-0.1", "bv-0.10"]}, ConfigError, "'bv-0.1' and 'bv-0.10' are the same one"),
            ({"metric": "recall"}, ConfigError, "metric 'recall' needs a cut-off, such as recall@10"),
            ({"estimators": ["mle"]}, ConfigError, "mle"),
            ({"candidates": None}, DataError, "candidates"),
        ],
    )
    def test_refusals_say_why(self, arguments, error, says):
        with pytest.raises(error, match=says):
            plan(**{"ranks": A, "other": B, "candidates": N, **arguments})

    def test_of_two_candidates(self):
        table = plan([1, 1, 2], [1, 1, 1], metric="auc", candidates=2, estimators=["uncorrected"])
        assert table["negatives"].iloc[0] == 1


def test_samples_of_all_negatives_are_planned_as_the_exact_ranks():
    """With m = n - 1 the only true ranks that fit are those of the sample."""
    rng = np.random.default_rng(0)
    ranks = {"A": rng.geometric(0.1, 100).clip(1, 50), "B": rng.geometric(0.13, 100).clip(1, 50)}
    given = {"metric": "recall@5", "estimators": ["uncorrected"]}
    exact = sm.plan(sm.exact_ranks(ranks, candidates=50), **given)
    sampled = sm.plan(sm.sampled_ranks(ranks, negatives=49, candidates=50), **given)
    assert sampled["pilot"].tolist() == ["smooth", "closest", "farthest"]
    assert set(sampled["negatives"]) == {exact["negatives"].iloc[0]}
    assert any("staged_ranks" in remark for remark in sampled.remarks)


@pytest.mark.parametrize("candidates", [(1000,), (900, 1000)])
def test_pilots_fit_the_sample_and_hold_the_truth_between_them(candidates):
    rng, recall = np.random.default_rng(1), metric_of("recall@10")
    n = rng.choice(candidates, 2000)
    ranks = {
        name: 1 + np.floor((n - 1) * rng.random(2000) ** power).astype(int) for name, power in {"A": 4, "B": 5}.items()
    }
    x = {name: rng.hypergeometric(rank - 1, n - rank, 50) for name, rank in ranks.items()}
    tables = {name: SampledRanks(above, 50, n) for name, above in x.items()}
    pilots, cautions = pilots_that_fit(tables, recall)
    assert not cautions
    gaps = {
        name: np.subtract(*(of_one[side].values(recall).mean() for side in "BA")) for name, of_one in pilots.items()
    }
    assert gaps["closest"] < np.mean(ranks["B"] <= 10) - np.mean(ranks["A"] <= 10) < gaps["farthest"]
    for of_one in pilots.values():  # redrawn samples have the same mean
        for name, table in of_one.items():
            again = rng.hypergeometric(table.above, n - 1 - table.above, 50)
            assert again.mean() == pytest.approx(x[name].mean(), abs=5 * x[name].std() / np.sqrt(2000))


@pytest.mark.parametrize("shape", ["free", "decreasing", "convex"])
def test_all_negatives_prove_as_much_as_exact_ranks(shape):
    """Samples of this pilot, which is not decreasing, make `compare` take a weaker assumption."""
    files = {name: ROOT / f"docs/examples/pilot-{name}.csv" for name in "xz"}
    table = sm.plan(sm.exact_ranks(files), metric="ndcg@10", estimators=[shape])
    chances = table.set_index("estimator")["conclusive"]
    assert chances[shape] == pytest.approx(chances["exact"])
    assert any("takes the weaker assumption free" in remark for remark in table.remarks) == (shape != "free")
