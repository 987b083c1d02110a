"""Tables 3 and 4 by hand: their numbers, and how they are laid out."""

import numpy as np
import pandas as pd
import pytest
from rendering.read_pages import plain, written
from small_tables import table_of

from sampled_metrics.study import tables

TABLE_3 = ["reading", "recommender", "metric", "estimator", "mean", "sd", "mean_exact", "sd_exact"]


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
    return tables.table_3(ranks, estimates, expected_of(estimates))


def table_4_of(ranks, estimates):
    return tables.table_4(ranks, estimates, expected_of(estimates))


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


class TestTable4:
    def test_by_hand(self):
        # Z is worse than X: right in the first and the last of four runs; equal estimates are not the right order
        estimates = {"X": runs_of([0.5, 0.1, 0.3, 0.9]), "Z": runs_of([0.4, 0.2, 0.3, 0.2])}
        table = table_4_of(RANKS, estimates)
        assert table.to_dict("records") == [
            {"reading": "default", "worse": "Z", "better": "X", "metric": "ap", "estimator": "cls", "correct": 0.5}
            | {"correct_exact": pytest.approx(0.9772498680518208)}  # a gap of 0.5, two deviations of the difference
        ]

    def test_a_pair_with_equal_exact_metrics_has_no_row(self):
        of_ap = table_4_of(RANKS, {"X": runs_of([0.5, 0.6]), "Y": runs_of([0.4, 0.7])})
        assert of_ap.empty
        assert list(of_ap.columns) == [
            *("reading", "worse", "better", "metric", "estimator"),
            *("correct", "correct_exact"),
        ]
        of_auc = table_4_of(RANKS, {"X": runs_of([0.5, 0.6], label="auc"), "Y": runs_of([0.4, 0.7], label="auc")})
        assert of_auc[["worse", "better", "correct"]].to_numpy().tolist() == [["X", "Y", 0.5]]


class TestWithoutRepetitions:
    def test_table_3_sets_exact_moments_beside_those_of_the_repetitions(self):
        estimates = {"X": pd.concat([runs_of([0.2, 0.4]), runs_of([0.7, 0.7], label="auc", name="mle")])}
        expected = expected_of(estimates)
        expected["X"].loc[expected["X"]["estimator"] == "mle", ["mean_exact", "sd_exact"]] = np.nan
        rows = tables.table_3(RANKS, estimates, expected).set_index(["metric", "estimator"])
        assert rows.loc[("ap", "cls"), ["mean_exact", "sd_exact"]].tolist() == pytest.approx([0, 0.25 / np.sqrt(2)])
        assert rows.loc[("auc", "mle"), ["mean_exact", "sd_exact"]].isna().all()
        # the exact metric is what it is, with the deviation of its ties
        assert rows.loc[("ap", "exact"), "mean_exact"] == rows.loc[("ap", "exact"), "mean"] == pytest.approx(0.625)


class TestLayout:
    def test_table_3_has_per_cent_by_metric_and_recommender_and_a_section_for_each_reading(self, tmp_path):
        rows = [
            (name, recommender, label, estimator, base + 0.1 * number, 0.0123, base + 0.1 * number + 0.005, 0.01)
            for name, base in (("default", 0.1), ("as-printed", 0.2))
            for recommender in ("X", "Y")
            for label in ("recall@10", "auc")
            for number, estimator in enumerate(["exact", "bv-0.1"])
        ]
        table = pd.DataFrame(rows, columns=TABLE_3)
        table.loc[2, "mean"] = 0.55558  # default, X, auc, exact
        sections = tables.sections_3(table, repetitions=25)
        assert [heading.split(" (")[0] for heading, _ in sections[:2]] == ["Reading: default", "Reading: as printed"]
        markdown, latex, html = written(tmp_path, sections)
        assert markdown == plain(latex) == html
        assert markdown[0] == [
            ["Metric", "Recommender", "Exact", "BV 0.1"],
            ["Recall@10", "X", "10.00", "20.00±1.23"],
            ["Recall@10", "Y", "10.00", "20.00±1.23"],
            ["AUC", "X", "**55.56**", "20.00±1.23"],
            ["AUC", "Y", "10.00", "20.00±1.23"],
        ]
        assert markdown[1][1] == ["Recall@10", "X", "20.00", "30.00±1.23"]
        # four corrected numbers a reading, each .005 off where the standard error is .01 / 5
        assert markdown[2][1:] == [["default", "4", "2.5", "4", "0", "0"], ["as-printed", "4", "2.5", "4", "0", "0"]]

    def test_table_4_names_pairs_as_the_paper_does_whichever_is_worse(self, tmp_path):
        rows = [
            ("default", "X", "Y", "ap", "uncorrected", 0.0, 0.011),
            ("default", "X", "Y", "ap", "bv-1", 0.236, 0.25),
            ("default", "Y", "X", "auc", "uncorrected", 1.0, 1.0),
            ("default", "Y", "X", "auc", "bv-1", 0.99, 0.97),
            ("default", "X", "Z", "ap", "uncorrected", 0.5, 0.5),
            ("default", "X", "Z", "ap", "bv-1", 0.61, float("nan")),
        ]
        table = pd.DataFrame(
            rows, columns=["reading", "worse", "better", "metric", "estimator", "correct", "correct_exact"]
        )
        markdown, latex, html = written(tmp_path, tables.sections_4(table))
        assert markdown == plain(latex) == html
        assert markdown == [
            [
                ["Pair", "Metric", "Sampled (uncorrected)", "BV 1"],
                ["X vs Y", "AP", "0", "**24**"],
                ["X vs Y", "AUC", "**100**", "99"],
                ["X vs Z", "AP", "50", "**61**"],
            ],
            [
                ["Pair", "Metric", "Sampled (uncorrected)", "BV 1"],
                ["X vs Y", "AP", "1", "**25**"],
                ["X vs Y", "AUC", "**100**", "97"],
                ["X vs Z", "AP", "50", "-"],
            ],
        ]
