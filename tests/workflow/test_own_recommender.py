"""A recommender of one's own in a study: docs/add-a-recommender.md, without the registration."""

import numpy as np
from docs_blocks import blocks
from made_up_project import Project

from sampled_metrics.data.split import read_split
from sampled_metrics.ranks.table import read_ranks

RANKS = "results/made-up/ranks/W.csv.gz"


def test_a_class_beside_the_config_is_trained_and_ranked(project: Project) -> None:
    (module,) = blocks("add-a-recommender.md", "python")
    (project.folder / "mine").mkdir()
    (project.folder / "mine/models.py").write_text(module, encoding="utf-8")
    entry = {"type": "mine.models.Jaccard", "shrinkage": 10}
    project.configure(recommenders={"W": entry})
    ran = project.snakemake(RANKS, "--cores", "1")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    split, table = read_split(project.folder / "results/made-up/split.npz"), read_ranks(project.folder / RANKS)
    training = split.training.toarray()
    both = training.T @ training
    either = both.diagonal()[:, np.newaxis] + both.diagonal() - both
    scores = training @ (both / (either + 10) * (1 - np.eye(len(both))))
    own = scores[np.arange(len(scores)), split.item][:, np.newaxis]
    assert table.above.tolist() == ((scores > own * (1 + 1e-12)) & (training == 0)).sum(axis=1).tolist()

    project.configure(recommenders={"W": entry | {"type": "mine.models.Jacard"}})
    ran = project.snakemake(RANKS, "--dry-run")
    assert ran.returncode == 1
    says = "recommenders.W.type: 'mine.models.Jacard' cannot be imported: AttributeError: module 'mine.models' has no"
    assert says in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stdout + ran.stderr
