"""Tables 3 and 4 by hand: their numbers, and how they are laid out."""

import numpy as np
import pandas as pd
import pytest
from read_pages import plain
from small_tables import table_of
from study.read_tables import written

from sampled_metrics_study import decided, tables
from sampled_metrics_study.inputs import Inputs

TABLE_3 = ["reading", "recommender", "metric", "estimator", "mean", "sd", "mean_exact", "sd_exact"]
TABLE_4 = ["reading", "worse", "better", "metric", "estimator", "correct", "correct_exact"]
RANKS = {
    "X": table_of([(5, 0, 0), (5, 3, 0)]),
    "Y": table_of([(5, 0, 1), (5, 1, 0)]),
    "Z": table_of([(5, 4, 0)] * 2),
}
"""AP: X (1 + 1/4) / 2 = .625; Y ((1 + 1/2) / 2 + 1/2) / 2 = .625; Z 1/5.

AUC: X 5/8; Y (7/8 + 3/4) / 2; Z 0.
"""


def runs_of(values, label="ap", name="cls"):
    runs = pd.DataFrame(
        {"repetition": range(len(values)), "estimate": np.array(values, dtype=float)}
    )
    return runs.assign(reading="default", metric=label, estimator=name)


def expected_of(estimates):
    """Exact moments of all that was estimated.

    Means are .5 apart in alphabetical order, and a difference has the deviation .25.
    """
    keys = ["reading", "metric", "estimator"]
    means = {name: -0.5 * number for number, name in enumerate(sorted(estimates))}
    sd = 0.25 / np.sqrt(2)
    return {
        name: runs[keys].drop_duplicates().assign(mean_exact=means[name], sd_exact=sd)
        for name, runs in estimates.items()
    }


def table_4_of(estimates):
    return tables.table_4(RANKS, estimates, expected_of(estimates))


def test_what_was_studied_by_hand():
    table = table_of([(5, 0, 2), (9, 1, 3), (11, 0, 0), (3, 0, 1)])
    [row] = tables.studied(Inputs({}, ranks={"P": table})).to_dict("records")
    assert row.pop("remark").startswith("in 2 of 4 rows, half of the other candidates or more tie")
    assert row == {
        "recommender": "P",
        "held_out_items": 4,
        "mean_candidates": 7,
        "fewest_candidates": 3,
        "share_with_ties": 0.75,
        "mean_share_tied": pytest.approx((2 / 4 + 3 / 8 + 0 + 1 / 2) / 4),
        "half_tied": 2,
    }


def test_table_3_by_hand():
    """Of Y, one of two events is at rank 1 or 2: AP 1 or 1/2, and half of that in the mean."""
    estimates = {
        "X": pd.concat([runs_of([0.2, 0.4]), runs_of([0.7, 0.7], label="auc", name="mle")]),
        "Y": runs_of([0.1, 0.2]),
    }
    expected = expected_of(estimates)
    expected["X"].loc[expected["X"]["estimator"] == "mle", ["mean_exact", "sd_exact"]] = np.nan
    table = tables.table_3(RANKS, estimates, expected)
    assert list(table.columns) == TABLE_3
    moments = table.set_index(["recommender", "metric", "estimator"]).drop(columns="reading")
    by_hand = {
        ("X", "ap", "exact"): [0.625, 0, 0.625, 0],
        ("X", "ap", "cls"): [0.3, 0.2 / np.sqrt(2), 0, 0.25 / np.sqrt(2)],
        ("X", "auc", "exact"): [0.625, 0, 0.625, 0],
        ("X", "auc", "mle"): [0.7, 0, np.nan, np.nan],
        ("Y", "ap", "exact"): [0.625, 0.25 / 2, 0.625, 0.25 / 2],
        ("Y", "ap", "cls"): [0.15, 0.1 / np.sqrt(2), -0.5, 0.25 / np.sqrt(2)],
    }
    assert [*moments.index] == [*by_hand]
    np.testing.assert_allclose(moments.to_numpy(), [*by_hand.values()], atol=1e-6)


def test_table_4_by_hand():
    """Z is worse than X: right in the first and the last of four runs.

    Equal estimates are not the right order.
    """
    table = table_4_of({"X": runs_of([0.5, 0.1, 0.3, 0.9]), "Z": runs_of([0.4, 0.2, 0.3, 0.2])})
    assert table.to_dict("records") == [
        {
            "reading": "default",
            "worse": "Z",
            "better": "X",
            "metric": "ap",
            "estimator": "cls",
            "correct": 0.5,
            # a gap of 0.5, two deviations of the difference
            "correct_exact": pytest.approx(0.9772498680518208),
        }
    ]


