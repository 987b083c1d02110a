"""Ranks of models of PyKEEN, of the entities that complete triples."""

from typing import Any

import numpy as np

from sampled_metrics.ranks.exact import ExactRanks


def ranks(model: Any, test: Any, known: list[Any], *, target: str = "tail") -> ExactRanks:
    """Rank the true entity of each test triple among all entities that make no other known triple.

    These are the ranks of PyKEEN's RankBasedEvaluator(filtered=True).

    Args:
        model: a trained model.
        test: TriplesFactory of the test triples.
        known: mapped triples that are true too, such as those of training and validation; filtered out like the other
            test triples.
        target: which entity is ranked, tail or head.

    Returns:
        A row for each test triple, whose user is the triple.
    """
    from pykeen.evaluation import RankBasedEvaluator

    evaluator = RankBasedEvaluator(filtered=True, clear_on_finalize=False)
    evaluator.evaluate(model, test.mapped_triples, additional_filter_triples=known, targets=(target,), use_tqdm=False)
    optimistic, pessimistic = (
        np.concatenate(evaluator.ranks[target, kind]).astype(np.int64) for kind in ("optimistic", "pessimistic")
    )
    return ExactRanks(
        np.array([" ".join(triple) for triple in test.label_triples(test.mapped_triples)]),
        np.concatenate(evaluator.num_candidates[target]),
        optimistic - 1,
        pessimistic - optimistic,
    )
