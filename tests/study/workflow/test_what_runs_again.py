"""What a dry run would run again after an edit of a finished study: neither more nor less.

A job of one recommender is written with its name, as ``train X``. X has a random start and factors,
Y has neither, and elsewhere has ready-made ranks.
"""

import os
import re
import shutil
from functools import reduce
from typing import Any

import pytest
from made_up_project import MORE, RANKS, STUDY, archive, merged, ratings

TOY = {"toy"}
LATER = {"sample_tables", "tables", "figures", "summary"}
"""What depends on the ranks of all recommenders."""
SUMMARY = {"summary"}  # it states the whole config


def jobs(*rules, names=("X", "Y", "elsewhere")):
    """Return the jobs of rules for recommenders."""
    return {f"{rule} {name}" for rule in rules for name in names}


def ranked(*names):
    """Return what depends on the ranks of recommenders."""
    return jobs("sample", names=names) | LATER


def made(*names):
    """Return what depends on the models of recommenders, and these."""
    return jobs("train", "rank", names=names) | ranked(*names)


SPLIT = {"split", *made("X", "Y")}
SIZES = [10, 200, 500, 5000]
IMPORTED = {"import_ranks", *ranked("elsewhere")}

CONFIG_EDITS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "seed": ({"seed": 7}, {*TOY, *made("X"), *jobs("sample")}),
    "sha256": ({"datasets": {"made-up": {"sha256": "0" * 64}}}, {"verify", *SUMMARY}),
    "core": ({"datasets": {"made-up": {"core": 2}}}, SPLIT),
    "ranks of a dataset": (
        {"datasets": {"made-up": {"ranks": {"Y": RANKS}}}},
        {"import_ranks", *ranked("Y")},
    ),
    "split.strategy": ({"split": {"strategy": "random-event"}}, SPLIT),
    "a recommender more": (
        {"recommenders": {"sharp": {"type": "item-cf", "exponent": 5}}},
        made("sharp"),
    ),
    "X.factors": ({"recommenders": {"X": {"factors": 5}}}, made("X")),
    "Y.exponent": ({"recommenders": {"Y": {"exponent": 2}}}, made("Y")),
    "elsewhere.candidates": ({"recommenders": {"elsewhere": {"candidates": 90}}}, IMPORTED),
    "ranking.precision": ({"ranking": {"precision": "float32"}}, {"rank X", *ranked("X")}),
    "metrics": ({"metrics": ["recall@10", "ap"]}, {"sample_tables", "tables", *SUMMARY}),
    "sampling.negatives": (
        {"sampling": {"negatives": 10}},
        {*jobs("sample"), "sample_tables", "tables", *SUMMARY},
    ),
    "sampling.replacement": ({"sampling": {"replacement": True}}, {*jobs("sample"), *LATER}),
    "estimators": (
        {"estimators": ["uncorrected", "bv-0.5"]},
        {"tables", *SUMMARY},
    ),
    "estimator_model": ({"estimator_model": "design"}, {"tables", "figures", *SUMMARY}),
    "margin": ({"margin": 0.01}, SUMMARY),
    "toy.repetitions": ({"toy": {"repetitions": 21}}, {*TOY, *SUMMARY}),
    "figures.figure-2": (
        {"figures": {"figure-2": {"negatives": SIZES}}},
        {*TOY, *SUMMARY},
    ),
    "no toy": ({"toy": False}, SUMMARY),
    "seeds of X": (
        {"recommenders": {"X": {"seeds": [1, 2]}}},
        {*jobs("train", "rank", "sample", names=("X seed 1", "X seed 2")), *LATER},
    ),
    "figures.figure-5": ({"figures": {"figure-5": {"edges": [5, 50]}}}, {"figures", *SUMMARY}),
}
AFTER_METRICS = {*jobs("sample"), *LATER, *TOY}
"""What runs code of the library beside that of training."""
ALL = {"verify", *SPLIT, *IMPORTED, *AFTER_METRICS}
FILE_EDITS = {
    "src/sampled_metrics/core/metrics.py": AFTER_METRICS,
    "src/sampled_metrics_study/recommenders/ease.py": AFTER_METRICS,  # nobody has it
    "src/sampled_metrics_study/recommenders/ials.py": {*made("X"), *AFTER_METRICS},
    "src/sampled_metrics_study/recommenders/models.py": ALL,
    "src/sampled_metrics/ranking/split.py": ALL,
    "src/sampled_metrics_study/templates/summary.html": AFTER_METRICS,
    "scripts/tables.py": {"tables", *SUMMARY},
    "scripts/train.py": made("X", "Y"),
    "workflow/report/table-3.rst": SUMMARY,
    "envs/environment.yaml": set(),
}


WORDS = {
    "a word in a docstring": ("src/sampled_metrics/checks.py", '"""Types of', '"""Kinds of'),
    "a comment": (
        "src/sampled_metrics/core/ranks/exact.py",
        "\nCOLUMNS =",
        "\n# of a file\nCOLUMNS =",
    ),
}
SAME: dict[str, dict[str, Any]] = {
    "a whole number with a point": {"datasets": {"made-up": {"min_rating": 0.0}}},
    "a default of a dataset": {"datasets": {"made-up": {"core": 0, "repeated": "earliest"}}},
    "defaults in another order": {"split": {"held_out": 1, "strategy": "last-event"}},
    "a default of a recommender": {"recommenders": {"X": {"initial_deviation": 0.1}}},
    "a default of a figure": {"figures": {"figure-5": {"edges": [10, 100, 300, 1000]}}},
    "another dataset that is not studied": {
        "datasets": {"other": {"path": "made-up.zip", "format": "movielens-dat"}}
    },
    "addresses beside a path": {
        "datasets": {"made-up": {"urls": ["https://example.org/made-up.zip"]}}
    },
}
"""Changes of the config that say nothing new."""


