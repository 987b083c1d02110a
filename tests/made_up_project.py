"""A copy of the project to run, and a made-up dataset of 60 users and 90 items, small enough to run
in seconds.

Scripts and configs of the workflow also run here in the process of the tests, as Snakemake takes
seconds to start.
"""

import contextlib
import copy
import hashlib
import io
import logging
import os
import random
import re
import runpy
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from types import SimpleNamespace

import yaml

from sampled_metrics_study.config import assemble, complete, merged
from sampled_metrics_study.config_files import read_config
from sampled_metrics_study.recommenders.registry import parameters_of, path_of, recommender

ROOT = Path(__file__).resolve().parents[1]
FILES = ("Snakefile", "config.yaml", "datasets.yaml", "pyproject.toml")
FOLDERS = ("workflow", "scripts", "src", "profiles", "envs", "docs", "published")

X = {"type": "ials", "factors": 4, "regularization": 10, "unobserved_weight": 0.2, "iterations": 3}
STUDY = {
    "study": ["made-up"],
    "datasets": {"made-up": {"path": "made-up.zip", "format": "movielens-dat"}},
    "recommenders": {"X": X},
    "sampling": {
        "negatives": 20,
        "repetitions": 10,
        "readings": ["default", "as-printed"],
        "verdicts": 2,
    },
    "figures": {"figure-6": {"negatives": [5, 10, 20, 40, 80]}},
    "margin": "2%",
    "toy": {"repetitions": 20},
}
DEFAULTS = [read_config(ROOT / name) for name in ("datasets.yaml", "config.yaml")]
SCHEMA = read_config(ROOT / "workflow/schemas/config.schema.yaml")
RANKS = "ranks.csv"
MORE = STUDY["recommenders"] | {
    "Y": {"type": "item-cf", "exponent": 1},
    "elsewhere": {"type": "ranks", "path": RANKS},
}
"""The recommenders of the study, one without anything random, and ready-made ranks of another one.
"""


def ratings(users=60, items=90, seed=1):
    """Lines of a ratings.dat: popular items more often, 5 to 20 events a user, times with ties."""
    rng = random.Random(seed)
    lines = []
    for user in range(1, users + 1):
        count = rng.randint(5, 20)
        had = sorted(
            {min(items, int(rng.paretovariate(0.6))) for _ in range(4 * count)},
            key=lambda _: rng.random(),
        )
        for event, item in enumerate(had[:count]):
            lines.append(f"{user}::{item}::{rng.randint(1, 5)}::{1000 + event // 2}\n")
    for item in range(1, items + 1):  # so that every item is there
        lines.append(f"{rng.randint(1, users)}::{item}::3::{rng.randint(1, 900)}\n")
    return "".join(dict.fromkeys(lines))


