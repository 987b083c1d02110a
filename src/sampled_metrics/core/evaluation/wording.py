"""The findings of a result in English: cautions, remarks and the sentence on it.

The text of each kind is in a table (`sampled_metrics.core.evaluation.kinds`), as a format string of
the values of a finding. A number has four significant digits, as in a table, unless a format is
given. ``!p`` writes a share in per cent, ``!q`` a p-value, and ``!m`` the values of metrics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from string import Formatter
from typing import Any

import numpy as np

from sampled_metrics.checks import enumerated
from sampled_metrics.core.evaluation.kinds import kind_of
from sampled_metrics.core.evaluation.phrases import (
    ASSUMPTIONS,
    number,
    p_value,
    percent,
    values_of_metrics,
)
from sampled_metrics.core.evaluation.values import NO_BIAS
from sampled_metrics.core.evaluation.verdict import Verdict, verdict_of_row
from sampled_metrics.core.evaluation.words.order import compared_name, of_runs
from sampled_metrics.core.findings import CAUTION, REMARK, Finding, is_of_one
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.ranks.groups import ALL
from sampled_metrics.core.ranks.reading import UNNAMED_TABLE
from sampled_metrics.errors import printable

SEVERAL_METRICS = "several-metrics"
"""The kind of the finding that verdicts are on several metrics."""

_ON_ASSUMPTIONS = ("assumes", "equal-bias")
"""Kinds of findings on what the intervals of a comparison assume."""


class _Words(Formatter):
    def convert_field(self, value: Any, conversion: Any) -> Any:
        """Return a value as one of the conversions has it."""
        match conversion:
            case "p":
                return percent(value, ".3g")
            case "q":
                text = p_value(value)
                return f"p {text}" if text.startswith("<") else f"p = {text}"
            case "m":
                return values_of_metrics(value)
        return super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return a number, or a list or mapping of words, as a sentence has it."""
        if isinstance(value, float) and format_spec in ("", "+"):
            return number(value, format_spec)
        if isinstance(value, Mapping):
            value = ", ".join(
                f"{name}: {element}" if name else str(element) for name, element in value.items()
            )
        elif isinstance(value, list | tuple):
            value = enumerated(map(str, value))
        return str(super().format_field(value, format_spec))


_WORDS = _Words()


def cautions(findings: Iterable[Any], setting: Setting) -> tuple[str, ...]:
    """Return the cautions as sentences."""
    return _sentences(findings, setting, CAUTION)


def remarks(findings: Iterable[Any], setting: Setting) -> tuple[str, ...]:
    """Return the findings that are not cautions as sentences.

    The verdicts of three recommenders or more, or of a group, are in the table alone.
    """
    return _sentences(findings, setting, REMARK)


def _sentences(findings: Iterable[Any], setting: Setting, rank: str) -> tuple[str, ...]:
    """Return the findings of a rank as sentences, each once."""
    sentences = [
        sentence_of(finding, setting)
        for finding in findings
        if kind_of(finding).rank == rank and not _is_in_table_alone(finding, setting)
    ]
    return tuple(dict.fromkeys(sentences))


def _is_in_table_alone(finding: Any, setting: Setting) -> bool:
    return isinstance(finding, Verdict) and (bool(finding.group) or len(setting.names) > 2)


def sentence_of(finding: Any, setting: Setting) -> str:
    """Return a finding as a sentence, after the recommender, the group and the file it is about.

    The recommender is not named if there is only one.
    """
    values = dict(finding.values)
    values["metric"] = compared_name(finding.metric, setting) if finding.metric else ""
    values["metric"] = of_runs(values["metric"], values.get("inference", ""))
    values["names"] = finding.names
    values["confidence"] = percent(setting.confidence_level)
    name = finding.names[0] if is_of_one(finding) and len(setting.names) > 1 else ""
    source = values.get("source", "")
    is_named = source in ("", UNNAMED_TABLE, *finding.names)
    text = _WORDS.vformat(kind_of(finding).text, (), values)
    parts = [name, finding.group, "" if is_named else source, text]
    return printable(": ".join(filter(None, parts)))


def sentence(rows: Sequence[Mapping[str, Any]], findings: Sequence[Any], setting: Setting) -> str:
    """Say in one sentence what the first row of a result shows, and what it assumes.

    Of a result without values, it is the first remark.
    """
    finding = _finding_of_row(rows[0], findings, setting) if rows else None
    if finding is not None:
        return sentence_of(finding, setting)
    sentences = remarks(findings, setting) + cautions(findings, setting)
    return sentences[0] if sentences else printable(f"{setting.parameters}.")


def _finding_of_row(row: Mapping[str, Any], findings: Sequence[Any], setting: Setting) -> Any:
    """Return the finding that says what a row shows; None of a row without a value."""
    label = str(row.get("metric", ""))
    group = "" if row.get("group", ALL) == ALL else row["group"]
    if "difference" in row:
        verdict = verdict_of_row(row, findings, setting.names)
        if verdict is None:
            return Finding("undefined", label, group=group)
        key_of_order = ("order", verdict.metric, verdict.group, verdict.inference)
        for finding in findings:
            inference = finding.values.get("inference", "")
            if (finding.kind, finding.metric, finding.group, inference) == key_of_order:
                return finding
        return verdict
    values = dict(row)
    names = (row["recommender"],) if "recommender" in row else ()
    if "expected" in row:
        values["negatives"] = setting.negatives
        return Finding("expectation", label, names, group, values)
    if np.isnan(row.get("value", 0.0)):
        return Finding("undefined", label, names, group)
    has_interval = not np.isnan(row.get("low", np.nan))
    if "value" not in row and not has_interval:
        return None
    values["details"] = f" with {row['estimator']}" if "estimator" in row else ""
    assumed = ASSUMPTIONS.get(row.get("assumes", ""), "")
    if row.get("assumes") == NO_BIAS:
        assumed = "the bias of the estimator is zero"
    values["condition"] = f", if {assumed}" if assumed else ""
    kind = "value" if has_interval else "value-alone"
    if "value" not in row:
        kind = "interval"
    return Finding(kind, label, names, group, values)


def assumed(findings: Iterable[Any], setting: Setting) -> tuple[str, ...]:
    """Return what the intervals of a comparison assume."""
    assumptions = [
        finding for finding in findings if finding.kind in _ON_ASSUMPTIONS and not finding.group
    ]
    return remarks(assumptions, setting)
