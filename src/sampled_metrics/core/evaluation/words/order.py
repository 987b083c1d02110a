"""The order of recommenders: verdicts, standings and margins, in words."""

from __future__ import annotations

from collections.abc import Sequence

from sampled_metrics.checks import enumerated
from sampled_metrics.core.evaluation.phrases import better
from sampled_metrics.core.evaluation.questions import in_words
from sampled_metrics.core.evaluation.standings import MANY, Standings
from sampled_metrics.core.evaluation.verdict import Conclusion, Lead, Verdict
from sampled_metrics.core.findings import grouped
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import metric, metric_name

_FEW = 3  # recommenders that a sentence names in place of "all others"


# --- names of metrics ---


def of_runs(name: str, inference: str) -> str:
    """Return the name of a metric, and which runs its value describes if there are seeds."""
    return f"{name} of {in_words(inference)}" if inference else name


def compared_name(label: str, setting: Setting) -> str:
    """Return the name of what is compared: a sampled metric, or the metric itself, as for AUC."""
    is_sampled = setting.is_uncorrected and metric(label).label != "auc"
    return f"{'Sampled ' if is_sampled else ''}{metric_name(label)}"


# --- verdicts ---


def on_metrics(verdicts: Sequence[Verdict], setting: Setting) -> str:
    """Return in words which of two recommenders is better, by metric.

    With a margin, they say by how much.
    """
    a, b = setting.names
    beginnings = {
        Conclusion.EQUIVALENT: f"{a} and {b} are equivalent on ",
        Conclusion.UNDECIDED: f"Undecided between {a} and {b}: ",
        Conclusion.NO_VERDICT: f"No verdict on {a} and {b}: ",
    }
    order = [Conclusion.BETTER, *beginnings]
    by_conclusion_and_size = grouped(
        verdicts, lambda verdict: (verdict.conclusion, verdict.better, verdict.size)
    )
    by_conclusion = sorted(
        by_conclusion_and_size.values(),
        key=lambda same: (order.index(same[0].conclusion), -len(same)),
    )
    sentences = []
    for same in by_conclusion:
        conclusion = same[0].conclusion
        is_decided = conclusion is Conclusion.BETTER
        beginning = f"{better(*same[0].names)} on " if is_decided else beginnings[conclusion]
        metrics = [of_runs(metric_name(verdict.metric), verdict.inference) for verdict in same]
        sentence = f"{beginning}{enumerated(metrics)}"
        if same[0].size.value and setting.margin is not None:
            sentence += f", by {same[0].size.value} of {setting.margin.text}"
        sentences.append(f"{sentence}.")
    return " ".join(sentences)


# --- many recommenders ---


def best_alone(metric: str, most: int, recommenders: int) -> str:
    """Say that only the best of many recommenders by a metric are shown."""
    return f"Of {recommenders} recommenders, the {most} best by {metric_name(metric)} are shown."


def standing(standings: Standings, others: str = "all others") -> list[str]:
    """Say who is better than whom by a metric, and then who cannot be distinguished.

    Of many recommenders, say only how many the best one beats.
    """
    names = [row.name for row in standings.rows]
    count = len(names) - 1
    if count >= MANY:
        beaten = sum(winner == 0 for winner, _ in standings.decided)
        return [
            f"{names[0]} has the largest value, and is better than {beaten} of the {count} others."
        ]
    by_losers = dict[tuple[int, ...], list[int]]()
    for row in range(len(names)):
        losers = tuple(worse for winner, worse in standings.decided if winner == row)
        if losers:
            by_losers.setdefault(losers, []).append(row)
    sentences = []
    for losers, winners in by_losers.items():
        all_others = len(losers) > _FEW and len(losers) + len(winners) == len(names)
        than = others if all_others else enumerated([names[row] for row in losers])
        verb = "is" if len(winners) == 1 else "are"
        sentences.append(
            f"{enumerated([names[row] for row in winners])} {verb} better than {than}."
        )
    undecided = [
        enumerated([names[row] for row in group]) for group in standings.groups if len(group) > 1
    ]
    if undecided:
        sentences.append(
            f"{', and '.join(undecided)}{',' * (len(undecided) > 1)} cannot be distinguished."
        )
    return sentences


# --- margins ---


def by_margin(verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Return, by metric, the equivalent pairs, and those that differ by more or less than a margin.

    Metrics without such pairs are left out.
    """
    pairs_by_metric = dict[str, str]()
    for label, on_metric in grouped(verdicts, lambda verdict: verdict.metric).items():
        texts = []
        for verdict in on_metric:
            if verdict.conclusion is Conclusion.EQUIVALENT:
                texts.append(f"{' and '.join(verdict.names)} are equivalent")
            elif verdict.better is not None and verdict.size is not Lead.UNKNOWN:
                texts.append(f"{better(*verdict.names)} by {verdict.size.value}")
        if texts:
            pairs_by_metric[label] = "; ".join(texts)
    return pairs_by_metric