def archive(path, text):
    """Write a zip archive that holds ratings.dat, and return its sha256."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(zipfile.ZipInfo("made-up/ratings.dat", (2020, 1, 1, 0, 0, 0)), text)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_ranks(path):
    """Write ranks of every user of the made-up dataset: above and tied are small numbers that
    differ.
    """
    events = {tuple(line.split("::")[:2]) for line in ratings().splitlines()}
    items = len({item for _, item in events})
    count = Counter(user for user, _ in events)
    lines = [
        f"{user},{items - had + 1},{int(user) % 5},{int(user) % 3}\n"
        for user, had in count.items()
        if had > 1
    ]
    path.write_text("user,candidates,above,tied\n" + "".join(lines), encoding="utf-8")


def complete_config(*configs):
    """Return the config that workflow/rules/common.smk makes of such files over config.yaml, in the
    current folder.
    """
    layers = [layer if isinstance(layer, dict) else read_config(layer) for layer in configs]
    config_of_study = reduce(merged, layers, {})
    stated = [layer["recommenders"] for layer in layers if layer.get("recommenders")]
    if stated:  # the last one alone, not merged with those before
        config_of_study["recommenders"] = copy.deepcopy(stated[-1])
    config = assemble(*DEFAULTS, merged(DEFAULTS[1], config_of_study), config_of_study)
    complete(config, SCHEMA)
    return config


def run_script(name, **job):
    """Run a script of the workflow in this process and in the current folder.

    Args:
        name: of the script, without .py.
        job: what Snakemake would give it: input, output, params and wildcards as mappings, and
            threads.

    Returns:
        The lines by which it refuses, none if it completes. Nothing else may end it.
    """
    job["wildcards"] = {"dataset": "made-up", "recommender": "X", **job.get("wildcards", {})}
    files_and_params = {
        key: SimpleNamespace(**job.get(key, {}))
        for key in ("input", "output", "params", "wildcards")
    }
    snakemake = SimpleNamespace(threads=job.get("threads", 1), log=["job.log"], **files_and_params)
    outputs = [
        Path(path)
        for paths in vars(snakemake.output).values()
        for path in (paths if isinstance(paths, list) else [paths])
    ]
    for path in outputs:
        path.parent.mkdir(parents=True, exist_ok=True)
    messages = io.StringIO()
    root = logging.getLogger()
    handlers = root.handlers  # the script replaces them
    root.handlers = []
    with contextlib.redirect_stderr(messages):
        try:
            runpy.run_path(str(ROOT / f"scripts/{name}.py"), {"snakemake": snakemake}, "__main__")
        except SystemExit:
            assert not [path for path in outputs if path.exists()]
            title, *lines = Path("job.log").read_text(encoding="utf-8").splitlines()
            assert messages.getvalue().splitlines()[0] == title
            return [line for line in lines if line.startswith("error: ")]
        finally:
            for handler in root.handlers:
                handler.close()
            root.handlers = handlers
    return []


def split(config, dataset):
    """Split a dataset of a complete config by the script, to split.npz; return the lines by which
    it refuses.
    """
    entry = config["datasets"][dataset]
    return run_script(
        "split",
        input={"archive": entry["path"], "test": [entry["test"]] if entry["test"] else []},
        output={"split": "split.npz", "facts": "dataset.json"},
        params={
            "dataset": entry,
            "split": config["split"],
            "seed": config["seed"],
            "checksums": {key: entry[key] for key in ("md5", "sha256")},
            "is_own": True,
            "sizes": config,
        },
        wildcards={"dataset": dataset},
    )


def ranked(config, dataset, name):
    """Train a recommender of a complete config on split.npz, and rank with it, to NAME.npz and
    NAME.csv.gz.
    """
    asked = {"wildcards": {"dataset": dataset, "recommender": name}}
    stated = config["recommenders"][name]
    trained = {
        "path": path_of(recommender(stated)),
        "parameters": parameters_of(stated),
        "seed": config["seed"],
    }
    files = {"split": "split.npz", "model": f"{name}.npz"}
    assert (
        run_script("train", input=files, output={"model": f"{name}.npz"}, params=trained, **asked)
        == []
    )
    precision = {"precision": config["ranking"]["precision"]}
    assert (
        run_script(
            "rank", input=files, output={"ranks": f"{name}.csv.gz"}, params=precision, **asked
        )
        == []
    )


@dataclass(frozen=True)
class Project:
    """A copy of the project in a folder of its own."""

    folder: Path

    def configure(self, **changes):
        """Write study.yaml: the made-up dataset, sampling to match, and changes by top-level
        key.
        """
        (self.folder / "study.yaml").write_text(yaml.safe_dump(STUDY | changes), encoding="utf-8")

    def copy(self, folder):
        """Copy all files with their times, so that nothing of a finished study runs again there."""
        return Project(shutil.copytree(self.folder, folder, symlinks=True))

    def snakemake(self, *arguments):
        """Run snakemake with the library of the copy; arguments come first, so that targets may be
        among them.

        The folder loaded has a file for each script, with the modules that it has loaded
        (tests/study/workflow/recorder)."""
        (self.folder / "loaded").mkdir(exist_ok=True)
        places = os.pathsep.join(
            [str(self.folder / "src"), str(ROOT / "tests/study/workflow/recorder")]
        )
        command = [sys.executable, "-m", "snakemake", *arguments, "--configfile", "study.yaml"]
        # each job compiles the copy's library anew if bytecode is not written
        environment = os.environ | {"PYTHONPATH": places, "PYTHONDONTWRITEBYTECODE": ""}
        environment["LOADED_MODULES"] = str(self.folder / "loaded")
        return subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )

    def planned(self):
        """Return the number of jobs of each rule, by a dry run."""
        ran = self.snakemake("--cores", "1", "--dry-run")
        assert ran.returncode == 0, ran.stdout + ran.stderr
        jobs = (ran.stdout + ran.stderr).partition("Job stats:")[2]
        return dict(re.findall(r"^(\w+) +(\d+)$", jobs, re.MULTILINE))

    def results(self, pattern):
        """Return the contents of result files by name."""
        paths = sorted((self.folder / "results").glob(pattern))
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in paths
            if path.is_file()
        }


def copy_of_project(folder):
    for name in FILES:
        shutil.copy(ROOT / name, folder / name)
    for name in FOLDERS:
        shutil.copytree(
            ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.png")
        )
    archive(folder / "made-up.zip", ratings())
    project = Project(folder)
    project.configure()
    return project
