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
from pathlib import Path

import numpy as np
import pytest
from docs_blocks import ROOT

import sampled_metrics as sm

FOLDER = ROOT / "published/evidence"
FILES = sorted(FOLDER.glob("*.csv.gz"))
README = (FOLDER / "README.md").read_text(encoding="utf-8")
MAKE = runpy.run_path(str(FOLDER / "make.py"))


def rows_of(path: Path) -> list[dict[str, int]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [{name: int(cell) for name, cell in row.items()} for row in csv.DictReader(file)]


def test_the_files_are_small_and_have_their_checksums():
    sums = dict(
        line.split("  ")[::-1] for line in (FOLDER / "SHA256SUMS").read_text("utf-8").splitlines()
    )
    assert sums == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FILES}
    assert len(FILES) == 5
    assert sum(path.stat().st_size for path in FILES) < 600_000


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.slow] * (path != FILES[0])) for path in FILES],
    ids=lambda path: path.name.split(".")[0],
)
def test_the_table_of_the_page_is_what_the_files_and_the_library_say(path: Path):
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


def test_ranks_are_among_the_candidates_and_among_the_negatives():
    scores = np.array([[9.0, 5, 7, 6, 5], [1, 2, 3, 4, 5]])
    held_out_scores = np.array([[5.0], [5.0]])
    is_candidate = np.array([[False, True, True, True, True], [True, True, False, True, True]])
    negatives_scores = np.array([[7.0, 5], [4, 3]])
    table = MAKE["rank_table"](scores, held_out_scores, is_candidate, negatives_scores)
    assert table.to_numpy().tolist() == [[4, 3, 2], [4, 1, 1]]


def test_the_last_items_before_the_held_out_one_are_the_input():
    sequences = MAKE["Sequences"]([[1, 2, 3, 4], [5, 6]], 6, np.empty((2, 0), dtype=int))
    assert sequences.held_out.tolist() == [4, 6]
    assert sequences.inputs(2).tolist() == [[2, 3], [0, 5]]
    assert sequences.inputs(3, mask=7).tolist() == [[2, 3, 7], [0, 5, 7]]


def test_negatives_are_not_items_of_the_user():
    users = [list(range(1, 121)), [5, 200], list(range(100, 251))]
    negatives = MAKE["drawn_negatives"](users)
    assert negatives.shape == (3, 99)
    assert [
        set(row) & set(items) for row, items in zip(negatives.tolist(), users, strict=True)
    ] == [set()] * 3


def test_numbers_of_items_are_found_again(tmp_path: Path):
    """Of made-up users: the numbers are by the first user who has an item.

    Those of a user are in an order that is drawn.
    """
    rng = np.random.default_rng(0)
    users = 60
    items = 200
    owned = [rng.permutation(items)[: rng.integers(8, 20)] for _ in range(users)]
    number = {}
    for items_of_user in owned:
        for item in rng.permutation(items_of_user):
            number.setdefault(int(item), len(number))
    lines = [
        f"{user}::{item}::5::{second}"
        for user, items_of_user in enumerate(owned, 1)
        for second, item in enumerate(items_of_user.tolist())
    ]
    archive = tmp_path / "ml-1m.zip"
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("ml-1m/ratings.dat", "\n".join(lines) + "\n")
    numbered = [[number[int(item)] for item in items_of_user] for items_of_user in owned]
    pools = [sorted(set(range(len(number))) - set(numbers)) for numbers in numbered]
    negatives = np.array([rng.choice(pool, 99, replace=False) for pool in pools])
    test = MAKE["Ncf"](np.array([numbers[-1] for numbers in numbered]), negatives)
    scores = np.zeros((users, len(number)))
    for user, numbers in enumerate(numbered):
        scores[user, numbers] = 1
    training = MAKE["ncf_training"](None, archive, test, scores)
    for user, numbers in enumerate(numbered):
        assert sorted(training[[user]].indices.tolist()) == sorted(numbers[:-1])


def pickled(*, code: bool = False) -> bytes:
    """The weights of one tensor as torch writes them.

    If `code`, they name a function of the system.
    """

    class Named:
        def __init__(self, module: str, name: str, *arguments: object) -> None:
            self.reduced = (module, name), arguments

    # the pickler in Python, so that a name is written without being imported
    class Writer(pickle._Pickler):
        def persistent_id(self, thing: object) -> object:
            return ("storage", "float32", "0", "cpu", 6) if thing == "numbers" else None

        def save(self, thing: object, save_persistent_id: bool = True) -> None:
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
    with pytest.raises(SystemExit, match="system, which is not read"):
        MAKE["torch_weights"](headers + pickled(code=True))


def test_layers_are_those_of_their_definitions():
    rng = np.random.default_rng(1)
    row = rng.normal(size=4)
    scale, shift = rng.normal(size=(2, 4))
    weights = {"a.LayerNorm.weight": scale, "a.LayerNorm.bias": shift}
    by_hand = [(row[k] - row.mean()) / row.std() * scale[k] + shift[k] for k in range(4)]
    assert MAKE["normalized"](row, weights, "a") == pytest.approx(by_hand)
    weights = {
        "user_embedding_W": np.array([[1.0, 2]]),
        "item_embedding_W": np.array([[3.0, 4], [-1, 0]]),
    }
    weights |= {"prediction_W": np.array([[1.0], [-1]])}
    assert MAKE["gmf_scores"](weights).tolist() == [[1 * 3 - 2 * 4, -1]]
    weights |= {
        "layer1_W": np.array([[1.0, 0], [0, 1], [1, 0], [0, -1]]),
        "layer1_b": np.array([0.5, 0]),
    }
    weights |= {f"layer{number}_W": np.eye(2) for number in (2, 3)}
    weights |= {f"layer{number}_b": np.zeros(2) for number in (2, 3)}
    # inputs (1, 2, 3, 4) and (1, 2, -1, 0): the first layer has (4.5, -2) and (.5, 2), and cuts at
    # 0
    assert MAKE["mlp_scores"](weights).tolist() == [[4.5, -1.5]]
