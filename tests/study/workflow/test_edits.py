"""Edits of the config that users make first, each run to the end in a folder of its own.

A study ends with exit 0 and without a traceback, has every file, and no NaN where a number belongs;
a second run has nothing to do; and summary.html states the order of recommenders that the tables
have.
"""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from made_up_project import RANKS, X, copy_of_project, merged, ratings, write_ranks

import sampled_metrics as sm
from sampled_metrics.core.metrics import metric_name

MAY_BE_EMPTY = {"remark", "tolerance"}
"""Columns of words."""
MAY_BE_MISSING = {
    "estimator",
    "negatives",
    "depth",
    "completed",
    "width",
    "width_low",
    "width_high",
}
"""Columns of the tables of a budget that belong to some ways, or that an estimator or a shallow
depth does not give.
"""


def write_data(folder: Path) -> None:
    """Write the files that the edits speak of, beside made-up.zip."""
    write_ranks(folder / RANKS)
    rows = pd.DataFrame(
        [line.split("::") for line in ratings().splitlines()],
        columns=["user", "item", "stars", "day"],
    )
    # ids that are text; a quarter of the events again, later; lines in any order, and some that are
    # none
    text = rows.assign(user="u " + rows["user"], item="é" + rows["item"])
    again = text.sample(frac=0.25, random_state=1).assign(
        day=lambda table: table["day"].astype(int) + 5000
    )
    lines = pd.concat([text, again]).sample(frac=1, random_state=2).to_csv(index=False)
    (folder / "my events.csv").write_text(lines + "a,b\n" * 5, encoding="utf-8")
    # each user's last event in a second file, in which a third of the items, or all, have other
    # ids: 9.0 beside 9
    once = rows.drop_duplicates(["user", "item"])
    last = once.groupby("user").tail(1)
    once.drop(last.index).to_csv(folder / "train.csv", index=False)
    for name, has_other_id in (
        ("test", np.arange(len(last)) < 0.3 * len(last)),
        ("other", np.full(len(last), True)),
    ):
        items = last["item"].where(~has_other_id, last["item"] + ".0")
        last.assign(item=items).to_csv(folder / f"{name}.csv", index=False)
    rng = np.random.default_rng(3)
    for name, exponent in (("good", 3.0), ("bad", 1.5)):
        rank = 1 + (400 * rng.random(300) ** exponent).astype(int)
        pd.DataFrame({"user": range(300), "candidates": 400, "rank": rank}).to_csv(
            folder / f"{name}.csv"
        )


MADE_UP = {"path": "made-up.zip", "format": "movielens-dat"}


def config_of(
    recommenders: dict[str, Any] | None = None, data: dict[str, Any] | None = None, **config: Any
) -> dict[str, Any]:
    """The config of recommenders and datasets, X, Y and Z on made-up data if none are given."""
    data = data or {"mine": MADE_UP}
    stated: dict[str, Any] = {
        "study": [*data],
        "datasets": data,
        "sampling": {"negatives": 20, "repetitions": 5},
    }
    if recommenders:
        stated["recommenders"] = recommenders
    return stated | config


def delimited(
    path: str, columns: dict[str, str], test: str | None = None, **options: Any
) -> dict[str, Any]:
    entry = {"path": path, "format": "delimited", "options": {"columns": columns} | options}
    return {"mine": entry | ({"test": test} if test else {})}


ML_100K: dict[str, Any] = {"ml-100k": {}}
PUBLISHED = {"ml-1m": {"ranks": {name: f"published/ml-1m/{name}.csv.gz" for name in "XYZ"}}}
PAIRS = {"user": "user", "item": "item"}
EVENTS = PAIRS | {"rating": "stars", "timestamp": "day"}
POPULARITY = {"type": "popularity"}
EASE = {"type": "ease", "regularization": 10}
RANDOM = {"type": "random"}
FLAT = {"type": "item-cf", "exponent": 1}
SHARP = {"type": "item-cf", "exponent": 5}
THEIRS = {"type": "ranks", "path": RANKS}
GOOD_AND_BAD = {name: {"type": "ranks", "path": f"{name}.csv"} for name in ("good", "bad")}
OF_ALL_KINDS = {
    "NA": EASE,
    "1": POPULARITY,
    "2.0": FLAT,
    "1e3": RANDOM,
    "EASE 2.0": X,
    "人気": SHARP,
    "item.cf": FLAT,
}
EXTRAS: dict[str, Any] = {"figures": {"budget": {"negatives": [5, 10]}}, "margin": "2%"}

