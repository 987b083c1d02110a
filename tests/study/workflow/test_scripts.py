"""The scripts of the workflow, called in this process: from an archive to ranks, and refusals.

tests/faults has what a file may have wrong; here the scripts meet one of each kind, and nothing is
half-written.
"""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from docs_blocks import blocks
from made_up_project import STUDY, archive, complete_config, ranked, ratings, run_script, split

from sampled_metrics.core.ranks.exact import exact_ranks
from sampled_metrics.file_io import read_npz
from sampled_metrics.ranking.split import read_split
from sampled_metrics_study.config import precomputed_ranks
from sampled_metrics_study.entries import FIGURES, arguments
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
MINE = {"mine": {"type": "ranks", "path": "mine.csv"}}
POPULAR = {"popular": {"type": "popularity"}}
GOOD_RANKS = "user,candidates,rank\n" + "".join(f"reader {reader},5,1\n" for reader in range(6))


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A csv of events of readers with text ids, some of which csv has to quote."""
    monkeypatch.chdir(tmp_path)
    events = [
        (reader, f"book {(2 * event + number) % 9}", 1 + event, 10 * event)
        for number, reader in enumerate(READERS)
        for event in range(5)
    ]
    pd.DataFrame(events, columns=COLUMNS.values()).to_csv("books.csv", index=False)
    return Path("books.csv").read_text(encoding="utf-8")


@pytest.fixture
def made_up() -> dict:
    """The config of a study of the made-up dataset, which is split."""
    archive(Path("made-up.zip"), ratings())
    config = complete_config(STUDY | {"recommenders": ENTRIES})
    assert split(config, "made-up") == []
    return config


def study(own: dict, recommenders: dict, negatives: int = 2) -> dict:
    """The complete config of a study of one dataset."""
    sizes = {"sampling": {"negatives": negatives, "repetitions": 2}}
    return complete_config(
        {"study": ["own"], "datasets": {"own": own}, "recommenders": recommenders} | sizes
    )


def imported(
    ranks: str, own: dict, recommenders: dict, before: str = "candidates,rank\n5,1\n"
) -> list[str]:
    """Import ranks of mine.csv as the workflow does, and return the lines of an error.

    The file is as `before` when the config is checked, and changes then.
    """
    Path("mine.csv").write_text(before, encoding="utf-8")
    Path("imported.csv.gz").unlink(missing_ok=True)
    [source] = precomputed_ranks(study(own, recommenders)).values()
    Path("mine.csv").write_text(ranks, encoding="utf-8")
    return run_script(
        "import_ranks",
        input={"ranks": source.file("own")},
        output={"ranks": "imported.csv.gz"},
        params={"reading": source.reading, "name": "mine on own"},
    )


def rank(name: str, part: str, threads: int = 1) -> list[str]:
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
def test_parts_that_are_joined_are_the_ranks_of_all_users(
    name: str, made_up: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    content = bytearray(Path(f"{name}.npz").read_bytes())
    content[len(content) // 2] ^= 255
    Path(f"{name}.npz").write_bytes(content)
    Path(f"{parts[0]}.npz").unlink()
    [line] = rank(name, parts[0])
    assert f"{name}.npz: is not a model of this project, or is damaged" in line


def test_a_class_of_ones_own_is_trained_and_ranked(made_up: dict) -> None:
    """That of docs/own-study.md, against its definition."""
    [module] = [block for block in blocks("own-study.md", "python") if "class Jaccard" in block]
    Path("mine").mkdir()
    Path("mine/models.py").write_text(module, encoding="utf-8")
    config = complete_config(
        STUDY | {"recommenders": {"W": {"type": "mine.models.Jaccard", "shrinkage": 10}}}
    )
    ranked(config, "made-up", "W")
    read = read_split("split.npz")
    table = exact_ranks("W.csv.gz")
    training = read.training.toarray()
    both = training.T @ training
    either = both.diagonal()[:, np.newaxis] + both.diagonal() - both
    scores = training @ (both / (either + 10) * (1 - np.eye(len(both))))
    target = scores[np.arange(len(scores)), read.item][:, np.newaxis]
    is_above = (scores > target * (1 + 1e-12)) & (training == 0)
    assert table.above.tolist() == is_above.sum(axis=1).tolist()


def test_a_csv_keeps_its_text_ids() -> None:
    """The candidates of each user are all books less those in training.

    In training are all books of the user but one.
    """
    config = study(BOOKS, POPULAR)
    assert split(config, "own") == []
    ranked(config, "own", "popular")
    ranks = pd.read_csv("popular.csv.gz", dtype={"user": str}, keep_default_na=False)
    candidates = dict(zip(ranks["user"], ranks["candidates"], strict=True))
    assert candidates == dict.fromkeys(READERS, 9 - 4)


def test_a_test_file_of_ones_own() -> None:
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


def test_ranks_are_imported_as_the_config_says_and_bad_ones_are_refused() -> None:
    from_0 = {"mine": MINE["mine"] | {"candidates": 9, "zero_based": True}}
    from_0_to_8 = "user,rank\na,0\nb,7\nc,3\n"
    assert imported(from_0_to_8, {}, from_0, before=from_0_to_8) == []
    assert exact_ranks(Path("imported.csv.gz")).above.tolist() == [0, 7, 3]
    [line] = imported("user,rank\na,0\nb,9\n", {}, from_0, before=from_0_to_8)
    assert line.startswith("error: mine.csv, line 3: rank 10 (from 1, ties included) is above")
    like_a_sample = "candidates,rank\n" + "".join(f"1000,{1 + row % 99}\n" for row in range(798))
    assert imported(like_a_sample, {}, {"mine": MINE["mine"] | {"exact": True}}) == []
    [line] = imported(like_a_sample, {}, MINE)
    assert "exact: true" in line
    # the key `ranks` of a dataset takes the same way
    [line] = imported(
        "candidates,rank\n9,10\n", BOOKS | {"ranks": {"popular": "mine.csv"}}, POPULAR
    )
    assert line.startswith("error: mine.csv, line 2: rank 10 (from 1, ties")


@pytest.mark.parametrize(
    ("entry", "change", "says"),
    [
        (
            {},
            lambda text: text.replace(",4,30\n", ",five,30\n", 1),
            "books.csv, line 5: stars must be a number, not 'f",
        ),
        ({"md5": "0" * 32}, str, "books.csv: md5 is "),
    ],
    ids=[
        "text for stars",
        "another checksum",
    ],
)
def test_bad_events_are_refused(
    shop: str, entry: dict, change: Callable[[str], str], says: str
) -> None:
    Path("books.csv").write_text(change(shop), encoding="utf-8")
    [line] = split(study(BOOKS | entry, POPULAR), "own")
    assert says in line


def beside(script: str, ranks: str) -> list[str]:
    """Put ranks beside those of popular by a script, and return the lines of an error."""
    Path("popular.csv").write_text(GOOD_RANKS, encoding="utf-8")
    Path("mine.csv").write_text(ranks, encoding="utf-8")
    figure_6 = {"metric": "ap", "estimators": ["uncorrected"], "negatives": [1]}
    config = complete_config({"figures": {"figure-5": {"edges": [1]}, "figure-6": figure_6}})
    params = {
        "recommenders": ["popular", "mine"],
        "arguments": arguments(FIGURES["dataset"], config),
    }
    outputs = {
        f"{name}_{kind}".replace("-", "_"): f"{name}.{kind}"
        for name in FIGURES["dataset"]
        for kind in ("csv", "svg", "png")
    }
    return run_script(
        script,
        input={"ranks": ["popular.csv", "mine.csv"], "facts": [], "samples": []},
        output=outputs,
        params=params,
    )


@pytest.mark.parametrize("script", ["tables", "figures"])
def test_ranks_are_not_put_beside_those_of_others(script: str) -> None:
    [line] = beside(script, GOOD_RANKS.replace("reader ", "other "))
    assert line.startswith("error: popular and mine must have the same users to be compared: ")
    assert script == "tables" or beside(script, GOOD_RANKS) == []


def test_ranks_of_other_users_are_not_compared_with_the_paper() -> None:
    Path("ranks.csv").write_text(GOOD_RANKS, encoding="utf-8")
    [line] = run_script(
        "tables",
        input={"ranks": ["ranks.csv"] * 3},
        output={"fidelity_csv": "fidelity.csv"},
        params={"recommenders": list("XYZ")},
    )
    assert "its users and candidates are not those of MovieLens 1M in the paper" in line


def test_a_class_of_ones_own_gets_the_times_and_the_order_of_events() -> None:
    """That of docs/own-study.md, on lines in the order of time and on times.

    The pairs are counted by hand.
    """
    [module] = [block for block in blocks("own-study.md", "python") if "class Next" in block]
    Path("mine").mkdir()
    Path("mine/recency.py").write_text(module, encoding="utf-8")
    # ann had a, b, c and then d; bob had c, a, b and then e; the items' own order is another one
    items_of = {"ann": "abcd", "bob": "cabe", "cleo": "bac"}
    events = [
        (user, item, 10 * time)
        for user, items in items_of.items()
        for time, item in enumerate(items)
    ]
    in_order = pd.DataFrame(events, columns=["user", "item", "time"])
    sources = {
        "lines": (
            in_order[["user", "item"]],
            {"user": "user", "item": "item"},
            {"timestamp": "order"},
        ),
        "times": (in_order.iloc[::-1], {"user": "user", "item": "item", "timestamp": "time"}, {}),
    }
    for name, (table, columns, options) in sources.items():
        table.to_csv(f"{name}.csv", index=False)
        own = {
            "path": f"{name}.csv",
            "format": "delimited",
            "options": {"columns": columns, **options},
        }
        config = study(own, {"W": {"type": "mine.recency.Next", "window": 1}})
        assert split(config | {"sampling": {"negatives": 1, "replacement": False}}, "own") == []
        ranked(config, "own", "W")
        model = read_model(Path("W.npz"))
        # in training: a→b, b→c of ann; c→a, a→b of bob; b→a of cleo; the last items are c, b and a
        ids = read_split("split.npz").item_ids.tolist()
        after = {"ann": {"a": 1}, "bob": {"a": 1, "c": 1}, "cleo": {"b": 2}}
        expected = [[after[user].get(item, 0) for item in ids] for user in items_of]
        assert model.matrix.tolist() == expected, name
