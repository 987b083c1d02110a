"""The scripts of the workflow, called in this process: from an archive to ranks, and refusals.

tests/faults has what a file may have wrong; here the scripts meet one of each kind, and nothing is
half-written.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from docs_blocks import blocks
from made_up_project import STUDY, archive, complete_config, ranked, ratings, run_script, split

from sampled_metrics.core.ranks.exact import exact_ranks
from sampled_metrics.file_io import read_npz
from sampled_metrics.ranking.split import read_split
from sampled_metrics_study.recommenders import ranking
from sampled_metrics_study.recommenders.models import (
    FactorModel,
    SimilarityModel,
    SparseSimilarityModel,
    read_model,
)

ENTRIES = {
    "X": {
        "type": "ials",
        "factors": 4,
        "regularization": 1,
        "unobserved_weight": 0.2,
        "iterations": 2,
    },
    "Y": {"type": "item-cf", "exponent": 3},
    "near": {"type": "item-cf", "exponent": 1, "neighbours_prime": 10},
}
KINDS = {"X": FactorModel, "Y": SimilarityModel, "near": SparseSimilarityModel}
READERS = ["ada", "çelik", "eve, the 2nd", "f 6", "007", 'the "g"', "伊藤"]
COLUMNS = {"user": "reader", "item": "book", "rating": "stars", "timestamp": "when"}
BOOKS = {
    "path": "books.csv",
    "format": "delimited",
    "options": {"columns": COLUMNS},
    "min_rating": 1,
}
POPULAR = {"popular": {"type": "popularity"}}
SAMPLE = "candidates,rank\n" + "".join(f"1000,{1 + row % 99}\n" for row in range(798))
GOOD_RANKS = "user,candidates,rank\n" + "".join(f"reader {reader},5,1\n" for reader in range(6))


@pytest.fixture(autouse=True)
def _shop(tmp_path, monkeypatch):
    """A csv of events of readers with text ids, some of which csv has to quote."""
    monkeypatch.chdir(tmp_path)
    events = [
        (reader, f"book {(2 * event + number) % 9}", 1 + event, 10 * event)
        for number, reader in enumerate(READERS)
        for event in range(5)
    ]
    pd.DataFrame(events, columns=COLUMNS.values()).to_csv("books.csv", index=False)


@pytest.fixture
def made_up():
    """The config of a study of the made-up dataset, which is split."""
    archive(Path("made-up.zip"), ratings())
    config = complete_config(STUDY | {"recommenders": ENTRIES})
    assert split(config, "made-up") == []
    return config


def study(own, recommenders, negatives=2):
    """The complete config of a study of one dataset."""
    sizes = {"sampling": {"negatives": negatives, "repetitions": 2}}
    return complete_config(
        {"study": ["own"], "datasets": {"own": own}, "recommenders": recommenders} | sizes
    )


def rank(name, part, threads=1):
    """Rank the users of a part, to PART.npz."""
    return run_script(
        "rank",
        input={"split": "split.npz", "model": f"{name}.npz"},
        output={"part": f"{part}.npz"},
        params={"precision": "float64"},
        wildcards={"recommender": name, "scatteritem": part},
        threads=threads,
    )


@pytest.mark.parametrize("name", ENTRIES)
def test_parts_that_are_joined_are_the_ranks_of_all_users(name, made_up, monkeypatch):
    read = read_split("split.npz")
    monkeypatch.setattr(ranking, "BLOCK_BYTES", 8 * read.shape.items * 5)  # five users
    ranked(made_up, "made-up", name)
    assert type(read_model(Path(f"{name}.npz"))) is KINDS[name]
    parts = [f"{part}-of-3" for part in (1, 2, 3)]
    for part in parts:
        assert rank(name, part, threads=2) == []
        assert len(read_npz(Path(f"{part}.npz"), "a part")["user"])
    inputs = {"parts": [f"{part}.npz" for part in parts]}
    assert run_script("gather_ranks", input=inputs, output={"ranks": "joined.csv.gz"}) == []
    assert Path("joined.csv.gz").read_bytes() == Path(f"{name}.csv.gz").read_bytes()
    assert exact_ranks(Path("joined.csv.gz")).candidates.tolist() == read.candidates.tolist()


def own_class(name):
    """Write the module of docs/own-study.md with a class, and return the path of the class."""
    [module] = [block for block in blocks("own-study.md", "python") if f"class {name}" in block]
    Path("mine").mkdir()
    Path(f"mine/of_{name}.py").write_text(module, encoding="utf-8")
    return f"mine.of_{name}.{name}"


def test_a_class_of_ones_own_is_trained_and_ranked(made_up):
    """The similarities are those of the definition."""
    entry = {"type": own_class("Jaccard"), "shrinkage": 10}
    ranked(complete_config(STUDY | {"recommenders": {"W": entry}}), "made-up", "W")
    training = read_split("split.npz").training.toarray()
    both = training.T @ training
    either = both.diagonal()[:, np.newaxis] + both.diagonal() - both
    expected = both / (either + 10) * (1 - np.eye(len(both)))
    np.testing.assert_allclose(read_model(Path("W.npz")).similarity, expected, rtol=1e-12)


def test_a_csv_keeps_its_text_ids():
    """The candidates of each user are all books less those in training.

    In training are all books of the user but one.
    """
    config = study(BOOKS, POPULAR)
    assert split(config, "own") == []
    ranked(config, "own", "popular")
    ranks = pd.read_csv("popular.csv.gz", dtype={"user": str}, keep_default_na=False)
    candidates = dict(zip(ranks["user"], ranks["candidates"], strict=True))
    assert candidates == dict.fromkeys(READERS, 9 - 4)


def test_a_test_file_of_ones_own():
    Path("train.dat").write_text(
        "1::10::3::5\n1::11::3::6\n2::10::4::5\n4::10::4::5\n4::14::4::5\n", encoding="utf-8"
    )
    # users 1 and 2 train; user 3 does not; nobody has items 12 and 13 in training
    Path("test.dat").write_text(
        "1::12::3::5\n1::13::3::1\n2::11::4::5\n3::10::1::1\n", encoding="utf-8"
    )
    own = {"path": "train.dat", "test": "test.dat", "format": "movielens-dat"}
    config = study(own, POPULAR, negatives=1)
    assert split(config, "own") == []
    read = read_split("split.npz")
    facts = json.loads(Path("dataset.json").read_text("utf-8"))
    assert read.user_ids[read.user].tolist() == [1, 1, 2]
    assert read.item_ids[read.item].tolist() == [12, 13, 11]
    assert read.candidates.tolist() == [2, 2, 4]
    counts = {
        "users": 3,
        "items": 5,
        "events": 9,
        "training_events": 5,
        "held_out_items": 3,
        "users_left_out_with_few_training_events": 1,
        "users_without_held_out_items": 1,
        "held_out_items_without_training_events": 2,
    }
    assert counts.items() <= facts.items()


@pytest.mark.parametrize(
    ("reading", "ranks", "says"),
    [
        ({"candidates": 9, "zero_based": True}, "user,rank\na,0\nb,9\n", "line 3: rank 10"),
        ({}, SAMPLE, "exact: true"),
    ],
    ids=["a rank above the candidates", "ranks like those of a sample"],
)
def test_ranks_are_imported_as_the_config_says_and_bad_ones_are_refused(reading, ranks, says):
    good = {"ranks": "good.csv"}
    Path("good.csv").write_text("user,rank\na,0\nb,7\nc,3\n", encoding="utf-8")
    from_0 = {"reading": {"candidates": 9, "zero_based": True}, "name": "mine on own"}
    outputs = {"ranks": "imported.csv.gz"}
    assert run_script("import_ranks", input=good, output=outputs, params=from_0) == []
    assert exact_ranks(Path("imported.csv.gz")).above.tolist() == [0, 7, 3]
    Path("imported.csv.gz").unlink()
    Path("mine.csv").write_text(ranks, encoding="utf-8")
    params = from_0 | {"reading": reading}
    bad = {"ranks": "mine.csv"}
    [line] = run_script("import_ranks", input=bad, output=outputs, params=params)
    assert line.startswith("error: mine.csv")
    assert says in line


def test_events_with_another_checksum_are_refused():
    [line] = split(study(BOOKS | {"md5": "0" * 32}, POPULAR), "own")
    assert "books.csv: md5 is " in line


@pytest.mark.parametrize("script", ["tables", "figures"])
def test_ranks_are_not_put_beside_those_of_others(script):
    Path("popular.csv").write_text(GOOD_RANKS, encoding="utf-8")
    Path("mine.csv").write_text(GOOD_RANKS.replace("reader ", "other "), encoding="utf-8")
    inputs = {"ranks": ["popular.csv", "mine.csv"]}
    params = {"recommenders": ["popular", "mine"]}
    [line] = run_script(script, input=inputs, output={"csv": "made.csv"}, params=params)
    assert line.startswith("error: popular and mine must have the same users to be compared: ")


def test_ranks_of_other_users_are_not_compared_with_the_paper():
    Path("ranks.csv").write_text(GOOD_RANKS, encoding="utf-8")
    [line] = run_script(
        "tables",
        input={"ranks": ["ranks.csv"] * 3},
        output={"fidelity_csv": "fidelity.csv"},
        params={"recommenders": list("XYZ")},
    )
    assert "its users and candidates are not those of MovieLens 1M in the paper" in line


def test_a_class_of_ones_own_gets_the_times_and_the_order_of_events():
    """The class Next, on lines in the order of time and on times.

    The pairs are counted by hand.
    """
    entry = {"type": own_class("Next"), "window": 1}
    # ann had a, b, c and then d; bob had c, a, b and then e; the items' own order is another one
    items_of = {"ann": "abcd", "bob": "cabe", "cleo": "bac"}
    events = [
        (user, item, 10 * time)
        for user, items in items_of.items()
        for time, item in enumerate(items)
    ]
    in_order = pd.DataFrame(events, columns=["user", "item", "time"])
    in_order.drop(columns="time").to_csv("lines.csv", index=False)
    in_order.iloc[::-1].to_csv("times.csv", index=False)
    columns = {"user": "user", "item": "item"}
    for name, options in {
        "lines": {"columns": columns, "timestamp": "order"},
        "times": {"columns": columns | {"timestamp": "time"}},
    }.items():
        own = {"path": f"{name}.csv", "format": "delimited", "options": options}
        config = study(own, {"W": entry}, negatives=1)
        assert split(config, "own") == []
        ranked(config, "own", "W")
        model = read_model(Path("W.npz"))
        # in training: a→b, b→c of ann; c→a, a→b of bob; b→a of cleo; the last items are c, b and a
        ids = read_split("split.npz").item_ids.tolist()
        after = {"ann": {"a": 1}, "bob": {"a": 1, "c": 1}, "cleo": {"b": 2}}
        expected = [[after[user].get(item, 0) for item in ids] for user in items_of]
        assert model.matrix.tolist() == expected, name
