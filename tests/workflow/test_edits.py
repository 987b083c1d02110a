"""Edits of the config that users make first, each run to the end in a folder of its own.

A study ends with exit 0 and without a traceback, has every file, and no NaN where a number belongs; a second run has
nothing to do; and summary.html states the order of recommenders that the tables have.
"""

import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import yaml
from made_up_project import ROOT, X, copy_of_project, ratings

import sampled_metrics as sm
from sampled_metrics.metrics.metric import metric_name

LOCAL = ROOT.parent / "shared/data/ml-1m/ml-1m.zip"
MAY_BE_EMPTY = {"remark", "tolerance"}
"""Columns of words."""


def published(folder: Path) -> dict[str, Any]:
    """The published ranks of the dataset ml-1m."""
    return {"ranks": {name: f"published/ml-1m/{name}.csv.gz" for name in "XYZ"}}


def ml_1m(folder: Path) -> dict[str, Any]:
    """The dataset ml-1m: the copy beside the clone, or the published ranks."""
    if not LOCAL.exists():
        return published(folder)
    sha256 = read(ROOT / ".ci/local-copy.yaml")["datasets"]["ml-1m"]["sha256"]
    return {"path": str(LOCAL), "md5": None, "sha256": sha256}


def read(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def events() -> pd.DataFrame:
    """The events of the made-up dataset, with names of users and items that are text."""
    rows = [line.split("::") for line in ratings().splitlines()]
    table = pd.DataFrame(rows, columns=["user", "item", "rating", "time"]).astype({"rating": int, "time": int})
    return table.assign(user="u " + table["user"], item="é" + table["item"])


def made_up(folder: Path) -> dict[str, Any]:
    return {"path": "made-up.zip", "format": "movielens-dat"}


COLUMNS = {"user": "user", "item": "item", "rating": "rating", "timestamp": "time"}


def csv(folder: Path) -> dict[str, Any]:
    events().to_csv(folder / "my events.csv", index=False)
    return {"path": "my events.csv", "format": "delimited", "options": {"columns": COLUMNS}}


def parquet(folder: Path) -> dict[str, Any]:
    events().to_parquet(folder / "events.parquet")
    return {"path": "events.parquet", "format": "parquet", "options": {"columns": COLUMNS}}


def json_lines(folder: Path) -> dict[str, Any]:
    events().to_json(folder / "events.jsonl", orient="records", lines=True)
    return {"path": "events.jsonl", "format": "json-lines", "options": {"columns": COLUMNS}}


def dat(folder: Path) -> dict[str, Any]:
    (folder / "ratings.dat").write_text(ratings(), encoding="utf-8")
    return {"path": "ratings.dat", "format": "movielens-dat"}


def repeated(folder: Path) -> dict[str, Any]:
    """A quarter of the events a second time, at a later time, and all lines in any order."""
    table = events()
    again = table.sample(frac=0.25, random_state=1).assign(time=lambda rows: rows["time"] + 5000)
    pd.concat([table, again]).sample(frac=1, random_state=2).to_csv(folder / "repeated.csv", index=False)
    return csv(folder) | {"path": "repeated.csv"}


def with_groups(folder: Path) -> dict[str, Any]:
    towns = [f"{user},{'ab'[user % 2]}" for user in range(1, 61)]
    (folder / "users.csv").write_text("\n".join(["user,town", *towns]) + "\n", encoding="utf-8")
    return made_up(folder) | {"groups": "users.csv"}


def ready_made(folder: Path) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    ranks = pd.DataFrame({"user": range(300), "candidates": 400})
    for name, exponent in (("good", 3.0), ("bad", 1.5)):
        ranks.assign(rank=1 + (400 * rng.random(300) ** exponent).astype(int)).to_csv(folder / f"{name}.csv")
    return {"ranks": {"good": "good.csv", "bad": "bad.csv"}}


class Edit(NamedTuple):
    """What a user writes into a config: the keys, and the datasets, whose files a function writes."""

    config: dict[str, Any]
    datasets: dict[str, Callable[[Path], dict[str, Any] | None]] = {"mine": made_up}  # noqa: RUF012


SMALL = {"sampling": {"negatives": 20, "repetitions": 5}}
POPULARITY, EASE = {"type": "popularity"}, {"type": "ease", "regularization": 10}
MANY = {
    "recommenders": {
        "X": X,
        "Y": {"type": "item-cf", "exponent": 1},
        "sharp": {"type": "item-cf", "exponent": 5},
        "EASE": EASE,
        "popularity": POPULARITY,
        "random": {"type": "random"},
    }
}
ML_100K: dict[str, Callable[[Path], None]] = {"ml-100k": lambda folder: None}

FAST = {
    "another dataset alone": Edit({}, ML_100K),
    "two datasets": Edit({}, {"ml-1m": ml_1m, **ML_100K}),
    "no running example": Edit({"toy": None}, {"ml-1m": published}),
}
EDITS = {
    **FAST,
    "seed 0": Edit({"seed": 0, **SMALL}),
    "seed 1": Edit({"seed": 1}, ML_100K),
    "one recommender": Edit({"recommenders": {"mine": EASE}, **SMALL}),
    "two recommenders": Edit({"recommenders": {"EASE": EASE, "popularity": POPULARITY}, **SMALL}),
    "six recommenders": Edit(MANY | SMALL),
    "metrics without a cut-off": Edit({"metrics": ["ap", "ndcg", "auc"], **SMALL}),
    "several numbers of negatives": Edit({"sampling": {"negatives": [5, 20], "repetitions": 5}}),
    "with replacement, once": Edit({"sampling": {"negatives": 20, "replacement": True, "repetitions": 1}}),
    "two held out": Edit({"split": {"held_out": 2}, **SMALL}),
    "global time": Edit({"split": {"strategy": "global-time", "test_size": 0.1}, **SMALL}),
    "a random event": Edit({"split": {"strategy": "random-event"}, **SMALL}),
    "k-core": Edit(SMALL, {"mine": lambda folder: made_up(folder) | {"core": 4, "min_rating": 2}}),
    "ready-made ranks": Edit(
        {"recommenders": {name: {"type": "ranks", "path": f"{name}.csv"} for name in ("good", "bad")}, **SMALL},
        {"mine": ready_made},
    ),
    "groups": Edit({"groups": ["activity"], **SMALL}, {"mine": with_groups}),
    "a margin": Edit({"margin": "2%", **SMALL}),
    "scatter": Edit({"ranking": {"scatter": 3}, **SMALL}),
    "csv": Edit(SMALL, {"mine": csv}),
    "parquet": Edit(SMALL, {"mine": parquet}),
    "dat": Edit(SMALL, {"mine": dat}),
    "json lines": Edit(SMALL, {"mine": json_lines}),
    "repeated events": Edit(SMALL, {"mine": repeated}),
    "names of all kinds": Edit(
        {"recommenders": {"EASE 2.0": EASE, "人気": POPULARITY, "item.cf": MANY["recommenders"]["Y"]}, **SMALL},
        {"my data v1.2 é": made_up},
    ),
}


@pytest.mark.parametrize(
    "name", [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in EDITS]
)
def test_an_edit_of_the_config_runs_to_the_end(name: str, tmp_path: Path) -> None:
    project, edit = copy_of_project(tmp_path), EDITS[name]
    entries = {dataset: write(tmp_path) for dataset, write in edit.datasets.items()}
    given = {dataset: entry for dataset, entry in entries.items() if entry is not None}
    config = {"study": [*entries], **edit.config, **({"datasets": given} if given else {})}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    ran = project.snakemake("--cores", "2")
    said = ran.stdout + ran.stderr
    if "could not be downloaded" in said:
        pytest.skip("the package index cannot be reached")
    assert ran.returncode == 0, said
    logs = [path.read_text(encoding="utf-8") for path in (tmp_path / "results/logs").rglob("*.log")]
    assert not [text for text in (said, *logs) if "Traceback" in text]
    again = project.snakemake("--cores", "2", "--dry-run")
    assert "Nothing to be done" in again.stdout + again.stderr, again.stdout + again.stderr
    for path in (tmp_path / "results").rglob("*"):
        assert path.is_dir() or path.stat().st_size > 0, path
        if ".csv" in path.suffixes:
            require_numbers(path, config)
    for dataset in entries:
        require_true_answers(tmp_path / "results", dataset, config)
    compared = {path.parent.name for path in (tmp_path / "results").glob("*/fidelity.csv")}
    has_toy = "ml-1m" in entries and "toy" not in config
    assert compared == {"ml-1m"} & {*entries} | ({"toy"} if has_toy else set())


def require_numbers(path: Path, config: dict[str, Any]) -> None:
    """Require that a csv file has rows, and each of them a value in each column."""
    table = pd.read_csv(path, dtype={"user": str}, keep_default_na=False, na_values=["", "nan", "NaN", "inf"])
    has_pairs = len(config.get("recommenders", "XYZ")) > 1
    assert len(table) or (path.name == "table-4.csv" and not has_pairs), f"{path} has no rows"
    empty = {column for column in table if table[column].isna().any()} - MAY_BE_EMPTY
    if config.get("sampling", {}).get("repetitions") == 1:
        empty -= {"sd"}  # which a single repetition does not show
    assert not empty, f"{path}: {empty}"


def require_true_answers(results: Path, dataset: str, config: dict[str, Any]) -> None:
    """Require that the first screen has the pairs that the ranks decide, and those that Table 3 turns."""
    page = (results / "summary.html").read_text(encoding="utf-8")
    answers = [json.loads(unescape(text)) for text in re.findall(r'data-answer="([^"]*)"', page)]
    answers = [answer for answer in answers if answer["dataset"] == dataset]
    table = pd.read_csv(results / dataset / "table-3.csv", dtype={"recommender": str})
    sizes = config.get("sampling", {}).get("negatives", 100)
    assert [answer["negatives"] for answer in answers] == np.atleast_1d(sizes).tolist()
    metric = config.get("metrics", ["recall@10"])[0]
    ranks = {
        name: sm.exact_ranks(results / dataset / f"ranks/{name}.csv.gz", exact=True)
        for name in table["recommender"].unique()
    }
    decided = set()
    if len(ranks) > 1:
        pairs = sm.compare(ranks, metrics=metric)
        first, second, *_ = ranks
        for row in (pairs if "a" in pairs else pairs.assign(a=first, b=second)).itertuples():
            if row.low > 0 or row.high < 0:
                decided.add((row.b, row.a) if row.low > 0 else (row.a, row.b))
    rows = table[(table["reading"] == "default") & (table["metric"] == metric) & (table["estimator"] == "uncorrected")]
    for answer in answers:
        of_size = rows[rows["negatives"] == answer["negatives"]] if "negatives" in rows else rows
        sampled = of_size.set_index("recommender")["mean"]
        turned = {(one, other) for one, other in decided if sampled[one] < sampled[other]}
        assert answer["metric"] == metric_name(metric)
        assert {tuple(pair) for pair in answer["decided"]} == decided
        assert {tuple(pair) for pair in answer["wrong"]} == turned
