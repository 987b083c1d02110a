"""The report of ranked lists."""

import pytest
import read_and
from no_figures import leave_out_figures
from read_pages import table_of_report as table


def test_lists_have_the_values_of_evaluate_and_compare(monkeypatch):
    """Three users; old finds the item of one first and of the others second, new all first."""
    grades, new = (dict.fromkeys("uvw", items) for items in ({"a": 1}, {"a": 2, "b": 1}))
    old = new | {user: {"a": 1, "b": 2} for user in "vw"}
    leave_out_figures(monkeypatch)
    page = read_and.report({"old": old, "new": new}, relevance=grades, metrics=["mrr", "map"])
    row_of_old, row_of_new = table(page, "MRR")
    assert float(row_of_old["Value"]) == pytest.approx(2 / 3, abs=1e-3)
    assert float(row_of_new["Value"]) == 1
    assert table(page, "What was read") == [
        {"Recommender": name, "Judged users": "3"} for name in ("old", "new")
    ]
    assert "Undecided between old and new: MRR and AP." in page
    assert "Histogram of ranks" not in page
