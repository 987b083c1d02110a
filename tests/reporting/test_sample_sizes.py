"""Expected estimates by sample size: against direct computation, and the lines that are drawn."""

from itertools import product

import numpy as np
import pytest
from small_tables import random_table, table_of

from sampled_metrics.estimators import estimator
from sampled_metrics.metrics.metric import metric
from sampled_metrics.reporting.sample_sizes import expected_by_sample_size
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes
from sampled_metrics.sampling.ties import distribution_over_ties


class TestExpected:
    @pytest.mark.parametrize("replacement", [False, True])
    def test_is_the_direct_computation_for_each_size(self, replacement):
        tables = {"X": random_table(9, 40), "Y": random_table(10, 30)}
        sizes, names = [3, 25, 10, 1], ["uncorrected", "bv-0.1"]
        table = expected_by_sample_size(
            tables, "recall@3", names, sizes, replacement=replacement, assume_replacement=True
        ).set_index(["estimator", "recommender", "negatives"])
        assert len(table) == 2 * 2 * 4
        for name, recommender, m in product(names, tables, sizes):
            ranks = tables[recommender]
            fitted = estimator(name, assume_replacement=True).fit(
                Outcomes.from_design(SamplingDesign(m, replacement), ranks.mean_candidates), [metric("recall@3")]
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
        for replacement, sizes in ((False, [2, 7]), (True, [2, 7, 8, 9])):
            table = expected_by_sample_size(
                tables, "ap", ["uncorrected"], [9, 7, 2, 8], replacement=replacement, assume_replacement=True
            )
            assert table["negatives"].tolist() == sizes
