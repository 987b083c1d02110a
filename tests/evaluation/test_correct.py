"""Corrected metrics: estimators by hand on a catalogue of four, intervals by loops over users, bias by enumeration."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from sampled_metrics import correct, evaluate
from sampled_metrics.errors import ConfigError, DataError

SAMPLED = [1, 1, 2, 3, 1, 2, 1, 1]


def likelihood(n, m):
    """P(x | r) by going through all samples of m of the n - 1 other items, r - 1 of which are better."""
    table = np.zeros((n, m + 1))
    for r in range(1, n + 1):
        samples = list(combinations(range(1, n), m))
        for sample in samples:
            table[r - 1, sum(item < r for item in sample)] += 1 / len(samples)
    return table


def em(P, frequencies, iterations=100):
    """The most likely distribution of ranks, in loops."""
    n, outcomes = P.shape
    prior = [1 / n] * n
    for _ in range(iterations):
        expected = [sum(prior[r] * P[r, x] for r in range(n)) for x in range(outcomes)]
        prior = [
            prior[r] * sum(frequencies[x] * P[r, x] / expected[x] for x in range(outcomes) if frequencies[x])
            for r in range(n)
        ]
    return np.array(prior)


def value(table, estimator, metric, column="value"):
    return table[(table["estimator"] == estimator) & (table["metric"] == metric)][column].item()


class TestValues:
    def test_bv_1_is_the_posterior_mean(self):
        """γ = 1, eq. 26: w_x = Σ_r P(r | x) f(r) under a uniform prior."""
        P = likelihood(6, 2)
        counts = np.bincount(np.array(SAMPLED) - 1, minlength=3)
        table = correct(SAMPLED, candidates=6, negatives=2, estimators=["bv-1"], metrics=["recall@2", "ap"])
        for metric, f in (("recall@2", np.arange(1, 7) <= 2), ("ap", 1 / np.arange(1, 7))):
            weights = [(P[:, x] * f).sum() / P[:, x].sum() for x in range(3)]
            assert value(table, "bv-1", metric) == pytest.approx(counts @ weights / 8)

    def test_uncorrected_is_the_metric_of_the_sampled_rank(self):
        table = correct(
            SAMPLED, candidates=6, negatives=2, estimators=["uncorrected"], metrics=["recall@2", "ap", "auc"]
        )
        assert value(table, "uncorrected", "recall@2") == pytest.approx(7 / 8)
        assert value(table, "uncorrected", "ap") == pytest.approx((5 + 2 / 2 + 1 / 3) / 8)
        assert value(table, "uncorrected", "auc") == pytest.approx((5 + 2 / 2 + 0) / 8)

    def test_mle_is_em_in_loops(self):
        P = likelihood(6, 2)
        prior = em(P, np.bincount(np.array(SAMPLED) - 1, minlength=3) / 8)
        table = correct(SAMPLED, candidates=6, negatives=2, estimators=["mle"], metrics=["recall@2", "ap", "auc"])
        assert value(table, "mle", "recall@2") == pytest.approx(prior[:2].sum())
        assert value(table, "mle", "ap") == pytest.approx(prior @ (1 / np.arange(1, 7)))
        assert value(table, "mle", "auc") == pytest.approx(prior @ (np.arange(5, -1, -1) / 5))

    def test_a_sample_of_everything_needs_no_correction(self):
        ranks = [1, 4, 2, 2, 7]
        exact = evaluate(ranks, candidates=7)
        table = correct(ranks, candidates=7, negatives=6, estimators=["uncorrected", "rank-estimate", "bv-0", "bv-0.1"])
        for estimator in ("uncorrected", "rank-estimate", "bv-0"):
            of_one = table[table["estimator"] == estimator]
            for column in ("value", "low", "high", "standard_error"):
                assert of_one[column].to_numpy() == pytest.approx(exact[column].to_numpy(), abs=1e-9), estimator
            assert of_one["bias"].to_numpy() == pytest.approx(0, abs=1e-9)

    def test_users_with_numbers_of_their_own(self):
        """Each half by itself, and then by the users' shares."""
        few = correct([1, 2, 1], candidates=6, negatives=2, estimators=["bv-0.1"])
        many = correct([1, 3, 2, 5, 1], candidates=9, negatives=4, estimators=["bv-0.1"])
        frame = pd.DataFrame(
            {"rank": [1, 2, 1, 1, 3, 2, 5, 1], "negatives": [2] * 3 + [4] * 5, "candidates": [6] * 3 + [9] * 5}
        )
        both = correct(frame.sample(frac=1, random_state=4), estimators=["bv-0.1"])
        assert both["value"].to_numpy() == pytest.approx((3 * few["value"] + 5 * many["value"]).to_numpy() / 8)


