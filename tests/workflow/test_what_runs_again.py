"""What a dry run would run again after an edit of a finished study: only what depends on it."""

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from made_up_project import MORE, RANKS, STUDY, Project, merged

TOY = {"toy", "toy_fidelity"}
OF_RANKS = {"sample", "exact_moments", "study_estimators"}
OF_ALL = {"studied", "tables", "figure_5", "figure_6", "proof", "groups", "estimator_study", "summary"}
MADE = {"train", "rank", *OF_RANKS, *OF_ALL}

OF_CONFIG: dict[str, tuple[dict[str, Any], set[str]]] = {
    "a recommender": ({"recommenders": {"sharp": {"type": "item-cf", "exponent": 5}}}, MADE),
    "nothing": ({}, set()),
    "seed": ({"seed": 7}, TOY | MADE),
    "urls beside a path": ({"datasets": {"made-up": {"urls": ["https://example.org/made-up.zip"]}}}, set()),
    "a filter": ({"datasets": {"made-up": {"min_rating": 2}}}, {"split", *MADE}),
    "ties of the split": ({"split": {"ties": "last"}}, {"split", *MADE}),
    "a recommender's parameter": ({"recommenders": {"X": {"factors": 5}}}, MADE),
    "ranking.precision": ({"ranking": {"precision": "float32"}}, MADE - {"train"}),
    "ranking.threads": ({"ranking": {"threads": 2}}, set()),
    "ranking.memory": ({"ranking": {"memory": 3000}}, set()),
    "metrics": ({"metrics": ["recall@10", "ap"]}, {*OF_RANKS, "tables", "groups", "estimator_study", "summary"}),
    "sampling.repetitions": ({"sampling": {"repetitions": 11}}, {"sample", "tables", "summary"}),
    "estimators": (
        {"estimators": ["uncorrected", "bv-0.5"]},
        {"sample", "exact_moments", "tables", "summary"},
    ),
    "estimator_study.repetitions": (
        {"estimator_study": {"repetitions": 6}},
        {"study_estimators", "estimator_study", "summary"},
    ),
    "groups": ({"groups": ["activity"]}, {"groups", "summary"}),
    "margin": ({"margin": 0.01}, {"summary"}),
    "toy.repetitions": ({"toy": {"repetitions": 21}}, TOY | {"summary"}),
    "toy.metrics": (
        {"toy": {"metrics": ["auc", "ap", "ndcg", "recall@10", "recall@5"]}},
        TOY | {"summary"},
    ),
    "figures.figure-5": ({"figures": {"figure-5": {"edges": [5, 50]}}}, {"figure_5"}),
    "figures.figure-6": ({"figures": {"figure-6": {"negatives": [5, 10]}}}, {"figure_6", "summary"}),
}
OF_FILES = {
    "src/sampled_metrics/estimators/bias_variance.py": {*OF_RANKS, *OF_ALL, *TOY} - {"figure_5", "studied"},
    "src/sampled_metrics/recommenders/ials.py": MADE,
    "src/sampled_metrics/study/repetitions.py": {*OF_RANKS, "tables", "estimator_study", "summary"},
    "src/sampled_metrics/reporting/rank_histogram.py": {"figure_5"},
    "src/sampled_metrics/study/workflow/summary.py": {"summary"},
    "src/sampled_metrics/cli/commands.py": set(),
    "scripts/studied.py": {"studied"},
    "workflow/report/table-3.rst": {"summary"},
}


@pytest.fixture
def project(finished: Project, tmp_path: Path) -> Project:
    """A copy of a finished study."""
    shutil.copytree(finished.folder, tmp_path / "copy", copy_function=shutil.copy2)
    return Project(tmp_path / "copy")


def planned(project: Project) -> set[str]:
    ran = project.snakemake("--cores", "1", "--dry-run")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    jobs = (ran.stdout + ran.stderr).partition("Job stats:")[2].partition("total")[0]
    return set(re.findall(r"^(\w+) +\d+$", jobs, re.MULTILINE)) - {"all"}


@pytest.mark.slow
@pytest.mark.parametrize("edit", OF_CONFIG)
def test_after_an_edit_of_the_config(project: Project, edit: str) -> None:
    changes, runs = OF_CONFIG[edit]
    study = merged(STUDY | {"recommenders": MORE}, changes)
    project.configure(**study)
    assert planned(project) == runs


@pytest.mark.parametrize(
    "file", [pytest.param(file, marks=[pytest.mark.slow] if at else []) for at, file in enumerate(OF_FILES)]
)
def test_after_an_edit_of_a_file(project: Project, file: str) -> None:
    path = project.folder / file
    path.write_text(path.read_text(encoding="utf-8") + "\n# edited\n", encoding="utf-8")
    assert planned(project) == OF_FILES[file]


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
    assert planned(project) == {"import_ranks", *OF_RANKS, *OF_ALL}
