"""The scripts from an archive to ranks, called in this process on the made-up dataset."""

import json
import re
import runpy
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from made_up_project import ROOT, archive, ratings

from sampled_metrics._files import read_npz
from sampled_metrics.data.split import read_split
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranks.table import read_ranks
from sampled_metrics.recommenders.models import FactorModel, SimilarityModel, SparseSimilarityModel, read_model
from sampled_metrics.recommenders.models import model as models

NEAR = {"type": "item-cf", "exponent": 1, "neighbours_prime": 10}
ENTRIES = {
    "X": {"type": "ials", "factors": 4, "regularization": 1, "unobserved_weight": 0.2, "iterations": 2},
    "Y": {"type": "item-cf", "exponent": 3},
    "near": NEAR,
}
KINDS = {"X": FactorModel, "Y": SimilarityModel, "near": SparseSimilarityModel}


def call(script: str, *, input: Mapping[str, Any], output: Mapping[str, Any], **others: Any) -> None:
    """Call main of a script as Snakemake would."""
    wildcards = {"dataset": "made-up", **others.get("wildcards", {})}
    main = runpy.run_path(str(ROOT / "scripts" / f"{script}.py"))["main"]
    main(
        SimpleNamespace(
            input=SimpleNamespace(**input),
            output=SimpleNamespace(**output),
            wildcards=SimpleNamespace(**wildcards),
            params=SimpleNamespace(**others.get("params", {})),
            config={
                "ranking": {"memory": others.get("memory", 2000)},
                "sampling": {"negatives": others.get("negatives", 20), "replacement": False},
            },
            threads=others.get("threads", 1),
        )
    )


def train(folder: Path, name: str, memory: int = 2000) -> Path:
    model = folder / f"{name}.npz"
    call(
        "train",
        input={"split": folder / "split.npz"},
        output={"model": model},
        wildcards={"recommender": name},
        params={"entry": ENTRIES[name], "seed": 2020},
        memory=memory,
    )
    return model


def rank(folder: Path, model: Path, part: str | None = None, **others: Any) -> Path:
    ranks = folder / (f"{part}.npz" if part else "ranks.csv.gz")
    call(
        "rank",
        input={"split": folder / "split.npz", "model": model},
        output={"part" if part else "ranks": ranks},
        wildcards={"recommender": model.stem, **({"scatteritem": part} if part else {})},
        params={"precision": "float64"},
        **others,
    )
    return ranks


