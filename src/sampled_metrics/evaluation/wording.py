"""The findings of a result in English: cautions, remarks and the sentence for a reviewer.

The words of each kind stand in its entry (`sampled_metrics.evaluation.kinds`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from sampled_metrics._validation import counted, enumerated
from sampled_metrics.errors import printable
from sampled_metrics.estimators import estimator_name
from sampled_metrics.evaluation.kinds import KINDS, Kind
from sampled_metrics.evaluation.phrases import percent
from sampled_metrics.evaluation.standings import MANY
from sampled_metrics.inference.setting import Setting
from sampled_metrics.metrics.metric import metric_name
from sampled_metrics.ranks.groups import ALL
from sampled_metrics.ranks.reading import UNNAMED_TABLE


class _Sentence(NamedTuple):
    """A sentence, and what it is about."""

    kind: str
    names: tuple[str, ...]
    group: str
    text: str


def cautions(findings: Iterable[Any], setting: Setting) -> tuple[str, ...]:
    """Return the cautions as sentences."""
    return _sentences([finding for finding in findings if KINDS[finding.kind].is_caution], setting)


def remarks(findings: Iterable[Any], setting: Setting) -> tuple[str, ...]:
    """Return the findings that are not cautions as sentences."""
    return _sentences([finding for finding in findings if not KINDS[finding.kind].is_caution], setting)


def paragraph(rows: Sequence[Mapping[str, Any]], findings: Iterable[Any], setting: Setting) -> str:
    """Say for a reviewer what was measured, how it was sampled, and what can be concluded from rows of a result."""
    setting = replace(setting, gives_advice=False)
    labels = list(dict.fromkeys(str(row["metric"]) for row in rows if "metric" in row))
    about_rows = [one for one in findings if not labels or not one.metric or one.metric in labels]
    if not labels:  # as of a plan
        parameters = f"{setting.parameters}." if setting.parameters else ""
        return " ".join(filter(None, [*cautions(about_rows, setting), parameters, *remarks(about_rows, setting)]))
    are, names = "were" if len(labels) > 1 else "was", f" of {enumerated(setting.names)}" if setting.names else ""
    concluded = [
        one
        for one in about_rows
        if KINDS[one.kind].is_conclusion and not (one.kind in ("bounds", "few-users") and one.group)
    ]
    sentences = [
        f"{enumerated([metric_name(label) for label in labels])}{names} {are} {_done(rows[0], setting)}"
        f"{f' ({setting.parameters})' if setting.parameters else ''}.",
        *cautions(about_rows, setting),
    ]
    has_bounds = {(one.values["estimator"], one.metric) for one in concluded if one.kind == "bounds"}
    # the verdict on a pair has its difference
    omits_differences = len(setting.names) == 2 or len(rows) > MANY
    given = [
        row
        for row in rows
        if (row.get("estimator"), row["metric"]) not in has_bounds and not ("difference" in row and omits_differences)
    ]
    clauses = [text for row in given if row.get("group", ALL) == ALL and (text := _value(row))]
    has_interval = any(not np.isnan(row.get("low", np.nan)) for row in given)
    interval = f", with {percent(setting.confidence_level)} intervals" if has_interval else ""
    what = "differences" if given and "difference" in given[0] else "values"
    values = [f"The {what}{interval}: {'; '.join(clauses)}."] if clauses else []
    return " ".join([*sentences, *values, *remarks(concluded, setting)])


def _done(row: Mapping[str, Any], setting: Setting) -> str:
    """Return how the metrics of a row were made, after was or were."""
    estimator = f", by the estimator {setting.estimator}" if setting.estimator else ""
    sampled = f"ranks among sampled negatives{estimator}"
    if "difference" in row:
        return f"compared user by user{f', from {sampled}' if setting.estimator else ''}"
    if "expected" in row:
        return f"measured, and expected among {counted(setting.negatives, 'sampled negative')}"
    return f"estimated from {sampled if 'value' in row else 'sampled metrics'}" if "estimator" in row else "measured"


def _value(row: Mapping[str, Any]) -> str:
    """Return the value of a row with its interval, in words; nothing if it has none."""
    of = f" of {row['recommender']}" if "recommender" in row else ""
    by = f" by {estimator_name(str(row['estimator']))}" if "estimator" in row else ""
    if "expected" in row:
        return f"{metric_name(row['metric'])}{of} {row['exact']:.4f}, expected{by} {row['expected']:.4f}"
    if "difference" in row and not np.isnan(row["low"]):
        ends = f"{row['low']:+.4f} to {row['high']:+.4f}"
        return f"{metric_name(row['metric'])} of {row['b']} - {row['a']} {row['difference']:+.4f} ({ends})"
    if np.isnan(row.get("value", np.nan)):
        return ""
    interval = "no interval" if np.isnan(row["low"]) else f"{row['low']:.4f} to {row['high']:.4f}"
    return f"{metric_name(row['metric'])}{of}{by} {row['value']:.4f} ({interval})"


def assumed(findings: Iterable[Any], setting: Setting) -> tuple[str, ...]:
    """Return what the intervals of a comparison assume."""
    kinds = ("assumes", "equal-bias")
    return _sentences([finding for finding in findings if finding.kind in kinds and not finding.group], setting)


def _sentences(findings: Sequence[Any], setting: Setting) -> tuple[str, ...]:
    """Return findings as sentences, in their order; those of a kind that belong together make one sentence."""
    clauses = dict[_Sentence, dict[str, None]]()  # only these may have names of recommenders, which may hold {}
    done = set[tuple[Any, str]]()
    for finding in findings:
        kind = KINDS[finding.kind]
        if kind.together is None:
            text, clause = _said(kind, finding, setting)
            names = () if kind.names_recommenders else finding.names
            sentence = _Sentence(finding.kind, names, finding.group, text)
            clauses.setdefault(sentence, {})[clause] = None
            continue
        if (kind.together, finding.group) in done:
            continue
        done.add((kind.together, finding.group))
        alike = [
            other for other in findings if KINDS[other.kind].together is kind.together and other.group == finding.group
        ]
        for text in kind.together(alike, findings, setting):
            clauses[_Sentence(finding.kind, (), finding.group, text)] = {"": None}
    whole = [
        sentence._replace(text=sentence.text.replace("{}", ", ".join(texts))) if any(texts) else sentence
        for sentence, texts in clauses.items()
    ]
    return tuple(dict.fromkeys(map(printable, _named(whole, setting))))


def _said(kind: Kind, finding: Any, setting: Setting) -> tuple[str, str]:
    """Return the sentence of a finding, and its clause, which may be empty."""
    if callable(kind.sentence):
        said = kind.sentence(finding, setting)
        return said if isinstance(said, tuple) else (_with_source(said, finding), "")
    words = {"metric": metric_name(finding.metric), "confidence": percent(setting.confidence_level)}
    if "estimator" in finding.values:
        words["estimator_name"] = estimator_name(finding.values["estimator"])
    values = {**finding.values, **words}
    return _with_source(kind.sentence.format(**values), finding), kind.clause.format(**values)


def _with_source(text: str, finding: Any) -> str:
    """Return a sentence with the name of the file or table that it is on, unless its recommender is called so."""
    source = finding.values.get("source", "")
    return text if source in ("", UNNAMED_TABLE, *finding.names) else f"{source}: {text}"


def _named(sentences: Sequence[_Sentence], setting: Setting) -> list[str]:
    """Return sentences with the name of the recommender and the group that they are about, unless it is all."""
    of_all_users = {sentence.text for sentence in sentences if not sentence.group}
    named = []
    for sentence in sentences:
        text = sentence.text
        same = [other for other in sentences if other.text == text]
        is_of_all = set().union(*(other.names for other in same)) >= set(setting.names)
        name = "" if not sentence.names or (len(setting.names) > 1 and is_of_all) else sentence.names[0]
        if KINDS[sentence.kind].names_groups or not sentence.group:
            named.append(f"{name}: {text}" if name else text)
        elif text not in of_all_users:
            named.append(f"{name}: {sentence.group}: {text}" if name else f"{sentence.group}: {text}")
    return named
