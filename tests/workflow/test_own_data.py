"""Data of one's own: a csv file with text ids, and two datasets in a study, one of which has ready-made ranks."""

import math
import re
from pathlib import Path

import pandas as pd
import pytest
from made_up_project import DEFAULTS, Project, X, complete_config, copy_of_project, ranked, split

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


def test_a_csv_keeps_its_text_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_shop(tmp_path)
    config = complete_config({"study": ["books"], "datasets": {"books": SHOP}, "sampling": {"negatives": 10}})
    assert split(config, "books") == []
    ranked(config, "books", "Y")
    ranks = pd.read_csv("Y.csv.gz", dtype={"user": str}, keep_default_na=False)
    assert {row.user: row.candidates for row in ranks.itertuples()} == shop_candidates()


PLACES = [(candidates, at, at % 3) for at, candidates in enumerate(shop_candidates().values())]
"""Candidates, above and tied of every reader of the shop, by a recommender that lives elsewhere."""


@pytest.mark.slow
def test_ready_made_ranks_of_one_dataset_are_not_those_of_another(tmp_path: Path) -> None:
    """Y is trained on made-up, and has ready-made ranks on books."""
    project = copy_of_project(tmp_path)
    write_shop(tmp_path)
    columns = pd.DataFrame(PLACES, columns=["candidates", "above", "tied"])
    columns.assign(user=READERS).iloc[::-1].to_csv(tmp_path / "theirs.csv", index=False)
    project.configure(
        study=["books", "made-up"],
        datasets={
            "made-up": {"path": "made-up.zip", "format": "movielens-dat"},
            "books": SHOP | {"ranks": {"Y": "theirs.csv"}},
        },
        recommenders=DEFAULTS[1]["recommenders"] | {"X": X | {"iterations": 2}},
        sampling={"negatives": 10, "repetitions": 5},
    )
    run(project, *of("books"), *of("made-up"))
    models = {name: sorted((tmp_path / f"results/{name}/models").iterdir()) for name in ("books", "made-up")}
    assert [path.stem for path in models["books"]] == ["X", "Z"]
    assert [path.stem for path in models["made-up"]] == ["X", "Y", "Z"]
    found = exact(project, "books")
    for metric in METRICS:
        assert found["Y", metric] == pytest.approx(expected(metric, PLACES), abs=1e-12)
    assert len(table(project, "books", "ranks/Y.csv.gz")) == len(PLACES)
    assert len(table(project, "made-up", "ranks/Y.csv.gz")) == 60
    allowed = {m for m in (5, 10, 20, 40, 80) if m < min(shop_candidates().values())}
    assert set(table(project, "books", "figure-6.csv")["negatives"]) == allowed != set()
    log = (tmp_path / "results/logs/books/figures.log").read_text(encoding="utf-8")
    assert "left out, as a user has fewer other candidates" in log
