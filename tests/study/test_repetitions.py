"""Repetitions of sampled evaluations and their exact moments, computed and simulated."""

import numpy as np
import pandas as pd
import pytest
from read_and import expect
from scipy.stats import hypergeom
from small_tables import random_table, table_of

from sampled_metrics.core.metrics import metric
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.core.sampling.draws import Draws
from sampled_metrics_study import repetitions as study

CELL = ["metric", "estimator"]
USER = np.array([3, 1, 1, 2, 1, 2, 4, 3, 1])
SEVERAL_ROWS = ExactRanks(
    USER,
    np.full(9, 60),
    np.array([0, 4, 30, 9, 12, 2, 20, 7, 50]),
    np.array([0, 2, 0, 1, 0, 3, 0, 0, 5]),
)
"""Ranks of four users, who have one to four rows."""


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


def repeat(table, sampled, rng):
    """Return the estimates from samples that are drawn."""
    rules = study.tie_rules_of(sampled.readings)
    drawn = study.samples(table, sampled.design, sampled.repetitions, rules, rng)
    return study.estimates(table, sampled, drawn)


def test_the_readings_share_the_draws_and_differ_where_there_are_ties():
    sampled = evaluation(readings=["default", "as-printed"], estimators=["uncorrected"])
    for ties in (False, True):
        runs = repeat(random_table(4, 30, ties=ties), sampled, np.random.default_rng(1))
        default, as_printed = (
            runs.loc[runs["reading"] == reading, "estimate"].to_numpy()
            for reading in ("default", "as-printed")
        )
        if ties:  # as printed the held-out item beats one of the tied negatives
            assert (as_printed > default).all()
        else:
            assert (as_printed == default).all()


def test_as_printed_has_the_divisor_of_the_printed_numbers():
    """2 of 2 candidates are above, so x = 1 of m = 1.

    Then 1 + floor(2 · 1 / 1) = 3, but 1 + floor(2 · 1 / 2) = 2.
    """
    sampled = evaluation(
        1,
        design=SamplingDesign(1),
        readings=["default", "as-printed"],
        estimators=["rank-estimate"],
        metrics=["ap"],
    )
    runs = repeat(table_of([(3, 2, 0)]), sampled, np.random.default_rng(1))
    assert runs.set_index("reading")["estimate"].to_dict() == pytest.approx(
        {"default": 1 / 3, "as-printed": 1 / 2}
    )


def test_x_is_counted_by_tie_rule():
    draws = [
        Draws(np.array([0, 2, 2]), np.array([1, 0, 1]), np.array([0.4, 0.9, 0.9])),
        Draws(np.array([3, 3, 0]), np.array([0, 0, 0]), np.array([0.4, 0.9, 0.9])),
    ]
    histograms = study.sampled_histograms(iter(draws), ["random", "beats-one"], 4, None)
    assert histograms["random"].tolist() == [[1, 0, 1, 1, 0], [1, 0, 0, 2, 0]]
    assert histograms["beats-one"].tolist() == [[1, 0, 2, 0, 0], [1, 0, 0, 2, 0]]


@pytest.mark.parametrize(
    ("table", "design", "assume_replacement"),
    [
        (random_table(5, 80), SamplingDesign(12, False), True),
        (random_table(5, 80), SamplingDesign(12, True), True),
        (SEVERAL_ROWS, SamplingDesign(8), False),
    ],
    ids=["without replacement", "with replacement", "users with several rows"],
)
def test_repetitions_have_the_exact_moments(table, design, assume_replacement):
    sampled = evaluation(
        3000,
        design=design,
        estimators=["uncorrected", "rank-estimate", "cls", "bv-0.1", "bv-0.001"],
        metrics=["recall@10", "ndcg@10", "ap", "auc"],
        assume_replacement=assume_replacement,
    )
    exact = study.exact_moments(table, sampled).set_index(CELL)
    runs = repeat(table, sampled, np.random.default_rng(2))
    for keys, drawn in runs.groupby(CELL)["estimate"]:
        mean, sd = exact.loc[keys, ["mean_exact", "sd_exact"]]
        assert abs(drawn.mean() - mean) <= 4 * sd / np.sqrt(3000) + 1e-12, keys
        assert drawn.std() == pytest.approx(sd, rel=0.06, abs=1e-8), keys  # one is 0 up to rounding


def test_exact_moments_of_users_with_several_rows_are_those_of_expect_and_of_the_definition():
    options = {"estimators": ["uncorrected", "cls"], "metrics": ["recall@10", "ap"]}
    sampled = evaluation(design=SamplingDesign(8), assume_replacement=False, **options)
    moments = study.exact_moments(SEVERAL_ROWS, sampled).set_index(CELL)
    for row in expect(SEVERAL_ROWS, negatives=8, **options).itertuples():
        mean = moments.loc[(row.metric, row.estimator), "mean_exact"]
        assert mean == pytest.approx(row.expected, rel=1e-9)
    values = metric("ap").values(9)
    x = np.arange(9)
    variances = []
    for above, tied in zip(SEVERAL_ROWS.above, SEVERAL_ROWS.tied, strict=True):
        chances = np.mean([hypergeom(59, above + tie, 8).pmf(x) for tie in range(tied + 1)], axis=0)
        variances.append(chances @ values**2 - (chances @ values) ** 2)
    per_user = pd.Series(variances).groupby(USER)
    sd = np.sqrt((per_user.sum() / per_user.count() ** 2).sum()) / 4
    assert moments.loc[("ap", "uncorrected"), "sd_exact"] == pytest.approx(sd, rel=1e-9)


def test_moments_of_what_is_not_linear_are_missing_and_the_others_stay_in_their_places():
    table = random_table(11, 30)
    names = ["mle", "cls", "mes", "uncorrected", "smooth"]
    moments = study.exact_moments(table, evaluation(estimators=names))
    alone = study.exact_moments(table, evaluation(estimators=["uncorrected"]))
    is_linear = moments["estimator"].isin(["cls", "uncorrected"])
    assert moments.loc[~is_linear, ["mean_exact", "sd_exact"]].isna().all(axis=None)
    among_others = moments[moments["estimator"] == "uncorrected"].reset_index(drop=True)
    pd.testing.assert_frame_equal(among_others, alone, rtol=1e-12)
