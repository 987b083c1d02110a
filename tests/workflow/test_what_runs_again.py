"""What a dry run would run again after an edit of a finished study: only what depends on it, and all that does.

A job of one recommender is written with its name, as ``train X``. X has a random start and factors, Y has neither, and
elsewhere has ready-made ranks.
"""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from made_up_project import MORE, RANKS, STUDY, Project, archive, merged, ratings

FIGURES = {f"toy_figure_{number}" for number in (1, 2, 3, 4)}
TOY = {"toy_tables", "toy_fidelity"}
OF_ALL = {"studied", "tables", "figure_5", "figure_6", "estimator_study", "summary"}
CONFIG = {"provenance"}  # it states the whole config
SUMMARY = {"summary", "provenance"}


def each(*rules: str, of: tuple[str, ...] = ("X", "Y", "elsewhere")) -> set[str]:
    """Return the jobs of rules for recommenders."""
    return {f"{rule} {name}" for rule in rules for name in of}


def ranked(*names: str) -> set[str]:
    """Return what depends on the ranks of recommenders."""
    return each("sample", "exact_moments", "study_estimators", of=names) | OF_ALL | CONFIG


def made(*names: str) -> set[str]:
    """Return what depends on the models of recommenders, and these."""
    return each("train", "rank", of=names) | {"groups"} | ranked(*names)


SPLIT = {"split", *made("X", "Y")}
IMPORTED = {"import_ranks elsewhere", *ranked("elsewhere")}

