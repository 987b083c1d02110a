"""benchmarks/catalogue.py: what it writes is exactly as large as asked for, skewed, and the same for the same seed."""

import importlib.util
import sys
from pathlib import Path

import pytest

from sampled_metrics.data import formats
from sampled_metrics.data.events import binarize
from sampled_metrics.data.formats import read_events

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks/catalogue.py"
SHAPE = (3000, 1500, 120_000)


@pytest.fixture(scope="module")
def catalogue():
    spec = importlib.util.spec_from_file_location("catalogue", SCRIPT)
    module = sys.modules["catalogue"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def written(catalogue, tmp_path_factory):
    path = tmp_path_factory.mktemp("catalogue") / "events.zip"
    return path, catalogue.write(path, *SHAPE, seed=1)


def test_the_workflow_reads_it(written):
    events = binarize(read_events(written[0], formats.get("movielens-csv"), member="ratings.csv"), 0)
    assert (len(events.user_ids), len(events.item_ids), len(events)) == SHAPE
    assert events.timestamps.min() >= 9131 * 86400  # 1 January 1995


@pytest.mark.parametrize(
    "shape",
    [
        (1, 2, 1),  # fewer events than items
        (10, 8, 41),  # more than half of the pairs
        (0, 8, 4),
        (3, 1, 3),
    ],
)
def test_a_shape_that_cannot_be_is_refused_in_a_line_and_nothing_is_written(catalogue, shape, tmp_path, monkeypatch):
    users, items, events = map(str, shape)
    words = ["--users", users, "--items", items, "--events", events, "--output", str(tmp_path / "events.zip")]
    monkeypatch.setattr("sys.argv", ["catalogue.py", *words])
    with pytest.raises(SystemExit, match=r"^error: .+$"):
        catalogue.main()
    assert list(tmp_path.iterdir()) == []