SPLIT = {"strategy": "last-event", "ties": "first", "min_training_events": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the split of the made-up dataset."""
    folder = tmp_path_factory.mktemp("scripts")
    sha256 = archive(folder / "made-up.zip", ratings())
    dataset = {"path": "made-up.zip", "urls": [], "md5": None, "sha256": sha256, "member": None}
    dataset |= {"format": "movielens-dat", "options": {}, "min_rating": 0, "repeated": "first", "core": 0, "test": None}
    call(
        "split",
        input={"archive": folder / "made-up.zip"},
        output={"split": folder / "split.npz", "facts": folder / "dataset.json"},
        params={"dataset": dataset, "split": SPLIT, "seed": 2020},
    )
    return folder


def test_facts_are_those_of_the_split(folder: Path) -> None:
    facts, split = json.loads((folder / "dataset.json").read_text(encoding="utf-8")), read_split(folder / "split.npz")
    assert (facts["users"], facts["items"], facts["training_events"]) == split.shape
    assert facts["mean_candidates"] == split.candidates.mean()
    assert facts["source"] == "made-up.zip"


def test_a_test_file_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "train.dat").write_text(
        "1::10::3::5\n1::11::3::6\n2::10::4::5\n4::10::4::5\n4::14::4::5\n", encoding="utf-8"
    )
    # users 1 and 2 train; user 3 does not; nobody has items 12 and 13 in training
    (tmp_path / "test.dat").write_text("1::12::3::5\n1::13::3::1\n2::11::4::5\n3::10::1::1\n", encoding="utf-8")
    dataset = {"path": "train.dat", "test": str(tmp_path / "test.dat"), "md5": None, "sha256": None, "member": None}
    dataset |= {"format": "movielens-dat", "options": {}, "min_rating": 0, "repeated": "first", "core": 0}
    call(
        "split",
        input={"archive": tmp_path / "train.dat"},
        output={"split": tmp_path / "split.npz", "facts": tmp_path / "dataset.json"},
        params={"dataset": dataset, "split": {"strategy": "last-event", "ties": "first"}, "seed": 2020},
        negatives=1,
    )
    split, facts = read_split(tmp_path / "split.npz"), json.loads((tmp_path / "dataset.json").read_text("utf-8"))
    assert split.user_ids[split.user].tolist() == [1, 1, 2]
    assert split.item_ids[split.item].tolist() == [12, 13, 11]
    assert split.candidates.tolist() == [2, 2, 4]
    counts = {"users": 3, "items": 5, "events": 9, "training_events": 5, "held_out_items": 3}
    counts |= {"users_left_out_with_few_training_events": 1, "users_without_held_out_items": 1}
    counts |= {"held_out_items_without_training_events": 2}
    assert counts.items() <= facts.items()


@pytest.mark.parametrize("name", ENTRIES)
def test_parts_that_are_joined_are_the_ranks_of_all_users(
    folder: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = read_split(folder / "split.npz")
    monkeypatch.setattr(models, "BLOCK_BYTES", 8 * split.shape.items * 5)  # five users
    model = train(folder, name)
    assert type(read_model(model)) is KINDS[name]
    whole = rank(folder, model).read_bytes()
    parts = [rank(folder, model, f"{part}-of-3", threads=2, memory=500) for part in (1, 2, 3)]
    assert all(len(read_npz(part, "a part")["user"]) for part in parts)
    call("gather_ranks", input={"parts": parts}, output={"ranks": tmp_path / "ranks.csv.gz"})
    assert (tmp_path / "ranks.csv.gz").read_bytes() == whole
    table = read_ranks(tmp_path / "ranks.csv.gz")
    assert table.candidates.tolist() == split.candidates.tolist()


def test_too_little_memory_is_refused_before_anything_is_read_and_any_that_will_do_gives_the_same_bytes(
    folder: Path,
) -> None:
    with pytest.raises(ConfigError, match=r"item-cf takes (\d+) MB at least, and may take 100; .*") as no:
        train(folder, "near", memory=100)
    enough = int(re.findall(r"\d+", str(no.value))[0])
    model = train(folder, "near", memory=enough)
    with pytest.raises(ConfigError, match=r"ranking takes (\d+) MB at least, .* give \1 or more$") as no:
        rank(folder, model, memory=enough)  # what trains does not always rank
    enough = int(re.findall(r"\d+", str(no.value))[0])
    little = rank(folder, model, memory=enough).read_bytes()
    assert rank(folder, model, memory=3000).read_bytes() == little

    content = bytearray(model.read_bytes())
    content[len(content) // 2] ^= 255
    model.write_bytes(content)
    with pytest.raises(ConfigError, match="ranking takes"):
        rank(folder, model, memory=enough - 1)
    with pytest.raises(DataError, match=r"near\.npz: is not a model of this project, or is damaged"):
        rank(folder, model, memory=enough)


def test_imported_ranks_are_written_in_full(tmp_path: Path) -> None:
    (tmp_path / "given.csv").write_text("rank\n3\n1\n", encoding="utf-8")
    call(
        "import_ranks",
        input={"ranks": tmp_path / "given.csv"},
        output={"ranks": tmp_path / "ranks.csv.gz"},
        params={"candidates": 50},
    )
    table = read_ranks(tmp_path / "ranks.csv.gz")
    assert (table.candidates.tolist(), table.above.tolist(), table.tied.tolist()) == ([50, 50], [2, 0], [0, 0])
