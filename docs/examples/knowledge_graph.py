"""Rank the tails of test triples: among all entities, among 50 negatives, and in stages.

python -m docs.examples.knowledge_graph     # needs pykeen and torch; UMLS comes with PyKEEN

docs/how-to/knowledge-graphs.md shows the output.
"""

import random

import numpy as np
import pandas as pd
import torch
from pykeen.evaluation import SampledRankBasedEvaluator
from pykeen.models import DistMult
from pykeen.training import LCWATrainingLoop
from scipy.sparse import csr_array, lil_array

import sampled_metrics as sm

K = 10
DEPTH = 10
NEGATIVES = 50
METRICS = ["mrr@10", "hit-rate@10"]


def trained(training, epochs=20):
    """Train a small DistMult."""
    model = DistMult(triples_factory=training, embedding_dim=32, random_seed=0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    loop = LCWATrainingLoop(model=model, triples_factory=training, optimizer=optimizer)
    loop.train(training, num_epochs=epochs, batch_size=512, use_tqdm=False)
    return model.eval()


def known_tails(test, graphs):
    """Return the (triples, entities) tails that are true for the head and relation of a triple.

    The tail of the triple itself is left out.
    """
    tails = {}
    for graph in (test, *graphs):
        for head, relation, tail in graph.mapped_triples.tolist():
            tails.setdefault((head, relation), set()).add(tail)
    known = lil_array((test.num_triples, test.num_entities))
    for row, (head, relation, tail) in enumerate(test.mapped_triples.tolist()):
        known[row, sorted(tails[head, relation] - {tail})] = 1
    return csr_array(known)


def among_all(model, test, known):
    """Return the exact ranks, which are those of PyKEEN's filtered evaluation."""
    triples = test.mapped_triples
    with torch.no_grad():
        scores = model.predict_t(triples[:, :2]).numpy()
    return sm.rank(scores, known, triples[:, 2].numpy())


def among_negatives(model, test, graphs, known, seed=0):
    """Return the ranks of PyKEEN's sampled evaluator."""
    random.seed(seed)  # PyKEEN draws with it
    filters = [graph.mapped_triples for graph in graphs]
    evaluator = SampledRankBasedEvaluator(
        test,
        additional_filter_triples=filters,
        num_negatives=NEGATIVES,
        clear_on_finalize=False,
    )
    evaluator.evaluate(
        model,
        test.mapped_triples,
        additional_filter_triples=filters,
        targets=("tail",),
        use_tqdm=False,
    )
    best = np.concatenate(evaluator.ranks["tail", "optimistic"]).astype(int)
    worst = np.concatenate(evaluator.ranks["tail", "pessimistic"]).astype(int)
    candidates = test.num_entities - np.diff(known.indptr)
    rank = np.random.default_rng(seed).integers(best, worst + 1)  # ties are broken at random
    return sm.sampled_ranks(rank, negatives=NEGATIVES, candidates=candidates)


def in_stages(model, training, test, known):
    """Return staged ranks. Frequent tails of the relation are scored first."""
    triples = test.mapped_triples
    relations = triples[:, 1].numpy()
    frequency = np.zeros((training.num_relations, training.num_entities))
    _, relation, tail = training.mapped_triples.numpy().T
    np.add.at(frequency, (relation, tail), 1)

    def score(rows, entities):
        pairs = triples[torch.as_tensor(rows)].clone()
        pairs[:, 2] = torch.as_tensor(entities)
        with torch.no_grad():
            return model.predict_hrt(pairs).numpy().ravel()

    return sm.staged_ranks(
        score,
        known,
        triples[:, 2].numpy(),
        k=K,
        depth=DEPTH,
        order=lambda row: frequency[relations[row]],
    )


def answers(model, training, test, graphs):
    """Return the metrics of each way to rank, and the scores that a triple takes."""
    known = known_tails(test, graphs)
    exact = among_all(model, test, known)
    sampled = among_negatives(model, test, graphs, known)
    staged = in_stages(model, training, test, known)
    scores_of_staged = staged.scored.mean()
    tables = [
        ("all entities", exact.candidates.mean(), sm.evaluate(exact, metrics=METRICS)),
        ("stages", scores_of_staged, sm.evaluate(staged, metrics=METRICS)),
    ]
    corrected = sm.correct(
        sampled, metrics=METRICS, estimators=["decreasing", "free", "uncorrected"]
    )
    for estimator, rows in corrected.groupby("estimator", sort=False):
        tables.append((f"{NEGATIVES} negatives, {estimator}", NEGATIVES + 1, rows))
    return pd.concat(
        [
            pd.DataFrame(rows)[["metric", "value", "low", "high"]].assign(ranks=name, scores=scores)
            for name, scores, rows in tables
        ]
    )


def main():
    """Print the table."""
    from pykeen.datasets import UMLS

    torch.set_num_threads(1)
    graph = UMLS()
    graphs = (graph.training, graph.validation)
    model = trained(graph.training)
    print(f"{graph.testing.num_triples} test triples, {graph.num_entities} entities")
    table = answers(model, graph.training, graph.testing, graphs)
    columns = ["ranks", "scores", "metric", "value", "low", "high"]
    print(table[columns].sort_values("metric", kind="stable").round(3).to_string(index=False))


if __name__ == "__main__":
    main()
