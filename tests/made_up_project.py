"""A copy of the project to run, and a made-up dataset of 60 users and 90 items, small enough to run in seconds."""

import hashlib
import random
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
FILES = ("Snakefile", "config.yaml", "datasets.yaml")
FOLDERS = ("workflow", "scripts", "src", "profiles", "envs", "docs", "published")


def ratings(users: int = 60, items: int = 90, seed: int = 1) -> str:
    """Lines of a ratings.dat: popular items more often, 5 to 20 events a user, times with ties."""
    rng = random.Random(seed)
    lines = []
    for user in range(1, users + 1):
        count = rng.randint(5, 20)
        had = sorted({min(items, int(rng.paretovariate(0.6))) for _ in range(4 * count)}, key=lambda _: rng.random())
        for event, item in enumerate(had[:count]):
            lines.append(f"{user}::{item}::{rng.randint(1, 5)}::{1000 + event // 2}\n")
    for item in range(1, items + 1):  # so that every item is there
        lines.append(f"{rng.randint(1, users)}::{item}::3::{rng.randint(1, 900)}\n")
    return "".join(dict.fromkeys(lines))


def archive(path: Path, text: str) -> str:
    """Write a zip archive that holds ratings.dat, and return its sha256."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(zipfile.ZipInfo("made-up/ratings.dat", (2020, 1, 1, 0, 0, 0)), text)
    return hashlib.sha256(path.read_bytes()).hexdigest()


@dataclass(frozen=True)
class Project:
    """A copy of the project in a folder of its own."""

    folder: Path

    def configure(self, **changes: Any) -> None:
        """Write study.yaml: the made-up dataset, sampling to match, and changes by top-level key."""
        config = {
            "study": ["made-up"],
            "datasets": {"made-up": {"path": "made-up.zip", "format": "movielens-dat"}},
            "recommenders": {"X": {"factors": 4, "iterations": 3}},
            "sampling": {"negatives": 20, "repetitions": 10},
            "figures": {"figure-6": {"negatives": [5, 10, 20, 40, 80]}},
            "toy": {"repetitions": 20},
        }
        (self.folder / "study.yaml").write_text(yaml.safe_dump(config | changes), encoding="utf-8")

    def snakemake(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run snakemake as a user would; arguments come first, so that targets may be among them."""
        command = [sys.executable, "-m", "snakemake", *arguments, "--configfile", "study.yaml"]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)

    def results(self, pattern: str) -> dict[str, bytes]:
        """Return the contents of result files by name."""
        found = sorted((self.folder / "results").glob(pattern))
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in found if path.is_file()}


def copy_of_project(folder: Path) -> Project:
    for name in FILES:
        shutil.copy(ROOT / name, folder / name)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.png"))
    archive(folder / "made-up.zip", ratings())
    project = Project(folder)
    project.configure()
    return project
