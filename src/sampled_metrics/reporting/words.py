"""The words of a report on its results and figures, besides the remarks of the results."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from sampled_metrics.checks import enumerated
from sampled_metrics.core.estimators import estimator_name
from sampled_metrics.core.evaluation import wording
from sampled_metrics.core.evaluation.comparison import Comparison
from sampled_metrics.core.evaluation.result import Result
from sampled_metrics.core.evaluation.standings import MANY
from sampled_metrics.core.evaluation.words.order import on_metrics
from sampled_metrics.core.metrics import metric_name

BIASED = (
    "The next values are not the true metric. The uncorrected metric is another one, and the "
    "intervals of the others do not cover their bias."
)
BIASED_AUC = (
    "The uncorrected AUC of a uniform sample has no bias. The intervals of the others do not "
    "cover their bias."
)
"""The sentences above the values of estimators with a bias."""

_OF_ONE_ITEM = {
    "recall": "the share of held-out items that are among the first {k}",
    "hit-rate": "the share of held-out items that are among the first {k}",
    "ndcg": "1 / log2(rank + 1) of the held-out item",
    "ap": "1 / rank of the held-out item",
    "mrr": "1 / rank of the held-out item",
    "auc": "the share of other candidates that are ranked below the held-out item",
}
_OF_LISTS = {
    "recall": "the share of a user's relevant items that are among the first {k}",
    "hit-rate": "the share of users with a relevant item among the first {k}",
    "precision": "the share of the first {k} items that are relevant",
    "ndcg": "1 if the relevant items are ranked first, and less the lower they are ranked",
    "ap": "the precision at the rank of each relevant item",
    "mrr": "1 / rank of the first relevant item",
}
"""What the mean over users is a mean of, by the beginning of the label of a metric."""


def meanings(labels: Iterable[str], has_one_relevant_item: bool) -> list[str]:
    """Say what some metrics are; one that is not usual is left out."""
    known = _OF_ONE_ITEM if has_one_relevant_item else _OF_LISTS
    sentences: list[str] = []
    for label in dict.fromkeys(labels):
        kind, _, cut_off = str(label).lower().partition("@")
        if kind in known:
            below = f", 0 below rank {cut_off}" if cut_off and "{k}" not in known[kind] else ""
            name = metric_name(str(label))
            sentences.append(f"{name}: {known[kind].format(k=cut_off)}{below}; mean over users.")
    return sentences


_EXPLAINING = (
    "seeds",
    "one-seed",
    "bounds-of-seeds",
    "margin",
    "relative-margin",
    wording.SEVERAL_METRICS,
)
"""Kinds of findings that say how verdicts are read."""


def verdicts_in_words(compared: Comparison) -> tuple[str, ...]:
    """Say who is better; of several seeds, by new runs if there are any."""
    if len(compared.setting.names) == 2:
        answer = on_metrics(compared.verdicts, compared.setting)
        if any(verdict.better is not None for verdict in compared.verdicts):
            answer = f"{answer.removesuffix('.')}{compared.verdicts[0].assumes}."
        return (answer,)
    inference = compared.verdicts[0].inference if compared.verdicts else ""
    kinds = ("order", "by-margin", "best-pairs")
    on_order = [
        finding
        for finding in compared.findings
        if finding.kind in kinds and finding.values.get("inference", inference) == inference
    ]
    return wording.remarks(on_order, compared.setting)


def notes_in_words(compared: Comparison) -> tuple[str, ...]:
    """Say what the verdicts assume, if their sentences do not, and how to read them."""
    assumptions: tuple[str, ...] = ()
    if len({verdict.assumes for verdict in compared.verdicts}) > 1:
        assumptions = wording.assumed(compared.findings, compared.setting)
    explaining = [finding for finding in compared.findings if finding.kind in _EXPLAINING]
    return (*assumptions, *wording.remarks(explaining, compared.setting))


def metrics_in_words(result: Result) -> list[str]:
    """Return each row of a result as a sentence."""
    return [result.iloc[[row]].sentence() for row in range(len(result))]


def bounds_in_words(result: Result, names: Sequence[str]) -> list[str]:
    """Return what the strict bounds of each recommender allow: the sentence of its first row."""
    if len(names) == 1:
        return [result.sentence()]
    return [result[result["recommender"] == name].sentence() for name in names]


def left_out(estimator: str, recommender: str, error: Exception) -> str:
    """Say why an estimator has no values: the ranks of a recommender are not valid for it."""
    whose = f" because of {recommender}" if recommender else ""
    return f"{estimator_name(estimator)} is left out{whose}: {error}."


def several_in_words(names: Collection[str]) -> str:
    """Return the names of recommenders, or of many their number."""
    return enumerated(names) if len(names) <= MANY else f"{len(names)} recommenders"


def of_histograms(is_sampled: bool) -> str:
    """Say what the bars of histograms of ranks are."""
    among = "the sampled negatives" if is_sampled else "all candidates"
    return (
        f"Ranks of the held-out items among {among}, from best to worst; the last bars are those "
        "up to half of the ranked items, and the worse half. Ties count in expectation."
    )