def test_a_pair_with_equal_exact_metrics_has_no_row_in_table_4():
    """By AUC Y is better than X: right in the second and the last of four runs.

    In the third run, the two are equal.
    """
    runs = {"X": [0.5, 0.6, 0.4, 0.4], "Y": [0.4, 0.7, 0.4, 0.5]}
    by_ap = table_4_of({name: runs_of(values, "ap") for name, values in runs.items()})
    by_auc = table_4_of({name: runs_of(values, "auc") for name, values in runs.items()})
    assert by_ap.empty
    assert list(by_ap.columns) == TABLE_4
    [row] = by_auc[["worse", "better", "correct"]].to_dict("records")
    assert row == {"worse": "X", "better": "Y", "correct": 0.5}


def test_table_3_is_laid_out_in_per_cent_by_metric_and_recommender_for_each_reading(tmp_path):
    rows = [
        (name, recommender, label, estimator, base + offset, 0.0123, base + offset + 0.005, 0.01)
        for name, base in (("default", 0.1), ("as-printed", 0.2))
        for recommender in ("X", "Y")
        for label in ("recall@10", "auc")
        for estimator, offset in (("exact", 0), ("bv-0.1", 0.1))
    ]
    table = pd.DataFrame(rows, columns=TABLE_3)
    table.loc[2, "mean"] = 0.55558  # default, X, auc, exact
    best = pd.DataFrame({"metric": ["recall@10", "auc"], "recommender": "X", "value": 0.5})
    sections = decided.sections_3(table, decided.Exact(best, [("auc", "X", "Y")]))
    assert [heading.split(" (")[0] for heading, _ in sections] == [
        "Reading: default",
        "Reading: as printed",
    ]
    markdown, latex, html = written(tmp_path, sections)
    assert markdown == plain(latex) == html
    assert markdown[0] == [
        ["Metric", "Recommender", "Exact", "BV 0.1"],
        ["Recall@10", "X", "**10.00**", "20.00±1.23"],
        ["Recall@10", "Y", "**10.00**", "20.00±1.23"],  # not decided to be worse
        ["AUC", "X", "**55.56**", "20.00±1.23"],
        ["AUC", "Y", "10.00", "20.00±1.23"],
    ]
    assert markdown[1][1] == ["Recall@10", "X", "**20.00**", "30.00±1.23"]


def test_table_4_is_laid_out_with_the_names_of_the_paper_whichever_is_worse(tmp_path):
    rows = [
        ("default", "X", "Y", "ap", "uncorrected", 0.0, 0.011),
        ("default", "X", "Y", "ap", "bv-1", 0.236, 0.25),
        ("default", "Y", "X", "auc", "uncorrected", 1.0, 1.0),
        ("default", "Y", "X", "auc", "bv-1", 0.99, float("nan")),
    ]
    table = pd.DataFrame(rows, columns=TABLE_4)
    exact = decided.Exact(pd.DataFrame(), [("auc", "X", "Y"), ("ap", "Y", "X")])
    markdown, latex, html = written(tmp_path, decided.sections_4(table, exact, repetitions=100))
    assert markdown == plain(latex) == html
    header = ["Pair", "Metric", "Exact order", "Sampled (uncorrected)", "BV 1"]
    # by Agresti and Caffo, .24 is not 0, and 100 repetitions do not tell .99 from 1
    assert markdown == [
        [
            header,
            ["X vs Y", "AP", "decided", "0", "**24**"],
            ["X vs Y", "AUC", "decided", "**100**", "**99**"],
        ],
        [
            header,
            ["X vs Y", "AP", "decided", "1", "**25**"],
            ["X vs Y", "AUC", "decided", "**100**", "-"],
        ],
    ]
    undecided = decided.sections_4(
        table, decided.Exact(pd.DataFrame(), [("auc", "X", "Y")]), repetitions=100
    )
    for _, cells in undecided:
        assert cells.loc[cells["Metric"] == "AP", "Exact order"].tolist() == ["undecided"]
        assert not cells[cells["Metric"] == "AP"].map(lambda text: "**" in text).to_numpy().any()
