"""Figures 1-4: their tables against direct computation, and the lines that are drawn."""

import numpy as np
import pytest
from made_up_project import ROOT
from scipy import stats
from study.read_figures import assert_texts_are_apart

from sampled_metrics.metrics.metric import metric
from sampled_metrics.study import toy

RANKS = {"A": [3, 3], "B": [1, 9]}
DRAWN_RANKS = RANKS | {"C": [5, 5]}
METRICS = ["auc", "ap", "ndcg", "recall@2"]

TABLES = {
    1: toy.figure_1(5000, METRICS, 10),
    2: toy.figure_2(DRAWN_RANKS, 11, METRICS, [1, 4, 10]),
    3: toy.figure_3(60, METRICS, [1, 5], 30),
    4: toy.figure_4(60, "ap", 6, ["uncorrected", "cls", "bv-0.1"]),
}


class TestTables:
    def test_figure_1_has_every_rank_of_both_panels_and_the_last(self):
        table = toy.figure_1(5000, ["ap", "auc"], 30)
        for (panel, label), curve in table.groupby(["panel", "metric"]):
            rank = curve["rank"].to_numpy()
            assert (np.diff(rank) > 0).all()
            assert set(range(1, 31)) <= set(rank.tolist())
            assert rank[-1] == {"all": 5000, "first": 30}[panel]
            wanted = 1 / rank if label == "ap" else (5000 - rank) / 4999
            np.testing.assert_allclose(curve["value"], wanted)

    def test_figure_2_is_the_expectation_over_binomial_ranks(self):
        table = toy.figure_2(RANKS, 11, ["ap", "recall@2"], [1, 4, 30]).set_index(
            ["metric", "recommender", "negatives"]
        )
        assert len(table) == 2 * 2 * 3
        for (label, name, m), expected in table["expected"].items():
            values = [stats.binom.pmf(range(m + 1), m, (r - 1) / 10) @ metric(label).values(m + 1) for r in RANKS[name]]
            assert expected == pytest.approx(np.mean(values))

    def test_figure_3_by_true_rank_and_exactly(self):
        table = toy.figure_3(50, ["ap"], [1, 5], 20).set_index(["negatives", "rank"])["expected"]
        assert sorted(set(table.index.get_level_values("negatives"))) == [1, 5, 49]
        assert table[49].to_dict() == pytest.approx({r: 1 / r for r in range(1, 21)})
        for m in (1, 5):
            assert table[m].to_dict() == pytest.approx(
                {r: stats.binom.pmf(range(m + 1), m, (r - 1) / 49) @ (1 / np.arange(1.0, m + 2)) for r in range(1, 21)}
            )

    def test_figure_4_on_the_sample_and_in_expectation(self):
        n, m = 40, 5
        table = toy.figure_4(n, "ap", m, ["uncorrected", "rank-estimate"])
        cells = table.set_index(["panel", "estimator", "rank"])["value"].sort_index()
        assert cells["sampled", "uncorrected"].to_dict() == pytest.approx({r: 1 / r for r in range(1, m + 2)})
        scaled = [1 / (1 + (n - 1) * x // m) for x in range(m + 1)]
        assert cells["sampled", "rank-estimate"].tolist() == pytest.approx(scaled)
        assert cells["expected", "exact"].to_dict() == pytest.approx({r: 1 / r for r in range(1, n + 1)})
        assert cells["expected", "rank-estimate"].to_dict() == pytest.approx(
            {r: stats.binom.pmf(range(m + 1), m, (r - 1) / (n - 1)) @ scaled for r in range(1, n + 1)}
        )
        assert "exact" not in table[table["panel"] == "sampled"]["estimator"].tolist()


@pytest.mark.parametrize("figure", TABLES)
def test_texts_are_apart(figure):
    note = toy.note(10000, negatives=100, metric_label="ap")
    assert note == "AP, n = 10,000 items, m = 100 negatives drawn with replacement"
    assert_texts_are_apart(toy.FIGURES[figure][1](TABLES[figure], note))


class TestDrawn:
    def test_the_legend_of_figure_4_has_the_order_of_its_lines(self):
        """At true rank 1 the exact AP is 1, and an estimate is larger the less it corrects."""
        labels = ["bv-1", "cls", "uncorrected", "bv-0.01"]
        figure = toy.draw_4(toy.figure_4(10_000, "ap", 100, labels))
        names = [text.get_text() for text in figure.legends[0].get_texts()]
        assert names == ["Exact", "Sampled (uncorrected)", "BV 0.01", "CLS", "BV 1"]

    def test_lines_of_figure_3_that_coincide_have_one_name(self):
        figure = toy.draw_3(toy.figure_3(10_000, ["auc", "recall@10"], [1, 10, 100], 500))
        named = [text.get_text() for text in figure.axes[1].texts]
        assert "m = 10, m = 1" in named
        assert figure.axes[1].get_legend() is None


def test_captions_say_the_scale_that_is_drawn():
    caption = (ROOT / "workflow/report/figure-1.rst").read_text(encoding="utf-8")
    figure = toy.draw_1(toy.figure_1(1000, ["ap", "auc"], 100))
    assert {panel.get_xscale() for panel in figure.axes} == {"linear"}
    assert "logarithmic" not in caption
