"""The running example: its tables against the paper and enumeration, its figures' tables against direct computation."""

import numpy as np
import pytest
from scipy import stats

from sampled_metrics.errors import SampledMetricsError
from sampled_metrics.metrics.held_out import metric
from sampled_metrics.paper import toy
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.workflow.seeds import stream

RANKS = {"A": [3, 3], "B": [1, 9]}
METRICS = ["auc", "ap", "ndcg", "recall@2"]


class TestTables:
    def test_table_1_by_hand(self):
        table = toy.table_1(RANKS, 11, ["auc", "ap"])
        assert table.to_dict("list") == {
            "recommender": ["A", "A", "B", "B"],
            "metric": ["auc", "ap"] * 2,
            "value": pytest.approx([0.8, 1 / 3, (1 + 0.2) / 2, (1 + 1 / 9) / 2]),
        }

    @pytest.mark.parametrize("replacement", [True, False])
    def test_table_2_has_the_mean_and_deviation_of_a_repetitions_mean(self, replacement):
        m, n, repetitions = 4, 11, 20_000
        table = toy.table_2(
            RANKS, n, METRICS, SamplingDesign(m, replacement), repetitions, lambda name: stream(1, name)
        )
        for row in table.itertuples():
            f = metric(row.metric).values(m + 1)
            chances = [
                stats.binom.pmf(range(m + 1), m, (r - 1) / (n - 1))
                if replacement
                else stats.hypergeom.pmf(range(m + 1), n - 1, r - 1, m)
                for r in RANKS[row.recommender]
            ]
            mean = np.mean([p @ f for p in chances])
            variance = sum(p @ f**2 - (p @ f) ** 2 for p in chances) / len(chances) ** 2
            assert abs(row.mean - mean) <= 4 * np.sqrt(variance / repetitions) + 1e-12
            assert row.sd == pytest.approx(np.sqrt(variance), rel=0.05, abs=1e-9)

    def test_table_2_recommenders_have_streams_of_their_own(self):
        def means(ranks):
            table = toy.table_2(ranks, 11, ["ap"], SamplingDesign(4), 5, lambda name: stream(1, name))
            return table.set_index("recommender")["mean"]

        both = means(RANKS)
        assert means({"B": RANKS["B"]})["B"] == both["B"]
        assert means({"B": RANKS["B"], "A": RANKS["A"]}).to_dict() == both.to_dict()

    def test_table_2_of_one_repetition_has_no_deviation(self):
        assert toy.table_2(RANKS, 11, ["ap"], SamplingDesign(4), 1, lambda name: stream(1, name))["sd"].isna().all()

    def test_table_2_refuses_more_negatives_than_there_are(self):
        with pytest.raises(SampledMetricsError):
            toy.table_2(RANKS, 11, ["ap"], SamplingDesign(11), 1, lambda name: stream(1, name))


class TestFigures:
    def test_figure_1_has_every_rank_of_both_panels_and_the_last(self):
        table = toy.figure_1(5000, ["ap", "auc"], 30)
        for (panel, label), curve in table.groupby(["panel", "metric"]):
            rank = curve["rank"].to_numpy()
            assert (np.diff(rank) > 0).all()
            assert set(range(1, 31)) <= set(rank.tolist())
            assert rank[-1] == {"all": 5000, "first": 30}[panel]
            wanted = 1 / rank if label == "ap" else (5000 - rank) / 4999
            np.testing.assert_allclose(curve["value"], wanted)

    def test_figure_1_of_few_candidates_stops_at_the_last(self):
        assert toy.figure_1(7, ["ap"], 100)["rank"].tolist() == 2 * [1, 2, 3, 4, 5, 6, 7]

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
