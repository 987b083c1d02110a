"""The memory limit is kept by whole processes, and one that is too small is refused with what would do."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from ranked_by_argsort import one_each
from scipy.sparse import csr_array

from sampled_metrics.data.split import Split
from sampled_metrics.errors import ConfigError
from sampled_metrics.recommenders.item_cf import ItemCF
from sampled_metrics.recommenders.models import FactorModel, SimilarityModel, SparseSimilarityModel
from sampled_metrics.study.workflow.memory import MEGABYTE, ranking_memory, require_memory, split_memory

SOURCE = Path(__file__).resolve().parents[2] / "src"
RNG = np.random.default_rng(8)

needs_linux = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="only Linux tells the peak of a process"
)

JOB = """
import sys
from pathlib import Path
import pandas
from sampled_metrics.data.split import read_split
from sampled_metrics.recommenders.item_cf import ItemCF
from sampled_metrics.recommenders.models import read_model

split, model, threads = sys.argv[1:]
if model in ("None", "10"):
    neighbours = None if model == "None" else int(model)
    ItemCF(1, neighbours_prime=neighbours).fit(read_split(split).training, None)
else:
    read_model(model).rank(read_split(split), threads=int(threads))
# not ru_maxrss, which begins with what the process that started this one had
print(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line[:6] == "VmHWM:"))
"""


def sparse(items: int, each: int) -> csr_array:
    columns = np.sort(np.array([RNG.choice(items, each, replace=False) for _ in range(items)]), axis=1)
    return csr_array((RNG.random(items * each), columns.ravel(), np.arange(0, items * each + 1, each)))


MODELS = {
    "factors of many users": (100_000, 1000, lambda: FactorModel(RNG.random((100_000, 128)), RNG.random((1000, 128)))),
    "factors of many items": (1000, 50_000, lambda: FactorModel(RNG.random((1000, 128)), RNG.random((50_000, 128)))),
    "similarity": (2500, 5000, lambda: SimilarityModel(RNG.random((5000, 5000)))),
    "sparse similarity": (2500, 9000, lambda: SparseSimilarityModel(sparse(9000, 100))),
}


def peak(*arguments: object) -> int:
    """Run a job in a process of its own, and return the bytes that it had resident at most."""
    ran = subprocess.run(
        [sys.executable, "-c", JOB, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(SOURCE), "OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return int(ran.stdout) * 1024


def write_split(path: Path, users: int, items: int) -> Split:
    """Write a split with 20 training items of each user."""
    item = RNG.random((users, 21)).argsort(axis=1) + RNG.integers(items - 21, size=(users, 1))  # 21 in a row
    indptr = np.arange(0, 20 * users + 1, 20)
    training = csr_array((np.ones(20 * users), np.sort(item[:, 1:], axis=1).ravel(), indptr), shape=(users, items))
    split = Split(training, one_each(item[:, 0], items), np.arange(users), np.arange(items))
    split.write(path)
    return split


@needs_linux
@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", MODELS)
def test_is_kept_by_ranking(tmp_path: Path, name: str, threads: int) -> None:
    users, items, made = MODELS[name]
    split, model = tmp_path / "split.npz", tmp_path / "model.npz"
    write_split(split, users, items)
    made().write(model)
    assert peak(split, model, threads) < ranking_memory(model, split, threads)


@needs_linux
@pytest.mark.slow
@pytest.mark.parametrize("neighbours", [None, 10])
def test_is_kept_by_training_of_item_cf(tmp_path: Path, neighbours: int | None) -> None:
    split = write_split(tmp_path / "split.npz", 20_000, 6000)
    least = ItemCF(1, neighbours_prime=neighbours).least_memory(split.shape)
    assert peak(tmp_path / "split.npz", neighbours, 1) < split_memory(tmp_path / "split.npz") + least


def test_too_little_is_refused_with_what_would_do() -> None:
    require_memory(100 * MEGABYTE, 100, "ranking")
    with pytest.raises(ConfigError) as no:
        require_memory(100 * MEGABYTE + 1, 100, "ranking")
    assert str(no.value) == "ranking.memory: ranking takes 101 MB at least, and may take 100; give 101 or more"
