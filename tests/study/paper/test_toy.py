"""The running example: Tables 1 and 2 and Figures 1-4 against direct computation."""

from functools import partial

import numpy as np
import pytest
from scipy import stats

from sampled_metrics.core.metrics import metric
from sampled_metrics_study import toy, toy_figures
from sampled_metrics_study.inputs import Inputs
from sampled_metrics_study.jobs import stream

RANKS = {"A": [3, 3], "B": [1, 9]}
METRICS = ["auc", "ap", "ndcg", "recall@2"]


def expected(label, m, rank, n):
    """The expectation of a metric at a rank over binomial ranks among m negatives."""
    return stats.binom.pmf(range(m + 1), m, (rank - 1) / (n - 1)) @ metric(label).values(m + 1)


def table_2(**changes):
    options = {
        "ranks": RANKS,
        "candidates": 11,
        "metrics": ["ap"],
        "negatives": 4,
        "replacement": False,
    }
    return toy.table_2(Inputs(options | {"repetitions": 5} | changes, partial(stream, 1)))


def test_table_1_by_hand():
    table = toy.table_1(Inputs({"ranks": RANKS, "candidates": 11, "metrics": ["auc", "ap"]}))
    assert table[["recommender", "metric"]].to_numpy().tolist() == [
        [name, label] for name in "AB" for label in ("auc", "ap")
    ]
    assert table["value"].tolist() == pytest.approx([0.8, 1 / 3, (1 + 0.2) / 2, (1 + 1 / 9) / 2])


@pytest.mark.parametrize("replacement", [True, False])
def test_table_2_has_the_mean_and_deviation_of_a_repetitions_mean(replacement):
    m = 4
    n = 11
    repetitions = 20_000
    table = table_2(metrics=METRICS, replacement=replacement, repetitions=repetitions)
    for row in table.itertuples():
        f = metric(row.metric).values(m + 1)
        better = np.array(RANKS[row.recommender])[:, np.newaxis] - 1
        x = np.arange(m + 1)
        law = stats.binom(m, better / (n - 1)) if replacement else stats.hypergeom(n - 1, better, m)
        chances = law.pmf(x)
        mean = np.mean([p @ f for p in chances])
        variance = sum(p @ f**2 - (p @ f) ** 2 for p in chances) / len(chances) ** 2
        assert abs(row.mean - mean) <= 4 * np.sqrt(variance / repetitions) + 1e-12
        assert row.sd == pytest.approx(np.sqrt(variance), rel=0.05, abs=1e-9)


def test_table_2_has_a_deviation_of_few_repetitions_and_streams_of_each_recommender():
    draws = table_2(repetitions=2).set_index("recommender")
    first_mean = table_2(repetitions=1).set_index("recommender")["mean"]
    # the first repetition does not depend on their number, so the second is 2 · mean - the first
    deviation = np.sqrt(2) * (draws["mean"] - first_mean).abs()
    assert draws["sd"].to_dict() == pytest.approx(deviation.to_dict())
    alone = table_2(ranks={"B": RANKS["B"]}, repetitions=2).set_index("recommender")["mean"]
    assert alone["B"] == draws.loc["B", "mean"]


def test_figure_1_has_every_rank_of_both_panels_and_the_last():
    table = toy_figures.figure_1(5000, ["ap", "auc"], 30)
    for (panel, label), curve in table.groupby(["panel", "metric"]):
        rank = curve["rank"].to_numpy()
        assert (np.diff(rank) > 0).all()
        assert set(range(1, 31)) <= set(rank.tolist())
        assert rank[-1] == {"all": 5000, "first": 30}[panel]
        by_hand = {"ap": 1 / rank, "auc": (5000 - rank) / 4999}[label]
        np.testing.assert_allclose(curve["value"], by_hand)


def test_figures_2_and_3_are_expectations_over_binomial_ranks():
    table = toy_figures.figure_2(RANKS, 11, ["ap", "recall@2"], [1, 4, 30])
    assert len(table) == 2 * 2 * 3
    for row in table.itertuples():
        values = [expected(row.metric, row.negatives, rank, 11) for rank in RANKS[row.recommender]]
        assert row.expected == pytest.approx(np.mean(values))
    # m = 49 are all others, whose metric is exact, and more cannot be drawn
    table = toy_figures.figure_3(50, ["ap", "auc"], [1, 5, 49, 80], 20)
    assert sorted(set(table["negatives"])) == [1, 5, 49]
    for row in table.itertuples():
        exact = {"ap": 1 / row.rank, "auc": (50 - row.rank) / 49}[row.metric]
        is_exact = row.negatives == 49  # among all others
        by_hand = exact if is_exact else expected(row.metric, row.negatives, row.rank, 50)
        assert row.expected == pytest.approx(by_hand)


def test_figure_4_is_on_the_sample_and_in_expectation():
    n = 40
    m = 5
    table = toy_figures.figure_4(n, "ap", m, ["uncorrected", "rank-estimate"])
    cells = table.set_index(["panel", "estimator", "rank"])["value"].sort_index()
    assert cells["sampled", "uncorrected"].to_dict() == pytest.approx(
        {r: 1 / r for r in range(1, m + 2)}
    )
    scaled = [1 / (1 + (n - 1) * x // m) for x in range(m + 1)]
    assert cells["sampled", "rank-estimate"].tolist() == pytest.approx(scaled)
    assert cells["expected", "exact"].to_dict() == pytest.approx(
        {r: 1 / r for r in range(1, n + 1)}
    )
    chances = [stats.binom.pmf(range(m + 1), m, (r - 1) / (n - 1)) for r in range(1, n + 1)]
    assert cells["expected", "rank-estimate"].tolist() == pytest.approx(
        list(chances @ np.array(scaled))
    )
    assert "exact" not in table[table["panel"] == "sampled"]["estimator"].tolist()
