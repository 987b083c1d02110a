"""What holds for all verbs: labels come back as written, objects take their place, and a single
user has no interval.
"""

from dataclasses import dataclass

import numpy as np
import pytest
import read_and
from compared import require_no_interval_of_one_user

import sampled_metrics as sm
from sampled_metrics.core.estimators.linear import LinearEstimator, Uncorrected
from sampled_metrics.core.metrics import Metric


def kinds_and_names(result):
    return [(finding.kind, finding.names) for finding in result.findings]


SAMPLED = [1, 3, 1, 12, 21, 2, 1, 7, 5, 1, 2, 4, 1, 1, 9]
AMONG_20 = {"candidates": 500, "negatives": 20}
EXACT = [4, 61, 2, 300, 480, 17, 1, 150, 88, 3, 40, 77, 6, 9, 201]


@pytest.mark.parametrize(
    "call",
    [
        lambda m, e: read_and.correct(SAMPLED, **AMONG_20, metrics=m, estimators=e),
        lambda m, e: read_and.expect(EXACT, **AMONG_20, metrics=m, estimators=e),
        lambda m, e: read_and.compare(SAMPLED, EXACT[:1] * 15, **AMONG_20, metrics=m, estimator=e),
    ],
    ids=["correct", "expect", "compare"],
)
def test_labels_come_back_as_they_are_written(call):
    written = call(["hr@10", "MAP"], "BV 0.1")
    usual = call(["hit-rate@10", "ap"], "bv-0.1")
    assert written["metric"].tolist() == ["hr@10", "MAP"]
    if "estimator" in written:
        assert written["estimator"].tolist() == ["BV 0.1", "BV 0.1"]
    columns = written.columns.difference(["metric", "estimator"])
    assert written[columns].equals(usual[columns])
    assert kinds_and_names(written) == kinds_and_names(usual)


@pytest.mark.parametrize("has_users", [False, True])
def test_rows_without_users_are_said_to_count_as_users_once(has_users):
    column = {"user": range(len(EXACT))} if has_users else {}
    tables = {
        name: sm.exact_ranks({"rank": ranks, **column}, candidates=500, exact=True)
        for name, ranks in (("a", EXACT), ("b", EXACT[::-1]))
    }
    result = sm.evaluate(tables)
    remarks = [remark for remark in result.remarks if "Each row counts" in remark]
    assert len(remarks) == (not has_users)
    paired = sm.compare(tables | {"c": sm.exact_ranks(EXACT, candidates=500)})
    kinds = {finding.kind for finding in paired.findings}
    assert ("rows-as-users" in kinds) != has_users


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
    corrected = read_and.correct(
        SAMPLED, **AMONG_20, estimators=["uncorrected", Scaled(0.5)], metrics="ap"
    )
    plain, half = corrected.to_dict("records")
    assert half["estimator"] == "scaled-0.5"
    assert half["value"] == pytest.approx(plain["value"] / 2)
    assert half["standard_error"] == pytest.approx(plain["standard_error"] / 2)
    means = read_and.expect(
        EXACT, **AMONG_20, estimators=["uncorrected", Scaled(0.25)], metrics="ap"
    ).set_index("estimator")["expected"]
    assert means["scaled-0.25"] == pytest.approx(means["uncorrected"] / 4)


SINGLE_USER = sm.sampled_ranks([3], negatives=20, candidates=500)
ESTIMATORS_OF_ALL_SORTS = ["decreasing", "bv-0.1", "mle", "smooth"]


@pytest.mark.parametrize(
    "call",
    [
        lambda: sm.evaluate(sm.exact_ranks([3], candidates=50, exact=True), metrics="mrr"),
        lambda: sm.correct(SINGLE_USER, estimators=ESTIMATORS_OF_ALL_SORTS, metrics="recall@10"),
        lambda: sm.correct([SINGLE_USER] * 2, estimators="bv-0.1", metrics="recall@10"),
    ],
    ids=["exact", "sampled", "seeds"],
)
def test_a_single_user_has_a_value_and_no_interval(call):
    require_no_interval_of_one_user(call())


@pytest.mark.parametrize("names", ["ab", "abc"])
def test_single_users_are_compared_without_a_verdict(names):
    ranks = {name: [3 + number] for number, name in enumerate(names)}
    result = sm.compare(sm.exact_ranks(ranks, candidates=50, exact=True), metrics="ap", margin="2%")
    assert set(result["conclusion"]) == {"no verdict"}
    assert result["difference"].iloc[0] == pytest.approx(1 / 4 - 1 / 3)
    kinds = {finding.kind for finding in result.findings}
    assert not kinds & {"family", "undecided", "better", "few-users"}