class TestIntervals:
    @pytest.mark.parametrize("estimator", ["uncorrected", "bv-1", "mle"])
    def test_delta_is_the_jackknife_over_users(self, estimator):
        arguments = {"candidates": 6, "negatives": 2, "estimators": [estimator], "method": "delta"}
        table = correct(SAMPLED, **arguments)
        left_out = np.array(
            [correct(np.delete(SAMPLED, user), **arguments)["value"].to_numpy() for user in range(len(SAMPLED))]
        )
        error = np.sqrt(7 / 8 * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))
        assert table["standard_error"].to_numpy() == pytest.approx(error)
        assert table["low"].to_numpy() == pytest.approx((table["value"] - 1.959963984540054 * error).to_numpy())

    def test_bootstrap_is_scipys_over_users(self):
        rng = np.random.default_rng(2)
        sampled = rng.geometric(0.3, size=150).clip(max=11)
        table = correct(
            sampled, candidates=40, negatives=10, estimators=["bv-1"], metrics=["recall@3"], n_resamples=20_000
        )
        P = likelihood_of_many(40, 10)
        weights = (P[:3].sum(axis=0)) / P.sum(axis=0)
        other = stats.bootstrap(
            (weights[sampled - 1],), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(1)
        )
        width = other.confidence_interval.high - other.confidence_interval.low
        assert table["low"][0] == pytest.approx(other.confidence_interval.low, abs=0.03 * width)
        assert table["high"][0] == pytest.approx(other.confidence_interval.high, abs=0.03 * width)

    def test_include_the_error_of_sampling(self):
        """All true ranks alike, so that samples alone differ: over many, the standard error is their deviation."""
        rng = np.random.default_rng(8)
        n, m, rank, users = 200, 20, 15, 400
        tables = [
            correct(
                1 + rng.hypergeometric(rank - 1, n - rank, m, size=users),
                candidates=n,
                negatives=m,
                estimators=["bv-0.1"],
                method=how,
            )
            for _ in range(100)
            for how in ("delta", "bootstrap")
        ]
        for how in (0, 1):
            values = np.array([table["value"] for table in tables[how::2]])
            errors = np.array([table["standard_error"] for table in tables[how::2]])
            assert errors.mean(axis=0) == pytest.approx(values.std(axis=0, ddof=1), rel=0.25)

    def test_every_value_has_one(self):
        table = correct(
            SAMPLED,
            candidates=6,
            negatives=2,
            estimators=["uncorrected", "cls", "bv-0.1", "mle", "mes"],
            n_resamples=100,
        )
        assert table[["value", "low", "high", "standard_error"]].notna().all(axis=None)
        assert (table["low"] <= table["high"]).all()
        assert table["users"].eq(8).all()


def likelihood_of_many(n, m):
    return stats.hypergeom(n - 1, np.arange(n)[:, np.newaxis], m).pmf(np.arange(m + 1))


