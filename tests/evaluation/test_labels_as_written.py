"""Labels come back as they are written, and what is said and drawn does not depend on how they are written."""

import pytest
import read_and

N, M = {"candidates": 500}, {"candidates": 500, "negatives": 20}
SAMPLED = [1, 3, 1, 12, 21, 2, 1, 7, 5, 1, 2, 4, 1, 1, 9]
EXACT = [4, 61, 2, 300, 480, 17, 1, 150, 88, 3, 40, 77, 6, 9, 201]
METRICS = ["hr@10", "MAP", "AUC", "Recall@5"]
USUAL_METRICS = ["hit-rate@10", "ap", "auc", "recall@5"]
ESTIMATORS = ["Decreasing", "sampled", "BV 0.1", "MES", "EM"]
USUAL_ESTIMATORS = ["decreasing", "uncorrected", "bv-0.1", "mes", "mle"]
RUN = {"ann": {"film": 0.9, "song": 0.4}, "bob": {"film": 0.2, "book": 0.8, "song": 0.5}}
GRADES = {"ann": {"song": 3}, "bob": {"book": 1, "film": 2}}

LISTS = ["hr@10", "MAP", "Recall@5", "DCG@2"], ["hit-rate@10", "ap", "recall@5", "dcg@2"]
PAIR = {"x": SAMPLED, "y": SAMPLED[::-1]}

# a call with metrics and estimators as they are written, and as they are usual
CALLS = {
    "correct": lambda metrics, estimators: read_and.correct(SAMPLED, **M, metrics=metrics, estimators=estimators),
    "compare": lambda metrics, estimators: read_and.compare(PAIR, **M, metrics=metrics, estimator=estimators[1]),
    "expect": lambda metrics, estimators: read_and.expect(EXACT, **M, metrics=metrics, estimators=estimators[1:3]),
    "lists": lambda metrics, _: read_and.evaluate(RUN, relevance=GRADES, metrics=LISTS[metrics is USUAL_METRICS]),
}


@pytest.mark.parametrize("name", CALLS)
def test_labels_come_back_as_they_are_written(name):
    written, usual = CALLS[name](METRICS, ESTIMATORS), CALLS[name](USUAL_METRICS, USUAL_ESTIMATORS)
    assert written["metric"].unique().tolist() == (LISTS[0] if name == "lists" else METRICS)
    if "estimator" in written:
        assert written["estimator"].unique().tolist() == (ESTIMATORS if name == "correct" else ESTIMATORS[1:3])
    columns = [each for each in written.columns if each not in ("metric", "estimator")]
    assert written[columns].equals(usual[columns])
    assert written.remarks == usual.remarks


def test_a_p_value_that_rounds_to_0_is_not_shown_as_0():
    """The median is better for each of 3000 users: a p-value of 0 in double precision."""
    worse, better = ([first + at % 5 for at in range(3000)] for first in (300, 1))
    found = read_and.compare(worse, better, **N, metrics="ap")
    assert found["p_value"][0] < 1e-16
    assert " < 1e-16 " in repr(found)
    assert "&lt; 1e-16" in found._repr_html_()
    assert found.plain_rows()[0]["p_value"] == found["p_value"][0]
    assert found.assign(p_value=3.25e-14).as_text()["p_value"].tolist() == ["3.25e-14"]
