"""Samples from strata in the estimator study: numbers by hand, draws by enumeration, and a closed form."""

from functools import partial
from itertools import product
from math import comb, sqrt

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from study.test_estimator_study import estimator_study_of

from sampled_metrics._files import write_csv
from sampled_metrics.errors import DataError
from sampled_metrics.metrics.held_out import metric
from sampled_metrics.ranks.table import RankTable
from sampled_metrics.study.estimator_study import study_estimators
from sampled_metrics.study.stratified_study import RanksByStratum, allocation, read_by_stratum
from sampled_metrics.workflow.seeds import stream


def by_stratum(above, sizes, tied=None, shares=(0.6, 0.4)):
    above, sizes = np.array(above), np.array(sizes)
    names = ("top", "middle", "rest")[: sizes.shape[1]]
    return RanksByStratum(names, above, np.zeros_like(above) if tied is None else np.array(tied), sizes, shares)


def table_from(ranks):
    n, above, tied = (each.sum(axis=1) for each in (ranks.sizes, ranks.above, ranks.tied))
    return RankTable(np.arange(len(n)), n + 1, above, tied)


def made_up(events=80, seed=2):
    """Counts by stratum without ties, most of those above in the first one; sizes differ."""
    rng = np.random.default_rng(seed)
    sizes = np.stack([rng.integers(15, 20, events), rng.integers(60, 70, events)], axis=1)
    above = np.stack([rng.binomial(15, rng.beta(0.5, 3, events)), rng.binomial(60, rng.beta(0.3, 9, events))], axis=1)
    return by_stratum(above, sizes)


@pytest.mark.parametrize(
    ("negatives", "shares", "expected"),
    [
        (100, [0.6, 0.4], [60, 40]),
        (7, [0.5, 0.3, 0.2], [4, 2, 1]),  # 3.5, 2.1, 1.4
        (10, [0.7, 0.2, 0.1], [7, 2, 1]),  # 10 · 0.7 is less than 7 in floating point
        (2, [0.99, 0.01], [1, 1]),
        (3, [0.98, 0.01, 0.01], [1, 1, 1]),
        (50, [0.99, 0.01], [49, 1]),
    ],
)
def test_allocation(negatives, shares, expected):
    assert allocation(negatives, shares).tolist() == expected


def test_a_stratum_that_is_too_small_leaves_its_negatives_to_the_others():
    ranks = by_stratum(np.zeros((4, 2), dtype=int), [[3, 20], [50, 2], [6, 6], [0, 12]])
    assert ranks.drawn(10).tolist() == [[3, 7], [8, 2], [6, 4], [0, 10]]


def test_draws_have_the_distribution_of_a_random_order_of_the_ties():
    above, tied, sizes, drawn = (3, 5), (2, 1), (10, 12), (4, 5)
    events = 40_000
    ranks = by_stratum([above] * events, [sizes] * events, [tied] * events)
    x = ranks.draw(np.array([drawn] * events), np.random.default_rng(5)).x
    chances = np.zeros((5, 6))
    for k in product(range(3), range(2)):  # the ties above the held-out item: 0 … 3 of them, each number equally likely
        chance = comb(2, k[0]) * comb(1, k[1]) / comb(3, sum(k)) / 4
        one, other = (
            stats.hypergeom.pmf(np.arange(m + 1), n, a + more, m)
            for n, a, more, m in zip(sizes, above, k, drawn, strict=True)
        )
        chances += chance * np.outer(one, other)
    found = np.histogram2d(*x.T, bins=(np.arange(6), np.arange(7)))[0]
    often = events * chances > 5
    assert found[~often].sum() <= 20 + 2 * events * chances[~often].sum()
    assert stats.chisquare(found[often], chances[often] / chances[often].sum() * found[often].sum()).pvalue > 1e-3


def test_of_all_negatives_the_estimates_are_exact():
    ranks = by_stratum([[0, 1], [2, 3], [4, 0], [1, 1]], [[5, 9]] * 4)
    metrics = [metric(label) for label in ("recall@3", "ap", "auc")]
    exact = [table_from(ranks).values(each).mean() for each in metrics]
    found = ranks.estimates(14, ["rank-estimate", "mle"], metrics, 2, np.random.default_rng(1))
    np.testing.assert_allclose(found["rank-estimate"], [exact] * 2, rtol=1e-12)
    np.testing.assert_allclose(found["mle"], [exact] * 2, rtol=1e-3)


