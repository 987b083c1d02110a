"""Edits of the config that users make first, each run to the end in a folder of its own.

A study ends with exit 0 and without a traceback, has every file, and no NaN where a number belongs; a second run has
nothing to do; and summary.html states the order of recommenders that the tables have.
"""

import json
import re
from collections.abc import Callable
from functools import partial
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
OF_SOME_ROWS = {"estimator", "negatives", "depth", "completed", "width", "width_low", "width_high"}
"""Columns of the tables of a budget that belong to some ways, or that an estimator or a shallow depth does not give."""


def read(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


# Data: functions that write files into a folder, and return the datasets of the study, None for one that is known.
Data = Callable[[Path], dict[str, Any]]


def ml_100k(folder: Path) -> dict[str, Any]:
    return {"ml-100k": None}


def published(folder: Path) -> dict[str, Any]:
    """The published ranks of the dataset ml-1m."""
    return {"ml-1m": {"ranks": {name: f"published/ml-1m/{name}.csv.gz" for name in "XYZ"}}}


def ml_1m(folder: Path) -> dict[str, Any]:
    """The dataset ml-1m: the copy beside the clone, or the published ranks."""
    if not LOCAL.exists():
        return published(folder)
    sha256 = read(ROOT / ".ci/local-copy.yaml")["datasets"]["ml-1m"]["sha256"]
    return {"ml-1m": {"path": str(LOCAL), "md5": None, "sha256": sha256}}


def made_up(folder: Path) -> dict[str, Any]:
    return {"mine": {"path": "made-up.zip", "format": "movielens-dat"}}


def events() -> pd.DataFrame:
    """The events of the made-up dataset, with names of users and items that are text."""
    rows = [line.split("::") for line in ratings().splitlines()]
    table = pd.DataFrame(rows, columns=["user", "item", "rating", "time"]).astype({"rating": int, "time": int})
    return table.assign(user="u " + table["user"], item="é" + table["item"])


def delimited(path: str, columns: dict[str, Any], **keys: Any) -> dict[str, Any]:
    options = {"columns": columns} | keys.pop("options", {})
    return {"mine": {"path": path, "format": "delimited", "options": options} | keys}


COLUMNS = {"user": "user", "item": "item", "rating": "rating", "timestamp": "time"}


def csv(folder: Path) -> dict[str, Any]:
    events().to_csv(folder / "my events.csv", index=False)
    return delimited("my events.csv", COLUMNS)


def repeated(folder: Path) -> dict[str, Any]:
    """A quarter of the events a second time, at a later time, and all lines in any order."""
    table = events()
    again = table.sample(frac=0.25, random_state=1).assign(time=lambda rows: rows["time"] + 5000)
    pd.concat([table, again]).sample(frac=1, random_state=2).to_csv(folder / "repeated.csv", index=False)
    return delimited("repeated.csv", COLUMNS)


def with_bad_lines(folder: Path, count: int = 5) -> dict[str, Any]:
    csv(folder)
    with open(folder / "my events.csv", "a", encoding="utf-8") as file:
        file.write("a,b\n" * count)
    return delimited("my events.csv", COLUMNS, options={"on_bad_lines": "skip"})


def ordered_lines(folder: Path) -> dict[str, Any]:
    """As SASRec has them: numbers of users and items, the lines of a user in the order of time."""
    table = events().sort_values(["user", "time"], kind="stable")
    numbers = {role: pd.factorize(table[role])[0] + 1 for role in ("user", "item")}
    pd.DataFrame(numbers).to_csv(folder / "sasrec.txt", sep=" ", index=False, header=False)
    return delimited("sasrec.txt", {"user": 1, "item": 2}, options={"separator": " ", "timestamp": "order"})


def two_files(folder: Path, other_ids: float = 0.0) -> dict[str, Any]:
    """Each user's last event in a second file; a share of its items have other ids, as 9.0 beside 9."""
    table = pd.DataFrame([line.split("::") for line in ratings().splitlines()], columns=["user", "item", "_", "time"])
    table = table.drop_duplicates(["user", "item"])
    last = table.groupby("user").tail(1)
    table.drop(last.index).to_csv(folder / "train.csv", index=False)
    is_other = np.arange(len(last)) < other_ids * len(last)
    last.assign(item=last["item"].where(~is_other, last["item"] + ".0")).to_csv(folder / "test.csv", index=False)
    return delimited("train.csv", {"user": "user", "item": "item"}, test="test.csv")


def ready_made(folder: Path) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    ranks = pd.DataFrame({"user": range(300), "candidates": 400})
    for name, exponent in (("good", 3.0), ("bad", 1.5)):
        ranks.assign(rank=1 + (400 * rng.random(300) ** exponent).astype(int)).to_csv(folder / f"{name}.csv")
    return {"mine": {"ranks": {"good": "good.csv", "bad": "bad.csv"}}}


def also_ready_made(folder: Path) -> dict[str, Any]:
    write_ranks(folder / "ranks.csv")
    return made_up(folder)


class Edit(NamedTuple):
    """What a user writes into a config."""

    config: dict[str, Any] = {}  # noqa: RUF012
    data: Data = made_up
    in_place: bool = False
    """Whether the keys are written into config.yaml itself."""
    compared: tuple[str, ...] | None = None
    """The folders that are compared with the paper; None for all of ml-1m and toy that are there."""
    arguments: tuple[str, ...] = ()
    """Of snakemake."""


def of(**recommenders: dict[str, Any]) -> dict[str, Any]:
    """The key of these recommenders."""
    return {"recommenders": recommenders}


SMALL = {"sampling": {"negatives": 20, "repetitions": 5}}
EXTRAS = {"figures": {"budget": {"negatives": [5, 10]}}, "margin": "2%", **SMALL}
POPULARITY, EASE, RANDOM = {"type": "popularity"}, {"type": "ease", "regularization": 10}, {"type": "random"}
FLAT, SHARP = ({"type": "item-cf", "exponent": exponent} for exponent in (1, 5))
THEIRS = {"type": "ranks", "path": "ranks.csv"}
GOOD_AND_BAD = of(**{name: {"type": "ranks", "path": f"{name}.csv"} for name in ("good", "bad")})
FAST = "another dataset alone"
EDITS = {
    FAST: Edit(data=ml_100k),
    "two datasets": Edit(data=lambda folder: ml_1m(folder) | ml_100k(folder)),
    "no running example": Edit({"toy": None}, published),
    "seed 0": Edit({"seed": 0} | SMALL),
    "seed 1": Edit({"seed": 1}, ml_100k),
    "one recommender": Edit(of(mine=EASE) | SMALL),
    "two recommenders": Edit(of(EASE=EASE, popularity=POPULARITY) | SMALL),
    "six recommenders": Edit(of(X=X, Y=FLAT, sharp=SHARP, EASE=EASE, popularity=POPULARITY, random=RANDOM) | SMALL),
    "metrics without a cut-off": Edit({"metrics": ["ap", "ndcg", "auc"]} | SMALL),
    "several numbers of negatives": Edit({"sampling": {"negatives": [5, 20], "repetitions": 5}}),
    "with replacement, once": Edit({"sampling": {"negatives": 20, "replacement": True, "repetitions": 1}}),
    "two held out": Edit({"split": {"held_out": 2}} | SMALL),
    "global time": Edit({"split": {"strategy": "global-time", "test_size": 0.1}} | SMALL),
    "a random event": Edit({"split": {"strategy": "random-event"}} | SMALL),
    "k-core": Edit(SMALL, lambda folder: merged(made_up(folder), {"mine": {"core": 4, "min_rating": 2}})),
    "ready-made ranks": Edit(GOOD_AND_BAD | SMALL, ready_made),
    "a margin": Edit({"margin": "2%"} | SMALL),
    "csv": Edit(SMALL, csv),
    "repeated events": Edit(SMALL, repeated),
    "repeated events, in place": Edit(SMALL, repeated, in_place=True),
    "another dataset, in place": Edit(SMALL, ml_100k, in_place=True),
    "a small running example": Edit(
        {"toy": {"candidates": 100, "ranks": {"A": [1, 2], "B": [50, 100]}}} | SMALL, published, compared=()
    ),
    "ranks of the running example": Edit({"toy": {"ranks": {"D": [3, 5, 70, 9, 20]}}} | SMALL, published, compared=()),
    "names as of parts": Edit(
        of(**{"A": EASE, "A-1-of-2": POPULARITY}) | SMALL, arguments=("--set-scatter", "users=2")
    ),
    "folders of their own": Edit({"pathvars": {"results": "mine/results"}} | SMALL),
    "recommenders that look like numbers": Edit(
        of(**{"NA": EASE, "1": POPULARITY, "2.0": FLAT, "1e3": RANDOM}) | EXTRAS
    ),
    "recommenders that are equal": Edit(of(a=EASE, b=EASE) | EXTRAS),
    "one recommender and all extras": Edit(of(a=EASE) | EXTRAS),
    "ready-made and trained": Edit(of(theirs=THEIRS, a=EASE, b=POPULARITY) | EXTRAS, also_ready_made),
    "extras of ready-made ranks": Edit(GOOD_AND_BAD | EXTRAS, ready_made),
    "a budget of few items": Edit(
        {"metrics": ["recall@3"], "figures": {"budget": {}}} | of(a=EASE, b=POPULARITY) | SMALL
    ),
    "as printed alone": Edit({"sampling": {"readings": ["as-printed"]}}, published),
    "100 negatives in a list": Edit({"sampling": {"negatives": [100]}}, published, compared=("toy",)),
    "another split of the paper's data": Edit(
        {"split": {"strategy": "random-event"}} | of(a=POPULARITY, b=RANDOM) | SMALL, ml_1m, compared=("toy",)
    ),
    "one negative, once": Edit({"sampling": {"negatives": 1, "repetitions": 1}} | of(a=EASE, b=POPULARITY)),
    "few negatives without variance": Edit(
        {"estimators": ["uncorrected", "bv-0"], "sampling": {"negatives": 10, "repetitions": 5}}
    ),
    "two files": Edit(SMALL, two_files),
    "two files with some other ids": Edit(SMALL, partial(two_files, other_ids=0.3)),
    "lines that are skipped": Edit(SMALL, with_bad_lines),
    "the order of lines": Edit(SMALL, ordered_lines),
    "names of all kinds": Edit(
        of(**{"EASE 2.0": EASE, "人気": POPULARITY, "item.cf": FLAT}) | SMALL,
        lambda folder: {"my data v1.2 é": made_up(folder)["mine"]},
    ),
}
REFUSED = {
    "bv-0 cannot be solved in double precision": Edit({"estimators": ["uncorrected", "bv-0"]}),
    "rank 9266 is above toy.candidates (9000)": Edit({"toy": {"candidates": 9000}}, published),
    "cannot be a name: it ends with 'a' twenty times": Edit(of(**{"a" * 60: EASE})),
    "none of the 60 held-out items has a training event": Edit(SMALL, partial(two_files, other_ids=1.0)),
    "my events.csv: 1000 of": Edit(SMALL, partial(with_bad_lines, count=1000)),
}
"""Edits that cannot be, and what says so before anything is trained."""


def configure(edit: Edit, folder: Path) -> dict[str, Any]:
    """Write the config of an edit, and return it."""
    datasets = edit.data(folder)
    given = {name: entry for name, entry in datasets.items() if entry is not None}
    config = {"study": [*datasets], **edit.config, **({"datasets": given} if given else {})}
    stated = config
    if edit.in_place:
        stated, config_yaml = {}, merged(read(folder / "config.yaml"), config)
        (folder / "config.yaml").write_text(yaml.safe_dump(config_yaml, allow_unicode=True), encoding="utf-8")
    (folder / "study.yaml").write_text(yaml.safe_dump(stated, allow_unicode=True), encoding="utf-8")
    return config


@pytest.mark.parametrize(
    "name", [FAST, *(pytest.param(name, marks=pytest.mark.slow) for name in EDITS if name != FAST)]
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


@pytest.mark.slow
@pytest.mark.parametrize("says", REFUSED)
def test_an_edit_that_cannot_be_is_refused_before_training(says: str, tmp_path: Path) -> None:
    project = copy_of_project(tmp_path)
    configure(REFUSED[says], tmp_path)
    ran = project.snakemake("--cores", "2")
    assert ran.returncode != 0
    lines = [line for line in (ran.stdout + ran.stderr).splitlines() if says in line]
    assert [line for line in lines if re.match("error: config: |split mine failed: ", line)], ran.stdout + ran.stderr
    assert not [*(tmp_path / "results").glob("*/models/*")]


def require_numbers(path: Path, config: dict[str, Any]) -> None:
    """Require that a csv file has rows, and each of them a value in each column."""
    table = pd.read_csv(path, dtype={"user": str}, keep_default_na=False, na_values=["", "nan", "NaN", "inf"])
    names = config.get("recommenders", "XYZ")
    is_budget = "budget" in path.parent.name or path.name.startswith("budget")
    # of pairs, which have no rows without a pair whose exact metrics differ
    may_have_no_rows = path.name in ("table-4.csv", "budget-pair.csv") and (len(names) == 1 or "b" in names)
    assert len(table) or may_have_no_rows, f"{path} has no rows"
    empty = {column for column in table if table[column].isna().any()} - MAY_BE_EMPTY
    empty -= OF_SOME_ROWS if is_budget else set()
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
