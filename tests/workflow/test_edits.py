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
from made_up_project import ROOT, X, copy_of_project, merged, ratings, write_ranks

import sampled_metrics as sm
from sampled_metrics.metrics.metric import metric_name

LOCAL = ROOT.parent / "shared/data/ml-1m/ml-1m.zip"
MAY_BE_EMPTY = {"remark", "tolerance"}
"""Columns of words."""
_OF_WAYS = {"estimator", "negatives", "depth", "completed", "width", "width_low", "width_high"}
OF_SOME_ROWS = {
    "budget.csv": _OF_WAYS,
    "budget-pair.csv": _OF_WAYS,
}
"""Columns that belong to some ways of an evaluation, or that an estimator or a shallow depth does not give."""
OF_PAIRS = {"table-4.csv", "budget-pair.csv"}
"""Files of pairs of recommenders, which have no rows without a pair whose exact metrics differ."""


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


def repeated(folder: Path) -> dict[str, Any]:
    """A quarter of the events a second time, at a later time, and all lines in any order."""
    table = events()
    again = table.sample(frac=0.25, random_state=1).assign(time=lambda rows: rows["time"] + 5000)
    pd.concat([table, again]).sample(frac=1, random_state=2).to_csv(folder / "repeated.csv", index=False)
    return csv(folder) | {"path": "repeated.csv"}


def ready_made(folder: Path) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    ranks = pd.DataFrame({"user": range(300), "candidates": 400})
    for name, exponent in (("good", 3.0), ("bad", 1.5)):
        ranks.assign(rank=1 + (400 * rng.random(300) ** exponent).astype(int)).to_csv(folder / f"{name}.csv")
    return {"ranks": {"good": "good.csv", "bad": "bad.csv"}}


def two_files(folder: Path, other_ids: float = 0.0) -> dict[str, Any]:
    """Each user's last event in a second file; a share of its items have other ids, as 9.0 beside 9."""
    table = pd.DataFrame([line.split("::") for line in ratings().splitlines()], columns=["user", "item", "_", "time"])
    table = table.drop_duplicates(["user", "item"])
    last = table.groupby("user").tail(1)
    table.drop(last.index).to_csv(folder / "train.csv", index=False)
    is_other = np.arange(len(last)) < other_ids * len(last)
    last.assign(item=last["item"].where(~is_other, last["item"] + ".0")).to_csv(folder / "test.csv", index=False)
    columns = {"user": "user", "item": "item"}
    return {"path": "train.csv", "test": "test.csv", "format": "delimited", "options": {"columns": columns}}


def with_bad_lines(folder: Path, count: int = 5) -> dict[str, Any]:
    data = csv(folder)
    with open(folder / data["path"], "a", encoding="utf-8") as file:
        file.write("a,b\n" * count)
    return data | {"options": data["options"] | {"on_bad_lines": "skip"}}


def sasrec(folder: Path) -> dict[str, Any]:
    """Numbers of users and items, the lines of a user in the order of time."""
    table = events().sort_values(["user", "time"], kind="stable")
    numbers = {role: pd.factorize(table[role])[0] + 1 for role in ("user", "item")}
    pd.DataFrame(numbers).to_csv(folder / "sasrec.txt", sep=" ", index=False, header=False)
    options = {"separator": " ", "columns": {"user": 1, "item": 2}, "timestamp": "order"}
    return {"path": "sasrec.txt", "format": "delimited", "options": options}


def also_ready_made(folder: Path) -> dict[str, Any]:
    write_ranks(folder / "ranks.csv")
    return made_up(folder)


