"""benchmarks/catalogue.py: its events are as many as asked for, and the workflow reads them."""

import runpy
from pathlib import Path

import pytest

from sampled_metrics_study.data import formats
from sampled_metrics_study.data.events import binarize
from sampled_metrics_study.data.formats import read_events

SCRIPT = str(Path(__file__).resolve().parents[2] / "benchmarks/catalogue.py")


def run(shape, path, monkeypatch):
    users, items, events = map(str, shape)
    words = ["--users", users, "--items", items, "--events", events, "--output", str(path)]
    monkeypatch.setattr("sys.argv", [SCRIPT, *words])
    runpy.run_path(SCRIPT, run_name="__main__")


def test_the_workflow_reads_it(tmp_path, monkeypatch):
    run((300, 150, 12_000), tmp_path / "events.zip", monkeypatch)
    chunks = read_events(
        tmp_path / "events.zip", formats.get("movielens-csv"), member="ratings.csv"
    )
    events = binarize(chunks, 0)
    assert len(events.user_ids) == 300
    assert len(events.item_ids) == 150
    assert len(events) == 12_000
    assert events.timestamps.min() >= 9131 * 86400  # 1 January 1995


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param((1, 2, 1), id="fewer events than items"),
        pytest.param((10, 8, 41), id="more than half of the pairs"),
        pytest.param((0, 8, 4), id="no user"),
        pytest.param((3, 1, 3), id="one item"),
    ],
)
def test_a_shape_that_cannot_be_is_refused_in_a_line_and_nothing_is_written(
    shape, tmp_path, monkeypatch
):
    with pytest.raises(SystemExit, match=r"^error: .+$"):
        run(shape, tmp_path / "events.zip", monkeypatch)
    assert list(tmp_path.iterdir()) == []
