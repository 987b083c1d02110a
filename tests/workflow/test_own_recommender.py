"""A recommender of one's own in a study: docs/add-a-recommender.md, without the registration."""

import numpy as np
import pytest
from docs_blocks import blocks
from made_up_project import STUDY, Project, complete_config, ranked, split

from sampled_metrics.data.split import read_split
from sampled_metrics.ranks.exact import exact_ranks


def test_a_class_beside_the_config_is_trained_and_ranked(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    (module,) = blocks("add-a-recommender.md", "python")
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

    project.configure(recommenders={"W": entry | {"type": "mine.models.Jacard"}})
    ran = project.snakemake("results/made-up/ranks/W.csv.gz", "--dry-run")
    assert ran.returncode == 1
    says = "recommenders.W.type: 'mine.models.Jacard' cannot be imported: AttributeError: module 'mine.models' has no"
    assert says in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stdout + ran.stderr