IN_PLACE = "events that are repeated and lines that are skipped, in config.yaml itself"
PARTS = "names as of parts, and folders of their own"
EDITS = {
    "another dataset alone": {"study": ["ml-100k"]},  # .ci/run runs this one
    IN_PLACE: config_of(data=delimited("my events.csv", EVENTS, on_bad_lines="skip")),
    PARTS: config_of({"A": EASE, "A-1-of-2": POPULARITY}, pathvars={"results": "mine/results"}),
    "ready-made and trained": config_of({"theirs": THEIRS, "a": EASE, "b": POPULARITY}, **EXTRAS),
    "two datasets and 100 negatives in a list": config_of(
        data=PUBLISHED | ML_100K, sampling={"negatives": [100]}
    ),
    "as printed alone": config_of(data=PUBLISHED, toy=None, sampling={"readings": ["as-printed"]}),
    "a small running example": config_of(
        data=PUBLISHED, toy={"candidates": 100, "ranks": {"A": [1, 2], "B": [50, 100]}}
    ),
    "several sizes, with replacement": config_of(
        sampling={"negatives": [5, 20], "repetitions": 5, "replacement": True}
    ),
    "one negative, once": config_of(
        {"a": EASE, "b": POPULARITY}, sampling={"negatives": 1, "repetitions": 1}
    ),
    "few negatives without variance": config_of(
        estimators=["uncorrected", "bv-0"], sampling={"negatives": 10, "repetitions": 5}
    ),
    "two held out": config_of(split={"held_out": 2}),
    "global time": config_of(split={"strategy": "global-time", "test_size": 0.1}),
    "two files with some other ids": config_of(data=delimited("train.csv", PAIRS, "test.csv")),
    "names of all kinds": config_of(OF_ALL_KINDS, {"my data v1.2 é": MADE_UP}),
    "recommenders that are equal": config_of({"a": EASE, "b": EASE}, margin="2%"),
    "one recommender and all extras": config_of({"a": EASE}, **EXTRAS),
    "ready-made ranks alone": config_of(
        GOOD_AND_BAD, {"mine": {"ranks": {"good": "good.csv", "bad": "bad.csv"}}}, **EXTRAS
    ),
    "a budget of few items": config_of(
        {"a": EASE, "b": POPULARITY}, metrics=["recall@3"], figures={"budget": {}}
    ),
}
COMPARED = {"two datasets and 100 negatives in a list": {"toy"}, "as printed alone": {"ml-1m"}}
"""The folders that are compared with the paper, none for other edits."""


def configure(config: dict[str, Any], folder: Path, in_place: bool = False) -> None:
    write_data(folder)
    if in_place:
        path = folder / "config.yaml"
        config_yaml = merged(yaml.safe_load(path.read_text(encoding="utf-8")), config)
        path.write_text(yaml.safe_dump(config_yaml, allow_unicode=True), encoding="utf-8")
        config = {}
    (folder / "study.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", EDITS)