class TestBias:
    def test_is_that_of_enumeration(self):
        """What uncorrected AP shows on average, less the AP, if ranks were as EM finds them."""
        P = likelihood(6, 2)
        prior = em(P, np.bincount(np.array(SAMPLED) - 1, minlength=3) / 8)
        table = correct(SAMPLED, candidates=6, negatives=2, estimators=["uncorrected", "bv-1"], metrics=["ap"])
        f = 1 / np.arange(1, 7)
        assert value(table, "uncorrected", "ap", "bias") == pytest.approx(prior @ (P @ [1, 1 / 2, 1 / 3] - f))
        posterior = (P * f[:, np.newaxis]).sum(axis=0) / P.sum(axis=0)
        assert value(table, "bv-1", "ap", "bias") == pytest.approx(prior @ (P @ posterior - f))

    def test_is_missing_where_it_is_not_known(self):
        table = correct(SAMPLED, candidates=6, negatives=2, estimators=["mle", "bv-0.1"])
        assert table["bias"].isna().tolist() == [True] * 4 + [False] * 4
        many = pd.DataFrame({"rank": 1, "candidates": range(10, 31), "negatives": 5})
        assert correct(many, estimators=["bv-0.1"])["bias"].isna().all()

    def test_auc_has_none_uncorrected(self):
        table = correct(SAMPLED, candidates=6, negatives=2, estimators=["uncorrected"], metrics=["auc"])
        assert table["bias"].item() == pytest.approx(0, abs=1e-12)

    def test_a_remark_says_where_it_is_large(self):
        rng = np.random.default_rng(1)
        ranks = rng.integers(1, 40, size=3000)  # all in the best hundredth
        sampled = 1 + rng.hypergeometric(ranks - 1, 3541 - ranks, 100)
        table = correct(sampled, candidates=3541, negatives=100, estimators=["bv-1", "mle"], method="delta")
        remark = next(each for each in table.remarks if each.startswith("BV 1: "))
        assert "the interval ignores the bias. The estimated bias: " in remark
        truth = (ranks <= 10).mean()
        row = table.iloc[0]
        assert row["high"] < truth  # the interval misses, and the bias says on which side, and by about how much
        assert row["bias"] == pytest.approx(row["value"] - truth, rel=0.3)
        assert f"Recall@10 {abs(row['bias']):.2g} too low" in remark

    def test_no_remark_where_it_is_rounding(self):
        """Every rank of 50 is among the first 60: Recall@60 is 1, and so are all weights but for rounding."""
        table = correct(
            [1, 5, 90, 101],
            candidates=50,
            negatives=100,
            replacement=True,
            estimators=["bv-0.1"],
            metrics=["recall@60"],
        )
        assert table["bias"].item() == pytest.approx(0, abs=1e-12)
        assert not table.remarks

    def test_remarks_on_uncorrected_and_mes(self):
        uncorrected = correct(SAMPLED, candidates=6, negatives=2, estimators=["uncorrected"], metrics=["ap", "auc"])
        assert any(each.startswith("Uncorrected: ") for each in uncorrected.remarks)
        assert not correct(SAMPLED, candidates=6, negatives=2, estimators=["uncorrected"], metrics=["auc"]).remarks
        mes = correct(SAMPLED, candidates=6, negatives=2, estimators=["mes"], method="delta")
        assert any("MES: its AUC is far too low" in each for each in mes.remarks)


