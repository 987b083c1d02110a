"""Expected estimates by sample size: against direct computation, and the lines that are drawn."""

import pandas as pd
import pytest
from small_tables import random_table

from sampled_metrics.core.estimators import estimator
from sampled_metrics.core.metrics import metric
from sampled_metrics.core.sampling.distributions import SamplingDesign, distribution_over_ties
from sampled_metrics.core.sampling.outcomes import Outcomes
from sampled_metrics.reporting.sample_sizes import draw, expected_by_sample_size

RECALL = metric("recall@3")


def test_expected_values_are_the_direct_computation_for_each_size():
    tables = {"X": random_table(9, 40), "Y": random_table(10, 30)}
    options = {"assume_replacement": True}
    table = expected_by_sample_size(
        tables, "recall@3", ["uncorrected", "bv-0.1"], [25, 3, 99], replacement=False, **options
    )
    assert table["negatives"].unique().tolist() == [3, 25]  # there are no 99 others
    for row in table.itertuples():
        ranks = tables[row.recommender]
        design = SamplingDesign(row.negatives, replacement=False)
        fitted = estimator(row.estimator, **options).fit(
            Outcomes.from_design(design, ranks.mean_candidates), [RECALL]
        )
        chances = distribution_over_ties(ranks.above, ranks.tied, ranks.candidates, design).mean(
            axis=0
        )
        assert row.expected == pytest.approx(chances @ fitted.weights[0], abs=1e-12)
        assert row.exact == pytest.approx(ranks.values(RECALL).mean())


def curves(estimator, exact, **expected):
    """Rows of an estimator at m = 50, 100, 200 and 400, by recommender."""
    return pd.concat(
        pd.DataFrame(
            {
                "metric": "ap",
                "recommender": name,
                "estimator": estimator,
                "expected": values,
                "exact": exact,
            }
        ).assign(negatives=[50, 100, 200, 400])
        for name, values in expected.items()
    )


def test_what_is_far_above_the_exact_values_is_magnified_on_a_linear_scale():
    """X and Y cross halfway, on the logarithmic axis, between 100 and 200."""
    sampled = curves("uncorrected", 0.01, X=[0.9, 0.6, 0.4, 0.2], Y=[0.8, 0.5, 0.5, 0.3])
    figure = draw(pd.concat([sampled, curves("cls", 0.01, X=[0.01] * 4, Y=[0.02] * 4)]))
    titles = ["Sampled (uncorrected)", "m ≥ 100, linear", "CLS"]
    assert [panel.get_title() for panel in figure.axes] == titles
    assert [panel.get_yscale() for panel in figure.axes] == ["log", "linear", "linear"]
    assert [min(figure.axes[at].get_lines()[0].get_xdata()) for at in (0, 1)] == [50, 100]
    [circle] = [line for line in figure.axes[1].get_lines() if line.get_fillstyle() == "none"]
    assert circle.get_xydata().tolist() == [[pytest.approx(2**0.5 * 100), pytest.approx(50)]]


@pytest.mark.parametrize("exact", [0.3, 0.0])
def test_what_is_not_has_one_panel(exact):
    figure = draw(curves("uncorrected", exact, X=[0.9, 0.6, 0.4, 0.2]))
    assert [panel.get_yscale() for panel in figure.axes] == ["linear"]
