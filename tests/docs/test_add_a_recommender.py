"""What docs/own-study.md says about a recommender of your own works, in a copy of the library."""

import json
import os
import shutil
import subprocess
import sys

import yaml
from docs_blocks import ROOT, blocks
from two_groups import two_groups

from sampled_metrics.core.ranks.exact import exact_ranks

PAGE = "own-study.md"
TRAIN_AND_RANK = """
import json, sys
from sampled_metrics.errors import ConfigError
from sampled_metrics_study.config import check_recommender
from sampled_metrics.ranking.split import read_split
from sampled_metrics_study.recommenders.models import read_model
from sampled_metrics_study.recommenders.ranking import rank_by_model
from sampled_metrics_study.recommenders.registry import recommender
from sampled_metrics_study.jobs import stream
entry = json.loads(sys.argv[1])
check_recommender(entry, "recommenders.W")
try:
    check_recommender({"type": "jaccard", "shrinkage": -1}, "recommenders.W")
except ConfigError as error:
    print(error)
split = read_split("split.npz")
recommender(entry).fit(split.training, stream(1, "train")).write("model.npz")
rank_by_model(read_model("model.npz"), split).write("ranks.csv")
"""


def test_the_example_checks_its_parameter_trains_and_ranks_the_held_out_items_first(
    tmp_path,
):
    shutil.copytree(
        ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )
    recommenders = tmp_path / "src/sampled_metrics_study/recommenders"
    [module] = [block for block in blocks(PAGE, "python") if "class Jaccard" in block]
    (recommenders / "jaccard.py").write_text(module, encoding="utf-8")
    [diff] = blocks(PAGE, "diff")  # a line, and the one that is added below it
    opening, entry = (line[1:] + "\n" for line in diff.splitlines())
    registered = (recommenders / "registry.py").read_text(encoding="utf-8")
    assert registered.count(opening) == 1
    (recommenders / "registry.py").write_text(
        registered.replace(opening, opening + entry), encoding="utf-8"
    )
    two_groups().write(tmp_path / "split.npz")

    [config] = [block for block in blocks(PAGE, "yaml") if "Jaccard" in block]
    recommender = yaml.safe_load(config)["recommenders"]["W"] | {"type": "jaccard"}
    settings = json.dumps(recommender)
    command = [sys.executable, "-W", "error", "-c", TRAIN_AND_RANK, settings]
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "src")}
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "recommenders.W.shrinkage: -1 is less than the minimum of 0" in ran.stdout
    table = exact_ranks(tmp_path / "ranks.csv")
    assert (table.above.tolist(), table.tied.tolist()) == ([0] * 14, [0] * 14)
