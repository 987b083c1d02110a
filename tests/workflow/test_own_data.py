"""Data of one's own: a csv file with text ids, ready-made ranks, several datasets in a study, many recommenders.

Each fixture is a whole run of the workflow, so most tests here are slow; tests/workflow/test_run.py looks at one run.
"""

import math
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml
from made_up_project import DEFAULTS, Project, X, complete_config, copy_of_project, ranked, split
from raw_files import ENTRIES, write

TABLES = [f"{name}.csv" for name in ("table-3", "table-4", "figure-5", "figure-6")]
METRICS = ["recall@10", "ndcg@10", "ap", "auc"]
READERS = ["ada", "Bo", "çelik", "d'Arc", "eve, the 2nd", "f 6", "007", 'the "g"', "伊藤", "zoë"]


def shop() -> str:
    """A csv of ten users with text ids, some of which csv has to quote, 5 to 9 books each; unordered times."""
    lines = ["when,reader,stars,book,remark"]
    for number, reader in enumerate(READERS):
        quoted = '"' + reader.replace('"', '""') + '"' if {",", '"'} & set(reader) else reader
        for at in range(5 + number % 5):
            time, book = 1000 + (7 * at) % 11 + at / 10, (5 * number + at * (number % 3 + 1)) % 30
            lines.append(f'{time},{quoted},{1 + at % 5},book-{book:02},"well, "')
    return "\n".join(lines) + "\n"


def shop_candidates() -> dict[str, int]:
    """The candidates of each user: all books less those in training, which are all of the user's but one."""
    books = len(set(re.findall(r"book-\d\d", shop())))
    return {reader: books - (4 + number % 5) for number, reader in enumerate(READERS)}


SHOP = {
    "path": "my books.csv",
    "format": "delimited",
    "options": {"columns": {"user": "reader", "item": "book", "rating": "stars", "timestamp": "when"}},
}


def write_shop(folder: Path) -> None:
    (folder / "my books.csv").write_text(shop(), encoding="utf-8")


def write_config(project: Project, config: dict) -> None:
    """Write a study.yaml that has nothing but this config, in this order."""
    text = yaml.safe_dump(config, allow_unicode=True, sort_keys=False)
    (project.folder / "study.yaml").write_text(text, encoding="utf-8")


