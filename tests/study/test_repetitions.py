"""The study: repetitions, the two tables made of them, and the figures, against direct computation and simulation."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampled_metrics.errors import ConfigError, DataError, SampledMetricsError
from sampled_metrics.estimators import estimator
from sampled_metrics.metrics.held_out import metric
from sampled_metrics.ranks.table import RankTable
from sampled_metrics.sampling import moments
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.sampling.ties import distribution_over_ties
from sampled_metrics.study import repetitions as study

METRICS = ["recall@10", "ndcg@10", "ap", "auc"]
ESTIMATORS = ["uncorrected", "rank-estimate", "cls", "bv-1", "bv-0.1", "bv-0.01", "bv-0.001"]


def table_of(rows):
    """Rows of (candidates, above, tied)."""
    candidates, above, tied = np.array(rows, dtype=np.int64).T
    return RankTable(np.arange(len(rows)), candidates, above, tied)


def random_table(seed, events, *, ties=True):
    rng = np.random.default_rng(seed)
    candidates = rng.integers(60, 90, size=events)
    above = np.minimum(rng.geometric(0.06, size=events) - 1, candidates - 1)
    tied = np.where(rng.random(events) < 0.4, rng.integers(0, 40, size=events), 0) * ties
    return table_of(np.column_stack([candidates, above, np.minimum(tied, candidates - 1 - above)]))


def evaluation(repetitions=3, **changes):
    settings = {
        "design": SamplingDesign(12),
        "repetitions": repetitions,
        "readings": ["default"],
        "estimators": ["uncorrected", "bv-0.1"],
        "metrics": ["ap", "auc"],
        "assume_replacement": True,
    }
    return study.Evaluation(**(settings | changes))


def estimates_of(runs, **keys):
    for column, value in keys.items():
        runs = runs[runs[column] == value]
    return runs.sort_values("repetition")["estimate"].tolist()


class TestRepeat:
    def test_has_a_row_for_each_reading_metric_estimator_and_repetition(self):
        what = evaluation(readings=["default", "as-printed"])
        runs = study.repeat(random_table(1, 9), what, np.random.default_rng(1))
        assert list(runs.columns) == ["reading", "metric", "estimator", "repetition", "estimate"]
        keys = list(zip(*(runs[name] for name in list(runs.columns)[:4]), strict=True))
        assert len(keys) == len(set(keys))
        assert set(keys) == set(product(["default", "as-printed"], ["ap", "auc"], ["uncorrected", "bv-0.1"], range(3)))

    def test_the_draws_do_not_depend_on_what_is_made_of_them(self):
        table = random_table(2, 30)
        few = study.repeat(table, evaluation(), np.random.default_rng(1))
        more = study.repeat(
            table,
            evaluation(
                readings=["as-printed", "default"],
                estimators=["cls", "bv-0.1", "rank-estimate", "uncorrected"],
                metrics=["recall@3", "auc", "ap"],
            ),
            np.random.default_rng(1),
        )
        for label, name in product(["ap", "auc"], ["uncorrected", "bv-0.1"]):
            keys = {"reading": "default", "metric": label, "estimator": name}
            assert estimates_of(few, **keys) == pytest.approx(estimates_of(more, **keys), rel=1e-12)

    def test_a_longer_run_begins_with_a_shorter_one(self):
        table = random_table(3, 30)
        short = study.repeat(table, evaluation(4), np.random.default_rng(1))
        long = study.repeat(table, evaluation(9), np.random.default_rng(1))
        for label, name in product(["ap", "auc"], ["uncorrected", "bv-0.1"]):
            keys = {"metric": label, "estimator": name}
            assert estimates_of(short, **keys) == estimates_of(long, **keys)[:4]
            assert len(set(estimates_of(long, **keys))) > 1

    def test_the_readings_share_the_draws_and_differ_where_there_are_ties(self):
        both = evaluation(readings=["default", "as-printed"], estimators=["uncorrected", "rank-estimate"])
        without = study.repeat(random_table(4, 30, ties=False), both, np.random.default_rng(1))
        for label in ("ap", "auc"):
            one, other = (
                estimates_of(without, reading=name, metric=label, estimator="uncorrected")
                for name in ("default", "as-printed")
            )
            assert one == other
        with_ties = study.repeat(random_table(4, 30), both, np.random.default_rng(1))
        one, other = (
            estimates_of(with_ties, reading=name, metric="auc", estimator="uncorrected")
            for name in ("default", "as-printed")
        )
        # as printed the held-out item beats one of the tied negatives
        assert all(printed > default for default, printed in zip(one, other, strict=True))

    def test_as_printed_has_the_divisor_of_the_printed_numbers(self):
        # 2 candidates above of 2: x = 1 of m = 1, and 1 + floor(2 · 1 / 1) = 3 but 1 + floor(2 · 1 / 2) = 2
        what = evaluation(
            1,
            design=SamplingDesign(1),
            readings=["default", "as-printed"],
            estimators=["rank-estimate"],
            metrics=["ap"],
        )
        runs = study.repeat(table_of([(3, 2, 0)]), what, np.random.default_rng(1))
        assert estimates_of(runs, reading="default") == pytest.approx([1 / 3])
        assert estimates_of(runs, reading="as-printed") == pytest.approx([1 / 2])

    def test_every_negative_without_replacement_gives_the_exact_metric(self):
        table = table_of([(13, above, 0) for above in (0, 0, 3, 11, 12)])
        runs = study.repeat(table, evaluation(2, estimators=["uncorrected"]), np.random.default_rng(1))
        for label in ("ap", "auc"):
            assert estimates_of(runs, metric=label) == pytest.approx([table.values(metric(label)).mean()] * 2)

    def test_refuses_more_negatives_than_there_are(self):
        with pytest.raises(DataError, match="only 11 candidates"):
            study.repeat(table_of([(50, 0, 0), (12, 0, 0)]), evaluation(), np.random.default_rng(1))

    def test_refuses_an_unknown_reading(self):
        with pytest.raises(ConfigError, match="unknown reading 'printed'; it may be default, as-printed"):
            study.repeat(random_table(1, 3), evaluation(readings=["printed"]), np.random.default_rng(1))

    def test_is_configured_by_the_config_entries(self):
        sampling = {"negatives": 7, "replacement": True, "repetitions": 5, "readings": ["default"]}
        built = study.Evaluation.configured(sampling, ["cls"], ["ap"], False)
        assert built == study.Evaluation(SamplingDesign(7, True), 5, ["default"], ["cls"], ["ap"], False)


class TestHistograms:
    def test_counts_x_by_tie_rule(self):
        draws = [
            study.Draws(np.array([0, 2, 2]), np.array([1, 0, 1]), np.array([0.4, 0.9, 0.9])),
            study.Draws(np.array([3, 3, 0]), np.array([0, 0, 0]), np.array([0.4, 0.9, 0.9])),
        ]
        found = study.sampled_histograms(iter(draws), ["random", "beats-one"], 4)
        assert found["random"].tolist() == [[1, 0, 1, 1, 0], [1, 0, 0, 2, 0]]
        assert found["beats-one"].tolist() == [[1, 0, 2, 0, 0], [1, 0, 0, 2, 0]]


class TestExpectedDistribution:
    @pytest.mark.parametrize(
        ("design", "ties"),
        [(SamplingDesign(12, False), True), (SamplingDesign(12, True), False), (SamplingDesign(12, True), True)],
        ids=["without replacement", "with replacement, no ties", "with replacement, ties"],
    )
    def test_is_what_repetitions_show_on_average(self, design, ties):
        table = random_table(5, 80, ties=ties)
        what = evaluation(1500, design=design, estimators=ESTIMATORS, metrics=METRICS)
        runs = study.repeat(table, what, np.random.default_rng(7))
        chances = moments.expected_distribution(table, design)
        fitted = study.fit_estimators(ESTIMATORS, METRICS, design, table.mean_candidates, assume_replacement=True)
        for (label, name), of_cell in runs.groupby(["metric", "estimator"]):
            expected = chances @ fitted[name].weights[METRICS.index(label)]
            error = of_cell["estimate"].std() / np.sqrt(1500)
            # 1e-12: where every repetition gives the same
            assert abs(of_cell["estimate"].mean() - expected) <= 4 * error + 1e-12, (label, name)

    def test_does_not_depend_on_the_blocks_it_is_computed_in(self, monkeypatch):
        table, design = random_table(6, 50), SamplingDesign(12)
        whole = moments.expected_distribution(table, design)
        for block in (1, 13, 100, 13 * 50):
            monkeypatch.setattr(moments, "_BLOCK", block)
            np.testing.assert_allclose(moments.expected_distribution(table, design), whole, atol=1e-15)
        assert whole.sum() == pytest.approx(1)

    def test_by_hand(self):
        # n = 3, one negative: never better at rank 1, always at rank 3, half of the time if both tie
        table = table_of([(3, 0, 0), (3, 2, 0), (3, 0, 2), (3, 0, 0)])
        np.testing.assert_allclose(
            moments.expected_distribution(table, SamplingDesign(1)), [2.5 / 4, 1.5 / 4], atol=1e-14
        )


def runs_of(values, reading="default", label="ap", name="cls"):
    return pd.DataFrame(
        {
            "reading": reading,
            "metric": label,
            "estimator": name,
            "repetition": range(len(values)),
            "estimate": np.array(values, dtype=float),
        }
    )


def expected_of(estimates):
    """Exact moments of all that was estimated: means .5 apart in alphabetical order, a difference has deviation .25."""
    means, sd = {name: -0.5 * number for number, name in enumerate(sorted(estimates))}, 0.25 / np.sqrt(2)
    keys = ["reading", "metric", "estimator"]
    return {
        name: runs[keys].drop_duplicates().assign(mean_exact=means[name], sd_exact=sd)
        for name, runs in estimates.items()
    }


RANKS = {"X": table_of([(5, 0, 0), (5, 3, 0)]), "Y": table_of([(5, 0, 1), (5, 1, 0)]), "Z": table_of([(5, 4, 0)] * 2)}
"""AP: X (1 + 1/4) / 2 = .625; Y ((1 + 1/2) / 2 + 1/2) / 2 = .625; Z 1/5. AUC: X 5/8; Y (7/8 + 3/4) / 2; Z 0."""


def table_3_of(ranks, estimates):
    return study.table_3(ranks, estimates, expected_of(estimates))


def table_4_of(ranks, estimates):
    return study.table_4(ranks, estimates, expected_of(estimates))


class TestTable3:
    def test_by_hand(self):
        estimates = {"X": pd.concat([runs_of([0.2, 0.4]), runs_of([0.7, 0.7], label="auc", name="bv-1")])}
        table = table_3_of(RANKS, estimates)
        assert list(table.columns) == [
            *("reading", "recommender", "metric", "estimator"),
            *("mean", "sd", "mean_exact", "sd_exact"),
        ]
        rows = table.set_index(["metric", "estimator"])
        assert rows["mean"].to_dict() == pytest.approx(
            {("ap", "exact"): 0.625, ("ap", "cls"): 0.3, ("auc", "exact"): 5 / 8, ("auc", "bv-1"): 0.7}
        )
        assert rows.loc[("ap", "cls"), "sd"] == pytest.approx(0.2 / np.sqrt(2))
        assert rows["sd"][("auc", "bv-1")] == pytest.approx(0, abs=1e-15)
        assert rows.loc[("ap", "exact"), "sd"] == pytest.approx(0, abs=1e-6)

    def test_exact_comes_first_with_the_deviation_of_its_ties(self):
        table = table_3_of(RANKS, {"Y": runs_of([0.1, 0.2])})
        assert table["estimator"].tolist() == ["exact", "cls"]
        # one of two events is at rank 1 or 2: AP 1 or 1/2, and half of that in the mean
        assert table["sd"][0] == pytest.approx(0.25 / 2)

    def test_one_repetition_has_no_deviation(self):
        table = table_3_of(RANKS, {"X": runs_of([0.3])})
        assert np.isnan(table.set_index("estimator").loc["cls", "sd"])

    def test_keeps_the_readings_apart(self):
        estimates = {"X": pd.concat([runs_of([0.2, 0.4]), runs_of([0.8, 0.8], reading="as-printed")])}
        table = table_3_of(RANKS, estimates).set_index(["reading", "estimator"])
        assert table["mean"].to_dict() == pytest.approx(
            {
                ("default", "exact"): 0.625,
                ("default", "cls"): 0.3,
                ("as-printed", "exact"): 0.625,
                ("as-printed", "cls"): 0.8,
            }
        )


class TestTable4:
    def test_by_hand(self):
        # Z is worse than X: right in the first and the last of four runs; equal estimates are not the right order
        estimates = {"X": runs_of([0.5, 0.1, 0.3, 0.9]), "Z": runs_of([0.4, 0.2, 0.3, 0.2])}
        table = table_4_of(RANKS, estimates)
        assert table.to_dict("records") == [
            {"reading": "default", "worse": "Z", "better": "X", "metric": "ap", "estimator": "cls", "correct": 0.5}
            | {"correct_exact": pytest.approx(0.9772498680518208)}  # a gap of 0.5, two deviations of the difference
        ]

    def test_the_worse_one_comes_first_whichever_is_listed_first(self):
        estimates = {"Z": runs_of([0.4, 0.2, 0.3, 0.2]), "X": runs_of([0.5, 0.1, 0.3, 0.9])}
        table = table_4_of(RANKS, estimates)
        assert table[["worse", "better", "correct"]].to_numpy().tolist() == [["Z", "X", 0.5]]

    def test_runs_are_compared_with_the_run_of_the_same_number(self):
        estimates = {"X": runs_of([0.5, 0.1]), "Z": runs_of([0.2, 0.4]).iloc[::-1]}
        assert table_4_of(RANKS, estimates)["correct"].tolist() == [0.5]

    def test_a_pair_with_equal_exact_metrics_has_no_row(self):
        of_ap = table_4_of(RANKS, {"X": runs_of([0.5, 0.6]), "Y": runs_of([0.4, 0.7])})
        assert of_ap.empty
        assert list(of_ap.columns) == [
            *("reading", "worse", "better", "metric", "estimator"),
            *("correct", "correct_exact"),
        ]
        of_auc = table_4_of(RANKS, {"X": runs_of([0.5, 0.6], label="auc"), "Y": runs_of([0.4, 0.7], label="auc")})
        assert of_auc[["worse", "better", "correct"]].to_numpy().tolist() == [["X", "Y", 0.5]]

    def test_a_pair_with_the_same_ranks_for_other_users_has_no_row(self):
        rng = np.random.default_rng(8)
        rows = np.column_stack([np.full(6040, 3541), rng.integers(0, 3541, 6040), np.zeros(6040, dtype=int)])
        for _ in range(20):
            ranks = {"X": table_of(rows), "Y": table_of(rng.permutation(rows))}
            assert table_4_of(ranks, {"X": runs_of([0.5]), "Y": runs_of([0.4])}).empty

    def test_every_pair_metric_and_estimator_has_a_row(self):
        def runs(shift):
            return pd.concat(
                runs_of(np.array([0.1, 0.2]) + shift, label=label, name=name, reading=reading)
                for reading in ("default", "as-printed")
                for label in ("auc", "ndcg")
                for name in ("cls", "bv-1")
            )

        table = table_4_of(RANKS, {"X": runs(0.2), "Y": runs(0.3), "Z": runs(0.1)})
        pairs = {frozenset(pair) for pair in zip(table["worse"], table["better"], strict=True)}
        assert pairs == {frozenset("XY"), frozenset("XZ"), frozenset("YZ")}
        assert len(table) == 2 * 3 * 2 * 2
        assert table[table["metric"] == "auc"]["correct"].eq(1).all()


class TestFigure5:
    @given(
        st.lists(
            st.integers(1, 40).flatmap(
                lambda n: st.integers(0, n - 1).flatmap(
                    lambda above: st.tuples(st.just(n), st.just(above), st.integers(0, n - 1 - above))
                )
            ),
            min_size=1,
            max_size=8,
        ),
        st.sets(st.integers(1, 30), max_size=4).map(sorted),
    )
    def test_the_buckets_add_up_to_the_users(self, rows, edges):
        table = study.figure_5({"X": table_of(rows)}, edges)
        assert table["events"].sum() == pytest.approx(len(rows))
        assert (table["events"] >= 0).all()

    def test_by_hand(self):
        # halves end at rank 5, 10 and 10
        tables = {"X": table_of([(10, 0, 2), (20, 9, 1), (21, 20, 0)]), "Y": table_of([(20, 4, 0)])}
        table = study.figure_5(tables, [2, 8])
        assert list(table.columns) == ["recommender", "bucket", "events"]
        of_x = table[table["recommender"] == "X"].set_index("bucket")["events"]
        assert of_x.to_dict() == pytest.approx({"1–2": 2 / 3, "3–8": 1 / 3, "9 to half": 1 / 2, "worse half": 3 / 2})
        of_y = table[table["recommender"] == "Y"].set_index("bucket")["events"]
        assert of_y.to_dict() == pytest.approx({"1–2": 0, "3–8": 1, "9 to half": 0, "worse half": 0})

    def test_the_half_comes_before_an_edge_for_a_user_with_few_candidates(self):
        tables = {"X": table_of([(4, 2, 0), (40, 2, 0)])}
        of_x = study.figure_5(tables, [5]).set_index("bucket")["events"]
        assert of_x.to_dict() == pytest.approx({"1–5": 1, "6 to half": 0, "worse half": 1})

    def test_an_edge_beyond_every_half_is_left_out(self):
        assert study.figure_5({"X": table_of([(10, 0, 0)])}, [3, 500])["bucket"].tolist() == [
            "1–3",
            "4 to half",
            "worse half",
        ]


class TestFigure6:
    @pytest.mark.parametrize("replacement", [False, True])
    def test_is_the_direct_computation_for_each_size(self, replacement):
        tables = {"X": random_table(9, 40), "Y": random_table(10, 30)}
        sizes, names = [3, 25, 10, 1], ["uncorrected", "bv-0.1"]
        table = study.figure_6(
            tables, "recall@3", names, sizes, replacement=replacement, assume_replacement=True
        ).set_index(["estimator", "recommender", "negatives"])
        assert len(table) == 2 * 2 * 4
        for name, recommender, m in product(names, tables, sizes):
            ranks = tables[recommender]
            fitted = estimator(name, assume_replacement=True).fit(
                Outcomes.of(SamplingDesign(m, replacement), ranks.mean_candidates), [metric("recall@3")]
            )
            chances = np.mean(
                [
                    distribution_over_ties(above, tied, n, SamplingDesign(m, replacement))[0]
                    for n, above, tied in zip(ranks.candidates, ranks.above, ranks.tied, strict=True)
                ],
                axis=0,
            )
            row = table.loc[(name, recommender, m)]
            assert row["expected"] == pytest.approx(chances @ fitted.weights[0], abs=1e-12)
            assert row["exact"] == pytest.approx(ranks.values(metric("recall@3")).mean())
            assert row["metric"] == "recall@3"

    def test_sizes_ascend_and_those_too_large_are_left_out(self):
        tables = {"X": table_of([(30, 3, 0), (8, 1, 0)])}
        kept = {"replacement": False, "assume_replacement": True}
        table = study.figure_6(tables, "ap", ["uncorrected"], [9, 7, 2, 8], **kept)
        assert table["negatives"].tolist() == [2, 7]
        table = study.figure_6(tables, "ap", ["uncorrected"], [9, 7], replacement=True, assume_replacement=True)
        assert table["negatives"].tolist() == [7, 9]

    def test_if_every_size_is_too_large_it_says_so(self):
        with pytest.raises(SampledMetricsError):
            study.figure_6(
                {"X": table_of([(8, 1, 0)])}, "ap", ["uncorrected"], [50], replacement=False, assume_replacement=True
            )


class TestExpect:
    def test_by_hand(self):
        # one of two negatives is above and one is drawn: AP 1 or 1/2, in each of two events; the deviation of the mean
        # of two is .25 / √2
        table = table_of([(3, 1, 0)] * 2)
        found = study.exact_moments(
            table, evaluation(design=SamplingDesign(1), estimators=["uncorrected"], metrics=["ap"])
        )
        assert list(found.columns) == ["reading", "metric", "estimator", "mean_exact", "sd_exact"]
        [row] = found.to_dict("records")
        assert (row["mean_exact"], row["sd_exact"]) == pytest.approx((0.75, 0.25 / np.sqrt(2)))

    def test_the_readings_break_ties_differently(self):
        # both negatives tie and both are drawn: at random the rank is 1, 2 or 3; as printed it beats one, 1 or 2
        what = evaluation(
            design=SamplingDesign(2), readings=["default", "as-printed"], estimators=["uncorrected"], metrics=["ap"]
        )
        found = study.exact_moments(table_of([(3, 0, 2)]), what).set_index("reading")
        assert found["mean_exact"].to_dict() == pytest.approx({"default": (1 + 1 / 2 + 1 / 3) / 3, "as-printed": 0.75})
        assert found.loc["as-printed", "sd_exact"] == pytest.approx(0.25)

    def test_as_printed_has_the_divisor_of_the_printed_numbers(self):
        # x = 1 of m = 1: rank 1 + floor(2 · 1 / 1) = 3 by eq. 20, 1 + floor(2 · 1 / 2) = 2 as printed
        what = evaluation(
            design=SamplingDesign(1), readings=["default", "as-printed"], estimators=["rank-estimate"], metrics=["ap"]
        )
        found = study.exact_moments(table_of([(3, 2, 0)]), what).set_index("reading")
        assert found["mean_exact"].to_dict() == pytest.approx({"default": 1 / 3, "as-printed": 1 / 2})
        assert found["estimator"].tolist() == ["rank-estimate"] * 2

    def test_what_is_not_linear_is_missing_and_the_others_stay_in_their_places(self):
        table, names = random_table(11, 30), ["mle", "cls", "mes", "uncorrected", "mn-mle"]
        both = study.exact_moments(table, evaluation(estimators=names)).set_index(["metric", "estimator"])
        alone = study.exact_moments(table, evaluation(estimators=["uncorrected"])).set_index(["metric", "estimator"])
        for label in ("ap", "auc"):
            for name in ("mle", "mes", "mn-mle"):
                assert both.loc[(label, name), ["mean_exact", "sd_exact"]].isna().all()
            found = both.loc[(label, "uncorrected"), ["mean_exact", "sd_exact"]].tolist()
            assert found == pytest.approx(
                alone.loc[(label, "uncorrected"), ["mean_exact", "sd_exact"]].tolist(), rel=1e-12
            )

    def test_none_is_linear(self):
        found = study.exact_moments(random_table(11, 30), evaluation(estimators=["mle"]))
        assert found[["mean_exact", "sd_exact"]].isna().all(axis=None)
        assert len(found) == 2

    def test_has_the_rows_of_the_repetitions(self):
        table, what = random_table(11, 30), evaluation(readings=["default", "as-printed"], estimators=["cls", "mle"])
        runs = study.repeat(table, what, np.random.default_rng(1))
        keys = ["reading", "metric", "estimator"]
        assert (
            study.exact_moments(table, what)[keys].to_numpy().tolist()
            == runs[keys].drop_duplicates().to_numpy().tolist()
        )

    def test_refuses_more_negatives_than_there_are(self):
        with pytest.raises(DataError, match="only 11 candidates"):
            study.exact_moments(table_of([(50, 0, 0), (12, 0, 0)]), evaluation())

    def test_refuses_events_without_any_other_candidate(self):
        with pytest.raises(DataError, match="has only 0 candidates besides"):
            study.exact_moments(table_of([(1, 0, 0)]), evaluation())


class TestWithoutRepetitions:
    def test_table_3_sets_exact_moments_beside_those_of_the_repetitions(self):
        estimates = {"X": pd.concat([runs_of([0.2, 0.4]), runs_of([0.7, 0.7], label="auc", name="mle")])}
        expected = expected_of(estimates)
        expected["X"].loc[expected["X"]["estimator"] == "mle", ["mean_exact", "sd_exact"]] = np.nan
        rows = study.table_3(RANKS, estimates, expected).set_index(["metric", "estimator"])
        assert rows.loc[("ap", "cls"), ["mean_exact", "sd_exact"]].tolist() == pytest.approx([0, 0.25 / np.sqrt(2)])
        assert rows.loc[("auc", "mle"), ["mean_exact", "sd_exact"]].isna().all()
        # the exact metric is what it is, with the deviation of its ties
        assert rows.loc[("ap", "exact"), "mean_exact"] == rows.loc[("ap", "exact"), "mean"] == pytest.approx(0.625)

    def test_table_4_has_no_chance_where_there_is_no_exact_expectation(self):
        estimates = {"X": runs_of([0.5, 0.1]), "Z": runs_of([0.4, 0.2])}
        expected = {
            name: each.assign(mean_exact=np.nan, sd_exact=np.nan) for name, each in expected_of(estimates).items()
        }
        table = study.table_4(RANKS, estimates, expected)
        assert table["correct"].tolist() == [0.5]
        assert table["correct_exact"].isna().all()

    def test_right_order_by_hand(self):
        worse = pd.Series({"mean_exact": 0.1, "sd_exact": 0.03})
        better = pd.Series({"mean_exact": 0.2, "sd_exact": 0.04})
        assert study.right_order(worse, better) == pytest.approx(0.9772498680518208)  # two deviations of √(.03² + .04²)
        assert study.right_order(better, worse) == pytest.approx(1 - 0.9772498680518208)

    def test_one_recommender_has_no_pair(self):
        assert table_4_of(RANKS, {"X": runs_of([0.5, 0.1])}).empty
