"""The ranks of published/evidence/: what they hold, and what is said of them.

Parts of the script that made them are tested, too.
"""

import csv
import gzip
import hashlib
import io
import os
import pickle
import re
import runpy
import sys
import zipfile
from collections import OrderedDict
from types import SimpleNamespace

import numpy as np
import pytest
from docs_blocks import ROOT

import sampled_metrics as sm

FOLDER = ROOT / "published/evidence"
FILES = sorted(FOLDER.glob("*.csv.gz"))
README = (FOLDER / "README.md").read_text(encoding="utf-8")
MAKE = runpy.run_path(str(FOLDER / "make.py"))


def rows_of(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [{name: int(cell) for name, cell in row.items()} for row in csv.DictReader(file)]


def test_the_files_are_small_and_have_their_checksums():
    sums = dict(
        line.split("  ")[::-1] for line in (FOLDER / "SHA256SUMS").read_text("utf-8").splitlines()
    )
    assert sums == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FILES}
    assert len(FILES) == 5
    assert sum(path.stat().st_size for path in FILES) < 600_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    FILES,
    ids=lambda path: path.name.split(".")[0],
)
def test_the_table_of_the_page_is_what_the_files_and_the_library_say(path):
    rows = rows_of(path)
    [cells] = re.findall(rf"^\| {path.name.split('.')[0]} \|(.*)\|$", README, re.MULTILINE)
    users, mean_candidates, among, among_all, decreasing, free = (
        cell.strip() for cell in cells.split("|")
    )
    assert users == f"{len(rows):,}"
    assert mean_candidates == f"{sum(row['candidates'] for row in rows) / len(rows):,.1f}"
    shares = [
        sum(row[name] <= 10 for row in rows) / len(rows) for name in ("sampled_rank", "exact_rank")
    ]
    assert [among, among_all] == [f"{share:.4f}"[1:] for share in shares]
    sampled = sm.sampled_ranks(path, rank_column="sampled_rank", negatives=99)
    ends = sm.correct(sampled, metrics="recall@10").set_index("estimator")[["low", "high"]]
    assert [decreasing, free] == [
        f"{low:.4f} to {high:.4f}".replace("0.", ".")
        for low, high in ends.loc[["decreasing", "free"]].to_numpy()
    ]
    assert ends.loc["decreasing", "low"] < shares[1] < ends.loc["decreasing", "high"]


@pytest.mark.slow
def test_the_figure_of_beauty_shows_the_shares_of_the_files():
    sys.path.append(str(ROOT))
    from docs.publish import beauty_sides

    among, among_all = beauty_sides()
    for side, column in ((among, "sampled_rank"), (among_all, "exact_rank")):
        for name in ("FMLP-Rec", "S3-Rec"):
            rows = rows_of(FOLDER / f"beauty-{name}.csv.gz")
            share = sum(row[column] <= 10 for row in rows) / len(rows)
            assert side.value[name] == pytest.approx(share)


# --- the script ---------------------------------------------------------------------------------


def _rebuild_tensor_v2():
    """Stands for torch's, so that its name can be written."""


_rebuild_tensor_v2.__module__ = "torch._utils"


class Tensor:
    def __reduce__(self):
        return _rebuild_tensor_v2, ("numbers", 1, (2, 2), (2, 1), False, OrderedDict())


class Command:
    def __reduce__(self):
        return os.system, ("true",)


class Writer(pickle.Pickler):
    def persistent_id(self, part):
        return ("storage", "float32", "0", "cpu", 6) if part == "numbers" else None


def pickled(weight):
    """A weight as torch writes it."""
    stream = io.BytesIO()
    Writer(stream, protocol=2).dump({"weight": weight})
    return stream.getvalue()


def test_weights_are_read_without_torch_and_without_running_what_they_name(monkeypatch):
    with monkeypatch.context() as patched:
        stub = SimpleNamespace(_rebuild_tensor_v2=_rebuild_tensor_v2)
        patched.setitem(sys.modules, "torch", stub)
        patched.setitem(sys.modules, "torch._utils", stub)
        tensor = pickled(Tensor())
    numbers = np.arange(6, dtype=np.float32).tobytes()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("archive/data.pkl", tensor)
        written.writestr("archive/data/0", numbers)
    headers = b"".join(
        pickle.dumps(header, 2)
        for header in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})
    )
    old = headers + tensor + pickle.dumps(["0"], 2) + (6).to_bytes(8, "little") + numbers
    for content in (archive.getvalue(), old):
        assert MAKE["torch_weights"](content)["weight"].tolist() == [[1, 2], [3, 4]]
    with pytest.raises(SystemExit, match="system"):
        MAKE["torch_weights"](headers + pickled(Command()))
