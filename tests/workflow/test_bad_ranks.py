"""Bad ranks, and bad data of one's own, end a job with one line that says what, where and what is allowed.

Snakemake runs one of them; the scripts and the configs of the others run in the process of the tests.
"""

import gzip
from pathlib import Path

import pytest
import yaml
from made_up_project import Project, complete_config, run_script, split

from sampled_metrics.errors import ConfigError
from sampled_metrics.workflow.config import precomputed_ranks

SHOP = "reader,book,stars,when\n" + "".join(
    f"reader {reader},book {(3 * reader + at) % 9},{1 + at},{10 * reader + at}\n"
    for reader in range(6)
    for at in range(5)
)
COLUMNS = {"user": "reader", "item": "book", "rating": "stars", "timestamp": "when"}
BOOKS = {"path": "books.csv", "format": "delimited", "options": {"columns": COLUMNS}}
MINE = {"mine": {"type": "ranks", "path": "mine.csv"}}
POPULAR_RANKS = "user,candidates,rank\n" + "".join(f"reader {reader},5,1\n" for reader in range(6))
POPULAR = {"popular": {"type": "popularity"}}


SAMPLING = {"negatives": 2, "repetitions": 2}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("books.csv").write_text(SHOP, encoding="utf-8")


def study(own: dict, recommenders: dict) -> dict:
    """The complete config of a study of one dataset."""
    given = {"study": ["own"], "datasets": {"own": own}, "recommenders": recommenders, "sampling": SAMPLING}
    return complete_config(given)


def imported(config: dict, name: str) -> list[str]:
    """Import ranks as the workflow does, and return the lines by which they are refused."""
    ranks = precomputed_ranks(config)["own", name]
    return run_script(
        "import_ranks",
        input={"ranks": ranks.file("own")},
        output={"ranks": f"ranks/{name}.csv.gz"},
        params={"candidates": ranks.candidates},
    )


GOOD = "1,100,4,0\n2,100,99,0\n"
RANKS = {
    "missing column": (
        "user,candidates,above\n1,100,4\n",
        [
            ", line 1: lacks the column tied (the columns are 'user', 'candidates', 'above')",
        ],
    ),
    "missing candidates": ("user,rank\n1,4\n", [", line 1: lacks the column candidates"]),
    "ties above candidates": (
        f"user,candidates,above,tied\n{GOOD}3,100,90,10\n",
        [", line 4: rank 101 (ties included) is above the number of candidates, 100"],
    ),
    "rank above candidates": (
        "user,candidates,rank\n1,100,100\n2,100,101\n",
        [", line 3: rank 101", "candidates, 100"],
    ),
    "rank 0": ("user,candidates,rank\n1,100,0\n", [", line 2: rank must be a whole number, 1 or more, not '0'"]),
    "negative above": (
        f"user,candidates,above,tied\n{GOOD}3,100,-1,0\n",
        [", line 4: above must be a whole number, 0 or more, not '-1'"],
    ),
    "negative tied": (
        f"user,candidates,above,tied\n{GOOD}3,100,4,-2\n",
        [", line 4: tied must be a whole number, 0 or more, not '-2'"],
    ),
    "negative candidates": (
        f"user,candidates,above,tied\n{GOOD}3,-100,4,0\n",
        [", line 4: candidates must be a whole number, 1 or more, not '-100'"],
    ),
    "nan": (
        f"user,candidates,above,tied\n{GOOD}3,100,nan,0\n",
        [", line 4: above must be a whole number, 0 or more, not 'nan'"],
    ),
    "nothing": (  # as pandas writes NaN
        f"user,candidates,above,tied\n{GOOD}3,100,,0\n",
        [", line 4: above must be a whole number, 0 or more, not ''"],
    ),
    "fraction": ("user,candidates,rank\n1,100,4.5\n", [", line 2: rank must be a whole number, 1 or more, not '4.5'"]),
    "text in a column": (
        f"user,candidates,above,tied\n{GOOD}3,100,four,0\n",
        [", line 4: above must be a whole number, 0 or more, not 'four'"],
    ),
    "empty file": ("", [": is empty"]),
    "header alone": ("user,candidates,above,tied\n", [": has no rows"]),
    "text": (
        "Dear all,\nplease find attached the ranks.\n",
        [", line 2: has 1 fields, but the lines before have 2"],
    ),
    "text of uneven lines": ("Dear all,\n1,2\nthe ranks,are,these\n", []),
    # not to be taken as 4 candidates, 0 above and 1 tied, after a name of the line
    "more fields than the header": ("candidates,above,tied\n100,4,0,1\n100,4,0,2\n", [", line 2"]),
    "a column twice": ("candidates,rank,rank\n100,4,5\n", [", line 1", "'rank'"]),
}


