"""What docs/own-study.md says about a recommender of your own works, in a copy of the library."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from docs_blocks import blocks
from two_groups import two_groups

from sampled_metrics.ranks.exact import exact_ranks

PAGE = "own-study.md"
SOURCE = Path(__file__).resolve().parents[2] / "src"
MODULE = Path("sampled_metrics/recommenders/jaccard.py")

TRAIN_AND_RANK = """
import json, sys
from sampled_metrics.errors import ConfigError
from sampled_metrics.study.config import check_recommender
from sampled_metrics.data.split import read_split
from sampled_metrics.recommenders import recommender
from sampled_metrics.recommenders.models import read_model
from sampled_metrics.study.jobs import stream
entry = json.loads(sys.argv[1])
check_recommender(entry, "recommenders.W")
try:
    check_recommender({"type": "jaccard", "shrinkage": -1}, "recommenders.W")
except ConfigError as error:
    print(error)
split = read_split("split.npz")
recommender(entry).fit(split.training, stream(1, "train")).write("model.npz")
read_model("model.npz").rank(split).write("ranks.csv")
"""


def register(init: Path, diff: str) -> None:
    """Apply the page's diff: the added line goes in after the line that it follows there."""
    text = init.read_text(encoding="utf-8")
    opening, entry = diff.splitlines()
    opening = opening.removeprefix(" ") + "\n"
    assert text.count(opening) == 1
    init.write_text(text.replace(opening, opening + entry.removeprefix("+") + "\n"), encoding="utf-8")


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A copy of the library with the page's recommender in it, and the split of two groups."""
    shutil.copytree(SOURCE, tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    [module] = [block for block in blocks(PAGE, "python") if "class Jaccard" in block]
    (diff,) = blocks(PAGE, "diff")
    (tmp_path / "src" / MODULE).write_text(module, encoding="utf-8")
    register(tmp_path / "src/sampled_metrics/recommenders/__init__.py", diff)
    two_groups().write(tmp_path / "split.npz")
    return tmp_path


def test_the_example_checks_its_parameter_trains_and_ranks_the_held_out_items_first(library: Path) -> None:
    [config] = [block for block in blocks(PAGE, "yaml") if "Jaccard" in block]
    entry = yaml.safe_load(config)["recommenders"]["W"] | {"type": "jaccard"}
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", TRAIN_AND_RANK, json.dumps(entry)],
        cwd=library,
        env=os.environ | {"PYTHONPATH": str(library / "src")},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    assert "recommenders.W.shrinkage: must be 0 or more, not -1" in ran.stdout
    table = exact_ranks(library / "ranks.csv")
    assert table.above.tolist() == [0] * 14
    assert table.tied.tolist() == [0] * 14