OF_CONFIG: dict[str, tuple[dict[str, Any], set[str]]] = {
    "another dataset": ({"datasets": {"other": {"path": "made-up.zip", "format": "movielens-dat"}}}, CONFIG),
    "seed": ({"seed": 7}, {"toy_tables", "toy_fidelity", *made("X"), *each("sample", "study_estimators")}),
    "urls beside a path": ({"datasets": {"made-up": {"urls": ["https://example.org/made-up.zip"]}}}, CONFIG),
    "md5": ({"datasets": {"made-up": {"md5": "0" * 32}}}, {"verify", *CONFIG}),
    "sha256": ({"datasets": {"made-up": {"sha256": "0" * 64}}}, {"verify", *CONFIG}),
    "member": ({"datasets": {"made-up": {"member": "*.dat"}}}, SPLIT),
    "min_rating": ({"datasets": {"made-up": {"min_rating": 2}}}, SPLIT),
    "repeated": ({"datasets": {"made-up": {"repeated": "last"}}}, SPLIT),
    "core": ({"datasets": {"made-up": {"core": 2}}}, SPLIT),
    "ranks of a dataset": (
        {"datasets": {"made-up": {"ranks": {"Y": RANKS}}}},
        {"import_ranks Y", "groups", *ranked("Y")},
    ),
    "groups of a dataset": ({"datasets": {"made-up": {"groups": RANKS}}}, {"groups", *SUMMARY}),
    "split.strategy": ({"split": {"strategy": "random-event"}}, SPLIT),
    "split.ties": ({"split": {"ties": "last"}}, SPLIT),
    "split.held_out": ({"split": {"held_out": 2}}, SPLIT),
    "split.min_training_events": ({"split": {"min_training_events": 2}}, SPLIT),
    "a recommender more": (
        {"recommenders": {"sharp": {"type": "item-cf", "exponent": 5}}},
        made("sharp"),
    ),
    "X.factors": ({"recommenders": {"X": {"factors": 5}}}, made("X")),
    "Y.exponent": ({"recommenders": {"Y": {"exponent": 2}}}, made("Y")),
    "elsewhere.candidates": ({"recommenders": {"elsewhere": {"candidates": 90}}}, IMPORTED),
    "ranking.precision": ({"ranking": {"precision": "float32"}}, {"rank X", "groups", *ranked("X")}),
    "ranking.threads": ({"ranking": {"threads": 2}}, CONFIG),
    "ranking.memory": ({"ranking": {"memory": 3000}}, CONFIG),
    "metrics": (
        {"metrics": ["recall@10", "ap"]},
        {*each("sample", "exact_moments", "study_estimators"), "tables", "groups", "estimator_study", *SUMMARY},
    ),
    "sampling.negatives": (
        {"sampling": {"negatives": 10}},
        {*each("sample", "exact_moments"), "tables", *SUMMARY},
    ),
    "sampling.replacement": (
        {"sampling": {"replacement": True}},
        {*each("sample", "exact_moments", "study_estimators"), *OF_ALL, *CONFIG} - {"studied", "figure_5"},
    ),
    "sampling.repetitions": ({"sampling": {"repetitions": 11}}, {*each("sample"), "tables", *SUMMARY}),
    "sampling.readings": (
        {"sampling": {"readings": ["as-printed"]}},
        {*each("sample", "exact_moments"), "tables", *SUMMARY},
    ),
    "estimators": (
        {"estimators": ["uncorrected", "bv-0.5"]},
        {*each("sample", "exact_moments"), "tables", *SUMMARY},
    ),
    "estimator_model": (
        {"estimator_model": "design"},
        {*each("sample", "exact_moments", "study_estimators"), "tables", "figure_6", "estimator_study", *SUMMARY},
    ),
    "estimator_study.repetitions": (
        {"estimator_study": {"repetitions": 6}},
        {*each("study_estimators"), "estimator_study", *SUMMARY},
    ),
    "groups": ({"groups": ["activity"]}, {"groups", *SUMMARY}),
    "margin": ({"margin": 0.01}, SUMMARY),
    "toy.repetitions": ({"toy": {"repetitions": 21}}, {*TOY, *SUMMARY}),
    "toy.negatives": ({"toy": {"negatives": 98}}, {"toy_tables", "summary", *CONFIG}),  # no longer the paper's
    "toy.metrics": (
        {"toy": {"metrics": ["auc", "ap", "ndcg", "recall@10", "recall@5"]}},
        {*TOY, *FIGURES, *SUMMARY} - {"toy_figure_4"},
    ),
    "toy": ({"toy": None}, SUMMARY),
    "seed_spread": ({"seed_spread": {"starts": 41}}, CONFIG),
    "figures.figure-1": ({"figures": {"figure-1": {"zoom": 50}}}, {"toy_figure_1", *CONFIG}),
    "figures.figure-2": (
        {"figures": {"figure-2": {"negatives": [10, 200, 500, 5000]}}},
        {"toy_figure_2", "toy_fidelity", *SUMMARY},
    ),
    "figures.figure-3": (
        {"figures": {"figure-3": {"zoom": 500}}},
        {"toy_figure_3", "toy_fidelity", *SUMMARY},
    ),
    "figures.figure-4": (
        {"figures": {"figure-4": {"estimators": ["cls"]}}},  # no longer the paper's
        {"toy_figure_4", *SUMMARY},
    ),
    "figures.figure-5": ({"figures": {"figure-5": {"edges": [5, 50]}}}, {"figure_5", *CONFIG}),
    "figures.figure-6": ({"figures": {"figure-6": {"negatives": [5, 10]}}}, {"figure_6", *SUMMARY}),
}
HISTOGRAM, EASE = (f"src/sampled_metrics/{name}.py" for name in ("reporting/rank_histogram", "recommenders/ease"))
EDIT, COMMENT = "\nEDITED = 1\n", "\n# edited\n"
OF_FILES = {
    ("src/sampled_metrics/errors.py", COMMENT): set(),
    ("scripts/train.py", COMMENT): set(),
    ("src/sampled_metrics/estimators/linear.py", EDIT): {
        *each("sample", "exact_moments", "study_estimators"),
        *OF_ALL,
        "groups",
        *TOY,
        *FIGURES,
        *CONFIG,
    }
    - {"figure_5", "studied", "toy_tables"},  # the figures of the running example share a module
    ("src/sampled_metrics/recommenders/ials.py", EDIT): made("X"),
    ("src/sampled_metrics/recommenders/item_cf.py", EDIT): made("Y"),
    (EASE, EDIT): set(),
    ("src/sampled_metrics/study/repetitions.py", EDIT): {
        *each("sample", "exact_moments", "study_estimators"),
        "tables",
        "estimator_study",
        *SUMMARY,
    },
    (HISTOGRAM, EDIT): {"figure_5", *CONFIG},
    ("src/sampled_metrics/study/workflow/summary.py", EDIT): SUMMARY,
    ("src/sampled_metrics/study/workflow/provenance.py", EDIT): SUMMARY,
    ("src/sampled_metrics/cli/commands.py", EDIT): set(),
    ("scripts/studied.py", EDIT): {"studied", *CONFIG},
    ("scripts/train.py", EDIT): made("X", "Y"),
    ("workflow/report/table-3.rst", "\nedited\n"): SUMMARY,
    ("envs/environment.yaml", COMMENT): set(),
}
TOUCHED = ["made-up.zip", RANKS, "scripts/train.py", "config.yaml", "src/sampled_metrics/errors.py"]


