"""Bad events and ranks end a job with one line that says what, where and what is allowed; nothing is half-written.

tests/faults has what a file may have wrong; here the scripts of the workflow meet one of each kind, in this process.
Snakemake runs some in test_messages.py.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_up_project import complete_config, run_script, split

from sampled_metrics.study.config import precomputed_ranks

SHOP = "reader,book,stars,when\n" + "".join(
    f"reader {reader},book {(3 * reader + at) % 9},{1 + at},{10 * reader + at}\n"
    for reader in range(6)
    for at in range(5)
)
COLUMNS = {"user": "reader", "item": "book", "rating": "stars", "timestamp": "when"}
BOOKS = {"path": "books.csv", "format": "delimited", "options": {"columns": COLUMNS}}
MINE = {"mine": {"type": "ranks", "path": "mine.csv"}}
POPULAR = {"popular": {"type": "popularity"}}
GOOD_RANKS = "user,candidates,rank\n" + "".join(f"reader {reader},5,1\n" for reader in range(6))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("books.csv").write_text(SHOP, encoding="utf-8")


def study(own: dict, recommenders: dict) -> dict:
    """The complete config of a study of one dataset."""
    sampling = {"negatives": 2, "repetitions": 2}
    return complete_config(
        {"study": ["own"], "datasets": {"own": own}, "recommenders": recommenders, "sampling": sampling}
    )


def imported(ranks: str, own: dict, recommenders: dict) -> list[str]:
    """Import ranks of mine.csv as the workflow does, and return the lines by which they are refused."""
    Path("mine.csv").write_text(ranks, encoding="utf-8")
    [[key, found]] = precomputed_ranks(study(own, recommenders)).items()
    return run_script(
        "import_ranks",
        input={"ranks": found.file("own")},
        output={"ranks": f"ranks/{key[1]}.csv.gz"},
        params={"reading": found.reading, "name": "mine on own"},
    )


@pytest.mark.parametrize(
    ("ranks", "own", "recommenders", "says"),
    [
        ("candidates,rank\n100,4\n100,101\n", {}, MINE, "line 3: rank 101 (ties included) is above the number of "),
        ("rank\n4\n51\n", {}, {"mine": MINE["mine"] | {"candidates": 50}}, "line 3: rank 51 (ties included) is above"),
        # the key `ranks` of a dataset takes the same way
        ("candidates,rank\n9,10\n", BOOKS | {"ranks": {"popular": "mine.csv"}}, POPULAR, "line 2: rank 10 (ties"),
    ],
)
def test_ranks(ranks: str, own: dict, recommenders: dict, says: str) -> None:
    [line] = imported(ranks, own, recommenders)
    assert line.startswith(f"error: mine.csv, {says}")


def test_good_ranks_look_sampled_unless_they_are_said_to_be_exact() -> None:
    ranks = "candidates,rank\n" + "".join(f"1000,{1 + row % 399}\n" for row in range(798))
    [line] = imported(ranks, {}, MINE)
    assert "is above 399 of 1000 candidates" in line
    assert line.endswith("in a config exact: true)")
    assert imported(ranks, {}, {"mine": MINE["mine"] | {"exact": True}}) == []


def without(role: str) -> dict:
    return {"options": {"columns": {key: column for key, column in COLUMNS.items() if key != role}}}


@pytest.mark.parametrize(
    ("entry", "change", "says"),
    [
        ({}, lambda text: text.replace(",4,13\n", ",five,13\n"), "books.csv, line 10: stars must be a number, not 'f"),
        ({}, lambda text: "<!DOCTYPE html><html>", "books.csv: this is a web page"),
        ({"md5": "0" * 32}, str, "books.csv: md5 is "),
        ({"options": {"columns": COLUMNS | {"item": "isbn"}}}, str, "books.csv, line 1: there is no column 'isbn'; "),
        ({"options": {"columns": COLUMNS | {"rating": "book"}}}, str, "columns: user and item and rating and "),
        ({"core": 50}, str, "no user and item has 50 (core) events or more"),
        (without("timestamp"), str, "split.strategy: last-event needs timestamps"),
        (without("rating") | {"min_rating": 4}, str, "min_rating is 4, but the file has no ratings; it may be 0"),
        ({"min_rating": 6}, str, "no event has a rating of 6 (min_rating) or more"),
    ],
)
def test_events(entry: dict, change: Callable[[str], str], says: str) -> None:
    Path("books.csv").write_text(change(SHOP), encoding="utf-8")
    [line] = split(study(BOOKS | entry, POPULAR), "own")
    assert says in line


def test_what_is_spoilt_here_is_good() -> None:
    """Or the tests above might fail for another reason than theirs."""
    assert imported(GOOD_RANKS, {}, MINE) == []
    assert split(study(BOOKS | {"min_rating": 1, "core": 2}, POPULAR), "own") == []


def beside(script: str, ranks: str) -> list[str]:
    """Put ranks beside those of popular by a script, and return the lines by which they are refused."""
    Path("popular.csv").write_text(GOOD_RANKS, encoding="utf-8")
    Path("mine.csv").write_text(ranks, encoding="utf-8")
    params: dict[str, Any] = {"recommenders": ["popular", "mine"], "repetitions": 1, "figure_5": {"edges": [1]}}
    params |= {"figure_6": {"metric": "ap", "estimators": ["uncorrected"], "negatives": [1]}}
    return run_script(
        script,
        input={"ranks": ["popular.csv", "mine.csv"], "facts": [], "estimates": [], "expected": []},
        output={
            f"figure_{number}_{kind}": f"figure-{number}.{kind}" for number in (5, 6) for kind in ("csv", "svg", "png")
        },
        params=params | {"replacement": False, "assume_replacement": False},
    )


OTHERS = "popular and mine must be ranks of the same users among the same items, but they have 6 "


@pytest.mark.parametrize("script", ["tables", "figures"])
@pytest.mark.parametrize(
    ("ranks", "says"),
    [
        ("candidates,rank\n9,1\n", OTHERS),
        ("candidates,rank\n" + "9,1\n" * 6, OTHERS),
        (
            GOOD_RANKS.replace("reader ", "other "),
            "popular and mine must have the same users to be compared: 12 are in one of them only, for ",
        ),
    ],
    ids=["of fewer users", "among other candidates", "of other users"],
)
def test_ranks_of_others_than_the_rest(script: str, ranks: str, says: str) -> None:
    """Nothing is put beside what it cannot be compared with."""
    [line] = beside(script, ranks)
    assert line.startswith(f"error: {says}")


def test_ranks_of_the_same_users_are_put_beside_each_other() -> None:
    assert beside("figures", GOOD_RANKS) == []


def test_ranks_of_other_users_are_not_compared_with_the_paper() -> None:
    Path("ranks.csv").write_text(GOOD_RANKS, encoding="utf-8")
    [line] = run_script("fidelity", input={"ranks": ["ranks.csv"] * 3}, params={"recommenders": list("XYZ")})
    assert "its users and candidates are not those of MovieLens 1M in the paper" in line
