"""Figures and pages have the values of `correct`, on laws with mass at both ends."""

import pytest
from hypothesis import given, settings
from laws_with_both_ends import laws_with_both_ends

import sampled_metrics as sm
from sampled_metrics.core.evaluation.phrases import number
from sampled_metrics.reporting.plots import picture

METRICS = ["recall@3", "ap", "auc"]


@settings(max_examples=settings().max_examples // 20)
@given(tables=laws_with_both_ends())
def test_figures_and_pages_have_the_values_of_correct(tables):
    rows = sm.correct(tables, estimators=["decreasing", "free"], metrics=METRICS)
    drawn = {
        (mark.value, mark.low, mark.high) for panel in picture(rows).panels for mark in panel.marks
    }
    assert drawn == set(rows[["value", "low", "high"]].itertuples(index=False, name=None))
    compared = sm.compare(tables, metrics=METRICS)
    panels = picture(compared).panels
    differences = [mark.value for panel in panels for mark in panel.marks]
    assert differences == compared["difference"].tolist()
    with pytest.MonkeyPatch.context() as patch:  # figures take most of the time of a page
        patch.setattr("sampled_metrics.reporting.figures.intervals", lambda _: [])
        patch.setattr("sampled_metrics.reporting.report.inline_svg", lambda *_: "")
        page = sm.report(tables, metrics=METRICS)
    for row in rows.itertuples():
        for value in (row.value, row.low, row.high):
            assert f">{number(value)}<" in page
