"""What holds for all verbs: the order of rows is nothing, labels come back as written, and objects
take their place.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import read_and
from compared import require_no_interval_of_one_user

import sampled_metrics as sm
from sampled_metrics.core.estimators.linear import LinearEstimator, Uncorrected
from sampled_metrics.core.metrics import Metric

RNG = np.random.default_rng(3)


def ranks(users, negatives=None):
    """Two rows of each user, with ties or among negatives; users are text and n differs by user."""
    user = np.repeat(np.arange(users), 2)
    n = np.repeat(np.resize([100, 150], users), 2)
    above = (RNG.beta(0.4, 2, len(user)) * (n - 10)).astype(int)
    tied = RNG.integers(0, 5, len(user))
    columns = {"above": above, "tied": tied}
    if negatives is not None:
        columns = {
            "rank": 1 + RNG.hypergeometric(above, n - 1 - above, negatives),
            "negatives": negatives,
        }
    return pd.DataFrame({"user": [f"u{number}" for number in user], "candidates": n} | columns)


def correct_a(tables, **options):
    return read_and.correct(tables["a"], **options)


@pytest.mark.parametrize(
    ("function", "negatives", "options"),
    [
        pytest.param(read_and.expect, None, {"negatives": 20}, id="expect"),
        pytest.param(correct_a, 8, {"estimators": "decreasing"}, id="correct-decreasing"),
        pytest.param(correct_a, 8, {"estimators": "mle"}, id="correct-mle"),
        pytest.param(read_and.compare, 8, {"estimator": "decreasing"}, id="compare-decreasing"),
        pytest.param(read_and.compare, 8, {"estimator": "mle"}, id="compare-mle"),
    ],
)
def test_rows_in_another_order_give_the_same(function, negatives, options):
    tables = {name: ranks(8, negatives) for name in "ab"}
    shuffled = {name: table.sample(frac=1, random_state=1) for name, table in tables.items()}
    options = options | {"metrics": ["recall@5", "ap"]}
    result = function(tables, **options)
    again = function(shuffled, **options)
    pd.testing.assert_frame_equal(pd.DataFrame(again), pd.DataFrame(result), rtol=1e-9, atol=1e-12)
    assert kinds_and_names(again) == kinds_and_names(result)


def kinds_and_names(result):
    return [(finding.kind, finding.names) for finding in result.findings]


SAMPLED = [1, 3, 1, 12, 21, 2, 1, 7, 5, 1, 2, 4, 1, 1, 9]
AMONG_20 = {"candidates": 500, "negatives": 20}
EXACT = [4, 61, 2, 300, 480, 17, 1, 150, 88, 3, 40, 77, 6, 9, 201]
WRITTEN_METRICS = ["hr@10", "MAP", "AUC", "Recall@5"]
USUAL_METRICS = ["hit-rate@10", "ap", "auc", "recall@5"]
WRITTEN_ESTIMATORS = ["sampled", "BV 0.1", "Decreasing", "EM"]
USUAL_ESTIMATORS = ["uncorrected", "bv-0.1", "decreasing", "mle"]


@pytest.mark.parametrize(
    ("call", "estimators"),
    [
        (lambda m, e: read_and.correct(SAMPLED, **AMONG_20, metrics=m, estimators=e), 4),
        (lambda m, e: read_and.expect(EXACT, **AMONG_20, metrics=m, estimators=e), 2),
        (
            lambda m, e: read_and.compare(
                SAMPLED, SAMPLED[::-1], **AMONG_20, metrics=m, estimator=e[0]
            ),
            1,
        ),
    ],
    ids=["correct", "expect", "compare"],
)
def test_labels_come_back_as_they_are_written(call, estimators):
    written = call(WRITTEN_METRICS, WRITTEN_ESTIMATORS[:estimators])
    usual = call(USUAL_METRICS, USUAL_ESTIMATORS[:estimators])
    assert written["metric"].unique().tolist() == WRITTEN_METRICS
    if "estimator" in written:
        assert written["estimator"].unique().tolist() == WRITTEN_ESTIMATORS[:estimators]
    columns = written.columns.difference(["metric", "estimator"])
    assert written[columns].equals(usual[columns])
    kinds = [[finding.kind for finding in result.findings] for result in (written, usual)]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b, _: sm.evaluate({"a": a, "b": b}),
        lambda _, __, sampled: sm.correct(sampled, estimators="uncorrected"),
    ],
    ids=["exact", "sampled"],
)
@pytest.mark.parametrize("has_users", [False, True])
def test_rows_without_users_are_said_to_count_as_users_once(call, has_users):
    column = {"user": range(len(EXACT))} if has_users else {}
    exact = [
        sm.exact_ranks({"rank": ranks, **column}, candidates=500, exact=True)
        for ranks in (EXACT, EXACT[::-1])
    ]
    sampled = sm.sampled_ranks({"rank": SAMPLED, **column}, **AMONG_20)
    result = call(*exact, sampled)
    kinds = [finding.kind for finding in result.findings]
    remarks = [remark for remark in result.remarks if "Each row counts" in remark]
    assert ("rows-as-users" in kinds) != has_users
    assert len(remarks) == (not has_users)


def test_tables_that_are_paired_with_users_by_position_have_users():
    with_users = sm.exact_ranks({"rank": EXACT, "user": range(len(EXACT))}, candidates=500)
    without = sm.exact_ranks(EXACT[::-1], candidates=500)
    result = sm.compare({"a": with_users, "b": without})
    assert "rows-as-users" not in {finding.kind for finding in result.findings}


def test_a_metric_of_ones_own():
    """Rank-biased precision with p = 0.8."""
    rbp = Metric(
        "rbp",
        lambda rank, _: 0.2 * 0.8 ** (np.asarray(rank) - 1.0),
        linear_in_rank=False,
        cutoff=None,
    )
    table = read_and.evaluate([1, 2, 11], candidates=100, metrics=[rbp, "recall@10"])
    assert table["metric"].tolist() == ["rbp", "recall@10"]
    np.testing.assert_allclose(table["value"], [0.2 * (1 + 0.8 + 0.8**10) / 3, 2 / 3])
    assert read_and.correct(SAMPLED, **AMONG_20, metrics=rbp)["value"].between(0, 0.2).all()


@dataclass(frozen=True)
class Scaled(LinearEstimator):
    """The uncorrected metric, times a factor."""

    factor: float

    def __str__(self):
        return f"scaled-{self.factor:g}"

    def weights(self, design, candidates, metrics):
        return self.factor * Uncorrected().weights(design, candidates, metrics)


def test_an_estimator_of_ones_own():
    corrected = read_and.correct(SAMPLED, **AMONG_20, estimators=["uncorrected", Scaled(0.5)])
    assert corrected["estimator"].unique().tolist() == ["uncorrected", "scaled-0.5"]
    plain, half = (
        corrected[corrected["estimator"] == label] for label in ("uncorrected", "scaled-0.5")
    )
    for column in ("value", "standard_error"):
        np.testing.assert_allclose(half[column], plain[column] / 2)
    expected = read_and.expect(EXACT, **AMONG_20, estimators=["uncorrected", Scaled(0.25)])
    means = expected.groupby("estimator")["expected"].apply(list)
    np.testing.assert_allclose(means["scaled-0.25"], np.array(means["uncorrected"]) / 4)


SINGLE_USER = sm.sampled_ranks([3], negatives=20, candidates=500)
EVERY_ESTIMATOR = ["decreasing", "free", "bv-0.1", "cls", "mle", "mes", "smooth", "uncorrected"]


@pytest.mark.parametrize(
    "call",
    [
        lambda: sm.evaluate(
            sm.exact_ranks([3], candidates=50, exact=True), metrics=["mrr", "recall@2"]
        ),
        lambda: sm.correct(SINGLE_USER, estimators=EVERY_ESTIMATOR, metrics=["recall@10", "auc"]),
        lambda: sm.correct(
            {"a": [SINGLE_USER, SINGLE_USER]}, estimators="bv-0.1", metrics="recall@10"
        ),
    ],
    ids=["exact", "sampled", "seeds"],
)
@pytest.mark.filterwarnings("error")
def test_a_single_user_has_a_value_and_no_interval(call):
    require_no_interval_of_one_user(call())


@pytest.mark.parametrize("names", ["ab", "abc"])
@pytest.mark.filterwarnings("error")
def test_single_users_are_compared_without_a_verdict(names):
    ranks = {name: [3 + number] for number, name in enumerate(names)}
    result = sm.compare(sm.exact_ranks(ranks, candidates=50, exact=True), metrics="ap", margin="2%")
    assert set(result["conclusion"]) == {"no verdict"}
    assert result["difference"].iloc[0] == pytest.approx(1 / 4 - 1 / 3)
    assert not {finding.kind for finding in result.findings} & {
        "family",
        "undecided",
        "better",
        "few-users",
    }
