"""benchmarks/catalogue.py: what it writes is exactly as large as asked for, skewed, and the same for the same seed."""

import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
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


def test_users_of_a_taste_have_more_of_its_genre(catalogue):
    made = catalogue.Catalogue.of(1000, 400, 40_000, np.random.default_rng(1))
    genre = np.empty(400, dtype=int)
    for number in range(catalogue.GENRES):
        genre[made.items[made.of_genre[number] : made.of_genre[number + 1]]] = number
    drawn = made.draw(np.full(100_000, 7), np.random.default_rng(2))
    of_all = (made.up_to[made.of_genre[8]] - made.up_to[made.of_genre[7]]) / made.up_to[-1]
    # half of the draws are of the genre, and of the others so many as its weight is
    assert (genre[drawn] == 7).mean() == pytest.approx(0.5 + 0.5 * of_all, abs=0.008)  # five standard errors


def test_another_process_writes_the_same_bytes_and_another_seed_does_not(catalogue, written, tmp_path):
    path = tmp_path / "again.zip"
    users, items, events = map(str, SHAPE)
    command = [sys.executable, str(SCRIPT), "--users", users, "--items", items, "--events", events]
    subprocess.run([*command, "--seed", "1", "--output", str(path)], check=True, capture_output=True)
    assert path.read_bytes() == written[0].read_bytes()
    with zipfile.ZipFile(path) as archive:
        assert [each.date_time for each in archive.infolist()] == [(1980, 1, 1, 0, 0, 0)]
    catalogue.write(path, *SHAPE, seed=2)
    assert path.read_bytes() != written[0].read_bytes()


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


@pytest.mark.parametrize("shape", [(10, 8, 40), (3, 5, 6), (500, 3, 500), (40, 40, 40), (7, 90, 100)])
def test_the_counts_are_exact_at_the_edges_too(catalogue, shape, tmp_path):
    users, items, events = shape
    catalogue.write(tmp_path / "events.zip", *shape, seed=3)
    table = pd.read_csv(tmp_path / "events.zip")
    assert (len(table), table["userId"].nunique(), table["movieId"].nunique()) == (events, users, items)
    assert not table.duplicated(["userId", "movieId"]).any()


def test_a_block_has_no_more_events_than_one_user_beyond_it(catalogue, monkeypatch):
    monkeypatch.setattr(catalogue, "BLOCK", 10)
    blocks = list(catalogue.blocks_of(np.array([4, 4, 4, 35, 1, 9, 2])))
    assert [(each.start, each.stop) for each in blocks] == [(0, 2), (2, 3), (3, 5), (5, 7)]  # 8, 4, 36, 11 events


def test_drawn_pairs_are_distinct_and_have_those_that_there_were(catalogue):
    rng = np.random.default_rng(4)
    made = catalogue.Catalogue.of(3, 200, 600, rng)
    counts = np.array([1, 100, 20])
    first = np.array([0, 1, 1, 2]), np.array([199, 0, 150, 3])
    users, items = catalogue.pairs_of(counts, np.array([0, 1, 2]), first, made, rng)
    assert np.bincount(users).tolist() == [1, 100, 20]
    pairs = list(zip(users.tolist(), items.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    assert {(0, 199), (1, 0), (1, 150), (2, 3)} <= set(pairs)


def test_lines_are_csv(catalogue):
    columns = (np.array([1, 10]), np.array([205, 7]), np.array([0, 9]), np.array([99, 100]))
    assert catalogue.lines_of(*columns) == b"1,205,0.5,99\n10,7,5.0,100\n"
    assert catalogue.lines_of(*(np.array([each]) for each in (0, 1000, 3, 0))) == b"0,1000,2.0,0\n"
