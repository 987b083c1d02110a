"""The findings of a result in English: cautions, remarks and the sentence on it.

The words of each kind stand in its entry (`sampled_metrics.core.evaluation.kinds`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from sampled_metrics._validation import counted
from sampled_metrics.core.estimators import estimator_name
from sampled_metrics.core.evaluation.kinds import KINDS, Kind
from sampled_metrics.core.evaluation.phrases import ASSUMPTIONS, percent
from sampled_metrics.core.evaluation.standings import Standings
from sampled_metrics.core.evaluation.verdict import Verdict
from sampled_metrics.core.evaluation.words.order import compared_name, on_pair, standing
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import metric_name
from sampled_metrics.core.ranks.groups import ALL
from sampled_metrics.core.ranks.reading import UNNAMED_TABLE
from sampled_metrics.errors import printable


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
    return _sentences(
        [finding for finding in findings if not KINDS[finding.kind].is_caution], setting
    )


def sentence(rows: Sequence[Mapping[str, Any]], findings: Sequence[Any], setting: Setting) -> str:
    """Say in one sentence what the first row of a result shows, and what it assumes."""
    row = rows[0] if rows else {}
    if "difference" in row:
        return _of_comparison(row, findings, setting)
    if "expected" in row:
        return _of_expectation(row, setting)
    if "value" in row:
        return _of_value(row, setting)
    said = (*remarks(findings, replace(setting, gives_advice=False)), *cautions(findings, setting))
    return said[0] if said else f"{setting.parameters}."


def _of_comparison(row: Mapping[str, Any], findings: Sequence[Any], setting: Setting) -> str:
    """Return the first remark on the metric of a row, and what its interval assumes."""
    group = "" if row.get("group", ALL) == ALL else row["group"]
    verdicts = [
        finding
        for finding in findings
        if isinstance(finding, Verdict) and finding.metric == row["metric"]
    ]
    alike = [
        verdict for verdict in verdicts if (verdict.group, verdict.of) == (group, row.get("of", ""))
    ]
    name = compared_name(str(row["metric"]), setting)
    if not alike:
        return f"{name} is not defined."
    subject = ", ".join(filter(None, [group, f"{name} of {row['of']}" if "of" in row else name]))
    if len(setting.names) > 2:
        said = standing(Standings.from_verdicts(alike))[0]
    else:
        said = on_pair(alike[0], replace(setting, gives_advice=False))
    assumptions = [finding for finding in findings if finding.kind in ("assumes", "equal-bias")]
    condition = _condition(assumptions, setting) if alike[0].has_interval else ""
    return f"{subject}: {said.removesuffix('.')}{condition}."


def _condition(assumptions: Sequence[Any], setting: Setting) -> str:
    """Return what the intervals of a comparison assume, as a clause.

    It is empty if they assume nothing.
    """
    if any(finding.kind == "equal-bias" for finding in assumptions):
        return f", if the bias of {estimator_name(setting.estimator)} is equal for both"
    texts = dict.fromkeys(ASSUMPTIONS[finding.values["assumption"]] for finding in assumptions)
    return "".join(f", if {text}" for text in texts if text)


def _of_value(row: Mapping[str, Any], setting: Setting) -> str:
    """Return the value of a row with its interval, and what that assumes."""
    group = f"{row['group']}: " if row.get("group", ALL) != ALL else ""
    of = f" of {row['recommender']}" if "recommender" in row else ""
    runs = f", of {row['of']}," if "of" in row else ""
    by = f" by {estimator_name(str(row['estimator']))}" if "estimator" in row else ""
    if np.isnan(row["value"]):
        return f"{group}{metric_name(str(row['metric']))}{of} is not defined."
    subject = f"{group}{metric_name(str(row['metric']))}{of}{runs} is {row['value']:.4f}{by}"
    if np.isnan(row.get("low", np.nan)):
        return f"{subject}, without an interval."
    assumption = ASSUMPTIONS.get(str(row.get("assumes", "")), "")
    if row.get("assumes") == "bias is zero":
        assumption = "the bias of the estimator is zero"
    condition = f", if {assumption}" if assumption else ""
    level = percent(setting.confidence_level)
    return f"{subject} ({level} interval {row['low']:.4f} to {row['high']:.4f}){condition}."


def _of_expectation(row: Mapping[str, Any], setting: Setting) -> str:
    """Return the exact value of a row, and the one that is expected of a sample."""
    by = "" if row["estimator"] == "uncorrected" else f" by {estimator_name(str(row['estimator']))}"
    return (
        f"{metric_name(str(row['metric']))} of {row['recommender']} is {row['exact']:.4f}, and "
        f"among {counted(setting.negatives, 'sampled negative')} {row['expected']:.4f} on "
        f"average{by}."
    )


def assumed(findings: Iterable[Any], setting: Setting) -> tuple[str, ...]:
    """Return what the intervals of a comparison assume."""
    kinds = ("assumes", "equal-bias")
    return _sentences(
        [finding for finding in findings if finding.kind in kinds and not finding.group], setting
    )


def _sentences(findings: Sequence[Any], setting: Setting) -> tuple[str, ...]:
    """Return findings as sentences, in their order.

    Findings of a kind that belong together make one sentence.
    """
    clauses = dict[
        _Sentence, dict[str, None]
    ]()  # only these may have names of recommenders, which may hold {}
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
            other
            for other in findings
            if KINDS[other.kind].together is kind.together and other.group == finding.group
        ]
        for text in kind.together(alike, findings, setting):
            clauses[_Sentence(finding.kind, (), finding.group, text)] = {"": None}
    whole = [
        sentence._replace(text=sentence.text.replace("{}", ", ".join(texts)))
        if any(texts)
        else sentence
        for sentence, texts in clauses.items()
    ]
    ordered = sorted(_named(whole, setting), key=lambda item: item[0])
    return tuple(dict.fromkeys(printable(text) for _, text in ordered))


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
    """Return a sentence after the name of the file or table that it is on.

    The name is left out if the recommender is called so.
    """
    source = finding.values.get("source", "")
    return text if source in ("", UNNAMED_TABLE, *finding.names) else f"{source}: {text}"


def _named(sentences: Sequence[_Sentence], setting: Setting) -> list[tuple[int, str]]:
    """Return sentences after the recommender and the group that they are about.

    Neither is named if the sentence is about all.

    Each has the place of its recommender: verdicts are first, then the recommenders in their order,
    and then what is said of all.
    """
    of_all_users = {sentence.text for sentence in sentences if not sentence.group}
    named = []
    for sentence in sentences:
        kind = KINDS[sentence.kind]
        same = [other for other in sentences if other.text == sentence.text]
        is_of_all = set().union(*(other.names for other in same)) >= set(setting.names)
        name = (
            ""
            if not sentence.names or (len(setting.names) > 1 and is_of_all)
            else sentence.names[0]
        )
        place = -1 if kind.is_first else len(setting.names)
        if name in setting.names:
            place = setting.names.index(name)
        group = "" if kind.names_groups else sentence.group
        if not group or sentence.text not in of_all_users:
            named.append((place, ": ".join(filter(None, [name, group, sentence.text]))))
    return named