def test_an_edit_of_the_config_runs_to_the_end(name: str, tmp_path: Path) -> None:
    project = copy_of_project(tmp_path)
    config = EDITS[name]
    configure(config, tmp_path, in_place=name == IN_PLACE)
    arguments = ["--cores", "2", *(["--set-scatter", "users=2"] if name == PARTS else [])]
    ran = project.snakemake(*arguments)
    said = ran.stdout + ran.stderr
    if "could not be downloaded" in said:
        pytest.skip("the package index cannot be reached")
    assert ran.returncode == 0, said
    results = tmp_path / config.get("pathvars", {}).get("results", "results")
    logs = [path.read_text(encoding="utf-8") for path in (results / "logs").rglob("*.log")]
    assert logs
    assert not [text for text in (said, *logs) if "Traceback" in text]
    again = project.snakemake(*arguments, "--dry-run")
    assert "Nothing to be done" in again.stdout + again.stderr, again.stdout + again.stderr
    for path in results.rglob("*"):
        assert path.is_dir() or path.stat().st_size > 0, path
        if ".csv" in path.suffixes:
            require_numbers(path, config)
    for dataset in config["study"]:
        require_true_answers(results, dataset, config)
    compared = {path.parent.name for path in results.glob("*/fidelity.csv")}
    assert compared == COMPARED.get(name, set())


def require_numbers(path: Path, config: dict[str, Any]) -> None:
    """Require that a csv file has rows, and each of them a value in each column."""
    table = pd.read_csv(
        path, dtype={"user": str}, keep_default_na=False, na_values=["", "nan", "NaN", "inf"]
    )
    names = config.get("recommenders", "XYZ")
    # of pairs, which have no rows without a pair whose exact metrics differ
    may_have_no_rows = path.name in ("table-4.csv", "budget-pair.csv") and (
        len(names) == 1 or "b" in names
    )
    assert len(table) or may_have_no_rows, f"{path} has no rows"
    empty = {column for column in table if table[column].isna().any()} - MAY_BE_EMPTY
    if "budget" in path.parent.name or path.name.startswith("budget"):
        empty -= MAY_BE_MISSING
    if config.get("sampling", {}).get("repetitions") == 1:
        empty -= {"sd"}  # which a single repetition does not show
    assert not empty, f"{path}: {empty}"


def require_true_answers(results: Path, dataset: str, config: dict[str, Any]) -> None:
    """Require that the first screen has the pairs that the ranks decide.

    It also has those of them that Table 3 turns.
    """
    page = (results / "summary.html").read_text(encoding="utf-8")
    answers = [json.loads(unescape(text)) for text in re.findall(r'data-answer="([^"]*)"', page)]
    answers = [answer for answer in answers if answer["dataset"] == dataset]
    table = pd.read_csv(
        results / dataset / "table-3.csv", dtype={"recommender": str}, keep_default_na=False
    )
    sampling = config.get("sampling", {})
    [metric, *_] = config.get("metrics", ["recall@10"])
    sizes = np.atleast_1d(sampling.get("negatives", 100)).tolist()
    assert [answer["negatives"] for answer in answers] == sizes
    ranks = {
        name: sm.exact_ranks(results / dataset / f"ranks/{name}.csv.gz")
        for name in table["recommender"].unique()
    }
    decided = decided_pairs(ranks, metric)
    [reading, *_] = sampling.get("readings", ["default"])
    rows = table[
        (table["reading"] == reading)
        & (table["metric"] == metric)
        & (table["estimator"] == "uncorrected")
    ]
    for answer in answers:
        if "negatives" in rows:
            means = rows[rows["negatives"] == answer["negatives"]].set_index("recommender")["mean"]
        else:
            means = rows.set_index("recommender")["mean"]
        assert answer["metric"] == metric_name(metric)
        assert {tuple(pair) for pair in answer["decided"]} == decided
        turned = {(better, worse) for better, worse in decided if means[better] < means[worse]}
        assert {tuple(pair) for pair in answer["wrong"]} == turned


def decided_pairs(ranks: dict[str, sm.ExactRanks], metric: str) -> set[tuple[str, str]]:
    """The (better, worse) pairs that a comparison by user decides."""
    if len(ranks) < 2:
        return set()
    pairs = sm.compare(ranks, metrics=metric)
    if "a" not in pairs:  # the result of a single pair does not name it
        a, b = ranks
        pairs = pairs.assign(a=a, b=b)
    b_is_better = {(row.b, row.a) for row in pairs.itertuples() if row.low > 0}
    a_is_better = {(row.a, row.b) for row in pairs.itertuples() if row.high < 0}
    return a_is_better | b_is_better
