"""The scripts from an archive to ranks, called in this process on the made-up dataset."""

import json
from pathlib import Path

import pytest
from made_up_project import STUDY, archive, complete_config, ratings, run_script, split

from sampled_metrics._files import read_npz
from sampled_metrics.data.split import read_split
from sampled_metrics.ranks.exact import exact_ranks
from sampled_metrics.recommenders import models
from sampled_metrics.recommenders.models import FactorModel, SimilarityModel, SparseSimilarityModel, read_model
from sampled_metrics.recommenders.simple import PrecomputedRanks

NEAR = {"type": "item-cf", "exponent": 1, "neighbours_prime": 10}
ENTRIES = {
    "X": {"type": "ials", "factors": 4, "regularization": 1, "unobserved_weight": 0.2, "iterations": 2},
    "Y": {"type": "item-cf", "exponent": 3},
    "near": NEAR,
}
KINDS = {"X": FactorModel, "Y": SimilarityModel, "near": SparseSimilarityModel}


def train(name: str) -> list[str]:
    return run_script(
        "train",
        input={"split": "split.npz"},
        output={"model": f"{name}.npz"},
        params={"entry": ENTRIES[name], "seed": 2020},
        wildcards={"recommender": name},
    )


def test_ranks_that_start_at_0_are_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("theirs.csv").write_text("user,rank\na,0\nb,7\nc,3\n")
    reading = PrecomputedRanks("theirs.csv", candidates=9, zero_based=True).reading
    files = {"input": {"ranks": "theirs.csv"}, "output": {"ranks": "ranks.csv.gz"}}
    assert run_script("import_ranks", **files, params={"reading": reading, "name": "W"}, wildcards={}) == []
    assert exact_ranks(Path("ranks.csv.gz")).above.tolist() == [0, 7, 3]


def rank(name: str, part: str | None = None, threads: int = 1) -> list[str]:
    """Rank all users, to ranks.csv.gz, or those of a part, to PART.npz."""
    return run_script(
        "rank",
        input={"split": "split.npz", "model": f"{name}.npz"},
        output={"part": f"{part}.npz"} if part else {"ranks": "ranks.csv.gz"},
        params={"precision": "float64"},
        wildcards={"recommender": name, **({"scatteritem": part} if part else {})},
        threads=threads,
    )


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the split of the made-up dataset."""
    monkeypatch.chdir(tmp_path)
    archive(Path("made-up.zip"), ratings())
    assert split(complete_config(STUDY), "made-up") == []


def test_a_test_file_of_ones_own() -> None:
    Path("train.dat").write_text("1::10::3::5\n1::11::3::6\n2::10::4::5\n4::10::4::5\n4::14::4::5\n", encoding="utf-8")
    # users 1 and 2 train; user 3 does not; nobody has items 12 and 13 in training
    Path("test.dat").write_text("1::12::3::5\n1::13::3::1\n2::11::4::5\n3::10::1::1\n", encoding="utf-8")
    dataset = {"path": "train.dat", "test": "test.dat", "format": "movielens-dat"}
    sizes = {"sampling": {"negatives": 1}, "figures": {}}
    config = complete_config(STUDY | {"datasets": {"made-up": dataset}} | sizes)
    assert split(config, "made-up") == []
    made, facts = read_split("split.npz"), json.loads(Path("dataset.json").read_text("utf-8"))
    assert made.user_ids[made.user].tolist() == [1, 1, 2]
    assert made.item_ids[made.item].tolist() == [12, 13, 11]
    assert made.candidates.tolist() == [2, 2, 4]
    counts = {"users": 3, "items": 5, "events": 9, "training_events": 5, "held_out_items": 3}
    counts |= {"users_left_out_with_few_training_events": 1, "users_without_held_out_items": 1}
    counts |= {"held_out_items_without_training_events": 2}
    assert counts.items() <= facts.items()


@pytest.mark.parametrize("name", ENTRIES)
def test_parts_that_are_joined_are_the_ranks_of_all_users(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = read_split("split.npz")
    monkeypatch.setattr(models, "BLOCK_BYTES", 8 * made.shape.items * 5)  # five users
    assert train(name) == rank(name) == []
    assert type(read_model(Path(f"{name}.npz"))) is KINDS[name]
    parts = [f"{part}-of-3" for part in (1, 2, 3)]
    for part in parts:
        assert rank(name, part, threads=2) == []
        assert len(read_npz(Path(f"{part}.npz"), "a part")["user"])
    given = {"parts": [f"{part}.npz" for part in parts]}
    assert run_script("gather_ranks", input=given, output={"ranks": "joined.csv.gz"}) == []
    assert Path("joined.csv.gz").read_bytes() == Path("ranks.csv.gz").read_bytes()
    assert exact_ranks(Path("joined.csv.gz")).candidates.tolist() == made.candidates.tolist()


def test_a_damaged_model_is_refused() -> None:
    assert train("near") == []
    content = bytearray(Path("near.npz").read_bytes())
    content[len(content) // 2] ^= 255
    Path("near.npz").write_bytes(content)
    assert "near.npz: is not a model of this project, or is damaged" in rank("near")[0]
