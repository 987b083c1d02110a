"""The same config gives the same bytes, whatever runs it: cores, threads, hashes, folders, parts, and once more.

What is trained by solving equations may differ in the last digits between kernels of OpenBLAS, which picks one by the
processor. Ranks and all that follows are the same on the data here.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from made_up_project import Project, X, copy_of_project
from threadpoolctl import threadpool_info

from faults.whole_run import Undisturbed, contents, copy, run

pytestmark = pytest.mark.slow

RECOMMENDERS = {
    "X": X,
    "W": {"type": "implicit", "model": "bpr", "options": {"factors": 3, "iterations": 5}},
    "random": {"type": "random"},
}
"""Beside the paper's Y and Z: what is trained from a random start, with threads, and without either."""


def run_the_study(folder: Path, *arguments: str, env: dict | None = None) -> dict[str, bytes]:
    """Run the whole study in a folder, and return its csv tables."""
    study = folder / "study.yaml"
    config = yaml.safe_load(study.read_text(encoding="utf-8")) | {"recommenders": RECOMMENDERS}
    study.write_text(yaml.safe_dump(config), encoding="utf-8")
    words = [sys.executable, "-m", "snakemake", "--configfile", str(study)]
    ended = run(folder, [*words, *(arguments or ("--cores", "2"))], os.environ | (env or {}))
    assert ended.returncode == 0, ended.output
    return contents(folder, ("csv", "csv.gz"))


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The tables of a study on two cores, with the settings of this process."""
    return run_the_study(copy_of_project(tmp_path_factory.mktemp("determinism")).folder)


THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@pytest.mark.parametrize(
    ("arguments", "env"),
    [
        (("--cores", "1"), dict.fromkeys(THREADS, "1") | {"PYTHONHASHSEED": "0"}),
        ((), dict.fromkeys(THREADS, "2") | {"PYTHONHASHSEED": "4242"}),
        (("--cores", "2", "--set-scatter", "users=3", "--set-threads", "rank_part=2"), {}),
    ],
)
def test_the_same_bytes_in_every_table(tables: dict[str, bytes], tmp_path: Path, arguments: tuple, env: dict) -> None:
    assert run_the_study(copy_of_project(tmp_path).folder, *arguments, env=env) == tables


KERNELS = ("Haswell", "Sandybridge", "Nehalem", "Prescott")
"""Of OpenBLAS, from new to old: any 64-bit x86 of the last ten years runs them."""


def has_kernels() -> bool:
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    return any(each["internal_api"] == "openblas" for each in threadpool_info()) and " avx2 " in flags


@pytest.mark.skipif(not has_kernels(), reason="needs an x86 with AVX2, and numpy with OpenBLAS")
@pytest.mark.parametrize("kernel", KERNELS)
def test_another_kernel_of_openblas_changes_factors_in_their_last_digits_and_no_rank(
    undisturbed: Undisturbed, tmp_path: Path, kernel: str
) -> None:
    project = copy(undisturbed.pristine, tmp_path / "project")
    ended = run(project.folder, env=os.environ | {"OPENBLAS_CORETYPE": kernel})
    assert ended.returncode == 0, ended.output
    for ours, theirs in zip(factors(project), factors(undisturbed.finished), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    ranks = "results/made-up/ranks/X.csv.gz"
    assert (project.folder / ranks).read_bytes() == (undisturbed.finished.folder / ranks).read_bytes()


def factors(project: Project) -> list[np.ndarray]:
    with np.load(project.folder / "results/made-up/models/X.npz") as arrays:
        return [arrays["user_factors"], arrays["item_factors"]]