@pytest.fixture
def project(finished, tmp_path):
    """A copy of a finished study."""
    return finished.copy(tmp_path / "copy")


def planned(project, *targets):
    ran = project.snakemake(*targets, "--cores", "1", "--dry-run", "--quiet", "host")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    said = ran.stdout + ran.stderr
    rules = re.findall(r"^(?:local)?rule (\w+):\n((?: .*\n)*)", said, re.MULTILINE)
    assert rules or "Nothing to be done" in said
    planned_jobs = {
        " ".join([rule, *re.findall(r"recommender=([\w ]+)", about)]) for rule, about in rules
    }
    return planned_jobs - {"all"}


def edit(project, changes, files=()):
    """Change the config, and append to files."""
    project.configure(**merged(STUDY | {"recommenders": MORE}, changes))
    for file in files:
        with (project.folder / file).open("a", encoding="utf-8") as opened:
            opened.write("\nEDITED = 1\n")


@pytest.mark.slow
@pytest.mark.parametrize("what", [*CONFIG_EDITS, *FILE_EDITS])
def test_after_an_edit(project, what):
    changes, runs = CONFIG_EDITS.get(what) or ({}, FILE_EDITS[what])
    edit(project, changes, [what] if what in FILE_EDITS else ())
    assert planned(project) == runs


def test_after_edits_of_the_config_and_of_files(project):
    """Several of the above at once, as a dry run takes seconds."""
    changes = merged(CONFIG_EDITS["sampling.negatives"][0], CONFIG_EDITS["Y.exponent"][0])
    edit(project, changes, ["scripts/tables.py"])
    runs = [CONFIG_EDITS[name][1] for name in ("sampling.negatives", "Y.exponent")]
    assert planned(project) == FILE_EDITS["scripts/tables.py"].union(*runs)


def backwards(mapping):
    """A mapping with the keys in the other order."""
    return dict(reversed(mapping.items()))


@pytest.mark.slow
def test_what_says_nothing_new_runs_nothing(project):
    """Stated defaults, other numbers of parts, moved and touched files, comments and docstrings."""
    config = reduce(merged, SAME.values(), STUDY | {"recommenders": MORE})
    config["datasets"]["made-up"] = backwards(config["datasets"]["made-up"])
    config["recommenders"]["X"] = backwards(config["recommenders"]["X"])
    moved = project.folder / "moved"
    moved.mkdir()
    (project.folder / "made-up.zip").rename(moved / "events.zip")
    (project.folder / RANKS).rename(moved / RANKS)
    config["datasets"]["made-up"]["path"] = str(moved / "events.zip")
    config["recommenders"]["elsewhere"]["path"] = f"moved/{RANKS}"
    project.configure(**config)
    for file, old, new in WORDS.values():
        text = (project.folder / file).read_text(encoding="utf-8")
        assert old in text
        (project.folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    for file in (f"moved/{RANKS}", "scripts/train.py", "config.yaml"):
        (project.folder / file).touch()
    (project.folder / "src/sampled_metrics/errors.py").touch()
    assert planned(project, "--set-scatter", "users=3") == set()


def numbers(project):
    """The files of numbers of a study."""
    results = project.folder / "results"
    paths = [*results.rglob("*.csv"), *results.rglob("*.csv.gz"), *results.rglob("*.npz")]
    return {str(path.relative_to(results)): path.read_bytes() for path in paths}


@pytest.mark.slow
def test_after_another_config_and_back_the_numbers_are_those_of_a_fresh_run(
    project,
):
    fresh = numbers(project)
    another = reduce(
        merged,
        [CONFIG_EDITS[name][0] for name in ("seed", "split.strategy", "X.factors", "metrics")],
    )
    for changes in (another, {}):
        edit(project, changes)
        ran = project.snakemake("--cores", "2")
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert (numbers(project) == fresh) is (not changes)
    assert planned(project) == set()


@pytest.mark.slow
def test_a_page_says_that_results_had_another_config(project):
    """The records of Snakemake are deleted, and a page is made from what is there."""
    shutil.rmtree(project.folder / ".snakemake")
    (project.folder / "results/summary.html").unlink()
    edit(project, {"recommenders": {"X": {"factors": 5}}, "seed": 7})
    ran = project.snakemake("results/summary.html", "--cores", "1")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    page = (project.folder / "results/summary.html").read_text("utf-8")
    assert "made with another config" in page
    assert "train X on made-up: seed, parameters" in page
    assert "train Y on made-up" not in page
    assert "sample Y on made-up: seed" in page


@pytest.mark.slow
@pytest.mark.parametrize("keeps_time", [False, True])
def test_after_other_files_of_ones_own(project, keeps_time):
    """By what a file holds, if size and time are the same, as after `cp -p` or rsync."""
    ranks = project.folder / RANKS
    events = project.folder / "made-up.zip"
    times = {path: path.stat() for path in (ranks, events)}
    text = ranks.read_text(encoding="utf-8")
    ranks.write_text(re.sub(r"(?m)^1,(\d+),1,", r"1,\1,2,", text), encoding="utf-8")
    assert ranks.stat().st_size == times[ranks].st_size
    assert ranks.read_text(encoding="utf-8") != text
    archive(events, ratings(seed=2))
    for path, before in times.items() if keeps_time else ():
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert planned(project) == {"verify", *SPLIT, *IMPORTED}
