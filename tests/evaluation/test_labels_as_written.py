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

CALLS = {
    "evaluate": lambda metrics, _: read_and.evaluate(EXACT, **N, metrics=metrics),
    "correct": lambda metrics, estimators: read_and.correct(SAMPLED, **M, metrics=metrics, estimators=estimators),
    "compare": lambda metrics, estimators: read_and.compare(
        SAMPLED, SAMPLED[::-1], **M, metrics=metrics, estimator=estimators[1]
    ),
    "expect": lambda metrics, estimators: read_and.expect(
        {"x": EXACT, "y": EXACT[::-1]}, **M, metrics=metrics, estimators=estimators[1:3]
    ),
    "lists": lambda metrics, _: read_and.evaluate(
        RUN, relevance=GRADES, metrics=[each for each in metrics if each.lower() != "auc"] + ["DCG@2"]
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_in_tables_and_remarks(name):
    written, usual = CALLS[name](METRICS, ESTIMATORS), CALLS[name](USUAL_METRICS, USUAL_ESTIMATORS)
    kept = [each for each in [*METRICS, "DCG@2"] if each in set(written["metric"])]
    assert list(dict.fromkeys(written["metric"])) == kept
    if "estimator" in written:
        names = ESTIMATORS if name == "correct" else ESTIMATORS[1:3]
        assert list(dict.fromkeys(written["estimator"])) == names
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