class TestStudy:
    METRICS = ("recall@3", "ap", "auc")

    def compared(self, ranks, **changes):
        study = estimator_study_of(metrics=list(self.METRICS), **changes)
        return study_estimators(table_from(ranks), study, partial(stream, 1, "data", "X"), by_stratum=ranks)

    def test_the_deviation_of_the_area_under_the_curve_is_its_closed_form(self):
        ranks, m, repetitions = made_up(), (6, 4), 400
        found = self.compared(ranks, estimators=["rank-estimate"], negatives=[10], repetitions=repetitions)
        [row] = found[(found["sample"] == "strata") & (found["metric"] == "auc")].to_dict("records")
        variance = 0.0
        for above, sizes in zip(ranks.above, ranks.sizes, strict=True):
            for a, size, drawn in zip(above, sizes, m, strict=True):
                hypergeometric = drawn * a / size * (1 - a / size) * (size - drawn) / (size - 1)
                variance += (size / drawn / sizes.sum()) ** 2 * hypergeometric
        deviation = sqrt(variance) / len(ranks.above)
        assert row["sd"] == pytest.approx(deviation, rel=4 / sqrt(2 * repetitions))
        assert abs(row["bias"]) < 4 * deviation / sqrt(repetitions)
        assert row["rmse"] == pytest.approx(np.hypot(row["bias"], row["sd"]))

    def test_rows_are_those_of_the_estimators_for_strata(self):
        found = self.compared(made_up(), estimators=["uncorrected", "mle", "smooth"], negatives=[5, 12], repetitions=2)
        rows = found[found["sample"] == "strata"]
        assert rows[["negatives", "estimator"]].drop_duplicates().to_numpy().tolist() == [
            *([5.0, "uncorrected"], [5.0, "mle"], [5.0, "smooth"]),
            *([12.0, "uncorrected"], [12.0, "mle"], [12.0, "smooth"]),
        ]
        of_metrics = rows["metric"].isin(self.METRICS)
        assert rows.loc[of_metrics, ["exact", "mean", "sd", "rmse", "error"]].notna().all(axis=None)
        assert rows.loc[~of_metrics, ["exact", "mean", "sd", "rmse", "error"]].isna().all(axis=None)

    def test_other_samples_have_the_numbers_that_they_have_without(self):
        ranks = made_up()
        changes = {"estimators": ["bv-0.1", "mle"], "negatives": [10], "repetitions": 2}
        found = self.compared(ranks, **changes)
        study = estimator_study_of(metrics=list(self.METRICS), **changes)
        without = study_estimators(table_from(ranks), study, partial(stream, 1, "data", "X"))
        pd.testing.assert_frame_equal(found[found["sample"] != "strata"], without)


class TestReading:
    @pytest.fixture
    def counts(self):
        return pd.DataFrame(
            {
                "user": ["ann", "Bob"],
                "candidates": [10, 9],
                **{"above_top2": [1, 0], "tied_top2": [0, 1], "size_top2": [2, 1]},
                **{"above_rest": [3, 0], "tied_rest": [2, 0], "size_rest": [7, 7]},
            }
        )

    TABLE = RankTable(np.array(["ann", "Bob"]), np.array([10, 9]), np.array([4, 0]), np.array([2, 1]))

    def test_counts_are_those_of_the_file(self, counts, tmp_path):
        write_csv(tmp_path / "X.csv.gz", counts)
        found = read_by_stratum(tmp_path / "X.csv.gz", self.TABLE, [0.5, 0.5])
        assert found.strata == ("top2", "rest")
        for name in ("above", "tied"):
            assert getattr(found, name).tolist() == counts[[f"{name}_top2", f"{name}_rest"]].to_numpy().tolist()
        assert found.sizes.tolist() == [[2, 7], [1, 7]]

    @pytest.mark.parametrize("column", ["above_rest", "tied_top2", "size_rest"])
    def test_sums_that_are_not_the_ranks_name_the_line(self, counts, column, tmp_path):
        counts.loc[1, column] += 1
        write_csv(tmp_path / "X.csv.gz", counts)
        with pytest.raises(DataError, match=r"X\.csv\.gz, line 3: the counts by stratum are not those of the rank tab"):
            read_by_stratum(tmp_path / "X.csv.gz", self.TABLE, [0.5, 0.5])

    def test_other_users(self, counts, tmp_path):
        for other in (counts.iloc[::-1], counts.iloc[:1]):
            write_csv(tmp_path / "X.csv.gz", other)
            with pytest.raises(DataError, match=r"X\.csv\.gz, line 2: the counts by stratum are not those of the rank"):
                read_by_stratum(tmp_path / "X.csv.gz", self.TABLE, [0.5, 0.5])
