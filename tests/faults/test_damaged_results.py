"""A result that is damaged between two stages stops the next one: a line that names the file, and nothing written."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from made_up_project import Project, complete_config, run_script

from faults.whole_run import command, copy, run

RESULTS = Path("results/made-up")
SPLIT = RESULTS / "split.npz"
MODEL = RESULTS / "models/X.npz"
RANKS = RESULTS / "ranks/X.csv.gz"
ESTIMATES = RESULTS / "estimates/X.csv.gz"
EXPECTED = RESULTS / "expected/X.csv"

STAGES = {SPLIT: "train", MODEL: "rank", RANKS: "sample", ESTIMATES: "tables", EXPECTED: "tables"}
"""What reads each file."""
MADE = {"train": MODEL, "rank": RANKS, "sample": ESTIMATES, "tables": RESULTS / "table-3.csv"}
PAGES = ("csv", "md", "tex", "html")

Damage = Callable[[Path], object]


def flip(path: Path) -> None:
    """Change a bit after a quarter: of what is held, not of a name, nor of the times of a split, which few read."""
    held = bytearray(path.read_bytes())
    held[len(held) // 4] ^= 1
    path.write_bytes(held)


def cut(path: Path) -> None:
    held = path.read_bytes()
    path.write_bytes(held[: len(held) * 2 // 3])


def pickle(path: Path) -> None:
    """An array of Python objects, which could run code."""
    np.save(path.with_suffix(".npy"), np.array([{}], dtype=object), allow_pickle=True)
    path.with_suffix(".npy").rename(path)


def arrays(change: Callable[[dict[str, np.ndarray]], object]) -> Damage:
    """Change arrays of an npz file, whose checksums are then right."""

    def damage(path: Path) -> None:
        with np.load(path) as stored:
            held = {name: stored[name].copy() for name in stored.files}
        change(held)
        np.savez(path, **held)

    return damage


def lines(change: Callable[[list[str]], object]) -> Damage:
    """Change lines of a csv table, the header being the first; a checksum of gzip is then right."""

    def damage(path: Path) -> None:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt") as table:
            held = table.read().splitlines()
        change(held)
        with opened(path, "wt") as table:
            table.write("\n".join(held) + "\n")

    return damage


FAULTS: dict[str, tuple[Path, Damage, str]] = {
    "a bit of the split is flipped": (SPLIT, flip, r"split\.npz: is not a split, or is damaged"),
    "the split is a pickle": (SPLIT, pickle, r"split\.npz: is not a split, or is damaged"),
    "a held-out item of the split is a training item": (
        SPLIT,
        arrays(lambda held: held["held_out"].__setitem__(0, held["indices"][0])),
        r"split\.npz: .*user 1: the held-out item is one of the user's training items",
    ),
    "a held-out item of the split is none": (
        SPLIT,
        arrays(lambda held: held["held_out"].__setitem__(4, 90)),
        r"split\.npz: .*axis 1 index 90 exceeds matrix dimension 90",
    ),
    "a training item of the split is there twice": (
        SPLIT,
        arrays(lambda held: held["indices"].__setitem__(1, held["indices"][0])),
        r"split\.npz: .*training items are repeated",
    ),
    "the factors of a user are lost": (
        MODEL,
        arrays(lambda held: held.update(user_factors=held["user_factors"][1:])),
        r"X\.npz: has factors of shape \(59, 4\) for 60 users",
    ),
    "the ranks are cut off": (RANKS, cut, r"X\.csv\.gz: cannot be read"),
    "an estimate is lost": (ESTIMATES, lines(lambda held: held.pop()), r"X\.csv\.gz: has [0-9]+ of [0-9]+ rows"),
    "an estimate is there twice": (
        ESTIMATES,
        lines(lambda held: held.append(held[-1])),
        r"repeats the reading, metric",
    ),
    "an expectation is no number": (
        EXPECTED,
        lines(lambda held: held.__setitem__(1, f"{held[1]}x")),
        r"X\.csv, line 2: sd_exact is not a fin",
    ),
}


def run_stage(folder: Path, stage: str) -> list[str]:
    """Run a script on the results of a study, and return the lines by which it refuses."""
    config = complete_config(folder / "study.yaml")
    names = list(config["recommenders"])
    each = {
        "ranks": [RESULTS / f"ranks/{name}.csv.gz" for name in names],
        "estimates": [RESULTS / f"estimates/{name}.csv.gz" for name in names],
        "expected": [RESULTS / f"expected/{name}.csv" for name in names],
    }
    alone = {"split": SPLIT, "model": MODEL, "ranks": RANKS}
    made = {"train": "model", "rank": "ranks", "sample": "estimates", "tables": "table_3_csv"}[stage]
    beside = {
        "sample": {name: f"made/{name}.csv" for name in ("expected", "conditions")},
        "tables": {f"table_{number}_{kind}": f"made/table-{number}.{kind}" for number in (3, 4) for kind in PAGES}
        | {f"studied_{kind}": f"made/studied.{kind}" for kind in ("csv", "md", "html")},
    }
    return run_script(
        stage,
        input=each | {"facts": []} if stage == "tables" else alone,
        output={made: f"made/{MADE[stage].name}", **beside.get(stage, {})},
        params={
            **{key: config[key] for key in ("seed", "sampling", "estimators", "metrics")},
            "entry": config["recommenders"]["X"],
            "precision": config["ranking"]["precision"],
            "assume_replacement": True,
            "recommenders": names,
            "repetitions": config["sampling"]["repetitions"],
        },
        wildcards={"dataset": "made-up", "recommender": "X"},
        config=config,
    )


@pytest.fixture(scope="session")
def whole(finished: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished study, in which one file after the other is damaged and restored."""
    return copy(finished, tmp_path_factory.mktemp("damaged") / "project").folder


@pytest.fixture
def folder(whole: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(whole)
    return whole


@pytest.mark.parametrize("fault", FAULTS)
def test_the_next_stage_refuses_it_and_names_it(folder: Path, fault: str) -> None:
    path, damage, says = FAULTS[fault]
    before = path.read_bytes()
    try:
        damage(path)
        wrong = path.read_bytes()
        assert wrong != before
        [line] = run_stage(folder, STAGES[path])
        assert re.search(says, line), line
        assert path.read_bytes() == wrong
    finally:
        path.write_bytes(before)


@pytest.mark.parametrize("stage", MADE)
def test_what_is_damaged_here_is_good(folder: Path, stage: str) -> None:
    """Or the tests above might fail for another reason than theirs; and a stage repeats its result to the byte."""
    assert run_stage(folder, stage) == []
    assert (folder / "made" / MADE[stage].name).read_bytes() == (folder / MADE[stage]).read_bytes()


@pytest.mark.slow
def test_refused_by_the_workflow(finished: Project, tmp_path: Path) -> None:
    path, damage, says = FAULTS["an estimate is lost"]
    folder = copy(finished, tmp_path / "project").folder
    damage(folder / path)
    wrong, target = (folder / path).read_bytes(), MADE[STAGES[path]]
    ended = run(folder, command(targets=[str(target)]))
    assert (ended.returncode != 0, len(ended.errors)) == (True, 1), ended.output
    assert re.search(says, ended.errors[0]), ended.errors[0]
    assert "Traceback" not in ended.output
    assert (folder / path).read_bytes() == wrong
    assert not (folder / target).exists()  # a result of an earlier run is not left beside it
