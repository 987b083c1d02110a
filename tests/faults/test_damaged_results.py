"""A result that is damaged between two stages stops the next one.

One line names the file, and nothing is written.
"""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from made_up_project import complete_config, run_script

from sampled_metrics_study.recommenders.registry import parameters_of, path_of, recommender
from sampled_metrics_study.repetitions import tie_rules_of

RESULTS = Path("results/made-up")
SPLIT = RESULTS / "split.npz"
MODEL = RESULTS / "models/X.npz"
RANKS = RESULTS / "ranks/X.csv.gz"
SAMPLES = RESULTS / "samples/X.npz"

STAGES = {SPLIT: "train", MODEL: "rank", RANKS: "sample", SAMPLES: "tables"}
"""What reads each file."""
MADE = {"train": MODEL, "rank": RANKS, "sample": SAMPLES, "tables": RESULTS / "table-3.csv"}
PAGES = ("csv", "md", "tex", "html")

Damage = Callable[[Path], object]


def flip(path):
    """Change a bit after a quarter: of what is held, not of a name, nor of the times of a split,
    which few read.
    """
    content = bytearray(path.read_bytes())
    content[len(content) // 4] ^= 1
    path.write_bytes(content)


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])


def pickle(path):
    """An array of Python objects, which could run code."""
    with path.open("wb") as file:
        np.save(file, np.array([{}], dtype=object), allow_pickle=True)


def arrays(change):
    """Change arrays of an npz file, whose checksums are then right."""

    def damage(path):
        with np.load(path) as file:
            stored = dict(file)
        np.savez(path, **stored | change(stored))

    return damage


FAULTS: dict[str, tuple[Path, Damage, str]] = {
    "a bit of the split is flipped": (SPLIT, flip, r"split\.npz: is not a split, or is damaged"),
    "the split is a pickle": (SPLIT, pickle, r"split\.npz: is not a split, or is damaged"),
    "a held-out item of the split is a training item": (
        SPLIT,
        arrays(lambda stored: {"held_out": np.r_[stored["indices"][0], stored["held_out"][1:]]}),
        r"split\.npz: .*user 1: the held-out item is one of the user's training items",
    ),
    "the factors of a user are lost": (
        MODEL,
        arrays(lambda stored: {"user_factors": stored["user_factors"][1:]}),
        r"X\.npz: has factors of shape \(59, 4\) for 60 users",
    ),
    "the ranks are cut off": (RANKS, cut, r"X\.csv\.gz: cannot be read"),
    "a bit of the samples is flipped": (SAMPLES, flip, r"X\.npz: is not samples of this project"),
    "the samples of the draws are lost": (
        SAMPLES,
        lambda path: np.savez(path, other=np.zeros(3)),
        r"X\.npz: is not samples of this project: lacks 20-beats-one, 20-random",
    ),
}


def run_stage(folder, stage):
    """Run a script on the results of a study, and return the lines by which it refuses."""
    config = complete_config(folder / "study.yaml")
    names = list(config["recommenders"])
    joined = {
        "ranks": [RESULTS / f"ranks/{name}.csv.gz" for name in names],
        "samples": [RESULTS / f"samples/{name}.npz" for name in names],
        "facts": [],
    }
    outputs = {"train": "model", "rank": "ranks", "sample": "samples", "tables": "table_3_csv"}
    tables = {
        f"table_{number}_{kind}": f"made/table-{number}.{kind}"
        for number in (3, 4)
        for kind in PAGES
    }
    studied = {f"studied_{kind}": f"made/studied.{kind}" for kind in ("csv", "md", "html")}
    estimates = {
        kind: [f"made/{kind}-{name}.csv" for name in names]
        for kind in ("estimates", "expected", "conditions")
    }
    further_outputs = {"tables": tables | studied | estimates}
    return run_script(
        stage,
        input=joined if stage == "tables" else {"split": SPLIT, "model": MODEL, "ranks": RANKS},
        output={outputs[stage]: f"made/{MADE[stage].name}", **further_outputs.get(stage, {})},
        params={
            **{key: config[key] for key in ("seed", "sampling", "estimators", "metrics")},
            "path": path_of(recommender(config["recommenders"]["X"])),
            "parameters": parameters_of(config["recommenders"]["X"]),
            "precision": config["ranking"]["precision"],
            "assume_replacement": True,
            "recommenders": names,
            "place": "dataset",
            "subject": "made-up",
            "tie_rules": tie_rules_of(config["sampling"]["readings"]),
        },
    )


@pytest.fixture(scope="session")
def whole(finished, tmp_path_factory):
    """The folder of a finished study, in which one file after the other is damaged and restored."""
    return finished.copy(tmp_path_factory.mktemp("damaged") / "project").folder


@pytest.fixture
def folder(whole, monkeypatch):
    monkeypatch.chdir(whole)
    shutil.rmtree("made", ignore_errors=True)
    return whole


@pytest.mark.parametrize("fault", FAULTS)
def test_the_next_stage_refuses_it_and_names_it(folder, fault):
    path, damage, says = FAULTS[fault]
    before = path.read_bytes()
    try:
        damage(path)
        damaged = path.read_bytes()
        [line] = run_stage(folder, STAGES[path])
        assert re.search(says, line), line
        assert path.read_bytes() == damaged != before
    finally:
        path.write_bytes(before)


@pytest.mark.parametrize("stage", MADE)
def test_what_is_damaged_here_is_good(folder, stage):
    """Or the tests above might fail for another reason than theirs; and a stage repeats its result
    to the byte.
    """
    assert run_stage(folder, stage) == []
    assert (folder / "made" / MADE[stage].name).read_bytes() == (folder / MADE[stage]).read_bytes()
