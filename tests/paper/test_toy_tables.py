"""Tables 1 and 2: against enumeration, and as they are laid out."""

from functools import partial

import numpy as np
import pytest
from scipy import stats

from sampled_metrics.metrics.metric import metric
from sampled_metrics.study import toy
from sampled_metrics.study.jobs import stream

RANKS = {"A": [3, 3], "B": [1, 9]}
METRICS = ["auc", "ap", "ndcg", "recall@2"]


def table_2(**changes):
    given = {"ranks": RANKS, "candidates": 11, "metrics": ["ap"], "negatives": 4, "replacement": False}
    return toy.table_2(given | {"repetitions": 5} | changes, partial(stream, 1))


class TestTables:
    def test_table_1_by_hand(self):
        table = toy.table_1({"ranks": RANKS, "candidates": 11, "metrics": ["auc", "ap"]})
        assert table.to_dict("list") == {
            "recommender": ["A", "A", "B", "B"],
            "metric": ["auc", "ap"] * 2,
            "value": pytest.approx([0.8, 1 / 3, (1 + 0.2) / 2, (1 + 1 / 9) / 2]),
        }

    @pytest.mark.parametrize("replacement", [True, False])
    def test_table_2_has_the_mean_and_deviation_of_a_repetitions_mean(self, replacement):
        m, n, repetitions = 4, 11, 20_000
        table = table_2(metrics=METRICS, replacement=replacement, repetitions=repetitions)
        for row in table.itertuples():
            f = metric(row.metric).values(m + 1)
            better, x = np.array(RANKS[row.recommender])[:, np.newaxis] - 1, np.arange(m + 1)
            law = stats.binom(m, better / (n - 1)) if replacement else stats.hypergeom(n - 1, better, m)
            chances = law.pmf(x)
            mean = np.mean([p @ f for p in chances])
            variance = sum(p @ f**2 - (p @ f) ** 2 for p in chances) / len(chances) ** 2
            assert abs(row.mean - mean) <= 4 * np.sqrt(variance / repetitions) + 1e-12
            assert row.sd == pytest.approx(np.sqrt(variance), rel=0.05, abs=1e-9)

    def test_table_2_recommenders_have_streams_of_their_own(self):
        def means(ranks):
            return table_2(ranks=ranks).set_index("recommender")["mean"]

        both = means(RANKS)
        assert means({"B": RANKS["B"]})["B"] == both["B"]
        assert means({"B": RANKS["B"], "A": RANKS["A"]}).to_dict() == both.to_dict()