class TestForms:
    def test_of_the_same_ranks_give_the_same(self):
        table = correct(SAMPLED, candidates=6, negatives=2)
        frame = pd.DataFrame({"rank": SAMPLED, "user": list("abcdefgh"), "candidates": 6, "negatives": 2})
        for other in (
            correct(np.array(SAMPLED), candidates=[6] * 8, negatives=[2] * 8),
            correct(pd.Series(SAMPLED, index=list("hgfedcba")), candidates=6, negatives=2),
            correct(frame),
            correct(frame[["rank"]], candidates=6, negatives=2),
        ):
            pd.testing.assert_frame_equal(pd.DataFrame(other), pd.DataFrame(table))

    def test_columns_are_those_that_are_promised(self):
        table = correct(SAMPLED, candidates=6, negatives=2)
        assert list(table.columns) == [
            "estimator", "metric", "value", "low", "high", "standard_error", "bias", "users"
        ]  # fmt: skip
        assert table["estimator"].unique().tolist() == ["bv-0.1", "bv-0.01", "mle"]

    def test_with_replacement_there_may_be_more_negatives_than_items(self):
        assert len(correct([1, 5, 9], candidates=4, negatives=8, replacement=True)) == 12
        with pytest.raises(DataError, match="8 negatives cannot be sampled without replacement from 3"):
            correct([1, 5, 9], candidates=4, negatives=8)

    def test_adaptive_samples_are_for_mle_alone(self):
        frame = pd.DataFrame({"rank": [1, 2, 1, 3], "negatives": [8, 2, 16, 2], "candidates": 30})
        assert correct(frame, adaptive=True, estimators=["mle"])["value"].notna().all()
        with pytest.raises(DataError, match=r"not valid on an adaptive sample.*mle is valid"):
            correct(frame, adaptive=True)

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            ({"estimators": ["cls", "cls"]}, "estimators: 'cls' is there twice"),
            ({"estimators": ["bv-0.1", "bv-0.10"]}, "estimators: 'bv-0.1' and 'bv-0.10' are the same one"),
            ({"metrics": ["ap", "ap"]}, "metrics: 'ap' is there twice"),
            ({"metrics": None}, "metrics: give one label or a list of them, not None"),
            ({"seed": -1}, "seed must be a whole number, 0 or more, not -1"),
            ({"n_resamples": 100.5}, "resamples must be a whole number, 100 or more, not 100.5"),
        ],
    )
    def test_refuses_and_says_why(self, arguments, says):
        with pytest.raises(ConfigError, match=says):
            correct(SAMPLED, candidates=6, negatives=2, **arguments)

    @pytest.mark.parametrize("label", ["bv", "bv-2", "mle-0", "none", "bv-0.1.2", ""])
    def test_refuses_estimators_that_there_are_not(self, label):
        with pytest.raises(ConfigError):
            correct(SAMPLED, candidates=6, negatives=2, estimators=[label])


class TestSize:
    def test_what_needs_no_probabilities_takes_any_number_of_candidates(self):
        """Rank estimate, eq. 20: of 10¹⁵ + 1 candidates, x = 3 of 100 is rank 1 + 3 · 10¹³."""
        table = correct(
            [1, 4], candidates=10**15 + 1, negatives=100, estimators=["uncorrected", "rank-estimate"], metrics=["ap"]
        )
        assert value(table, "uncorrected", "ap") == pytest.approx((1 + 1 / 4) / 2)
        assert value(table, "rank-estimate", "ap") == pytest.approx((1 + 1 / (1 + 3 * 10**13)) / 2, rel=1e-15)
        assert table["bias"].isna().all()

    @pytest.mark.parametrize("label", ["cls", "bv-0.1", "mle", "mes", "bv-0.1-mle", "mapping-linear"])
    def test_what_would_take_too_much_memory_is_refused_in_one_line(self, label):
        with pytest.raises(DataError, match=r"would take [0-9.e+]+ GiB, and no array may take more than 4; take an "):
            correct([1, 4], candidates=10**10, negatives=100, estimators=[label], metrics=["auc"])

    def test_more_negatives_than_can_be_held_are_refused(self):
        with pytest.raises(DataError, match=r"weights of uncorrected for m = 10+ negatives.* GiB.*; take fewer"):
            correct([1, 4], candidates=10**13, negatives=10**12, estimators=["uncorrected"])

    def test_blocks_of_resamples_change_nothing(self, monkeypatch):
        whole = correct(SAMPLED, candidates=6, negatives=2, estimators=["mle", "bv-0.1-mle"], n_resamples=100)
        monkeypatch.setattr("sampled_metrics.evaluation.intervals._NUMBERS", 50)
        blocks = correct(SAMPLED, candidates=6, negatives=2, estimators=["mle", "bv-0.1-mle"], n_resamples=100)
        for column in ("value", "low", "high", "standard_error"):
            assert blocks[column].to_numpy() == pytest.approx(whole[column].to_numpy(), rel=1e-12)
