"""What labels are called where people read them."""

import re

_METRICS = {"auc": "AUC", "ap": "AP", "ndcg": "NDCG", "recall": "Recall", "mrr": "MRR"}
_ESTIMATORS = {
    "exact": "Exact",
    "uncorrected": "Sampled (uncorrected)",
    "rank-estimate": "Rank Estimate",
    "cls": "CLS",
    "mle": "MLE",
    "mes": "MES",
    "adaptive": "Adaptive (EM)",
    "mapping-linear": "Mapping, linear",
    "mapping-bound": "Mapping, bound",
}


def metric_name(label: str) -> str:
    """Return the name of a metric label: ``ndcg@10`` is NDCG@10."""
    family, at, k = label.partition("@")
    return _METRICS.get(family, family.replace("-", " ").capitalize()) + at + k


def estimator_name(label: str) -> str:
    """Return the name of an estimator label: ``bv-0.1`` is BV 0.1, ``mn-mle`` is MN, MLE prior."""
    if label in _ESTIMATORS:
        return _ESTIMATORS[label]
    if found := re.fullmatch(r"(bv-[^-]*(?:e-[0-9]+)?|mn)-(mle|mes)(-pooled-prior)?", label):
        pooled = "pooled " if found[3] else ""
        return f"{estimator_name(found[1])}, {pooled}{found[2].upper()} prior"
    if found := re.fullmatch(r"mapping-beta-(.*)", label):
        return f"Mapping, beta {found[1]}"
    if found := re.fullmatch(r"(bv|mn|mle|mes)(?:-(.*))?", label):
        return found[1].upper() + (f" {found[2]}" if found[2] else "")
    return label