class Edit(NamedTuple):
    """What a user writes into a config: the keys, and the datasets, whose files a function writes."""

    config: dict[str, Any]
    datasets: dict[str, Callable[[Path], dict[str, Any] | None]] = {"mine": made_up}  # noqa: RUF012
    in_place: bool = False
    """Whether the keys are written into config.yaml itself."""
    compared: tuple[str, ...] | None = None
    """The folders that are compared with the paper; None for all of ml-1m and toy that are there."""
    arguments: tuple[str, ...] = ()
    """Of snakemake."""


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
EXTRAS = {
    "figures": {"budget": {"negatives": [5, 10]}},
    "margin": "2%",
    **SMALL,
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
    "a margin": Edit({"margin": "2%", **SMALL}),
    "csv": Edit(SMALL, {"mine": csv}),
    "repeated events": Edit(SMALL, {"mine": repeated}),
    "repeated events, in place": Edit(SMALL, {"mine": repeated}, in_place=True),
    "another dataset, in place": Edit({"sampling": {"negatives": 20, "repetitions": 5}}, ML_100K, in_place=True),
    "a small running example": Edit(
        {"toy": {"candidates": 100, "ranks": {"A": [1, 2], "B": [50, 100]}}, **SMALL},
        {"ml-1m": published},
        compared=(),
    ),
    "ranks of the running example": Edit(
        {"toy": {"ranks": {"D": [3, 5, 70, 9, 20]}}, **SMALL}, {"ml-1m": published}, compared=()
    ),
    "names as of parts": Edit(
        {"recommenders": {"A": EASE, "A-1-of-2": POPULARITY}, **SMALL}, arguments=("--set-scatter", "users=2")
    ),
    "folders of their own": Edit({"pathvars": {"results": "mine/results"}, **SMALL}),
    "recommenders that look like numbers": Edit(
        {"recommenders": {"NA": EASE, "1": POPULARITY, "2.0": MANY["recommenders"]["Y"], "1e3": {"type": "random"}}}
        | EXTRAS
    ),
    "recommenders that are equal": Edit({"recommenders": {"a": EASE, "b": EASE}} | EXTRAS),
    "one recommender and all extras": Edit({"recommenders": {"a": EASE}} | EXTRAS),
    "ready-made and trained": Edit(
        {"recommenders": {"theirs": {"type": "ranks", "path": "ranks.csv"}, "a": EASE, "b": POPULARITY}} | EXTRAS,
        {"mine": also_ready_made},
    ),
    "extras of ready-made ranks": Edit(
        {"recommenders": {name: {"type": "ranks", "path": f"{name}.csv"} for name in ("good", "bad")}} | EXTRAS,
        {"mine": ready_made},
    ),
    "a budget of few items": Edit(
        {"metrics": ["recall@3"], "figures": {"budget": {}}, **SMALL} | {"recommenders": {"a": EASE, "b": POPULARITY}}
    ),
    "as printed alone": Edit({"sampling": {"readings": ["as-printed"]}}, {"ml-1m": published}),
    "100 negatives in a list": Edit({"sampling": {"negatives": [100]}}, {"ml-1m": published}, compared=("toy",)),
    "another split of the paper's data": Edit(
        {"split": {"strategy": "random-event"}, "recommenders": {"a": POPULARITY, "b": {"type": "random"}}} | SMALL,
        {"ml-1m": ml_1m},
        compared=("toy",),
    ),
    "one negative, once": Edit(
        {"sampling": {"negatives": 1, "repetitions": 1}, "recommenders": {"a": EASE, "b": POPULARITY}}
    ),
    "few negatives without variance": Edit(
        {"estimators": ["uncorrected", "bv-0"], "sampling": {"negatives": 10, "repetitions": 5}}
    ),
    "two files": Edit(SMALL, {"mine": two_files}),
    "two files with some other ids": Edit(SMALL, {"mine": lambda folder: two_files(folder, 0.3)}),
    "lines that are skipped": Edit(SMALL, {"mine": with_bad_lines}),
    "the order of lines": Edit(SMALL, {"mine": sasrec}),
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
    config = configure(edit, tmp_path)
    ran = project.snakemake("--cores", "2", *edit.arguments)
    said = ran.stdout + ran.stderr
    results = tmp_path / config.get("pathvars", {}).get("results", "results")
    if "could not be downloaded" in said:
        pytest.skip("the package index cannot be reached")
    assert ran.returncode == 0, said
    logs = [path.read_text(encoding="utf-8") for path in (results / "logs").rglob("*.log")]
    assert logs
    assert not [text for text in (said, *logs) if "Traceback" in text]
    again = project.snakemake("--cores", "2", "--dry-run", *edit.arguments)
    assert "Nothing to be done" in again.stdout + again.stderr, again.stdout + again.stderr
    for path in results.rglob("*"):
        assert path.is_dir() or path.stat().st_size > 0, path
        if ".csv" in path.suffixes:
            require_numbers(path, config)
    for dataset in config["study"]:
        require_true_answers(results, dataset, config)
    compared = {path.parent.name for path in results.glob("*/fidelity.csv")}
    toy = {"toy"} if "ml-1m" in config["study"] and "toy" not in config else set()
    assert compared == ({"ml-1m"} & {*config["study"]} | toy if edit.compared is None else {*edit.compared})


REFUSED = {
    "no variance": (
        Edit({"estimators": ["uncorrected", "bv-0"]}),
        "config: estimators: bv-0 cannot be solved in double precision",
    ),
    "a rank that the running example lacks": (
        Edit({"toy": {"candidates": 9000}}, {"ml-1m": published}),
        "config: toy.ranks.B: rank 9266 is above toy.candidates (9000)",
    ),
    "a name that repeats": (
        Edit({"recommenders": {"a" * 60: EASE}}),
        f"config: recommenders: '{'a' * 60}' cannot be a name: it ends with 'a' twenty times",
    ),
    "two files that never meet": (
        Edit(SMALL, {"mine": lambda folder: two_files(folder, 1.0)}),
        "none of the 60 held-out items has a training event",
    ),
    "most lines are malformed": (
        Edit(SMALL, {"mine": lambda folder: with_bad_lines(folder, 1000)}),
        "my events.csv: 1000 of",
    ),
}
"""Edits that cannot be, and the start of the line that says so before anything is trained."""


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_an_edit_that_cannot_be_is_refused_before_training(name: str, tmp_path: Path) -> None:
    project, (edit, says) = copy_of_project(tmp_path), REFUSED[name]
    configure(edit, tmp_path)
    ran = project.snakemake("--cores", "2")
    assert ran.returncode != 0
    lines = (ran.stdout + ran.stderr).splitlines()
    assert [line for line in lines if line.startswith((f"error: {says}", f"split mine failed: {says}"))], lines
    assert not [*(tmp_path / "results").glob("*/models/*")]


def configure(edit: Edit, folder: Path) -> dict[str, Any]:
    """Write the config of an edit, and return it."""
    entries = {dataset: write(folder) for dataset, write in edit.datasets.items()}
    given = {dataset: entry for dataset, entry in entries.items() if entry is not None}
    config = {"study": [*entries], **edit.config, **({"datasets": given} if given else {})}
    stated = config
    if edit.in_place:
        stated, config_yaml = {}, merged(read(folder / "config.yaml"), config)
        (folder / "config.yaml").write_text(yaml.safe_dump(config_yaml, allow_unicode=True), encoding="utf-8")
    (folder / "study.yaml").write_text(yaml.safe_dump(stated, allow_unicode=True), encoding="utf-8")
    return config


def require_numbers(path: Path, config: dict[str, Any]) -> None:
    """Require that a csv file has rows, and each of them a value in each column."""
    table = pd.read_csv(path, dtype={"user": str}, keep_default_na=False, na_values=["", "nan", "NaN", "inf"])
    has_pairs = len(config.get("recommenders", "XYZ")) > 1
    may_have_no_rows = path.name in OF_PAIRS and (not has_pairs or "b" in config.get("recommenders", {}))
    assert len(table) or may_have_no_rows, f"{path} has no rows"
    empty = {column for column in table if table[column].isna().any()} - MAY_BE_EMPTY
    empty -= OF_SOME_ROWS.get(f"{path.parent.name}.csv", OF_SOME_ROWS.get(path.name, set()))
    if config.get("sampling", {}).get("repetitions") == 1:
        empty -= {"sd"}  # which a single repetition does not show
    assert not empty, f"{path}: {empty}"


def require_true_answers(results: Path, dataset: str, config: dict[str, Any]) -> None:
    """Require that the first screen has the pairs that the ranks decide, and those that Table 3 turns."""
    page = (results / "summary.html").read_text(encoding="utf-8")
    answers = [json.loads(unescape(text)) for text in re.findall(r'data-answer="([^"]*)"', page)]
    answers = [answer for answer in answers if answer["dataset"] == dataset]
    table = pd.read_csv(results / dataset / "table-3.csv", dtype={"recommender": str}, keep_default_na=False)
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
    reading = config.get("sampling", {}).get("readings", ["default"])[0]
    rows = table[(table["reading"] == reading) & (table["metric"] == metric) & (table["estimator"] == "uncorrected")]
    for answer in answers:
        of_size = rows[rows["negatives"] == answer["negatives"]] if "negatives" in rows else rows
        sampled = of_size.set_index("recommender")["mean"]
        turned = {(one, other) for one, other in decided if sampled[one] < sampled[other]}
        assert answer["metric"] == metric_name(metric)
        assert {tuple(pair) for pair in answer["decided"]} == decided
        assert {tuple(pair) for pair in answer["wrong"]} == turned
