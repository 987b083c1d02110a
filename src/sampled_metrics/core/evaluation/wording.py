"""The findings of a result in English: cautions, remarks and the sentence on it.

The words of each kind stand in its entry (`sampled_metrics.core.evaluation.kinds`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from sampled_metrics.checks import counted
from sampled_metrics.core.estimators import estimator_name
from sampled_metrics.core.evaluation.kinds import KINDS, Kind
from sampled_metrics.core.evaluation.phrases import ASSUMPTIONS, percent
from sampled_metrics.core.evaluation.standings import Standings
from sampled_metrics.core.evaluation.values import NO_BIAS
from sampled_metrics.core.evaluation.verdict import Verdict
from sampled_metrics.core.evaluation.words.order import (
    assumed_of_pair,
    compared_name,
    on_pair,
    standing,
)
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import metric_name
from sampled_metrics.core.ranks.groups import ALL
from sampled_metrics.core.ranks.reading import UNNAMED_TABLE
from sampled_metrics.errors import printable

_ON_ASSUMPTIONS = ("assumes", "equal-bias")
"""Kinds of findings on what the intervals of a comparison assume."""

SEVERAL_METRICS = "several-metrics"
"""The kind of the finding that verdicts are on several metrics."""


class _Sentence(NamedTuple):
    """A sentence, and what it is about."""

    kind: str
    names: tuple[str, ...]
    group: str
    text: str


class _Placed(NamedTuple):
    """The text of a sentence, and its place among the others."""

    place: int
    text: str


def cautions(findings: Iterable[Any], setting: Setting) -> tuple[str, ...]:
    """Return the cautions as sentences."""
    on_cautions = [finding for finding in findings if KINDS[finding.kind].is_caution]
    return _sentences(on_cautions, setting)


def remarks(findings: Iterable[Any], setting: Setting) -> tuple[str, ...]:
    """Return the findings that are not cautions as sentences."""
    without_cautions = [finding for finding in findings if not KINDS[finding.kind].is_caution]
    return _sentences(without_cautions, setting)


def sentence(rows: Sequence[Mapping[str, Any]], findings: Sequence[Any], setting: Setting) -> str:
    """Say in one sentence what the first row of a result shows, and what it assumes."""
    row = rows[0] if rows else {}
    if "difference" in row:
        return _of_comparison(row, findings, setting)
    if "expected" in row:
        return _of_expectation(row, setting)
    if "value" in row:
        return _of_value(row, setting)
    sentences = remarks(findings, replace(setting, gives_advice=False))
    sentences += cautions(findings, setting)
    return sentences[0] if sentences else f"{setting.parameters}."


def _of_comparison(row: Mapping[str, Any], findings: Sequence[Any], setting: Setting) -> str:
    """Return the first remark on the metric of a row, and what its interval assumes."""
    group = "" if row.get("group", ALL) == ALL else row["group"]
    key = (row["metric"], group, row.get("of", ""))
    verdicts = [
        finding
        for finding in findings
        if isinstance(finding, Verdict) and (finding.metric, finding.group, finding.of) == key
    ]
    name = compared_name(str(row["metric"]), setting)
    if not verdicts:
        return f"{name} is not defined."
    subject = f"{name} of {row['of']}" if "of" in row else name
    if group:
        subject = f"{group}, {subject}"
    if len(setting.names) > 2:
        conclusion = standing(Standings.from_verdicts(verdicts))[0]
    else:
        conclusion = on_pair(verdicts[0], replace(setting, gives_advice=False))
    condition = ""
    if verdicts[0].has_interval:
        condition = condition_of(findings, setting)
        for finding in findings:
            if finding.kind == SEVERAL_METRICS:
                level = percent(setting.confidence_level)
                condition += (
                    f" (one of {finding.values['metrics']} metrics, each with its own {level} "
                    "confidence)"
                )
    return f"{subject}: {conclusion.removesuffix('.')}{condition}."


def condition_of(findings: Iterable[Any], setting: Setting) -> str:
    """Return what the intervals of a comparison assume, as a clause.

    It is empty if they assume nothing.
    """
    assumptions = [finding for finding in findings if finding.kind in _ON_ASSUMPTIONS]
    if any(finding.kind == "equal-bias" for finding in assumptions):
        return f", if the bias of {estimator_name(setting.estimator)} is equal for both"
    texts = dict.fromkeys(assumed_of_pair(finding) for finding in assumptions)
    return "".join(f", if {text}" for text in texts if text)


def _of_value(row: Mapping[str, Any], setting: Setting) -> str:
    """Return the value of a row with its interval, and what that assumes."""
    subject = metric_name(str(row["metric"]))
    if row.get("group", ALL) != ALL:
        subject = f"{row['group']}: {subject}"
    if "recommender" in row:
        subject += f" of {row['recommender']}"
    if np.isnan(row["value"]):
        return f"{subject} is not defined."
    if "of" in row:
        subject += f", of {row['of']},"
    by = f" by {estimator_name(str(row['estimator']))}" if "estimator" in row else ""
    statement = f"{subject} is {row['value']:.4f}{by}"
    if np.isnan(row.get("low", np.nan)):
        return f"{statement}, without an interval."
    assumption = ASSUMPTIONS.get(str(row.get("assumes", "")), "")
    if row.get("assumes") == NO_BIAS:
        assumption = "the bias of the estimator is zero"
    condition = f", if {assumption}" if assumption else ""
    level = percent(setting.confidence_level)
    return f"{statement} ({level} interval {row['low']:.4f} to {row['high']:.4f}){condition}."


def _of_expectation(row: Mapping[str, Any], setting: Setting) -> str:
    """Return the exact value of a row, and the one that is expected of a sample."""
    by = "" if row["estimator"] == "uncorrected" else f" by {estimator_name(str(row['estimator']))}"
    return (
        f"{metric_name(str(row['metric']))} of {row['recommender']} is {row['exact']:.4f}, and "
        f"among {counted(setting.negatives, 'sampled negative')} {row['expected']:.4f} on "
        f"average{by}."
    )


def on_several_metrics(findings: Iterable[Any], setting: Setting) -> tuple[str, ...]:
    """Say that the metrics of a comparison are not adjusted, if there are several."""
    several = [finding for finding in findings if finding.kind == SEVERAL_METRICS]
    return _sentences(several, setting)


def assumed(findings: Iterable[Any], setting: Setting) -> tuple[str, ...]:
    """Return what the intervals of a comparison assume."""
    assumptions = [
        finding for finding in findings if finding.kind in _ON_ASSUMPTIONS and not finding.group
    ]
    return _sentences(assumptions, setting)


def _sentences(findings: Sequence[Any], setting: Setting) -> tuple[str, ...]:
    """Return findings as sentences, in their order.

    Findings of a kind that belong together make one sentence.
    """
    # the clauses of each sentence, each once; only clauses may have names, which may hold {}
    clauses = dict[_Sentence, dict[str, None]]()
    worded_together = set[tuple[Any, str]]()
    for finding in findings:
        kind = KINDS[finding.kind]
        if kind.together is None:
            text, clause = _text_and_clause(kind, finding, setting)
            names = () if kind.names_recommenders else finding.names
            sentence = _Sentence(finding.kind, names, finding.group, text)
            clauses.setdefault(sentence, {})[clause] = None
            continue
        key = (kind.together, finding.group)
        if key in worded_together:
            continue
        worded_together.add(key)
        alike = [
            finding for finding in findings if (KINDS[finding.kind].together, finding.group) == key
        ]
        for text in kind.together(alike, findings, setting):
            clauses[_Sentence(finding.kind, (), finding.group, text)] = {"": None}

    sentences = list[_Sentence]()
    for sentence, texts in clauses.items():
        if any(texts):
            sentence = sentence._replace(text=sentence.text.replace("{}", ", ".join(texts)))
        sentences.append(sentence)
    in_order = sorted(_named(sentences, setting), key=lambda sentence: sentence.place)
    return tuple(dict.fromkeys(printable(sentence.text) for sentence in in_order))


def _text_and_clause(kind: Kind, finding: Any, setting: Setting) -> tuple[str, str]:
    """Return the sentence of a finding, and its clause, which may be empty."""
    if callable(kind.sentence):
        words = kind.sentence(finding, setting)
        return words if isinstance(words, tuple) else (_with_source(words, finding), "")
    values = dict(finding.values)
    values["metric"] = metric_name(finding.metric)
    values["confidence"] = percent(setting.confidence_level)
    if "estimator" in values:
        values["estimator_name"] = estimator_name(values["estimator"])
    return _with_source(kind.sentence.format(**values), finding), kind.clause.format(**values)


def _with_source(text: str, finding: Any) -> str:
    """Return a sentence after the name of the file or table that it is on.

    The name is left out if the recommender is called so.
    """
    source = finding.values.get("source", "")
    return text if source in ("", UNNAMED_TABLE, *finding.names) else f"{source}: {text}"


def _named(sentences: Sequence[_Sentence], setting: Setting) -> list[_Placed]:
    """Return sentences after the recommender and the group that they are about.

    Neither is named if the sentence is about all. Each sentence has the place of its recommender:
    verdicts are first, then the recommenders in their order, and then what is said of all.
    """
    said_of_all_users = {sentence.text for sentence in sentences if not sentence.group}
    named = list[_Placed]()
    for sentence in sentences:
        kind = KINDS[sentence.kind]
        names_with_text = set[str]()
        for alike in sentences:
            if alike.text == sentence.text:
                names_with_text.update(alike.names)
        is_of_all = len(setting.names) > 1 and names_with_text >= set(setting.names)
        name = sentence.names[0] if sentence.names and not is_of_all else ""
        place = -1 if kind.is_first else len(setting.names)
        if name in setting.names:
            place = setting.names.index(name)
        group = "" if kind.names_groups else sentence.group
        if not group or sentence.text not in said_of_all_users:
            text = ": ".join(filter(None, [name, group, sentence.text]))
            named.append(_Placed(place, text))
    return named