def run(project: Project, *targets: str) -> str:
    ran = project.snakemake(*targets, "--cores", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


def of(dataset: str) -> list[str]:
    return [f"results/{dataset}/{name}" for name in TABLES]


def table(project: Project, dataset: str, name: str) -> pd.DataFrame:
    return pd.read_csv(project.folder / f"results/{dataset}/{name}")


def exact(project: Project, dataset: str) -> dict[tuple[str, str], float]:
    """Exact metrics by recommender and metric; each reading has the same."""
    rows = table(project, dataset, "table-3.csv").query("estimator == 'exact'")
    assert (rows.groupby(["recommender", "metric"])["mean"].nunique() == 1).all()
    return {(row.recommender, row.metric): row.mean for row in rows.itertuples()}


def value(metric: str, rank: int, candidates: int) -> float:
    """The metric of one held-out item, by its definition."""
    return {
        "recall@10": float(rank <= 10),
        "ndcg@10": 1 / math.log2(rank + 1) if rank <= 10 else 0.0,
        "ap": 1 / rank,
        "auc": (candidates - rank) / (candidates - 1),
    }[metric]


def expected(metric: str, places: list[tuple[int, int, int]]) -> float:
    """The mean metric of (candidates, above, tied), ties broken at random."""
    over_ties = [
        math.fsum(value(metric, above + 1 + at, candidates) for at in range(tied + 1)) / (tied + 1)
        for candidates, above, tied in places
    ]
    return math.fsum(over_ties) / len(over_ties)


# --- (a) a csv with text ids ------------------------------------------------------------------------------------------


def test_a_csv_keeps_its_text_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_shop(tmp_path)
    config = complete_config({"study": ["books"], "datasets": {"books": SHOP}, "sampling": {"negatives": 10}})
    assert split(config, "books") == []
    ranked(config, "books", "Y")
    ranks = pd.read_csv("Y.csv.gz", dtype={"user": str}, keep_default_na=False)
    assert {row.user: row.candidates for row in ranks.itertuples()} == shop_candidates()


# --- (b) ready-made ranks alone ---------------------------------------------------------------------------------------

MINE = [(200, 0, 0), (180, 3, 2), (150, 9, 1), (120, 40, 30), (120, 119, 0), (101, 0, 100)]
THEIRS = [(200, 4, 0), (180, 0, 0), (150, 9, 0), (120, 11, 0), (120, 60, 0), (101, 2, 0)]


def write_ranks(folder: Path) -> None:
    """Write mine.csv, with ties and extra columns in an order of its own, and ranks/elsewhere.csv, of ranks alone."""
    lines = [f"x,{tied},{above},{candidates},u{at}" for at, (candidates, above, tied) in enumerate(MINE)]
    (folder / "mine.csv").write_text("\n".join(["note,tied,above,candidates,user", *lines]) + "\n", encoding="utf-8")
    (folder / "ranks").mkdir()
    lines = [f"{candidates},{above + 1}" for candidates, above, _ in THEIRS]
    (folder / "ranks/elsewhere.csv").write_text("\n".join(["candidates,rank", *lines]) + "\n", encoding="utf-8")


RANKS_ALONE = {
    "mine": {"type": "ranks", "path": "mine.csv"},
    "theirs": {"type": "ranks", "path": "ranks/{dataset}.csv"},
}


def study_elsewhere(folder: Path) -> Project:
    """A study of ready-made ranks, of a dataset that has no events."""
    config = {
        "study": ["elsewhere"],
        "datasets": {"elsewhere": {}},
        "recommenders": {**RANKS_ALONE},
        "sampling": {"repetitions": 5},
    }
    project = copy_of_project(folder)
    write_config(project, config)
    write_ranks(project.folder)
    return project


@pytest.fixture(scope="session")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """It has run; tests only look at it."""
    project = study_elsewhere(tmp_path_factory.mktemp("elsewhere"))
    run(project, *of("elsewhere"))
    return project


@pytest.mark.slow
def test_ranks_alone_are_planned_without_events(tmp_path: Path) -> None:
    said = run(study_elsewhere(tmp_path), *of("elsewhere"), "-n")
    jobs = dict(re.findall(r"^(\w+) +(\d+)$", said.partition("Job stats:")[2], re.MULTILINE))
    assert jobs.pop("total") == "9"
    each = dict.fromkeys(("import_ranks", "sample", "exact_moments"), "2")
    assert jobs == each | dict.fromkeys(("tables", "figure_5", "figure_6"), "1")


@pytest.mark.slow
def test_ranks_alone_give_every_table_and_figure(elsewhere: Project) -> None:
    found = exact(elsewhere, "elsewhere")
    assert set(found) == {(name, metric) for name in ("mine", "theirs") for metric in METRICS}
    for metric in METRICS:
        assert found["mine", metric] == pytest.approx(expected(metric, MINE), abs=1e-12)
        assert found["theirs", metric] == pytest.approx(expected(metric, THEIRS), abs=1e-12)
    assert not (elsewhere.folder / "data").exists()
    assert not (elsewhere.folder / "results/elsewhere/models").exists()
    users = table(elsewhere, "elsewhere", "ranks/mine.csv.gz")["user"]
    assert users.tolist() == [f"u{at}" for at in range(len(MINE))]


# --- (c) a dataset's own ranks, in a study of two datasets ------------------------------------------------------------


PLACES = [(candidates, at, at % 3) for at, candidates in enumerate(shop_candidates().values())]
"""Candidates, above and tied of every reader of the shop, by a recommender that lives elsewhere."""


@pytest.fixture(scope="session")
def two_datasets(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Tables and figures of two datasets: Y is trained on made-up, and has ready-made ranks on books."""
    project = copy_of_project(tmp_path_factory.mktemp("two"))
    write_shop(project.folder)
    columns = pd.DataFrame(PLACES, columns=["candidates", "above", "tied"])
    columns.assign(user=READERS).iloc[::-1].to_csv(project.folder / "theirs.csv", index=False)
    project.configure(
        study=["books", "made-up"],
        datasets={
            "made-up": {"path": "made-up.zip", "format": "movielens-dat"},
            "books": SHOP | {"ranks": {"Y": "theirs.csv"}},
        },
        recommenders=DEFAULTS[1]["recommenders"] | {"X": X | {"iterations": 2}},
        sampling={"negatives": 10, "repetitions": 5},
    )
    run(project, *[path for name in ("books", "made-up") for path in of(name)])
    return project


@pytest.mark.slow
def test_ready_made_ranks_of_one_dataset_are_not_those_of_another(two_datasets: Project) -> None:
    models = {name: sorted((two_datasets.folder / f"results/{name}/models").iterdir()) for name in ("books", "made-up")}
    assert [path.stem for path in models["books"]] == ["X", "Z"]
    assert [path.stem for path in models["made-up"]] == ["X", "Y", "Z"]
    found = exact(two_datasets, "books")
    for metric in METRICS:
        assert found["Y", metric] == pytest.approx(expected(metric, PLACES), abs=1e-12)
    assert len(table(two_datasets, "books", "ranks/Y.csv.gz")) == len(PLACES)
    assert len(table(two_datasets, "made-up", "ranks/Y.csv.gz")) == 60
    allowed = {m for m in (5, 10, 20, 40, 80) if m < min(shop_candidates().values())}
    assert set(table(two_datasets, "books", "figure-6.csv")["negatives"]) == allowed != set()
    log = (two_datasets.folder / "results/logs/books/figure-6.log").read_text(encoding="utf-8")
    assert "left out, as a user has fewer other candidates" in log


# --- (d) published datasets from their raw files ----------------------------------------------------------------------


@pytest.mark.slow
def test_raw_files_give_table_3_by_config_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["gowalla", "mind", "yambda"]  # text with written times, a script before, and parquet
    project = copy_of_project(tmp_path)
    monkeypatch.chdir(project.folder)
    for name in names:
        write(name, project.folder)
    config = {
        "study": names,
        "datasets": {name: ENTRIES[name]["datasets"][name] for name in names},
        "recommenders": {"popular": {"type": "popularity"}},
        "sampling": {"negatives": 5, "repetitions": 5},
    }
    for name in names:
        config |= {key: value for key, value in ENTRIES[name].items() if key != "datasets"}
    write_config(project, config)
    run(project, *(f"results/{name}/table-3.csv" for name in names))
    for name in names:
        values = exact(project, name)
        assert {recommender for recommender, _ in values} == {"popular"}
        assert {metric for _, metric in values} == set(METRICS)
        assert all(0 < each <= 1 for each in values.values())