@pytest.fixture
def project(finished: Project, tmp_path: Path) -> Project:
    """A copy of a finished study."""
    return finished.copy(tmp_path / "copy")


def planned(project: Project) -> set[str]:
    ran = project.snakemake("--cores", "1", "--dry-run", "--quiet", "host")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    jobs = re.findall(r"^(?:local)?rule (\w+):\n((?: .*\n)*)", ran.stdout + ran.stderr, re.MULTILINE)
    assert jobs or "Nothing to be done" in ran.stdout + ran.stderr
    return {" ".join([rule, *re.findall(r"recommender=(\S+)", about)]) for rule, about in jobs} - {"all"}


def edit_config(project: Project, changes: dict[str, Any]) -> None:
    project.configure(**merged(STUDY | {"recommenders": MORE}, changes))


def append(project: Project, file: str, text: str) -> None:
    path = project.folder / file
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("edit", OF_CONFIG)
def test_after_an_edit_of_the_config(project: Project, edit: str) -> None:
    changes, runs = OF_CONFIG[edit]
    edit_config(project, changes)
    assert planned(project) == runs


@pytest.mark.slow
@pytest.mark.parametrize(("file", "text"), OF_FILES)
def test_after_an_edit_of_a_file(project: Project, file: str, text: str) -> None:
    append(project, file, text)
    assert planned(project) == OF_FILES[file, text]


def test_after_edits_of_the_config_and_of_files(project: Project) -> None:
    """Several of the above at once, as a dry run takes seconds."""
    changes, of_config = OF_CONFIG["sampling.negatives"]
    files = [(HISTOGRAM, EDIT), (EASE, EDIT), ("scripts/train.py", COMMENT)]
    edit_config(project, changes)
    for file, text in files:
        append(project, file, text)
    assert planned(project) == of_config.union(*(OF_FILES[each] for each in files))


def test_after_a_touch_and_a_comment(project: Project) -> None:
    for file in TOUCHED:
        (project.folder / file).touch()
    append(project, "src/sampled_metrics/errors.py", COMMENT)
    assert planned(project) == set()


@pytest.mark.slow
def test_after_other_events_of_ones_own(project: Project) -> None:
    """By what the file holds, with the time of the file before, as after `cp -p` or rsync."""
    file = project.folder / "made-up.zip"
    before = file.stat()
    archive(file, ratings(seed=2))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert planned(project) == {"verify", *SPLIT}


@pytest.mark.slow
@pytest.mark.parametrize("same_time", [False, True])
def test_after_other_ranks_of_ones_own(project: Project, same_time: bool) -> None:
    """By what the file holds, if size and time are the same, as after `cp -p` or rsync."""
    file = project.folder / RANKS
    before, text = file.stat(), file.read_text(encoding="utf-8")
    file.write_text(re.sub(r"(?m)^1,(\d+),1,", r"1,\1,2,", text), encoding="utf-8")
    assert file.stat().st_size == before.st_size
    assert file.read_text(encoding="utf-8") != text
    if same_time:
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert planned(project) == IMPORTED
