"""benchmarks/catalogue.py: what it writes is exactly as large as asked for, and the workflow reads
it.
"""

import runpy
from pathlib import Path

import pytest

from sampled_metrics_study.data import formats
from sampled_metrics_study.data.events import binarize
from sampled_metrics_study.data.formats import read_events

SCRIPT = str(Path(__file__).resolve().parents[2] / "benchmarks/catalogue.py")


def run(shape, path, monkeypatch):
    words = [
        word
        for pair in zip(("--users", "--items", "--events"), map(str, shape), strict=True)
        for word in pair
    ]
    monkeypatch.setattr("sys.argv", [SCRIPT, *words, "--output", str(path)])
    runpy.run_path(SCRIPT, run_name="__main__")


def test_the_workflow_reads_it(tmp_path, monkeypatch):
    run((300, 150, 12_000), tmp_path / "events.zip", monkeypatch)
    chunks = read_events(
        tmp_path / "events.zip", formats.get("movielens-csv"), member="ratings.csv"
    )
    events = binarize(chunks, 0)
    assert (len(events.user_ids), len(events.item_ids), len(events)) == (300, 150, 12_000)
    assert events.timestamps.min() >= 9131 * 86400  # 1 January 1995


@pytest.mark.parametrize("shape", [(1, 2, 1), (10, 8, 41), (0, 8, 4), (3, 1, 3)])
def test_a_shape_that_cannot_be_is_refused_in_a_line_and_nothing_is_written(
    shape, tmp_path, monkeypatch
):
    """Fewer events than items, more than half of the pairs, no user, and one item."""
    with pytest.raises(SystemExit, match=r"^error: .+$"):
        run(shape, tmp_path / "events.zip", monkeypatch)
    assert list(tmp_path.iterdir()) == []
