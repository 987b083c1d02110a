"""The example of docs/how-to/knowledge-graphs.md, on a made-up graph of 80 entities."""

from pathlib import Path

import numpy as np
import pytest
from docs_blocks import blocks

import sampled_metrics as sm

pytest.importorskip("pykeen", reason="PyKEEN is not installed")

from pykeen.evaluation import RankBasedEvaluator
from pykeen.triples import TriplesFactory

from docs.examples import knowledge_graph as example

pytestmark = pytest.mark.filterwarnings("ignore")  # PyKEEN's own
ENTITIES = 80


@pytest.fixture(scope="module")
def graphs():
    """Training and test triples: entities are linked to the next ones by two relations."""
    rng = np.random.default_rng(0)
    head = np.repeat(np.arange(ENTITIES), 6)
    relation = np.tile([0, 1], len(head) // 2)
    tail = (head + (1 + 7 * relation) * rng.integers(1, 5, len(head))) % ENTITIES
    triples = np.unique(np.stack([head, relation, tail], axis=1), axis=0)
    names = np.stack([[f"e{h:02}", f"r{r}", f"e{t:02}"] for h, r, t in rng.permutation(triples)])
    training = TriplesFactory.from_labeled_triples(names[60:])
    ids = {"entity_to_id": training.entity_to_id, "relation_to_id": training.relation_to_id}
    return training, TriplesFactory.from_labeled_triples(names[:60], **ids)


@pytest.fixture(scope="module")
def model(graphs):
    return example.trained(graphs[0], epochs=5)


def test_ranks_among_all_are_those_of_pykeen(graphs, model):
    training, test = graphs
    exact = example.among_all(model, test, example.known_tails(test, [training]))
    theirs = RankBasedEvaluator(filtered=True, clear_on_finalize=False)
    theirs.evaluate(
        model,
        test.mapped_triples,
        additional_filter_triples=[training.mapped_triples],
        targets=("tail",),
        use_tqdm=False,
    )
    best = np.concatenate(theirs.ranks["tail", "optimistic"])
    candidates = np.concatenate(theirs.num_candidates["tail"])
    np.testing.assert_array_equal(exact.above + 1, best)
    np.testing.assert_array_equal(exact.candidates, candidates)


def test_all_stages_give_the_exact_metrics(graphs, model, monkeypatch):
    training, test = graphs
    known = example.known_tails(test, [training])
    exact = sm.evaluate(example.among_all(model, test, known), metrics=example.METRICS)
    monkeypatch.setattr(example, "DEPTH", None)
    staged = example.in_stages(model, training, test, known)
    values = sm.evaluate(staged, metrics=example.METRICS)["value"]
    np.testing.assert_allclose(values, exact["value"], atol=1e-12)
    candidates_per_triple = test.num_entities - known.nnz / test.num_triples
    assert staged.scores_per_user < candidates_per_triple


def test_the_table_has_all_ways(graphs, model):
    training, test = graphs
    table = example.answers(model, training, test, [training])
    by_way = table[table["metric"] == "hit-rate@10"].set_index("ranks")
    exact = by_way.loc["all entities", "value"]
    for way in ("stages", "50 negatives, free"):
        assert by_way.loc[way, "low"] <= exact <= by_way.loc[way, "high"]
    assert by_way.loc["50 negatives, uncorrected", "value"] > exact


def test_the_page_shows_the_code_that_runs():
    code = Path(example.__file__).read_text(encoding="utf-8")
    [shown] = blocks("how-to/knowledge-graphs.md", "py")
    assert shown in code
