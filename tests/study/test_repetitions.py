"""Repetitions of sampled evaluations and their exact moments, against direct computation and simulation."""

from itertools import product

import numpy as np
import pytest
from small_tables import random_table, table_of

from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.metrics.metric import metric
from sampled_metrics.sampling import moments
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.draws import Draws
from sampled_metrics.study import repetitions as study

METRICS = ["recall@10", "ndcg@10", "ap", "auc"]
ESTIMATORS = ["uncorrected", "rank-estimate", "cls", "bv-1", "bv-0.1", "bv-0.01", "bv-0.001"]


def evaluation(repetitions=3, **changes):
    settings = {
        "design": SamplingDesign(12),
        "repetitions": repetitions,
        "variants": ["default"],
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
    def test_has_a_row_for_each_reading_metric_estimator_and_repetition(self):
        what = evaluation(variants=["default", "as-printed"])
        runs = study.repeat(random_table(1, 9), what, np.random.default_rng(1))
        assert list(runs.columns) == ["reading", "metric", "estimator", "repetition", "estimate"]
        keys = list(zip(*(runs[name] for name in list(runs.columns)[:4]), strict=True))
        assert len(keys) == len(set(keys))
        assert set(keys) == set(product(["default", "as-printed"], ["ap", "auc"], ["uncorrected", "bv-0.1"], range(3)))

    def test_the_draws_do_not_depend_on_what_is_made_of_them(self):
        table = random_table(2, 30)
        few = study.repeat(table, evaluation(), np.random.default_rng(1))
        more = study.repeat(
            table,
            evaluation(
                variants=["as-printed", "default"],
                estimators=["cls", "bv-0.1", "rank-estimate", "uncorrected"],
                metrics=["recall@3", "auc", "ap"],
            ),
            np.random.default_rng(1),
        )
        for label, name in product(["ap", "auc"], ["uncorrected", "bv-0.1"]):
            keys = {"reading": "default", "metric": label, "estimator": name}
            assert estimates_of(few, **keys) == pytest.approx(estimates_of(more, **keys), rel=1e-12)

    def test_a_longer_run_begins_with_a_shorter_one(self):
        table = random_table(3, 30)
        short = study.repeat(table, evaluation(4), np.random.default_rng(1))
        long = study.repeat(table, evaluation(9), np.random.default_rng(1))
        for label, name in product(["ap", "auc"], ["uncorrected", "bv-0.1"]):
            keys = {"metric": label, "estimator": name}
            assert estimates_of(short, **keys) == estimates_of(long, **keys)[:4]
            assert len(set(estimates_of(long, **keys))) > 1

    def test_the_variants_share_the_draws_and_differ_where_there_are_ties(self):
        both = evaluation(variants=["default", "as-printed"], estimators=["uncorrected", "rank-estimate"])
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
            variants=["default", "as-printed"],
            estimators=["rank-estimate"],
            metrics=["ap"],
        )
        runs = study.repeat(table_of([(3, 2, 0)]), what, np.random.default_rng(1))
        assert estimates_of(runs, reading="default") == pytest.approx([1 / 3])
        assert estimates_of(runs, reading="as-printed") == pytest.approx([1 / 2])

    def test_every_negative_without_replacement_gives_the_exact_metric(self):
        table = table_of([(13, above, 0) for above in (0, 0, 3, 11, 12)])
        runs = study.repeat(table, evaluation(2, estimators=["uncorrected"]), np.random.default_rng(1))
        for label in ("ap", "auc"):
            assert estimates_of(runs, metric=label) == pytest.approx([table.values(metric(label)).mean()] * 2)

    def test_refuses_more_negatives_than_there_are(self):
        with pytest.raises(DataError, match="only 11 candidates"):
            study.repeat(table_of([(50, 0, 0), (12, 0, 0)]), evaluation(), np.random.default_rng(1))

    def test_refuses_an_unknown_reading(self):
        with pytest.raises(ConfigError, match="unknown reading 'printed'; it may be default, as-printed"):
            study.repeat(random_table(1, 3), evaluation(variants=["printed"]), np.random.default_rng(1))

    def test_is_configured_by_the_config_entries(self):
        sampling = {"negatives": 7, "replacement": True, "repetitions": 5, "readings": ["default"]}
        of = {m: study.Evaluation(SamplingDesign(m, True), 5, ["default"], ["cls"], ["ap"], False) for m in (7, 9)}
        assert study.Evaluation.configured(sampling, ["cls"], ["ap"], False) == {None: of[7]}
        assert study.Evaluation.configured(sampling | {"negatives": [9, 7]}, ["cls"], ["ap"], False) == of


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
        chances = moments.expected_distribution(table, design)
        fitted = what.fit(table.mean_candidates)
        for (label, name), of_cell in runs.groupby(["metric", "estimator"]):
            expected = chances @ fitted[name].weights[METRICS.index(label)]
            error = of_cell["estimate"].std() / np.sqrt(1500)
            # 1e-12: where every repetition gives the same
            assert abs(of_cell["estimate"].mean() - expected) <= 4 * error + 1e-12, (label, name)

    def test_does_not_depend_on_the_blocks_it_is_computed_in(self, monkeypatch):
        table, design = random_table(6, 50), SamplingDesign(12)
        whole = moments.expected_distribution(table, design)
        for block in (1, 13, 100, 13 * 50):
            monkeypatch.setattr(moments, "_BLOCK", block)
            np.testing.assert_allclose(moments.expected_distribution(table, design), whole, atol=1e-15)
        assert whole.sum() == pytest.approx(1)

    def test_by_hand(self):
        # n = 3, one negative: never better at rank 1, always at rank 3, half of the time if both tie
        table = table_of([(3, 0, 0), (3, 2, 0), (3, 0, 2), (3, 0, 0)])
        np.testing.assert_allclose(
            moments.expected_distribution(table, SamplingDesign(1)), [2.5 / 4, 1.5 / 4], atol=1e-14
        )


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

    def test_the_variants_break_ties_differently(self):
        # both negatives tie and both are drawn: at random the rank is 1, 2 or 3; as printed it beats one, 1 or 2
        what = evaluation(
            design=SamplingDesign(2), variants=["default", "as-printed"], estimators=["uncorrected"], metrics=["ap"]
        )
        found = study.exact_moments(table_of([(3, 0, 2)]), what).set_index("reading")
        assert found["mean_exact"].to_dict() == pytest.approx({"default": (1 + 1 / 2 + 1 / 3) / 3, "as-printed": 0.75})
        assert found.loc["as-printed", "sd_exact"] == pytest.approx(0.25)

    def test_as_printed_has_the_divisor_of_the_printed_numbers(self):
        # x = 1 of m = 1: rank 1 + floor(2 · 1 / 1) = 3 by eq. 20, 1 + floor(2 · 1 / 2) = 2 as printed
        what = evaluation(
            design=SamplingDesign(1), variants=["default", "as-printed"], estimators=["rank-estimate"], metrics=["ap"]
        )
        found = study.exact_moments(table_of([(3, 2, 0)]), what).set_index("reading")
        assert found["mean_exact"].to_dict() == pytest.approx({"default": 1 / 3, "as-printed": 1 / 2})
        assert found["estimator"].tolist() == ["rank-estimate"] * 2

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

    def test_none_is_linear(self):
        found = study.exact_moments(random_table(11, 30), evaluation(estimators=["mle"]))
        assert found[["mean_exact", "sd_exact"]].isna().all(axis=None)
        assert len(found) == 2

    def test_has_the_rows_of_the_repetitions(self):
        table, what = random_table(11, 30), evaluation(variants=["default", "as-printed"], estimators=["cls", "mle"])
        runs = study.repeat(table, what, np.random.default_rng(1))
        keys = ["reading", "metric", "estimator"]
        assert (
            study.exact_moments(table, what)[keys].to_numpy().tolist()
            == runs[keys].drop_duplicates().to_numpy().tolist()
        )

    def test_refuses_more_negatives_than_there_are(self):
        with pytest.raises(DataError, match="only 11 candidates"):
            study.exact_moments(table_of([(50, 0, 0), (12, 0, 0)]), evaluation())

    def test_refuses_events_without_any_other_candidate(self):
        with pytest.raises(DataError, match="has no candidates besides"):
            study.exact_moments(table_of([(1, 0, 0)]), evaluation())
