"""Edits of the config that users make first, each run to the end in a folder of its own.

A study ends with exit 0 and without a traceback, has every file, and no NaN where a number belongs;
a second run has nothing to do.
"""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from made_up_project import RANKS, X, copy_of_project, merged, ratings, write_ranks

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


def write_data(folder):
    """Write the files that the edits speak of, beside made-up.zip."""
    write_ranks(folder / RANKS)
    rows = pd.DataFrame(
        [line.split("::") for line in ratings().splitlines()],
        columns=["user", "item", "stars", "day"],
    )
    # ids that are text, and lines that are none
    text = rows.assign(user="u " + rows["user"], item="é" + rows["item"]).to_csv(index=False)
    (folder / "my events.csv").write_text(text + "a,b\n" * 5, encoding="utf-8")
    # each user's last event in a second file, in which a third of the items have other ids: 9.0
    # beside 9
    once = rows.drop_duplicates(["user", "item"])
    last = once.groupby("user").tail(1)
    once.drop(last.index).to_csv(folder / "train.csv", index=False)
    has_other_id = np.arange(len(last)) < 0.3 * len(last)
    items = last["item"].where(~has_other_id, last["item"] + ".0")
    last.assign(item=items).to_csv(folder / "test.csv", index=False)
    rng = np.random.default_rng(3)
    for name, exponent in (("good", 3.0), ("bad", 1.5)):
        rank = 1 + (400 * rng.random(300) ** exponent).astype(int)
        pd.DataFrame({"user": range(300), "candidates": 400, "rank": rank}).to_csv(
            folder / f"{name}.csv"
        )


MADE_UP = {"path": "made-up.zip", "format": "movielens-dat"}


def config_of(recommenders=None, data=None, **config):
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


def delimited(path, columns, test=None, **options):
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

IN_PLACE = "lines that are skipped, in config.yaml itself"
PARTS = "names as of parts, and folders of their own"
EDITS = {
    "another dataset alone": {"study": ["ml-100k"]},  # .ci/run runs this one
    IN_PLACE: config_of(data=delimited("my events.csv", EVENTS, on_bad_lines="skip")),
    PARTS: config_of({"A": EASE, "A-1-of-2": POPULARITY}, pathvars={"results": "mine/results"}),
    "two datasets and 100 negatives in a list": config_of(
        data=PUBLISHED | ML_100K, sampling={"negatives": [100]}
    ),
    "as printed alone": config_of(data=PUBLISHED, toy=None, sampling={"readings": ["as-printed"]}),
    "several sizes, with replacement": config_of(
        sampling={"negatives": [5, 20], "repetitions": 5, "replacement": True}
    ),
    "one recommender, one negative, once": config_of(
        {"a": EASE}, sampling={"negatives": 1, "repetitions": 1}
    ),
    "few negatives without variance": config_of(
        estimators=["uncorrected", "bv-0"], sampling={"negatives": 10, "repetitions": 5}
    ),
    "global time": config_of(split={"strategy": "global-time", "test_size": 0.1}),
    "two files with some other ids": config_of(data=delimited("train.csv", PAIRS, "test.csv")),
    "ready-made ranks on one of two datasets": config_of(
        {"X": FLAT, "Y": POPULARITY}, {"one": MADE_UP, "two": MADE_UP | {"ranks": {"Y": RANKS}}}
    ),
    "names of all kinds": config_of(OF_ALL_KINDS, {"my data v1.2 é": MADE_UP}),
    "recommenders that are equal, and all extras": config_of({"a": EASE, "b": EASE}, **EXTRAS),
    "ready-made ranks alone": config_of(
        GOOD_AND_BAD, {"mine": {"ranks": {"good": "good.csv", "bad": "bad.csv"}}}, **EXTRAS
    ),
}
COMPARED = {"two datasets and 100 negatives in a list": {"toy"}, "as printed alone": {"ml-1m"}}
"""The folders that are compared with the paper, none for other edits."""


def configure(config, folder, in_place=False):
    write_data(folder)
    if in_place:
        path = folder / "config.yaml"
        config_yaml = merged(yaml.safe_load(path.read_text(encoding="utf-8")), config)
        path.write_text(yaml.safe_dump(config_yaml, allow_unicode=True), encoding="utf-8")
        config = {}
    (folder / "study.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", EDITS)
def test_an_edit_of_the_config_runs_to_the_end(name, tmp_path):
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
    compared = {path.parent.name for path in results.glob("*/fidelity.csv")}
    assert compared == COMPARED.get(name, set())


def require_numbers(path, config):
    """Require that a csv file has rows, and each of them a value in each column."""
    table = pd.read_csv(
        path, dtype={"user": str}, keep_default_na=False, na_values=["", "nan", "NaN", "inf"]
    )
    names = config.get("recommenders", "XYZ")
    # of pairs, which have no rows without a pair whose exact metrics differ
    tables_of_pairs = ("table-4.csv", "budget-pair.csv", "sample-verdicts.csv")
    may_have_no_rows = path.name in tables_of_pairs and (len(names) == 1 or "b" in names)
    assert len(table) or may_have_no_rows, f"{path} has no rows"
    empty = {column for column in table if table[column].isna().any()} - MAY_BE_EMPTY
    if "budget" in path.parent.name or path.name.startswith("budget"):
        empty -= MAY_BE_MISSING
    if config.get("sampling", {}).get("repetitions") == 1:
        empty -= {"sd"}  # which a single repetition does not show
    assert not empty, f"{path}: {empty}"
