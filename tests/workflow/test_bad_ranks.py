"""Bad ranks, and bad data of one's own, end a run with one line that says what, where and what is allowed.

To save time, many bad files are datasets of one study here, run with --keep-going: each must fail, with a line of its
own.
"""

import gzip
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from conftest import Project, copy_of_project

SHOP = "reader,book,stars,when\n" + "".join(
    f"reader {reader},book {(3 * reader + at) % 9},{1 + at},{10 * reader + at}\n"
    for reader in range(6)
    for at in range(5)
)
COLUMNS = {"user": "reader", "item": "book", "rating": "stars", "timestamp": "when"}
BOOKS = {"path": "books.csv", "format": "delimited", "options": {"columns": COLUMNS}}
MINE = {"X": None, "Y": None, "Z": None, "mine": {"type": "ranks", "path": "mine.csv"}}
POPULAR = {"X": None, "Y": None, "Z": None, "popular": {"type": "popularity"}}


def refused(project: Project, config: dict, target: str) -> str:
    """Run until a file of the dataset's, which must fail and leave nothing, and return the one line that says why."""
    study = {"study": ["own"], "sampling": {"negatives": 2, "repetitions": 2}} | config
    (project.folder / "study.yaml").write_text(yaml.safe_dump(study, sort_keys=False), encoding="utf-8")
    ran = project.snakemake(f"results/own/{target}", "--cores", "1")
    output = ran.stdout + ran.stderr
    assert ran.returncode != 0, output
    assert "Traceback" not in output
    lines = [line for line in output.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, output
    left = [path for path in project.folder.glob("results/own/**/*") if path.is_file()]
    assert left == []
    return lines[0]


@dataclass(frozen=True)
class Refusals:
    """What a run of many datasets, each of them bad, said and left."""

    project: Project
    output: str

    def line(self, dataset: str) -> str:
        """Return the one line that says why a dataset failed, which is in its log and in the output, once."""
        logs = sorted((self.project.folder / f"results/logs/{dataset}").glob("*.log"))
        said = [line for log in logs for line in log.read_text(encoding="utf-8").splitlines()]
        lines = [line for line in said if line.startswith("error: ")]
        assert len(lines) == 1, f"{dataset} was not refused: {said}"
        assert self.output.splitlines().count(lines[0]) == 1
        left = [path for path in self.project.folder.glob(f"results/{dataset}/**/*") if path.is_file()]
        assert left == []
        return lines[0]


def refusals(folder: Path, datasets: dict[str, dict], recommenders: dict, files: dict[str, str]) -> Refusals:
    """Run Table 3 of all datasets, which must fail."""
    project = copy_of_project(folder)
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    sampling = {"negatives": 2, "repetitions": 2}
    config = {"study": list(datasets), "datasets": datasets, "recommenders": recommenders, "sampling": sampling}
    (folder / "study.yaml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    ran = project.snakemake(*[f"results/{name}/table-3.csv" for name in datasets], "--cores", "2", "--keep-going")
    output = ran.stdout + ran.stderr
    assert ran.returncode != 0, output
    assert "Traceback" not in output
    return Refusals(project, output)


def named(what: str) -> str:
    """The dataset of a case."""
    return what.replace(" ", "-")


GOOD = "1,100,4,0\n2,100,99,0\n"
RANKS = {
    "missing column": (
        "user,candidates,above\n1,100,4\n",
        [
            ", line 1: lacks the column tied (there are 'user', 'candidates', 'above')",
            "ranks are candidates, above and tied, or candidates and rank",
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
    "rank 0": ("user,candidates,rank\n1,100,0\n", [", line 2: rank 0 is below 1"]),
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
        [", line 4: candidates must be a whole number, 0 or more, not '-100'"],
    ),
    "duplicate user": (
        f"user,candidates,above,tied\n{GOOD}1,100,7,0\n",
        [", line 4: user '1' is on an earlier line too"],
    ),
    "nan": (
        f"user,candidates,above,tied\n{GOOD}3,100,nan,0\n",
        [", line 4: above must be a whole number, 0 or more, not 'nan'"],
    ),
    "nothing": (  # as pandas writes NaN
        f"user,candidates,above,tied\n{GOOD}3,100,,0\n",
        [", line 4: above must be a whole number, 0 or more, not ''"],
    ),
    "fraction": ("user,candidates,rank\n1,100,4.0\n", [", line 2: rank must be a whole number, 0 or more, not '4.0'"]),
    "text in a column": (
        f"user,candidates,above,tied\n{GOOD}3,100,four,0\n",
        [", line 4: above must be a whole number, 0 or more, not 'four'"],
    ),
    "empty file": ("", [": is empty"]),
    "header alone": ("user,candidates,above,tied\n", [": holds no ranks"]),
    "text": (
        "Dear all,\nplease find attached the ranks.\n",
        ["ranks are candidates, above and tied, or candidates and rank"],
    ),
    "text of uneven lines": ("Dear all,\n1,2\nthe ranks,are,these\n", []),
    # not to be taken as 4 candidates, 0 above and 1 tied, after a name of the line
    "more fields than the header": ("candidates,above,tied\n100,4,0,1\n100,4,0,2\n", [", line 2"]),
    "a column twice": ("candidates,rank,rank\n100,4,5\n", [", line 1", "'rank'"]),
}


@pytest.fixture(scope="session")
def refused_ranks(tmp_path_factory: pytest.TempPathFactory) -> Refusals:
    files = {f"ranks/{named(what)}.csv": text for what, (text, _) in RANKS.items()}
    recommenders = MINE | {"mine": {"type": "ranks", "path": "ranks/{dataset}.csv"}}
    return refusals(tmp_path_factory.mktemp("ranks"), {named(what): {} for what in RANKS}, recommenders, files)


@pytest.mark.parametrize("what", list(RANKS))
def test_file_of_ranks(refused_ranks: Refusals, what: str) -> None:
    line = refused_ranks.line(named(what))
    assert line.startswith(f"error: ranks/{named(what)}.csv")
    for part in RANKS[what][1]:
        assert part in line


def test_rank_above_the_candidates_that_config_states(project: Project) -> None:
    (project.folder / "mine.csv").write_text("rank\n4\n51\n", encoding="utf-8")
    recommenders = MINE | {"mine": {"type": "ranks", "path": "mine.csv", "candidates": 50}}
    line = refused(project, {"datasets": {"own": {}}, "recommenders": recommenders}, "table-3.csv")
    assert "mine.csv, line 3: rank 51 (ties included) is above the number of candidates, 50" in line


def test_damaged_gzip(project: Project) -> None:
    whole = gzip.compress(b"candidates,rank\n" + b"".join(b"1000,%d\n" % rank for rank in range(1, 999)))
    (project.folder / "mine.csv.gz").write_bytes(whole[:-40])
    recommenders = MINE | {"mine": {"type": "ranks", "path": "mine.csv.gz"}}
    line = refused(project, {"datasets": {"own": {}}, "recommenders": recommenders}, "table-3.csv")
    assert "mine.csv.gz: cannot be read" in line


def test_bad_ranks_of_a_dataset_of_its_own_events(project: Project) -> None:
    """The key `ranks` of a dataset takes the same way as a recommender of type ranks."""
    (project.folder / "books.csv").write_text(SHOP, encoding="utf-8")
    (project.folder / "mine.csv").write_text("candidates,rank\n9,10\n", encoding="utf-8")
    config = {"datasets": {"own": BOOKS | {"ranks": {"popular": "mine.csv"}}}, "recommenders": POPULAR}
    assert "mine.csv, line 2: rank 10 (ties included) is above the number of candidates, 9" in refused(
        project, config, "ranks/popular.csv.gz"
    )


@pytest.mark.parametrize(
    ("ranks", "says"),
    [
        (
            "candidates,rank\n9,1\n",
            "popular and mine must be ranks of the same users among the same items, but they have 6 ",
        ),
        (
            "user,candidates,rank\n" + "".join(f"{user},5,1\n" for user in "abcdef"),
            "popular and mine must have the same users to be compared: 12 are in one alone, for ",
        ),
        (
            "candidates,rank\n" + "9,1\n" * 6,
            "popular and mine must be ranks of the same users among the same items, but they have 6 ",
        ),
    ],
    ids=["of fewer users", "of other users", "among other candidates"],
)
def test_ranks_of_others_than_the_rest(project: Project, ranks: str, says: str) -> None:
    """Nothing is put beside what it cannot be compared with."""
    (project.folder / "books.csv").write_text(SHOP, encoding="utf-8")
    (project.folder / "mine.csv").write_text(ranks, encoding="utf-8")
    study = {
        "study": ["own"],
        "sampling": {"negatives": 2, "repetitions": 2},
        "datasets": {"own": BOOKS | {"ranks": {"mine": "mine.csv"}}},
        "recommenders": POPULAR | {"mine": {"type": "random"}},
        "estimator_study": {"negatives": [2], "repetitions": 2},
        "figures": {"figure-6": {"negatives": [2]}},
    }
    (project.folder / "study.yaml").write_text(yaml.safe_dump(study, sort_keys=False), encoding="utf-8")
    made = ["table-3.csv", "table-4.csv", "figure-5.csv", "figure-6.csv", "estimator-study.csv"]
    ran = project.snakemake(*(f"results/own/{name}" for name in made), "--cores", "1", "--keep-going")
    lines = [line for line in (ran.stdout + ran.stderr).splitlines() if line.startswith("error: ")]
    assert ran.returncode != 0
    assert len(lines) == len(made), ran.stdout + ran.stderr
    assert all(line.startswith(f"error: {says}") for line in lines), lines
    assert not any((project.folder / "results/own" / name).exists() for name in made)


def remove(config: dict, *keys: str) -> dict:
    return {key: value for key, value in config.items() if key not in keys}


@pytest.mark.parametrize(
    ("datasets", "recommenders", "says"),
    [
        ({"own": {}}, MINE, ["recommenders.mine.path: there is no file 'mine.csv'"]),
        (
            {"own": BOOKS | {"ranks": {"popular": "gone/{dataset}.csv"}}},
            POPULAR,
            ["datasets.own.ranks.popular: there is no file 'gone/own.csv'"],
        ),
        (
            {"own": BOOKS | {"ranks": {"popula": "books.csv"}}},
            POPULAR | {"mine": {"type": "random"}},
            ["datasets.own.ranks: unknown recommender 'popula'; it may be popular, mine"],
        ),
        ({"own": BOOKS | {"ranks": {"popular": 3}}}, POPULAR, ["datasets.own.ranks.popular: must be of type string"]),
        (
            {"own": remove(BOOKS, "format", "options")},
            POPULAR,
            ["datasets.own: lacks the key 'format'", "popular"],
        ),
        ({"own": {"format": "movielens-dat"}}, POPULAR, ["datasets.own: give either urls or a path"]),
        (
            {"own": BOOKS | {"options": {"columns": COLUMNS, "seperator": ";"}}},
            POPULAR,
            ["datasets.own.options: unknown key 'seperator' (did you mean separator?); it may be separator, columns"],
        ),
        (
            {"own": {"path": "books.csv", "format": "movielens-dat", "options": {"separator": ";"}}},
            POPULAR,
            ["datasets.own.options: unknown key 'separator'"],
        ),
        ({"own": remove(BOOKS, "options")}, POPULAR, ["datasets.own.options: lacks the key 'columns'"]),
        (
            {"own": BOOKS | {"options": {"columns": {"user": "reader"}}}},
            POPULAR,
            ["datasets.own.options.columns: lacks the key 'item'"],
        ),
        (
            {"own": BOOKS | {"format": "delimitted"}},
            POPULAR,
            ["datasets.own.format: unknown format 'delimitted'; it may be delimited, movielens-100k"],
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
def test_config(project: Project, datasets: dict, recommenders: dict, says: list[str]) -> None:
    (project.folder / "books.csv").write_text(SHOP, encoding="utf-8")
    line = refused(project, {"datasets": datasets, "recommenders": recommenders}, "table-3.csv")
    assert line.startswith("error: config: ")
    for part in says:
        assert part in line
    assert not Path(project.folder, "results/logs/own").exists()  # nothing ran


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


@pytest.fixture(scope="session")
def refused_datasets(tmp_path_factory: pytest.TempPathFactory) -> Refusals:
    datasets = {named(what): BOOKS | entry for what, (entry, _) in DATASETS.items()}
    return refusals(tmp_path_factory.mktemp("datasets"), datasets, POPULAR, {"books.csv": SHOP})


@pytest.mark.parametrize("what", list(DATASETS))
def test_dataset(refused_datasets: Refusals, what: str) -> None:
    line = refused_datasets.line(named(what))
    for part in DATASETS[what][1]:
        assert part in line


def test_malformed_line_of_a_csv(project: Project) -> None:
    lines = SHOP.splitlines(keepends=True)
    lines[7] = "reader 1,book 1,five,12\n"
    (project.folder / "books.csv").write_text("".join(lines), encoding="utf-8")
    line = refused(project, {"datasets": {"own": BOOKS}, "recommenders": POPULAR}, "split.npz")
    assert "books.csv, line 8: expected 4 fields separated by ','" in line
    assert "'stars' and 'when' numbers" in line


def test_the_data_that_is_spoilt_here_is_good(project: Project) -> None:
    """Or the tests above might fail for another reason than theirs."""
    (project.folder / "books.csv").write_text(SHOP, encoding="utf-8")
    (project.folder / "mine.csv").write_text(f"user,candidates,above,tied\n{GOOD}", encoding="utf-8")
    config = {
        "study": ["own"],
        "datasets": {"own": BOOKS | {"min_rating": 1, "core": 2}},
        "recommenders": POPULAR | MINE,
        "sampling": {"negatives": 2, "repetitions": 2},
    }
    (project.folder / "study.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    made = [f"results/own/estimates/{name}.csv.gz" for name in ("mine", "popular")]
    ran = project.snakemake(*made, "--cores", "2")  # no table, as the two are of different users
    assert ran.returncode == 0, ran.stdout + ran.stderr
