"""What was studied, against counts of the same file by pandas.

Too few candidates are refused with the split.
"""

import json
import random

import pandas as pd
import pytest
from made_up_project import STUDY, complete_config, split

from sampled_metrics.ranking.split import read_split

OPTIONS = {"columns": {"user": "user", "item": "item", "rating": "rating", "timestamp": "time"}}
DATASET = {
    "path": "books.csv",
    "format": "delimited",
    "options": OPTIONS,
    "min_rating": 3,
    "core": 2,
}
POPULAR = {"P": {"type": "popularity"}}


def books():
    """Events with low ratings, repeated pairs, and users and items of a single event.

    All times differ.
    """
    rng = random.Random(3)
    times = rng.sample(range(10_000), 400)
    rows = [
        (rng.randint(1, 30), min(60, int(rng.paretovariate(0.5))), rng.randint(1, 5), time)
        for time in times
    ]
    rows += [(100, 1, 5, 20_000), (101, 2, 5, 20_001), (101, 777, 5, 20_002)]
    rows += [(1, 888, 5, 30_000), (2, 888, 5, 30_001)]  # both are held out
    return pd.DataFrame(rows, columns=["user", "item", "rating", "time"])


BOOKS = STUDY | {"datasets": {"made-up": DATASET}, "recommenders": POPULAR}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the split and its facts."""
    folder = tmp_path_factory.mktemp("studied")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        books().to_csv("books.csv", index=False)
        config = complete_config(BOOKS | {"sampling": {"negatives": 5}})
        assert split(config, "made-up") == []
    return folder


def test_events_are_those_that_pandas_counts(folder):
    events = books()
    high = events[events["rating"] >= 3]
    core = pairs = high.drop_duplicates(["user", "item"])

    def is_rare(role):
        return core.groupby(role)[role].transform("size") < 2

    while (few := is_rare("user") | is_rare("item")).any():
        core = core[~few]
    held_out = core.loc[core.groupby("user")["time"].idxmax()]
    training = core.drop(held_out.index)
    is_unknown = ~held_out["item"].isin(training["item"])
    counts = {
        "events_in_file": len(events),
        "events_left_out_below_min_rating": len(events) - len(high),
        "events_left_out_repeated": len(high) - len(pairs),
        "events_left_out_by_core": len(pairs) - len(core),
        "users_left_out_by_core": pairs["user"].nunique() - core["user"].nunique(),
        "items_left_out_by_core": pairs["item"].nunique() - core["item"].nunique(),
        "events": len(core),
        "training_events": len(training),
        "held_out_items_without_training_events": int(is_unknown.sum()),
    }
    assert min(counts.values()) > 0
    facts = json.loads((folder / "dataset.json").read_text(encoding="utf-8"))
    assert counts.items() <= facts.items()
    assert facts["users_left_out_with_few_training_events"] == 0


def test_too_few_candidates_are_refused_with_the_split(folder, monkeypatch, tmp_path):
    """A user's own held-out item is no negative."""
    monkeypatch.chdir(tmp_path)
    books().to_csv("books.csv", index=False)
    config = complete_config(BOOKS | {"sampling": {"negatives": 5}})
    fewest = int(read_split(folder / "split.npz").candidates.min())
    many = config["sampling"] | {"negatives": fewest}
    [line] = split(config | {"sampling": many}, "made-up")
    assert line.startswith("error: sampling.negatives, dataset made-up: ")
    assert split(config | {"sampling": many | {"negatives": fewest - 1}}, "made-up") == []