@pytest.mark.parametrize("what", list(RANKS))
def test_file_of_ranks(what: str) -> None:
    Path("mine.csv").write_text(RANKS[what][0], encoding="utf-8")
    [line] = imported(study({}, MINE), "mine")
    assert line.startswith("error: mine.csv")
    for part in RANKS[what][1]:
        assert part in line


def test_by_snakemake(project: Project) -> None:
    (project.folder / "mine.csv").write_text(f"user,candidates,above,tied\n{GOOD}3,100,90,10\n", encoding="utf-8")
    config = {"study": ["own"], "datasets": {"own": {}}, "recommenders": MINE, "sampling": SAMPLING}
    (project.folder / "study.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    ran = project.snakemake("results/own/table-3.csv", "--cores", "1")
    output = ran.stdout + ran.stderr
    assert ran.returncode != 0, output
    assert "Traceback" not in output
    [line] = [line for line in output.splitlines() if " failed: " in line]
    assert "mine.csv, line 4: rank 101 (ties included) is above the number of candidates, 100" in line
    assert [path for path in project.folder.glob("results/own/**/*") if path.is_file()] == []


def test_rank_above_the_candidates_that_config_states() -> None:
    Path("mine.csv").write_text("rank\n4\n51\n", encoding="utf-8")
    [line] = imported(study({}, MINE | {"mine": {"type": "ranks", "path": "mine.csv", "candidates": 50}}), "mine")
    assert "mine.csv, line 3: rank 51 (ties included) is above the number of candidates, 50" in line


def test_damaged_gzip() -> None:
    whole = gzip.compress(b"candidates,rank\n" + b"".join(b"1000,%d\n" % rank for rank in range(1, 999)))
    Path("mine.csv.gz").write_bytes(whole[:-40])
    [line] = imported(study({}, MINE | {"mine": {"type": "ranks", "path": "mine.csv.gz"}}), "mine")
    assert "mine.csv.gz: cannot be read" in line


def test_bad_ranks_of_a_dataset_of_its_own_events() -> None:
    """The key `ranks` of a dataset takes the same way as a recommender of type ranks."""
    Path("mine.csv").write_text("candidates,rank\n9,10\n", encoding="utf-8")
    [line] = imported(study(BOOKS | {"ranks": {"popular": "mine.csv"}}, POPULAR), "popular")
    assert "mine.csv, line 2: rank 10 (ties included) is above the number of candidates, 9" in line


@pytest.mark.parametrize(
    ("ranks", "says"),
    [
        (
            "candidates,rank\n9,1\n",
            "popular and mine must be ranks of the same users among the same items, but they have 6 ",
        ),
        (
            "user,candidates,rank\n" + "".join(f"{user},5,1\n" for user in "abcdef"),
            "popular and mine must have the same users to be compared: 12 are in one of them only, for ",
        ),
        (
            "candidates,rank\n" + "9,1\n" * 6,
            "popular and mine must be ranks of the same users among the same items, but they have 6 ",
        ),
    ],
    ids=["of fewer users", "of other users", "among other candidates"],
)
@pytest.mark.parametrize("script", ["study_tables", "figure_5", "figure_6", "proof", "estimator_study"])
def test_ranks_of_others_than_the_rest(script: str, ranks: str, says: str) -> None:
    """Nothing is put beside what it cannot be compared with."""
    Path("popular.csv").write_text(POPULAR_RANKS, encoding="utf-8")
    Path("mine.csv").write_text(ranks, encoding="utf-8")
    [line] = run_script(
        script,
        input={"ranks": ["popular.csv", "mine.csv"], "estimates": [], "expected": [], "studies": []},
        output=dict.fromkeys(("csv", "md", "tex", "html", "svg", "png", "order", "pairs"), "made"),
        params={
            "recommenders": ["popular", "mine"],
            "repetitions": 1,
            "edges": [1],
            "figure": {"metric": "ap", "estimators": [], "negatives": [1]},
            "replacement": False,
            "assume_replacement": False,
        },
        wildcards={"dataset": "own"},
    )
    assert line.startswith(f"error: {says}")


def remove(config: dict, *keys: str) -> dict:
    return {key: value for key, value in config.items() if key not in keys}


@pytest.mark.parametrize(
    ("own", "recommenders", "says"),
    [
        ({}, MINE, ["recommenders.mine.path: there is no file 'mine.csv'"]),
        (
            BOOKS | {"ranks": {"popular": "gone/{dataset}.csv"}},
            POPULAR,
            ["datasets.own.ranks.popular: there is no file 'gone/own.csv'"],
        ),
        (
            BOOKS | {"ranks": {"popula": "books.csv"}},
            POPULAR | {"mine": {"type": "random"}},
            ["datasets.own.ranks: unknown recommender 'popula'; it may be popular, mine"],
        ),
        (BOOKS | {"ranks": {"popular": 3}}, POPULAR, ["datasets.own.ranks.popular: must be of type string"]),
        (
            remove(BOOKS, "format", "options"),
            POPULAR,
            ["datasets.own: lacks the key 'format'", "popular"],
        ),
        ({"format": "movielens-dat"}, POPULAR, ["datasets.own: give either urls or a path"]),
        (
            BOOKS | {"options": {"columns": COLUMNS, "seperator": ";"}},
            POPULAR,
            ["datasets.own.options: unknown key 'seperator' (did you mean separator?); it may be separator, "],
        ),
        (
            {"path": "books.csv", "format": "movielens-dat", "options": {"separator": ";"}},
            POPULAR,
            ["datasets.own.options: unknown key 'separator'"],
        ),
        (remove(BOOKS, "options"), POPULAR, ["datasets.own.options: lacks the key 'columns'"]),
        (
            BOOKS | {"options": {"columns": {"user": "reader"}}},
            POPULAR,
            ["datasets.own.options.columns: lacks the key 'item'"],
        ),
        (
            BOOKS | {"format": "delimitted"},
            POPULAR,
            ["datasets.own.format: unknown format 'delimitted'; it may be delimited, json-lines"],
        ),
    ],
    ids=[
        "no file of ranks",
        "no file of a dataset's ranks",
        "ranks of an unknown recommender",
        "ranks that are no path",
        "no format",
        "no path",
        "unknown option",
        "option of another format",
        "no columns",
        "no column of items",
        "unknown format",
    ],
)
def test_config(own: dict, recommenders: dict, says: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        study(own, recommenders)
    for part in says:
        assert part in str(caught.value)


DATASETS = {
    "missing column": (
        {"options": {"columns": COLUMNS | {"item": "isbn"}}},
        ["books.csv, line 1: there is no column 'isbn'; the columns are 'reader', 'book', 'stars', 'when'"],
    ),
    "another separator": (
        {"options": {"columns": COLUMNS, "separator": ";"}},
        ["books.csv, line 1: there is no column 'reader'; the columns are 'reader,book,stars,when'"],
    ),
    "a column of two roles": (
        {"options": {"columns": COLUMNS | {"rating": "book"}}},
        ["columns: user and item and rating and timestamp must name different columns", "'book', 'book'"],
    ),
    "k-core that leaves nothing": ({"core": 50}, ["no user and item has 50 (core) events or more"]),
    "last-event without timestamps": (
        {"options": {"columns": remove(COLUMNS, "timestamp")}},
        ["split.strategy: last-event needs timestamps", "random-event"],
    ),
    "min_rating without ratings": (
        {"options": {"columns": remove(COLUMNS, "rating")}, "min_rating": 4},
        ["min_rating is 4, but the file has no ratings; it may be 0"],
    ),
    "min_rating above all ratings": ({"min_rating": 6}, ["no event has a rating of 6 (min_rating) or more"]),
}


@pytest.mark.parametrize("what", list(DATASETS))
def test_dataset(what: str) -> None:
    entry, says = DATASETS[what]
    [line] = split(study(BOOKS | entry, POPULAR), "own")
    for part in says:
        assert part in line


def test_malformed_line_of_a_csv() -> None:
    lines = SHOP.splitlines(keepends=True)
    lines[7] = "reader 1,book 1,five,12\n"
    Path("books.csv").write_text("".join(lines), encoding="utf-8")
    [line] = split(study(BOOKS, POPULAR), "own")
    assert "books.csv, line 8: stars must be a number, not 'five'" in line


def test_the_data_that_is_spoilt_here_is_good() -> None:
    """Or the tests above might fail for another reason than theirs."""
    Path("mine.csv").write_text(f"user,candidates,above,tied\n{GOOD}", encoding="utf-8")
    config = study(BOOKS | {"min_rating": 1, "core": 2}, POPULAR | MINE)
    assert split(config, "own") == []
    assert imported(config, "mine") == []
    Path("popular.csv").write_text(POPULAR_RANKS, encoding="utf-8")
    for name in ("popular.csv", "ranks/mine.csv.gz"):
        asked = {"params": {"edges": [1, 10], "recommenders": ["any"]}, "input": {"ranks": [name]}}
        made = {kind: f"figure-5.{kind}" for kind in ("csv", "svg", "png")}
        assert run_script("figure_5", output=made, **asked) == []
