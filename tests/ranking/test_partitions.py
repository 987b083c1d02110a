"""Ranks in parts, from files, against those of `rank`; engines, kills, a memory budget, and what is refused."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ranked_by_argsort import rows

import sampled_metrics as sm
from sampled_metrics.ranking import item_blocks

USERS, ITEMS = 230, 310


class Case:
    """Factors and pairs, as files and as arrays; every seventh user has no held-out item, and others have several."""

    def __init__(self, folder: Path, kind: type = np.float64, users: int = USERS, items: int = ITEMS) -> None:
        rng = np.random.default_rng(3)
        self.folder = folder
        self.factors = tuple(rng.integers(-3, 4, (n, 4)).astype(kind) for n in (users, items))
        self.factors[1][rng.random(items) < 0.2] = 0
        user, item = np.nonzero(rng.random((users, items)) < 0.05)
        held_out = (rng.random(len(user)) < 0.2) & (user % 7 > 0)
        pairs = pd.DataFrame({"user": user, "item": item})
        self.training, self.held_out = pairs[~held_out], pairs[held_out]
        for name, array in zip(("u", "i"), self.factors, strict=True):
            np.save(folder / f"{name}.npy", array)
            frame = pd.DataFrame(array).rename(columns=str)
            frame.to_parquet(folder / f"{name}.parquet", row_group_size=50)
        self.training.to_parquet(folder / "train.parquet", row_group_size=100)
        self.held_out.to_parquet(folder / "test.parquet", row_group_size=100)

    def ranked(self, to: str = "ranks", kind: str = "npy", **options) -> list[Path]:
        factors = (self.folder / f"u.{kind}", self.folder / f"i.{kind}")
        pairs = [self.folder / f"{name}.parquet" for name in ("train", "test")]
        return sm.rank_to_parquet(factors, *pairs, self.folder / to, **{"users_per_part": 50} | options)

    def expected(self) -> sm.RankTable:
        with pytest.warns(UserWarning, match="have no held-out item"):
            return sm.rank(self.factors, self.training, self.held_out)


def same(table: sm.RankTable, expected: sm.RankTable) -> bool:
    return bool(
        rows(table) == rows(expected)
        and np.array_equal(table.user, expected.user)
        and np.array_equal(table.candidates, expected.candidates)
    )


def contents(parts: list[Path]) -> list[bytes]:
    return [part.read_bytes() for part in parts]


@pytest.fixture(scope="module")
def case(tmp_path_factory) -> Case:
    return Case(tmp_path_factory.mktemp("case"))


@pytest.mark.parametrize("precision", [np.float64, np.float32, np.int16])
@pytest.mark.parametrize("kind", ["npy", "parquet"])
@pytest.mark.parametrize("size", [1000, 50, 7])
def test_the_parts_together_are_the_ranks_of_rank(precision, kind, size, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(item_blocks, "BLOCK_BYTES", 100 * 8 * 4)
    case = Case(tmp_path, precision)
    parts = case.ranked(kind=kind, users_per_part=size)
    assert len(parts) == -(-USERS // size)
    assert same(sm.read_ranks(tmp_path / "ranks"), case.expected())


def test_pairs_in_several_files_in_any_order(case, tmp_path) -> None:
    for name, pairs in (("train", case.training), ("test", case.held_out)):
        (tmp_path / name).mkdir()
        mixed = pd.concat([pairs, pairs.head(20)]).sample(frac=1, random_state=1).astype({"user": "uint32"})
        mixed[::2].to_parquet(tmp_path / name / "a.parquet")
        mixed[1::2].to_parquet(tmp_path / name / "b.parquet")
    factors = (case.folder / "u.npy", case.folder / "i.npy")
    sm.rank_to_parquet(factors, tmp_path / "train", tmp_path / "test", tmp_path / "ranks", users_per_part=50)
    assert same(sm.read_ranks(tmp_path / "ranks"), case.expected())


def test_any_engine_gives_the_same_bytes(case) -> None:
    wanted = contents(case.ranked("alone"))
    with ThreadPoolExecutor(3) as threads:
        assert contents(case.ranked("threads", map=threads.map)) == wanted
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        assert contents(case.ranked("processes", map=processes.map)) == wanted
        with get_context("spawn").Pool(1) as pool:
            assert contents(case.ranked("pool", map=pool.imap)) == wanted


def test_parts_are_counted_in_any_order(case) -> None:
    parts = case.ranked("counted")
    merged = sm.RankAccumulator()
    expected = sm.evaluate(case.folder / "counted", metrics=["recall@10", "auc"])
    users = 0
    for part in reversed(parts):
        ranks = sm.read_ranks(part)
        one_each = ranks.rows(np.flatnonzero(~pd.Series(ranks.user).duplicated().to_numpy()))
        other = sm.RankAccumulator()
        other.update(one_each)
        merged.merge(other)
        users += len(one_each)
    assert merged.compute(metrics="auc")["users"].tolist() == [users]
    assert expected["users"].tolist() == [users] * 2


def test_a_stopped_call_goes_on_and_the_folder_is_incomplete_until_then(case, monkeypatch) -> None:
    wanted = contents(case.ranked("whole"))

    def stopped(function, parts):
        for number in parts:
            if number == 3:
                raise KeyboardInterrupt
            yield function(number)

    with pytest.raises(KeyboardInterrupt):
        case.ranked("stopped", map=stopped)
    folder = case.folder / "stopped"
    with pytest.raises(sm.DataError, match="lacks some parts; call rank_to_parquet again with the same arguments"):
        sm.read_ranks(folder)
    first = folder / "part-00000.parquet"
    before = first.stat().st_mtime_ns, first.stat().st_ino
    shown = []
    parts = case.ranked("stopped", progress=lambda steps: (shown.append(step) or step for step in steps))
    assert shown == [0, 1, 2, 3, 4]
    assert contents(parts) == wanted
    assert (first.stat().st_mtime_ns, first.stat().st_ino) == before
    assert same(sm.read_ranks(folder), case.expected())
    parts[2].unlink()
    assert contents(case.ranked("stopped")) == wanted


def test_parts_without_held_out_items_have_no_file(case, tmp_path) -> None:
    case.held_out[case.held_out["user"] >= 100].to_parquet(tmp_path / "late.parquet")
    factors = (case.folder / "u.npy", case.folder / "i.npy")
    late = sm.rank_to_parquet(
        factors, case.folder / "train.parquet", tmp_path / "late.parquet", tmp_path / "ranks", users_per_part=50
    )
    assert [part.name for part in late] == [f"part-0000{number}.parquet" for number in (2, 3, 4)]


def test_dask_workers_of_which_one_is_killed_give_the_same_bytes(case) -> None:
    distributed = pytest.importorskip("distributed")
    wanted = contents(case.ranked("before", users_per_part=2))
    folder, killed = case.folder / "dask", []
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = client.run(os.getpid)

        def kill() -> None:
            while len(list(folder.glob("part-*"))) < 10:
                time.sleep(0.005)
            os.kill(min(pids.values()), signal.SIGKILL)
            killed.append(len(list(folder.glob("part-*"))))

        killer = threading.Thread(target=kill)
        killer.start()
        parts = case.ranked("dask", map=client.get_executor().map, users_per_part=2)
        killer.join()
        assert min(pids.values()) not in client.run(os.getpid).values()
    assert 10 <= killed[0] < len(wanted)
    assert contents(parts) == wanted


PEAK = """
import resource, sys
import sampled_metrics as sm
here = sys.argv[1]
names = [f"{here}/{name}" for name in ("u.npy", "i.npy", "train.parquet", "test.parquet")]
sm.rank_to_parquet((names[0], names[1]), names[2], names[3], f"{here}/{sys.argv[2]}", users_per_part=64)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def peak_megabytes(folder: Path, to: str) -> int:
    command = [sys.executable, "-c", PEAK, str(folder), to]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return int(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout)


