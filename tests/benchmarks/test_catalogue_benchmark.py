"""benchmarks/catalogue.py: what it writes is exactly as large as asked for, skewed, and the same for the same seed."""

import importlib.util
import sys
from pathlib import Path

import pandas as pd
import pytest

from sampled_metrics.data import formats
from sampled_metrics.data.events import binarize
from sampled_metrics.data.reading import read_events

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


def test_users_items_and_events_are_exactly_as_many_as_asked_for(written):
    table = pd.read_csv(written[0])
    users, items, events = SHAPE
    assert len(table) == events
    assert sorted(table["userId"].unique()) == list(range(1, users + 1))
    assert sorted(table["movieId"].unique()) == list(range(1, items + 1))
    assert not table.duplicated(["userId", "movieId"]).any()


def test_the_workflow_reads_it(written):
    events = binarize(read_events(written[0], formats.get("movielens-csv"), member="ratings.csv"), 0)
    assert (len(events.user_ids), len(events.item_ids), len(events)) == SHAPE
    assert events.timestamps.min() >= 9131 * 86400  # 1 January 1995


def test_a_few_items_and_users_have_most_events(written):
    path, summary = written
    table = pd.read_csv(path)
    of_items, of_users = table["movieId"].value_counts(), table["userId"].value_counts()
    assert of_items.iloc[:15].sum() > 0.15 * SHAPE[2]  # 1 % of them; as likely as others they would have 1 %
    assert 0.35 * SHAPE[0] < of_items.max() < 0.8 * SHAPE[0]
    assert of_items.median() < 0.5 * of_items.mean()
    assert of_users.min() == 20
    assert of_users.max() > 10 * of_users.median()
    assert summary == {
        "fewest events of a user": 20,
        "median events of a user": of_users.median(),
        "most events of a user": of_users.max(),
        "fewest events of an item": of_items.min(),
        "median events of an item": of_items.median(),
        "most events of an item": of_items.max(),
    }


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
