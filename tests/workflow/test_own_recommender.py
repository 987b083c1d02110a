"""A recommender of one's own in a study: docs/own-study.md, without the registration."""

import re
from pathlib import Path

import numpy as np
import pytest
from docs_blocks import blocks
from made_up_project import MORE, STUDY, Project, complete_config, ranked, split

from sampled_metrics.data.split import read_split
from sampled_metrics.ranks.exact import exact_ranks


def test_a_class_beside_the_config_is_trained_and_ranked(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    [module] = [block for block in blocks("own-study.md", "python") if "class Jaccard" in block]
    (project.folder / "mine").mkdir()
    (project.folder / "mine/models.py").write_text(module, encoding="utf-8")
    entry = {"type": "mine.models.Jaccard", "shrinkage": 10}
    monkeypatch.chdir(project.folder)
    config = complete_config(STUDY | {"recommenders": {"W": entry}})
    assert split(config, "made-up") == []
    ranked(config, "made-up", "W")
    held, table = read_split("split.npz"), exact_ranks("W.csv.gz")
    training = held.training.toarray()
    both = training.T @ training
    either = both.diagonal()[:, np.newaxis] + both.diagonal() - both
    scores = training @ (both / (either + 10) * (1 - np.eye(len(both))))
    own = scores[np.arange(len(scores)), held.item][:, np.newaxis]
    assert table.above.tolist() == ((scores > own * (1 + 1e-12)) & (training == 0)).sum(axis=1).tolist()


def test_a_class_that_was_edited_is_trained_again_and_nothing_else(finished: Project, tmp_path: Path) -> None:
    project = finished.copy(tmp_path / "copy")
    [module] = [block for block in blocks("own-study.md", "python") if "class Jaccard" in block]
    path = project.folder / "mine/models.py"
    path.parent.mkdir()
    path.write_text(module, encoding="utf-8")
    project.configure(recommenders=MORE | {"W": {"type": "mine.models.Jaccard", "shrinkage": 10}})
    models = [f"results/made-up/models/{name}.npz" for name in ("W", "X")]
    ran = project.snakemake(*models, "--cores", "1")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.findall(r"^train \w+ on made-up$", ran.stderr, re.MULTILINE) == ["train W on made-up"]
    assert "Nothing to be done" in project.snakemake(*models, "--cores", "1", "--dry-run").stdout
    path.write_text(f"{module}# edited\n", encoding="utf-8")
    ran = project.snakemake(*models, "--cores", "1", "--dry-run", "--quiet", "host")
    assert re.findall(r"recommender=(\S+)", ran.stdout + ran.stderr) == ["W"]