def test_memory_does_not_grow_with_the_items(tmp_path) -> None:
    """The larger file of items has 768 MB, most of them zeros that take no room on the disk."""
    peaks = []
    for name, items in (("small", 60_000), ("large", 1_500_000)):
        here = tmp_path / name
        here.mkdir()
        rng = np.random.default_rng(0)
        np.save(here / "u.npy", rng.normal(size=(128, 64)))
        factors = np.lib.format.open_memmap(here / "i.npy", mode="w+", dtype=np.float64, shape=(items, 64))
        factors[:50_000] = rng.normal(size=(50_000, 64))
        del factors
        user = np.arange(128)
        pd.DataFrame({"user": user, "item": user}).to_parquet(here / "train.parquet")
        pd.DataFrame({"user": user, "item": user + 500}).to_parquet(here / "test.parquet")
        peaks.append(peak_megabytes(here, "ranks"))
    assert peaks[1] - peaks[0] < 150, peaks


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("u.npy", r"u\.npy: cannot be read as npy"),
        ("train.parquet", r"train\.parquet: cannot be read as parquet"),
        ("absent", r"test\.parquet: cannot be read: No such file"),
        ("vector", r"u\.npy: factors are a row of numbers for each user or item, not float64 of \(5,\)$"),
        ("d", r"u\.npy has 3 factors of each user, and .*i\.npy 4 of each item"),
        (
            "outside",
            r"train\.parquet: user 229 with item 310: they must be rows of the factors, from 0 to 229 and from",
        ),
        ("missing", r"train\.parquet: user 1 with item None"),
        ("text", r"train\.parquet: must have columns user and item, the rows of their factors from 0, not .*string"),
        ("columns", r"train\.parquet: must have columns user and item"),
        ("none", r"test\.parquet: has no rows"),
        ("both", r"user 201: the held-out item is one of the user's training items"),
        ("nan", r"factors are not finite, or too large"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(broken, message, tmp_path) -> None:
    case = Case(tmp_path)
    if broken.endswith(("npy", "parquet")):
        (tmp_path / broken).write_bytes(b"no such file")
    elif broken == "absent":
        (tmp_path / "test.parquet").unlink()
    elif broken == "nan":
        case.factors[1][7] = np.nan
        np.save(tmp_path / "i.npy", case.factors[1])
    elif broken in ("vector", "d"):
        np.save(tmp_path / "u.npy", np.ones(5) if broken == "vector" else np.ones((USERS, 3)))
    else:
        outside = pd.DataFrame({"user": [229], "item": [310]})
        frame = {
            "outside": pd.concat([case.training, outside]),
            "missing": pd.DataFrame({"user": [1, 2], "item": [None, 3]}, dtype="Int64"),
            "text": case.training.astype({"user": str}),
            "columns": case.training.rename(columns={"user": "who"}),
            "none": case.held_out.head(0),
            "both": pd.concat([case.training, case.held_out[case.held_out["user"] == 201].head(1)]),
        }[broken]
        frame.to_parquet(tmp_path / ("test.parquet" if broken == "none" else "train.parquet"))
    with pytest.raises(sm.DataError, match=message):
        case.ranked()


def test_a_folder_with_ranks_of_something_else_is_refused(tmp_path) -> None:
    case = Case(tmp_path)
    case.ranked()
    with pytest.raises(sm.DataError, match=r"ranks: holds ranks of other files, or of parts of another size"):
        case.ranked(users_per_part=49)
    np.save(tmp_path / "i.npy", case.factors[1] + 1)
    with pytest.raises(sm.DataError, match="holds ranks of other files"):
        case.ranked()
    with pytest.raises(sm.ConfigError, match="users_per_part must be a whole number, 1 or more, not 0"):
        case.ranked("other", users_per_part=0)


def test_a_folder_without_ranks_takes_other_files_after_an_error(tmp_path) -> None:
    case = Case(tmp_path)
    wrong = pd.DataFrame(case.factors[0]).rename(columns=str)
    (wrong + 1).to_parquet(tmp_path / "u.parquet")
    case.training.assign(item=ITEMS).to_parquet(tmp_path / "train.parquet")
    with pytest.raises(sm.DataError, match="must be rows of the factors"):
        case.ranked(kind="parquet")
    wrong.to_parquet(tmp_path / "u.parquet")
    case.training.to_parquet(tmp_path / "train.parquet")
    case.ranked(kind="parquet")
    assert same(sm.read_ranks(tmp_path / "ranks"), case.expected())


def test_the_index_of_a_data_frame_is_no_factor(tmp_path) -> None:
    case = Case(tmp_path)
    for name, array in zip(("u", "i"), case.factors, strict=True):
        index = np.arange(len(array))[::-1] * 100
        pd.DataFrame(array, index=index).rename(columns=str).to_parquet(tmp_path / f"{name}.parquet")
    case.ranked(kind="parquet")
    assert same(sm.read_ranks(tmp_path / "ranks"), case.expected())


@pytest.mark.parametrize("name", ["part-00000.parquet", "old.parquet", "old/part.parquet", "notes.txt"])
@pytest.mark.parametrize("before", [True, False])
def test_a_folder_with_other_files_is_refused(name, before, tmp_path) -> None:
    case = Case(tmp_path)
    if not before:
        case.ranked()
        for state in ("_complete.json", "_incomplete.json"):
            (tmp_path / "ranks" / state).unlink(missing_ok=True)
    (tmp_path / "ranks" / name).parent.mkdir(parents=True, exist_ok=True)
    case.held_out.to_parquet(tmp_path / "ranks" / name)
    with pytest.raises(sm.DataError, match=r"ranks: holds .*, which is no part of these ranks; give another folder"):
        case.ranked()


def test_a_folder_whose_parts_were_removed_takes_parts_of_another_size(tmp_path) -> None:
    case = Case(tmp_path)
    for part in case.ranked():
        part.unlink()
    with pytest.raises(InterruptedError):
        case.ranked(users_per_part=40, map=stopped)
    case.ranked(users_per_part=40)
    assert same(sm.read_ranks(tmp_path / "ranks"), case.expected())


def stopped(function, parts):
    yield function(parts[0])
    raise InterruptedError


def test_the_same_call_twice_at_once_is_no_error(tmp_path) -> None:
    case = Case(tmp_path)

    def while_another_one_ends(function, parts):
        case.ranked()
        return map(function, parts)

    assert contents(case.ranked(map=while_another_one_ends)) == contents(case.ranked("again"))


def test_a_change_of_a_file_of_any_name_is_noticed(tmp_path) -> None:
    case = Case(tmp_path)
    (tmp_path / "train.parquet").rename(tmp_path / "old")
    (tmp_path / "train.parquet").mkdir()
    (tmp_path / "old").rename(tmp_path / "train.parquet" / "a.pq")
    case.ranked()[0].unlink()
    case.training.head(3).to_parquet(tmp_path / "train.parquet" / "a.pq")
    with pytest.raises(sm.DataError, match="holds ranks of other files"):
        case.ranked()


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("category", r"train\.parquet: must have columns user and item, the rows of their factors from 0"),
        ("list", r"train\.parquet: must have columns user and item, the rows of their factors from 0"),
        ("mixed", r"train\.parquet: cannot be read as parquet"),
        ("folder", r"u\.parquet: cannot be read as parquet"),
    ],
)
def test_parquet_of_other_kinds_is_refused(broken, message, tmp_path) -> None:
    case = Case(tmp_path)
    train = tmp_path / "train.parquet"
    if broken == "folder":
        (tmp_path / "u.parquet").unlink()
        (tmp_path / "u.parquet").mkdir()
    elif broken == "mixed":
        train.unlink()
        train.mkdir()
        case.training.head(9).to_parquet(train / "a.parquet")
        (case.training.tail(9) + 0.5).to_parquet(train / "b.parquet")
    else:
        items = case.training["item"]
        other = items.astype(str).astype("category") if broken == "category" else [[each] for each in items]
        case.training.assign(item=other).to_parquet(train)
    with pytest.raises(sm.DataError, match=message):
        case.ranked(kind="parquet")


def test_arguments_that_are_no_files_are_refused(tmp_path) -> None:
    case = Case(tmp_path)
    paths = [tmp_path / name for name in ("train.parquet", "test.parquet")]
    for factors in ([tmp_path / "u.npy"], case.factors):
        with pytest.raises(sm.ConfigError, match="factors are the names of two files"):
            sm.rank_to_parquet(factors, *paths, tmp_path / "ranks")
    np.savez(tmp_path / "u.npz", case.factors[0])
    with pytest.raises(sm.DataError, match=r"u\.npz: factors that are ranked in parts are a file whose name ends in"):
        sm.rank_to_parquet((tmp_path / "u.npz", tmp_path / "i.npy"), *paths, tmp_path / "ranks")
    with pytest.raises(sm.ConfigError, match="the name of the folder is empty"):
        sm.rank_to_parquet((tmp_path / "u.npy", tmp_path / "i.npy"), *paths, "")
    with pytest.raises(sm.ConfigError, match="map gave 1 results for 5 parts"):
        case.ranked(map=lambda function, parts: [function(parts[0])])
    assert len(case.ranked(users_per_part=np.int32(50))) == 5
