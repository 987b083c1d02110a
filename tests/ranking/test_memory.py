"""The memory budget is kept by whole processes, and what does not fit is refused before it is read."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from sampled_metrics.data.split import Split, read_shape
from sampled_metrics.errors import ConfigError
from sampled_metrics.ranking.memory import BASE, MEGABYTE, Shape, left, require
from sampled_metrics.ranking.rank_memory import least_memory, require_files, width_and_rows
from sampled_metrics.ranking.similarity import WIDTHS
from sampled_metrics.recommenders.models import FactorModel, SimilarityModel, Stored, read_stored

SOURCE = Path(__file__).resolve().parents[2] / "src"
USERS, ITEMS, EACH = 2500, 9000, 40
WHOLE = 8 * ITEMS**2 / MEGABYTE
"""MB of all items by all, 618."""

JOB = """
import sys
from pathlib import Path
import numpy as np, pandas
from sampled_metrics.data.split import read_split
from sampled_metrics.ranking.rank_memory import require_files
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
    if memory is not None:
        require_files(model, split, memory, threads)
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
    def test_with_all_neighbours_and_changes_no_rank(self, folder):
        assert megabytes(folder, "train", 0, 300) < 300
        assert megabytes(folder, "rank", 0, 0) > WHOLE  # without a budget, all of it is held
        wanted = np.load(folder / "ranks.npz")
        least = -(-least_memory(read_stored(folder / "None.npz"), read_shape(folder / "split.npz"), 1) // MEGABYTE)
        assert least < WHOLE / 2
        for memory, threads in ((least, 1), (400, 1), (400, 3), (600, 1)):
            assert megabytes(folder, "rank", 0, memory, threads) < memory
            found = np.load(folder / "ranks.npz")
            for name in ("above", "tied"):
                np.testing.assert_array_equal(found[name], wanted[name])

    def test_with_neighbours(self, folder):
        assert megabytes(folder, "train", 10, 0) < WHOLE
        assert megabytes(folder, "train", 10, 240) < 240
        one = (folder / "10.npz").read_bytes()
        assert megabytes(folder, "train", 10, 2000) < 2000
        assert (folder / "10.npz").read_bytes() == one
        for memory, threads in ((240, 1), (240, 2), (2000, 2)):
            assert megabytes(folder, "rank", 10, memory, threads) < memory

    @pytest.mark.parametrize("larger", ["users", "items"])
    def test_with_factors(self, tmp_path, larger):
        users, items = (100_000, 1000) if larger == "users" else (1000, 100_000)
        rng = np.random.default_rng(1)
        FactorModel(rng.random((users, 128)), rng.random((items, 128))).write(tmp_path / "None.npz")
        split = Split(csr_array((users, items)), np.zeros(users, np.int64), np.arange(users), np.arange(items))
        split.write(tmp_path / "split.npz")
        least = -(-least_memory(read_stored(tmp_path / "None.npz"), split.shape, 1) // MEGABYTE)
        assert megabytes(tmp_path, "rank", 0, least) < least


class TestIsRefused:
    SPLIT = Shape(1000, 500, 20_000)

    def test_in_one_line_with_what_would_do(self):
        require(100 * MEGABYTE, 100, "ranking")
        require(10**15, None, "ranking")
        with pytest.raises(ConfigError) as no:
            require(100 * MEGABYTE + 1, 100, "ranking")
        assert str(no.value) == "ranking.memory: ranking takes 101 MB at least, and may take 100; give 101 or more"

    def test_before_a_model_is_read(self, folder, tmp_path):
        SimilarityModel(np.zeros((2000, 2000))).write(tmp_path / "model.npz")  # 31 MB
        shape = read_shape(folder / "split.npz")
        least = -(-least_memory(Stored("similarity", 8 * 2000**2), shape, 1) // MEGABYTE)
        assert least > BASE / MEGABYTE + 30
        require_files(tmp_path / "model.npz", folder / "split.npz", least, 1)
        with (tmp_path / "model.npz").open("r+b") as file:
            file.seek(10**6)
            file.write(b"\1" * 100)  # damaged in the middle, which reading it would notice
        with pytest.raises(ConfigError, match=f"give {least} or more"):
            require_files(tmp_path / "model.npz", folder / "split.npz", least - 1, 1)

    @pytest.mark.parametrize("kind", ["factors", "similarity", "sparse similarity", "cosine", "random", ""])
    def test_what_is_needed_grows_with_model_events_and_threads(self, kind):
        least = least_memory(Stored(kind, 10**6), self.SPLIT)
        assert least > BASE + 10**6 + 12 * self.SPLIT.events
        assert least_memory(Stored(kind, 10**7), self.SPLIT) >= least + 9 * 10**6
        assert least_memory(Stored(kind, 10**6), self.SPLIT._replace(events=10**6)) > least
        assert least_memory(Stored(kind, 10**6), self.SPLIT, threads=2) > least

    def test_of_factors_by_hand(self):
        model = FactorModel(np.zeros((1000, 4)), np.zeros((500, 4)))
        least = least_memory(Stored("factors", model.user_factors.nbytes + model.item_factors.nbytes), self.SPLIT)
        assert least == BASE + 12 * 20_000 + 64 * 1000 + 32 * 500 + 3 * 8 * 4 * 1500 + 16 * MEGABYTE


class TestIsUsed:
    def test_more_makes_blocks_wider_until_they_are_as_fast_as_can_be_and_then_keeps(self):
        shape, model = Shape(10_000, 20_000, 10**6), Stored("cosine", 0)
        least = -(-least_memory(model, shape, 2) // MEGABYTE)
        plans = [width_and_rows(model, shape, 2, least + more) for more in (0, 20, 60, 1000)]
        assert plans[0][:2] == (WIDTHS[-1], 1)
        for before, after in pairwise(plans):
            assert after[0] >= before[0]
            assert after[1] >= before[1] or after[0] > before[0]
        assert plans[-1][0] == WIDTHS[0]
        assert 800 * MEGABYTE < plans[-1][2] < 1000 * MEGABYTE
        assert width_and_rows(model, shape, 2, None)[::2] == (WIDTHS[0], np.inf)

    def test_nothing_is_left_of_what_is_needed(self):
        assert left(5 * MEGABYTE, 5) == 0
        assert left(5 * MEGABYTE, None) == np.inf
