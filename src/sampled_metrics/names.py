"""What labels are called where people read them."""

_METRICS = {"auc": "AUC", "ap": "AP", "ndcg": "NDCG", "recall": "Recall", "mrr": "MRR"}
_ESTIMATORS = {
    "exact": "Exact",
    "uncorrected": "Sampled (uncorrected)",
    "rank-estimate": "Rank Estimate",
    "cls": "CLS",
}


def metric_name(label: str) -> str:
    """Return the name of a metric label: ``ndcg@10`` is NDCG@10."""
    family, at, k = label.partition("@")
    return _METRICS.get(family, family.replace("-", " ").capitalize()) + at + k


def estimator_name(label: str) -> str:
    """Return the name of an estimator label: ``bv-0.1`` is BV 0.1."""
    return _ESTIMATORS.get(label, label.replace("bv-", "BV "))
