"""Data of one's own: a csv file with text ids, and two datasets in a study, one of which has ready-made ranks."""

import re
from pathlib import Path

import pandas as pd
import pytest
from made_up_project import DEFAULTS, Project, X, complete_config, ranked, split

READERS = ["ada", "Bo", "çelik", "d'Arc", "eve, the 2nd", "f 6", "007", 'the "g"', "伊藤", "zoë"]
SHOP = {
    "path": "my books.csv",
    "format": "delimited",
    "options": {"columns": {"user": "reader", "item": "book", "rating": "stars", "timestamp": "when"}},
}


def shop() -> str:
    """A csv of ten users with text ids, some of which csv has to quote, 5 to 9 books each; unordered times."""
    lines = ["when,reader,stars,book,remark"]
    for number, reader in enumerate(READERS):
        quoted = '"' + reader.replace('"', '""') + '"' if {",", '"'} & set(reader) else reader
        for at in range(5 + number % 5):
            time, book = 1000 + (7 * at) % 11 + at / 10, (5 * number + at * (number % 3 + 1)) % 30
            lines.append(f'{time},{quoted},{1 + at % 5},book-{book:02},"well, "')
    return "\n".join(lines) + "\n"


BOOKS = len(set(re.findall(r"book-\d\d", shop())))
CANDIDATES = {reader: BOOKS - (4 + number % 5) for number, reader in enumerate(READERS)}
"""The candidates of each user: all books less those in training, which are all of the user's but one."""


def test_a_csv_keeps_its_text_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my books.csv").write_text(shop(), encoding="utf-8")
    config = complete_config({"study": ["books"], "datasets": {"books": SHOP}, "sampling": {"negatives": 10}})
    assert split(config, "books") == []
    ranked(config, "books", "Y")
    ranks = pd.read_csv("Y.csv.gz", dtype={"user": str}, keep_default_na=False)
    assert dict(zip(ranks["user"], ranks["candidates"], strict=True)) == CANDIDATES


@pytest.mark.slow
def test_ready_made_ranks_of_one_dataset_are_not_those_of_another(project: Project) -> None:
    """Y is trained on made-up, and has ready-made ranks on books."""
    (project.folder / "my books.csv").write_text(shop(), encoding="utf-8")
    rows = [(reader, candidates, at, at % 3) for at, (reader, candidates) in enumerate(CANDIDATES.items())]
    theirs = pd.DataFrame(rows, columns=["user", "candidates", "above", "tied"])
    theirs.to_csv(project.folder / "theirs.csv", index=False)
    datasets = {
        "made-up": {"path": "made-up.zip", "format": "movielens-dat"},
        "books": SHOP | {"ranks": {"Y": "theirs.csv"}},
    }
    project.configure(
        study=["books", "made-up"],
        datasets=datasets,
        recommenders=DEFAULTS[1]["recommenders"] | {"X": X | {"iterations": 2}},
        sampling={"negatives": 10, "repetitions": 5},
    )
    targets = [f"results/{name}/{result}.csv" for name in datasets for result in ("table-3", "figure-6")]
    ran = project.snakemake(*targets, "--cores", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    results = project.folder / "results"
    models = {name: sorted(path.stem for path in (results / name / "models").iterdir()) for name in datasets}
    assert models == {"books": ["X", "Z"], "made-up": ["X", "Y", "Z"]}
    ranks = pd.read_csv(results / "books/ranks/Y.csv.gz", dtype={"user": str})
    pd.testing.assert_frame_equal(ranks[list(theirs)], theirs)
    assert len(pd.read_csv(results / "made-up/ranks/Y.csv.gz")) == 60
    allowed = {m for m in (5, 10, 20, 40, 80) if m < min(CANDIDATES.values())}
    assert set(pd.read_csv(results / "books/figure-6.csv")["negatives"]) == allowed != set()
    log = (results / "logs/books/figures.log").read_text(encoding="utf-8")
    assert "left out, as a user has fewer other candidates" in log
