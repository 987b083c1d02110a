"""The words of a report, beside the remarks of the results themselves.

They say what its results and figures show.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sampled_metrics.checks import enumerated
from sampled_metrics.core.estimators import estimator_name
from sampled_metrics.core.evaluation import wording
from sampled_metrics.core.evaluation.comparison import Comparison
from sampled_metrics.core.evaluation.phrases import better
from sampled_metrics.core.evaluation.result import Result, cell
from sampled_metrics.core.evaluation.standings import MANY
from sampled_metrics.core.evaluation.verdict import Conclusion, Verdict
from sampled_metrics.core.evaluation.words.order import on_metrics
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import metric_name

BIASED = (
    "The next values are not the true metric. The uncorrected metric is another one, and the "
    "intervals of the others do not cover their bias."
)
BIASED_AUC = (
    "The uncorrected AUC of a uniform sample has no bias. The intervals of the others do not "
    "cover their bias."
)
"""What stands above the values of estimators with a bias."""

BY_SAMPLE_SIZE = (
    "The mean of an evaluation on sampled negatives, over all samples, by their number; thin "
    "lines: exact."
)
NOTHING_TO_SAMPLE = (
    "A user has no candidates besides the held-out item, so there is nothing to sample."
)


@dataclass(frozen=True)
class Orders:
    """What a sampled evaluation makes of the order of recommenders.

    Attributes:
        negatives: how many are sampled.
        verdicts: on all pairs, by the exact ranks, of the metrics that sampling may change.
        wrong: findings on the decided pairs that it orders wrongly on average.
        alike: verdicts on the decided pairs of which both have the same value on average.
        unchanged: labels of the metrics that sampling does not change on average.
    """

    negatives: int
    verdicts: Sequence[Verdict]
    wrong: Sequence[Any]
    alike: Sequence[Verdict]
    unchanged: Sequence[str]


def orders_in_words(orders: Orders, setting: Setting) -> list[str]:
    """Say which decided pairs a sample orders wrongly, and how many pairs are not decided."""
    sentences = list(wording.remarks(orders.wrong, setting))
    for verdict in orders.alike:
        sentences.append(
            f"By the exact {metric_name(verdict.metric)}, {better(*verdict.names)}. Among "
            f"{orders.negatives} sampled negatives, both have the same value on average."
        )
    conclusions = [verdict.conclusion for verdict in orders.verdicts]
    equivalent = conclusions.count(Conclusion.EQUIVALENT)
    undecided = conclusions.count(Conclusion.UNDECIDED) + equivalent
    if Conclusion.BETTER in conclusions and not sentences:
        pairs = "all decided pairs" if undecided else "all recommenders"
        sentences.append(
            f"With {orders.negatives} sampled negatives, {pairs} are ordered rightly on average."
        )
    if undecided:
        kinds = "Undecided or equivalent" if equivalent else "Undecided"
        sentences.append(
            f"{kinds} by the exact ranks: {undecided} of {len(conclusions)} comparisons of two "
            "recommenders by a metric. No order of these is right or wrong."
        )
    if orders.unchanged:
        labels = enumerated(map(metric_name, orders.unchanged))
        sentences.append(f"{labels} is left out here: sampling does not change it on average.")
    return sentences


def verdicts_in_words(compared: Comparison) -> tuple[str, ...]:
    """Say who is better, and what this assumes of the ranks."""
    is_decided = any(verdict.better is not None for verdict in compared.verdicts)
    on_metrics_together = wording.on_several_metrics(compared.findings, compared.setting)
    if len(compared.setting.names) == 2:
        answer = on_metrics(compared.verdicts, compared.setting)
        if is_decided:
            condition = wording.condition_of(compared.findings, compared.setting)
            answer = f"{answer.removesuffix('.')}{condition}."
        return (answer, *on_metrics_together)
    kinds = ("order", "by-margin", "best-pairs")
    on_order = [finding for finding in compared.findings if finding.kind in kinds]
    answers = wording.remarks(on_order, compared.setting)
    assumed = wording.assumed(compared.findings, compared.setting) if is_decided else ()
    return (*answers, *assumed, *on_metrics_together)


def metrics_in_words(results: Mapping[str, Result]) -> list[str]:
    """Return the metrics of each recommender as a sentence."""
    sentences = []
    for name, table in results.items():
        phrases = []
        for row in table.to_dict("records"):
            interval = f"{cell(row['low'])} to {cell(row['high'])}"
            phrases.append(f"{metric_name(row['metric'])} is {cell(row['value'])} ({interval})")
        sentences.append(f"{name}: {', '.join(phrases)}.")
    return sentences


def bounds_in_words(results: Mapping[str, Result]) -> list[str]:
    """Return what the strict bounds of each recommender allow: the sentence of the first row."""
    return [f"{name}: {table.sentence()}" for name, table in results.items()]


def left_out(estimator: str, recommender: str, error: Exception) -> str:
    """Say why an estimator has no values."""
    return f"{estimator_name(estimator)} is left out for {recommender}: {error}."


def by_recommender_in_words(sentences_by_name: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the sentences on recommenders once each, with the names of those that have them.

    A sentence on all of them has no names.
    """
    names_by_sentence: dict[str, list[str]] = {}
    for name, sentences in sentences_by_name.items():
        for sentence in sentences:
            names_by_sentence.setdefault(sentence, []).append(name)
    named = []
    for sentence, names in names_by_sentence.items():
        is_on_all = len(names) == len(sentences_by_name)
        named.append(sentence if is_on_all else f"{enumerated(names)}: {sentence}")
    return named


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
