"""PyKEEN: against ranks from its scores of all triples, and its own evaluation."""

import numpy as np
import pytest
from docs_blocks import blocks
from expected_ranks import of_page

import sampled_metrics as sm

pytestmark = pytest.mark.filterwarnings("ignore")  # the library's own
pytest.importorskip("pykeen", reason="PyKEEN is not installed")
pykeen_ranks = of_page("pykeen_ranks")


@pytest.fixture(scope="module")
def trained():
    """A model of 100 made-up triples of 15 entities, and the factories of training and test."""
    from pykeen.models import DistMult
    from pykeen.training import SLCWATrainingLoop
    from pykeen.triples import TriplesFactory

    rng = np.random.default_rng(0)
    names = [(f"e{h}", f"r{r}", f"e{t}") for h in range(15) for r in range(2) for t in range(15)]
    chosen = [names[at] for at in rng.choice(len(names), 130, replace=False)]
    training = TriplesFactory.from_labeled_triples(np.array(chosen[:100]))
    test = TriplesFactory.from_labeled_triples(
        np.array(chosen[100:]), entity_to_id=training.entity_to_id, relation_to_id=training.relation_to_id
    )
    model = DistMult(triples_factory=training, embedding_dim=4, random_seed=0)
    SLCWATrainingLoop(model=model, triples_factory=training, optimizer="adam").train(
        training, num_epochs=3, use_tqdm=False
    )
    return model, training, test


@pytest.mark.parametrize("target", ["tail", "head"])
def test_ranks(trained, target: str) -> None:
    from pykeen.evaluation import RankBasedEvaluator
    from pykeen.predict import predict_triples

    model, training, test = trained
    table = pykeen_ranks(model, test, [training.mapped_triples], target=target)
    known = {tuple(triple) for each in (training, test) for triple in each.mapped_triples.tolist()}
    column = {"head": 0, "tail": 2}[target]
    for row, triple in enumerate(test.mapped_triples.tolist()):
        others = [[*triple[:column], entity, *triple[column + 1 :]] for entity in range(training.num_entities)]
        others = [other for other in others if tuple(other) not in known]
        import torch

        scores = predict_triples(model=model, triples=torch.tensor([triple, *others])).scores.squeeze(-1).numpy()
        assert table.candidates[row] == len(others) + 1
        np.testing.assert_allclose(table.above[row], (scores[1:] > scores[0]).sum())
    assert table.tied.sum() == 0
    assert table.user[0] == " ".join(test.triples[0])
    assert len(set(table.user)) == len(table) == 30

    theirs = RankBasedEvaluator(filtered=True).evaluate(
        model, test.mapped_triples, additional_filter_triples=[training.mapped_triples], use_tqdm=False
    )
    ours = sm.evaluate(table, metrics=["recall@5", "mrr"])["value"]
    expected = [theirs.get_metric(f"{target}.realistic.{name}") for name in ("hits_at_5", "inverse_harmonic_mean_rank")]
    np.testing.assert_allclose(ours, expected, rtol=1e-6)


@pytest.mark.parametrize("target", ["tail", "head"])
def test_chance_adjusted_metrics_of_the_docs(trained, target: str) -> None:
    from pykeen.metrics import ranking

    model, training, test = trained
    table = pykeen_ranks(model, test, [training.mapped_triples], target=target)
    assert len(set(table.candidates)) > 1
    [code] = [each for each in blocks("adapters.md", "py") if each.startswith("def adjusted")]
    page = {"np": np, "sm": sm}
    exec(code, page)
    ranks = 1 + table.above + table.tied / 2
    ours = page["adjusted"](sm.evaluate(table, metrics=["mrr", "hits@5"]), table.candidates)["value"].tolist()
    ours.append(page["adjusted_mean_rank_index"](ranks, table.candidates))
    theirs = (
        ranking.AdjustedInverseHarmonicMeanRank(),
        ranking.AdjustedHitsAtK(k=5),
        ranking.AdjustedArithmeticMeanRankIndex(),
    )
    np.testing.assert_allclose(ours, [metric(ranks, table.candidates) for metric in theirs], rtol=1e-12)
