"""Ranked lists of models of sentence-transformers, and validation while they train."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sampled_metrics.checks import MOST, require_confidence_level, require_whole
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import MetricsLike, metrics_by_label
from sampled_metrics.core.ranks.table import Table
from sampled_metrics.errors import ConfigError

Hits = Sequence[Sequence[dict[str, Any]]]
"""For each query, the documents that were found: their corpus_id and score."""


def ranks(model: Any, evaluator: Any) -> Any:
    """Return the documents that a model finds for the queries of an evaluator.

    Args:
        model: a model that the evaluator takes.
        evaluator: an InformationRetrievalEvaluator with one score function. A list has as many
            documents as its largest k, by default 100.

    Returns:
        The `RankedLists`, for `evaluate` and `compare`. Their NDCG, MRR, MAP, recall, precision and
        hit rate up to this k equal the evaluator's. Of documents with equal scores, the last id
        comes first, as in trec_eval.

    Raises:
        ConfigError: the evaluator has several score functions.
    """
    judged = JudgedQueries(evaluator)
    lists: list[Table] = []
    follow = evaluator.compute_metrics
    _call_with_hits(evaluator, lambda hits: lists.append(judged.ranks(hits)))
    try:
        evaluator(model)
    finally:
        evaluator.compute_metrics = follow
    return lists[0]


def validator(
    evaluator: Any,
    *,
    metrics: MetricsLike = ("ndcg@10", "mrr@10", "recall@10"),
    epochs: int | None = None,
    confidence_level: float = 0.95,
) -> Any:
    """Follow an evaluator with a validator, which says whether a training still improves.

    Give the evaluator to the trainer as before. Each call of it is an epoch of the validator, whose
    answers and intervals are over the queries. What the evaluator returns does not change.

    Args:
        evaluator: as in `ranks`.
        metrics: metrics of `ranked_lists` with a cut-off. The first one decides.
        epochs: the largest number of calls of the evaluator, if it is known, as in
            `sampled_metrics.validator`.
        confidence_level: as in `sampled_metrics.validator`.

    Returns:
        The `Validator`: its `history`, `contenders` and `stop`.

    Raises:
        ConfigError: a metric has no cut-off, or one above the evaluator's largest k; or an option
            is wrong. The evaluator raises it if it has several score functions.

    Examples:
        >>> from sampled_metrics import adapters
        >>> validator = adapters.sentence_transformers.validator(evaluator)  # doctest: +SKIP
        >>> trainer = SentenceTransformerTrainer(model, evaluator=evaluator)  # doctest: +SKIP
        >>> validator.history  # doctest: +SKIP
    """
    from sampled_metrics.validation.standing import Spending
    from sampled_metrics.validation.validator import Validator

    setting = Setting(require_confidence_level(confidence_level))
    if epochs is not None:
        require_whole(1, MOST, epochs=epochs)
    judged = JudgedQueries(evaluator)
    by_label = metrics_by_label(metrics)
    for label, metric in by_label.items():
        if metric.cutoff is None or metric.cutoff > judged.largest_k:
            raise ConfigError(
                f"metrics: {label} needs a cut-off of at most {judged.largest_k}, the evaluator's "
                "largest k"
            )
    spending = Spending(1 - setting.confidence_level, None if epochs is None else int(epochs))
    validate = Validator(by_label, judged, setting, spending)
    _call_with_hits(evaluator, validate)
    return validate


@dataclass(frozen=True)
class JudgedQueries:
    """The queries of an evaluator and their relevant documents.

    Attributes:
        evaluator: the evaluator.
    """

    evaluator: Any

    @property
    def largest_k(self) -> int:
        """The number of documents of a list."""
        names = ("accuracy_at_k", "precision_recall_at_k", "mrr_at_k", "ndcg_at_k", "map_at_k")
        return max(max(getattr(self.evaluator, name), default=0) for name in names)

    @property
    def task(self) -> dict[str, Any]:
        """A digest of the relevant documents and of the names of the corpus."""
        relevant = [(query, sorted(ids)) for query, ids in self._relevant().items()]
        names = repr((sorted(relevant), sorted(map(str, self.evaluator.corpus_ids))))
        return {"queries": hashlib.sha256(names.encode()).hexdigest()}

    def ranks(self, hits: Hits) -> Any:
        """Return the lists of the hits, in the order of the queries."""
        from sampled_metrics.lists.ranked_lists import ranked_lists

        relevance = {
            query: dict.fromkeys(documents, 1) for query, documents in self._relevant().items()
        }
        lists = {
            query: {str(hit["corpus_id"]): float(hit["score"]) for hit in hits_of_query}
            for query, hits_of_query in zip(relevance, hits, strict=True)
        }
        return ranked_lists(lists, relevance=relevance)

    def _relevant(self) -> dict[str, list[str]]:
        relevant_docs = self.evaluator.relevant_docs
        return {
            str(query): list(map(str, relevant_docs[query])) for query in self.evaluator.queries_ids
        }


def _call_with_hits(evaluator: Any, function: Callable[[Hits], Any]) -> None:
    """Let an evaluator call a function with the hits of its queries, before its own metrics."""

    def compute_metrics(hits: Hits) -> Any:
        if len(evaluator.score_functions) > 1:
            raise ConfigError(
                "evaluator: has several score_functions; make an evaluator with each of them"
            )
        function(hits)
        return type(evaluator).compute_metrics(evaluator, hits)

    evaluator.compute_metrics = compute_metrics
