"""Recommenders of type command in a study: the examples of docs/how-to/any-language.md, beside other ways there."""

import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from docs_blocks import blocks
from made_up_project import (
    STUDY,
    Project,
    archive,
    complete_config,
    copy_of_project,
    ratings,
    run_script,
    split,
)

from sampled_metrics import _files
from sampled_metrics.data.split import read_split
from sampled_metrics.data.split_tables import split_tables
from sampled_metrics.recommenders import recommender
from sampled_metrics.recommenders.models import read_model

PAGE = "how-to/any-language.md"
TABLE, LOGS = "results/made-up/table-3.csv", "results/logs/made-up"

COUNT = """
import collections, csv, sys
train, held_out, items, output = sys.argv[1:]
def read(path):
    return list(csv.DictReader(open(path, newline="")))
had = collections.defaultdict(set)
for row in read(train):
    had[row["user"]].add(row["item"])
who = collections.defaultdict(set)
for user, items_of_user in had.items():
    for item in items_of_user:
        who[item].add(user)
everything = {row["item"] for row in read(items)}
with open(output + "/ranks.csv", "w") as file:
    print("tied,above,candidates,user", file=file)
    for row in reversed(read(held_out)):
        user = row["user"]
        def score(item):
            return sum(len(who[item] & who[other]) for other in had[user])
        candidates = everything - had[user]
        own = score(row["item"])
        scores = [score(item) for item in candidates]
        above, same = sum(each > own for each in scores), sum(each == own for each in scores)
        print(same - 1, above, len(candidates), user, sep=",", file=file)
print("ranked", len(had), "users")
"""
"""The ranks of the page's example in Python, by sets and without a matrix."""

EXAMPLES = {
    name: entry for text in blocks(PAGE, "yaml") for name, entry in yaml.safe_load(text)["recommenders"].items()
}
POPULAR = EXAMPLES["popular"]


def run(project: Project, *targets: str) -> str:
    ran = project.snakemake(*targets, "--cores", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


def planned(said: str) -> dict[str, str]:
    return dict(re.findall(r"^(\w+) +(\d+)$", said.partition("Job stats:")[2].partition("total")[0], re.MULTILINE))


def test_a_failure_ends_with_one_line_and_a_script_that_works_gives_the_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    archive(Path("made-up.zip"), ratings())
    script = Path("popularity.awk")
    script.write_text('BEGIN { print "out of luck" > "/dev/stderr"; exit 7 }\n', encoding="utf-8")
    config = complete_config(STUDY | {"recommenders": {"popular": POPULAR}})
    assert split(config, "made-up") == []
    tables = split_tables(read_split("split.npz", timestamps=True))
    for name, table in tables.items():
        _files.write_table(f"{name}.csv", table)

    def train() -> list[str]:
        return run_script(
            "train",
            input={"split": "split.npz", "tables": [f"{name}.csv" for name in tables]},
            output={"model": "popular.npz"},
            params={"entry": config["recommenders"]["popular"], "seed": 1},
            wildcards={"recommender": "popular"},
            config=config,
        )

    wrong = "recommender popular: the command ended with exit code 7: out of luck; job.log has what the command says"
    assert train() == [f"error: {wrong}"]
    assert Path("job.log").read_text(encoding="utf-8").splitlines()[-2:] == ["out of luck", f"error: {wrong}"]
    (awk,) = blocks(PAGE, "awk")
    script.write_text(awk, encoding="utf-8")
    assert train() == []
    held_out = read_split("split.npz")
    by_command = read_model(Path("popular.npz")).rank(held_out)
    by_library = recommender({"type": "popularity"}).fit(held_out.training, None).rank(held_out)
    assert by_command.above.tolist() == by_library.above.tolist()
    assert by_command.tied.tolist() == by_library.tied.tolist()


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A study that was run twice; what the first run made is in first/.

    It is first by the popularity of the library and the page's example in Python, then by the page's awk and by ranks
    that are counted elsewhere.
    """
    folder = tmp_path_factory.mktemp("commands") / "a folder"
    folder.mkdir()
    project = copy_of_project(folder)
    (awk,), (python,) = blocks(PAGE, "awk"), blocks(PAGE, "python")
    for name, content in {"popularity.awk": awk, "shared.py": python, "count.py": COUNT}.items():
        (folder / name).write_text(content, encoding="utf-8")
    shared = EXAMPLES["shared"]
    shared["command"] = shared["command"].replace("python ", f"{sys.executable} ", 1)
    project.configure(recommenders={"popular": {"type": "popularity"}, "shared": shared})
    run(project, TABLE)
    shutil.copytree(folder / "results", folder / "first")
    command = [sys.executable, "count.py", "{train}", "{held_out}", "{items}", "{output}"]
    counted = {"type": "command", "command": command, "writes": "ranks"}
    project.configure(recommenders={"popular": POPULAR, "shared": counted}, ranking={"scatter": 2})
    assert planned(run(project, TABLE, "--dry-run")) == {
        **dict.fromkeys(("train", "rank", "sample", "exact_moments"), "2"),
        "rank_part": "4",
        "tables": "1",
    }
    run(project, TABLE)
    return project


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ranks/popular.csv.gz", "ranks/shared.csv.gz", "table-3.csv"])
def test_two_ways_to_the_same_recommender_give_the_same_bytes(twice: Project, name: str) -> None:
    one, other = (twice.folder / folder / "made-up" / name for folder in ("first", "results"))
    assert one.read_bytes() == other.read_bytes()
    if name.startswith("ranks"):
        assert pd.read_csv(other)["tied"].any()  # which two ways may break apart
        model = name.replace("ranks", "models").replace("csv.gz", "npz")
        kinds = [str(np.load(twice.folder / folder / "made-up" / model)["kind"]) for folder in ("first", "results")]
        assert kinds == (["factors", "scores"] if "popular" in name else ["factors", "ranks"])


@pytest.mark.slow
def test_editing_the_script_trains_again_and_nothing_else_does(twice: Project, tmp_path: Path) -> None:
    shutil.copytree(twice.folder, tmp_path / "copy", copy_function=shutil.copy2)
    copy = Project(tmp_path / "copy")
    assert "Nothing to be done" in run(copy, TABLE, "-n")
    with (copy.folder / "popularity.awk").open("a") as script:
        script.write("# edited\n")
    assert planned(run(copy, TABLE, "-n"))["train"] == "1"
    log = (twice.folder / LOGS / "train-shared.log").read_text(encoding="utf-8").splitlines()
    assert [line for line in log if line.startswith(f"{sys.executable} count.py ")]
    assert "ranked 60 users" in log


@pytest.mark.slow
def test_the_split_as_files_of_either_kind(twice: Project) -> None:
    """tests/recommenders/test_command.py has what they hold."""
    tables = "results/made-up/split"
    run(twice, f"{tables}/train.csv", f"{tables}/train.parquet")
    for name in ("train", "held_out", "users", "items"):
        path = twice.folder / tables / name
        pd.testing.assert_frame_equal(pd.read_csv(f"{path}.csv"), pd.read_parquet(f"{path}.parquet"))
