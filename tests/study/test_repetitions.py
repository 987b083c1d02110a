"""Repetitions of sampled evaluations and their exact moments, against direct computation and simulation."""

import numpy as np
import pytest
from small_tables import random_table, table_of

from sampled_metrics.sampling import draws
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.sampling.draws import Draws
from sampled_metrics.study import repetitions as study

METRICS = ["recall@10", "ndcg@10", "ap", "auc"]
ESTIMATORS = ["uncorrected", "rank-estimate", "cls", "bv-1", "bv-0.1", "bv-0.01", "bv-0.001"]


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


class TestHistograms:
    def test_counts_x_by_tie_rule(self):
        draws = [
            Draws(np.array([0, 2, 2]), np.array([1, 0, 1]), np.array([0.4, 0.9, 0.9])),
            Draws(np.array([3, 3, 0]), np.array([0, 0, 0]), np.array([0.4, 0.9, 0.9])),
        ]
        found = study.sampled_histograms(iter(draws), ["random", "beats-one"], 4, None)
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
        chances = draws.expected_distribution(table, design)
        fitted = what.fit(table.mean_candidates)
        for (label, name), of_cell in runs.groupby(["metric", "estimator"]):
            expected = chances @ fitted[name].weights[METRICS.index(label)]
            error = of_cell["estimate"].std() / np.sqrt(1500)
            # 1e-12: where every repetition gives the same
            assert abs(of_cell["estimate"].mean() - expected) <= 4 * error + 1e-12, (label, name)


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

    def test_what_is_not_linear_is_missing_and_the_others_stay_in_their_places(self):
        table, names = random_table(11, 30), ["mle", "cls", "mes", "uncorrected", "smooth"]
        both = study.exact_moments(table, evaluation(estimators=names)).set_index(["metric", "estimator"])
        alone = study.exact_moments(table, evaluation(estimators=["uncorrected"])).set_index(["metric", "estimator"])
        for label in ("ap", "auc"):
            for name in ("mle", "mes", "smooth"):
                assert both.loc[(label, name), ["mean_exact", "sd_exact"]].isna().all()
            found = both.loc[(label, "uncorrected"), ["mean_exact", "sd_exact"]].tolist()
            assert found == pytest.approx(
                alone.loc[(label, "uncorrected"), ["mean_exact", "sd_exact"]].tolist(), rel=1e-12
            )
