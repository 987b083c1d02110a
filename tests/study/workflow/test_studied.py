"""What was studied, against counts of the same file by pandas.

Too few candidates are refused with the split.
"""

import json
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_up_project import STUDY, complete_config, ranked, run_script, split

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
RANKS = {"P": "P.csv.gz", "elsewhere": "elsewhere.csv"}


def books() -> pd.DataFrame:
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
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the split, what was studied, and two tables of ranks.

    The ranks are those by popularity, and those of another tool.
    """
    folder = tmp_path_factory.mktemp("studied")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        books().to_csv("books.csv", index=False)
        config = complete_config(BOOKS | {"sampling": {"negatives": 5, "repetitions": 2}})
        assert split(config, "made-up") == []
        ranked(config, "made-up", "P")
        table = pd.read_csv("P.csv.gz").assign(above=0, tied=0)
        table.loc[0, "tied"] = (table.loc[0, "candidates"] - 1 + 1) // 2  # half
        table.loc[1, "tied"] = (table.loc[1, "candidates"] - 1 - 1) // 2  # less than half
        table.to_csv(RANKS["elsewhere"], index=False)
        params = {key: config[key] for key in ("sampling", "estimators", "metrics", "seed")}
        params |= {
            "tie_rules": ["random"],
            "assume_replacement": True,
            "recommenders": list(RANKS),
            "place": "dataset",
            "subject": "made-up",
        }
        for name, ranks in RANKS.items():
            refusals = run_script(
                "sample",
                input={"ranks": ranks},
                output={"samples": f"samples-{name}.npz"},
                params=params,
                wildcards={"recommender": name},
            )
            assert refusals == []
        inputs = {
            "facts": "dataset.json",
            "ranks": list(RANKS.values()),
            "samples": [f"samples-{name}.npz" for name in RANKS],
        }
        kinds_of_table = {
            "studied": "csv md html",
            "table_3": "csv md tex html",
            "table_4": "csv md tex html",
        }
        outputs = {
            f"{name}_{kind}": f"{name}.{kind}"
            for name, kinds in kinds_of_table.items()
            for kind in kinds.split()
        }
        for kind in ("estimates", "expected", "conditions"):
            outputs[kind] = [f"{kind}-{name}.csv" for name in RANKS]
        assert run_script("tables", input=inputs, output=outputs, params=params) == []
    return folder


def test_events_are_those_that_pandas_counts(folder: Path) -> None:
    events = books()
    high = events[events["rating"] >= 3]
    core = pairs = high.drop_duplicates(["user", "item"])

    def is_rare(role: str) -> "pd.Series[bool]":
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


def test_ties_are_those_of_equal_popularity_and_half_the_candidates_are_remarked(
    folder: Path,
) -> None:
    """Recounted by the definition.

    Tied are the other candidates with as many training events as the held-out item.
    """
    read = read_split(folder / "split.npz")
    training = read.training.toarray() > 0
    is_other = ~training & (np.arange(training.shape[1]) != read.item[:, np.newaxis])
    popularity = training.sum(axis=0)
    is_as_popular = popularity == popularity[read.item][:, np.newaxis]
    tied = (is_other & is_as_popular).sum(axis=1)
    candidates = is_other.sum(axis=1) + 1
    rows = pd.read_csv(folder / "studied.csv").set_index("recommender")
    row = rows.loc["P"]
    elsewhere = rows.loc["elsewhere"]
    assert (row["held_out_items"], row["fewest_candidates"]) == (len(tied), candidates.min())
    assert row["mean_candidates"] == pytest.approx(candidates.mean())
    assert row["share_with_ties"] == pytest.approx((tied > 0).mean())
    assert 0 < row["share_with_ties"] < 1
    assert row["mean_share_tied"] == pytest.approx((tied / (candidates - 1)).mean())
    assert row["half_tied"] == (tied / (candidates - 1) >= 0.5).sum()
    assert elsewhere["half_tied"] == 1
    says = f"in 1 of {len(tied)} rows, half of the other candidates or more tie"
    assert elsewhere["remark"].startswith(says)
    for page in ("studied.md", "studied.html"):
        assert says in (folder / page).read_text(encoding="utf-8")


def test_too_few_candidates_are_refused_with_the_split(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A user's own held-out item is no negative."""
    monkeypatch.chdir(tmp_path)
    books().to_csv("books.csv", index=False)
    config = complete_config(BOOKS | {"sampling": {"negatives": 5}})
    fewest = int(pd.read_csv(folder / RANKS["P"])["candidates"].min())
    sampling = config["sampling"] | {"negatives": fewest}
    [line] = split(config | {"sampling": sampling}, "made-up")
    assert line.startswith("error: sampling.negatives, dataset made-up: ")
    assert f"draw at most {fewest - 1}, or with replacement" in line
    for change in ({"negatives": fewest - 1}, {"replacement": True}):
        assert split(config | {"sampling": sampling | change}, "made-up") == []
