"""The ranks of published/evidence/: what they hold, and what is said of them.

Parts of the script that made them are tested, too.
"""

import collections
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
    assert list(rows[0]) == ["user", "candidates", "exact_rank", "sampled_rank"]
    assert [row["user"] for row in rows] == list(range(len(rows)))
    assert all(
        1 <= row["exact_rank"] <= row["candidates"] and 1 <= row["sampled_rank"] <= 100
        for row in rows
    )
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
    exact = sm.exact_ranks(path, rank_column="exact_rank")
    for table, column in ((sampled, "exact_rank"), (exact, "sampled_rank")):
        [note] = table.notes
        assert note.startswith(f"Columns that are not used: {column}.")
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
            reach = 1.96 * (share * (1 - share) / len(rows)) ** 0.5  # of a mean of many users
            assert side.value[name] == pytest.approx(share)
            assert side.low[name] == pytest.approx(share - reach, abs=2e-4)
            assert side.high[name] == pytest.approx(share + reach, abs=2e-4)


# --- the script ---------------------------------------------------------------------------------


def pickled(*, code=False):
    """The weights of one tensor as torch writes them.

    If `code`, they name a function of the system.
    """

    class Named:
        def __init__(self, module, name, *arguments):
            self.reduced = (module, name), arguments

    # the pickler in Python, so that a name is written without being imported
    class Writer(pickle._Pickler):
        def persistent_id(self, thing):
            return ("storage", "float32", "0", "cpu", 6) if thing == "numbers" else None

        def save(self, thing, save_persistent_id=True):
            if not isinstance(thing, Named):
                return super().save(thing, save_persistent_id)
            (module, name), arguments = thing.reduced
            self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
            super().save(arguments)
            return self.write(pickle.REDUCE)

    stream = io.BytesIO()
    tensor = Named(
        "torch._utils",
        "_rebuild_tensor_v2",
        "numbers",
        1,
        (2, 2),
        (2, 1),
        False,
        collections.OrderedDict(),
    )
    Writer(stream, protocol=2).dump(
        {"weight": Named(os.system.__module__, "system", "true") if code else tensor}
    )
    return stream.getvalue()


def test_weights_are_read_without_torch_and_without_running_what_they_name():
    numbers = np.arange(6, dtype=np.float32)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("archive/data.pkl", pickled())
        written.writestr("archive/data/0", numbers.tobytes())
    headers = b"".join(
        pickle.dumps(header, 2)
        for header in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})
    )
    old = (
        headers + pickled() + pickle.dumps(["0"], 2) + (6).to_bytes(8, "little") + numbers.tobytes()
    )
    for content in (archive.getvalue(), old):
        assert MAKE["torch_weights"](content)["weight"].tolist() == [[1, 2], [3, 4]]
    with pytest.raises(SystemExit, match="system"):
        MAKE["torch_weights"](headers + pickled(code=True))
