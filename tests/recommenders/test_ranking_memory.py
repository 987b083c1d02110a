"""The memory budget is kept by whole processes, and is used where it is large."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from sampled_metrics.data.split import Shape, Split, read_shape
from sampled_metrics.ranking.memory import MEGABYTE
from sampled_metrics.ranking.similarity import WIDTHS
from sampled_metrics.recommenders.models import CosineModel, FactorModel, SimilarityModel, ranking_memory

SOURCE = Path(__file__).resolve().parents[2] / "src"
USERS, ITEMS, EACH = 2500, 9000, 40
WHOLE = 8 * ITEMS**2 / MEGABYTE
"""MB of all items by all, 618."""

JOB = """
import sys
from pathlib import Path
import numpy as np, pandas
from sampled_metrics.data.split import read_split
from sampled_metrics.ranking.ranking import rank_held_out
from sampled_metrics.recommenders import recommender
from sampled_metrics.recommenders.models import read_model

folder, what, k, memory, threads = sys.argv[1:]
k, memory, threads = int(k) or None, int(memory) or None, int(threads)
split, model = f"{folder}/split.npz", f"{folder}/{k}.npz"
if what == "train":
    entry = {"type": "item-cf", "exponent": 3, "neighbours_prime": k}
    recommender(entry).fit(read_split(split).training, None, memory).write(model)
else:
    table = rank_held_out(read_model(model), read_split(split), threads=threads, memory=memory)
    np.savez(f"{folder}/ranks.npz", above=table.above, tied=table.tied)
# not ru_maxrss, which begins with what the process that started this one had
print(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line[:6] == "VmHWM:"))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("memory")
    rng = np.random.default_rng(8)
    chosen = np.sort(np.array([rng.choice(ITEMS, EACH, replace=False) for _ in range(USERS)]), axis=1)
    held_out, trained = chosen[:, 7], np.delete(chosen, 7, axis=1)
    indptr = np.arange(0, trained.size + 1, EACH - 1)
    training = csr_array((np.ones(trained.size), trained.ravel(), indptr), shape=(USERS, ITEMS))
    Split(training, held_out, np.arange(USERS), np.arange(ITEMS)).write(made / "split.npz")
    return made


def megabytes(folder, what, k, memory, threads=1):
    """Run a job in a process of its own and return what it had resident at most."""
    ran = subprocess.run(
        [sys.executable, "-c", JOB, str(folder), what, str(k), str(memory), str(threads)],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(SOURCE), "OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return int(ran.stdout) * 1024 / MEGABYTE


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak of a process")
class TestIsKept:
    @pytest.mark.slow
    def test_with_all_neighbours_and_changes_no_rank(self, folder):
        assert megabytes(folder, "train", 0, 300) < 300
        assert megabytes(folder, "rank", 0, 0) > WHOLE  # without a budget, all of it is held
        wanted = np.load(folder / "ranks.npz")
        least = -(-ranking_memory(folder / "None.npz", read_shape(folder / "split.npz"), 1) // MEGABYTE)
        assert least < WHOLE / 2
        for memory, threads in ((least, 1), (400, 1), (400, 3), (600, 1)):
            assert megabytes(folder, "rank", 0, memory, threads) < memory
            found = np.load(folder / "ranks.npz")
            for name in ("above", "tied"):
                np.testing.assert_array_equal(found[name], wanted[name])

    @pytest.mark.slow
    def test_with_neighbours(self, folder):
        assert megabytes(folder, "train", 10, 0) < WHOLE
        assert megabytes(folder, "train", 10, 240) < 240
        one = (folder / "10.npz").read_bytes()
        assert megabytes(folder, "train", 10, 2000) < 2000
        assert (folder / "10.npz").read_bytes() == one
        for memory, threads in ((240, 1), (240, 2), (2000, 2)):
            assert megabytes(folder, "rank", 10, memory, threads) < memory

    @pytest.mark.parametrize("larger", ["users", pytest.param("items", marks=pytest.mark.slow)])
    def test_with_factors(self, tmp_path, larger):
        users, items = (100_000, 1000) if larger == "users" else (1000, 100_000)
        rng = np.random.default_rng(1)
        FactorModel(rng.random((users, 128)), rng.random((items, 128))).write(tmp_path / "None.npz")
        split = Split(csr_array((users, items)), np.zeros(users, np.int64), np.arange(users), np.arange(items))
        split.write(tmp_path / "split.npz")
        least = -(-ranking_memory(tmp_path / "None.npz", split.shape, 1) // MEGABYTE)
        assert megabytes(tmp_path, "rank", 0, least) < least


def test_a_damaged_model_is_not_read_for_its_memory(tmp_path):
    model, shape = SimilarityModel(np.zeros((300, 300))), Shape(1000, 300, 20_000)
    model.write(tmp_path / "model.npz")
    with (tmp_path / "model.npz").open("r+b") as file:
        file.seek(10**5)
        file.write(b"\1" * 100)  # damaged in the middle, which reading it would notice
    assert ranking_memory(tmp_path / "model.npz", shape, 1) == model.least_memory(8 * 300**2, shape, 1)


def test_more_makes_blocks_wider_until_they_are_as_fast_as_can_be_and_then_keeps():
    items = 20_000
    split = Split(csr_array((10, items)), np.zeros(10, np.int64), np.arange(10), np.arange(items))
    model = CosineModel(1, True, "l2", False)

    def plan(spare):
        counter = model.counter(split, precision="float64", threads=2, spare=spare)
        width = counter._items[0].stop
        return width, counter._columns.keywords["rows"], counter._keep * 8 * items * width

    plans = [plan(more * MEGABYTE) for more in (0, 20, 60, 1000)]
    assert plans[0] == (WIDTHS[-1], 1, 0)
    for before, after in pairwise(plans):
        assert after[0] >= before[0]
        assert after[1] >= before[1] or after[0] > before[0]
    assert plans[-1][0] == WIDTHS[0]
    assert 800 * MEGABYTE < plans[-1][2] < 1000 * MEGABYTE
    assert plan(np.inf)[0] == WIDTHS[0]
    assert plan(np.inf)[2] >= 8 * items**2
