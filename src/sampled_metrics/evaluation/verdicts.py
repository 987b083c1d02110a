"""Which of two recommenders is better, by how much, and for which groups: rows of a comparison, and findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics._validation import Floats
from sampled_metrics.estimators import Estimator
from sampled_metrics.estimators.shapes import DECREASING, FREE
from sampled_metrics.evaluation.values import UserValues
from sampled_metrics.evaluation.wording import CAUTIONS, LESS, MORE, VERDICTS
from sampled_metrics.inference.families import Margin
from sampled_metrics.inference.findings import Finding, Setting, about
from sampled_metrics.ranks.given import ALL
from sampled_metrics.ranks.table import Table
from sampled_metrics.sampling.draws import EQUAL

LARGEST_T, BONFERRONI = "the largest of several t", "Bonferroni"
"""How the intervals of all pairs hold together."""

_OF_VERDICTS = (
    *("a", "b", "value_a", "value_b", "difference", "low", "high", "p_value", "is_bounded"),
    *("relative", "size"),
)  # columns of a comparison that a verdict has as its values; the last two with a margin

_OF_GROUPS = CAUTIONS | {"assumes", "few-users", "several-rows"}  # kinds of findings that groups have of their own


def pair_rows(
    names: tuple[str, str],
    values: Mapping[str, UserValues],
    labels: Sequence[str],
    rates: Floats,
    margin: Margin | None,
    places: Mapping[str, Floats],
) -> list[dict[str, Any]]:
    """Return the row of each metric of two recommenders, with a p-value that is not adjusted.

    The columns are those of `compare`, and kind, the kind of the verdict, and is_bounded, whether more negatives would
    make the interval narrower. With a margin, `places` are those of the users, as `place_of_users` returns them.
    """
    a, b = (values[name] for name in names)
    gap = b.minus(a)
    ends, rows = gap.interval(rates, test=True), list[dict[str, Any]]()
    of_margin, of_size = dict[str, Any](), dict[str, str]()
    above = None if margin is None else _above_margin(a, b, ends.low, ends.high, rates, margin)
    higher = np.empty((2, 0)) if margin is None else _higher(places[names[0]], places[names[1]], len(labels))
    columns = (a.point, b.point, gap.point, ends.low, ends.high, ends.p_value)
    for number, label in enumerate(labels):
        value_a, value_b, difference, low, high, p_value = (float(column[number]) for column in columns)
        kind = _verdict(difference, low, high)
        if above is not None:
            kind, of_size["size"] = _against_margin(kind, low > EQUAL, above[..., number])
            worse = min(value_a, value_b)
            of_margin = {"relative": difference / worse if worse > 0 else np.nan}
            of_margin |= {"higher_a": higher[0, number], "higher_b": higher[1, number]}
        row = {"metric": label, "a": names[0], "b": names[1], "value_a": value_a, "value_b": value_b}
        row |= {"difference": difference, "low": low, "high": high, **of_margin, "p_value": p_value}
        row["conclusion"] = names[low > EQUAL] if kind == "better" else kind.replace("-", " ")
        row |= {**of_size, "users": gap.low.shape[1], "kind": kind, "is_bounded": not gap.have_one_value}
        rows.append(row)
    return rows


def _verdict(difference: float, low: float, high: float) -> str:
    """Return the kind of the verdict that an interval of a difference gives."""
    if np.isnan(difference):
        return "undecided"
    if np.isnan(low):
        return "no-verdict"
    if not (low > EQUAL or high < -EQUAL):
        return "undecided"
    return "no-verdict" if difference < low - EQUAL or difference > high + EQUAL else "better"


def _above_margin(a: UserValues, b: UserValues, low: Floats, high: Floats, rates: Floats, margin: Margin) -> Floats:
    """Return the ends of the intervals of what a difference is above the margin, (2, 2, metrics).

    The first axis is that of the directions: of the second recommender from the first, and the reverse.
    """
    if not margin.is_relative:
        return np.array([(low, high), (-high, -low)]) - margin.size
    scaled = [one.minus(other, 1 + margin.size).interval(rates) for one, other in ((b, a), (a, b))]
    return np.array([(ends.low, ends.high) for ends in scaled])


def _against_margin(kind: str, is_rising: bool, above: Floats) -> tuple[str, str]:
    """Return the kind of a verdict with a margin, and by how much a recommender is better, or nothing.

    If the pair is decided, `is_rising` says whether the second one is better; `above` is that of `_above_margin`.
    """
    if kind == "undecided" and above[:, 1].max() < -EQUAL:
        return "equivalent", ""
    low, high = above[0 if is_rising else 1]
    return kind, (MORE if low > EQUAL else LESS if high < -EQUAL else "") if kind == "better" else ""


def _higher(a: Floats, b: Floats, metrics: int) -> Floats:
    """Return the (2, metrics) shares of users for whom each of two ranks higher; NaN if ranks are not known."""
    gaps = a - b  # above 0 where the second one ranks higher; one row for all metrics, or a row for each
    shares = np.array([(gaps < -EQUAL).mean(axis=1), (gaps > EQUAL).mean(axis=1)])
    return np.broadcast_to(np.where(np.isfinite(gaps).all(axis=1), shares, np.nan), (2, metrics))


def verdict_findings(rows: pd.DataFrame, setting: Setting, group: str = "") -> list[Finding]:
    """Return the verdict on each pair and metric of the rows of `pair_rows`; none of a metric that is not defined."""
    findings = []
    missing = set(rows["metric"][rows["difference"].isna()])
    for row in rows[~rows["metric"].isin(missing)].to_dict("records"):
        pair = row["a"], row["b"]
        names = pair[::-1] if row["kind"] == "better" and row["low"] > EQUAL else pair
        numbers = {name: row[name] for name in _OF_VERDICTS if name in row}
        findings.append(Finding(row["kind"], row["metric"], names, group, numbers))
    return findings


RowKey = tuple[str, str, str, str]
"""The metric, the names of the pair and the group of a row of a comparison; no group for all users."""


def verdicts_by_row(findings: Iterable[Finding]) -> dict[RowKey, Finding]:
    """Return the verdicts of a comparison by the row that they are of."""
    verdicts = [finding for finding in findings if finding.kind in VERDICTS]
    return {(finding.metric, finding.values["a"], finding.values["b"], finding.group): finding for finding in verdicts}


def key_of_row(row: Mapping[str, Any], setting: Setting) -> RowKey:
    """Return the metric, the pair and the group of a row of a comparison, which has no names of only two."""
    a, b = (row["a"], row["b"]) if "a" in row else setting.names
    group = row.get("group", ALL)
    return str(row["metric"]), str(a), str(b), "" if group == ALL else str(group)


def higher_findings(rows: pd.DataFrame, tables: Iterable[Table], setting: Setting) -> list[Finding]:
    """Return, for two recommenders and a margin, for how many users each has the better rank.

    There is none if ranks are not known. Lists have no ranks: their shares of users are those of a metric.
    """
    first = rows.iloc[0]
    have_ranks = all(table.places is not None for table in tables)
    if len(setting.names) > 2 or not have_ranks or np.isnan(first.get("higher_a", np.nan)):
        return []
    shares = {name: first[name] for name in ("higher_a", "higher_b")}
    return [Finding("higher", names=setting.names, values=shares | {"is_sampled": bool(setting.estimator)})]


def _pair(verdict: Finding) -> tuple[str, str, str]:
    return verdict.metric, verdict.values["a"], verdict.values["b"]


def findings_of_groups(
    rows: Mapping[str, pd.DataFrame],
    findings: Mapping[str, Sequence[Finding]],
    setting: Setting,
    overall: Sequence[Finding],
) -> list[Finding]:
    """Return the verdicts by group, the pairs that groups order in different ways, and what is said of single groups.

    The rows have p-values that are adjusted for the groups; `overall` are the verdicts on all users.
    """
    verdicts = [one for group, of_group in rows.items() for one in verdict_findings(of_group, setting, group)]
    groups_of = dict[tuple[str, str, str], dict[str, list[str]]]()
    for one in verdicts:
        if one.kind == "better":
            groups_of.setdefault(_pair(one), {}).setdefault(one.names[0], []).append(one.group)
    differs = [
        Finding("order-differs", label, (a, b), values=groups)
        for (label, a, b), groups in groups_of.items()
        if len(groups) == 2
    ]
    for one in overall:
        groups = groups_of.get(_pair(one), {})
        if one.kind == "better" and list(groups) == [one.names[1]]:
            differs.append(Finding("order-reversed", one.metric, one.names, values={"groups": groups[one.names[1]]}))
    of_groups = [
        one
        for group, of_group in findings.items()
        for one in about([finding for finding in of_group if finding.kind in _OF_GROUPS], group=group)
    ]
    adjusted = Finding("groups-adjusted", values={"groups": len(rows), "level": setting.confidence_level})
    return [*differs, *verdicts, *of_groups, adjusted]


def about_intervals(
    values: Mapping[str, UserValues],
    seeds: Mapping[str, Sequence[Table]],
    family: str,
    estimator: Estimator | None,
    setting: Setting,
) -> list[Finding]:
    """Return findings on what the intervals of pairs are of, how they hold together (`family`) and what they assume."""
    findings: list[Finding] = []
    names, pairs = list(values), list(combinations(values, 2))
    have_interval = [values[a].has_interval and values[b].has_interval for a, b in pairs]
    if family and any(have_interval):
        rate = (1 - setting.confidence_level) / len(pairs) if family == BONFERRONI else 0.0
        findings.append(Finding("family", values={"pairs": len(pairs), "method": family, "rate": rate}))
    have_seeds = any(len(of_one) > 1 and not values[name].draws for name, of_one in seeds.items())
    if have_seeds and any(have_interval):
        findings.append(Finding("seeds", values={"seeds": {name: len(of_one) for name, of_one in seeds.items()}}))
    if estimator is None:
        return findings
    if setting.is_uncorrected:
        return [Finding("uncorrected-verdicts"), *findings]
    for (a, b), has_interval in zip(pairs, have_interval, strict=True):
        if has_interval and estimator.assumed_shape is not None:
            assumption = DECREASING if DECREASING in (values[a].assumes, values[b].assumes) else FREE
            findings.append(Finding("assumes", names=(a, b), values={"assumption": assumption}))
    if estimator.assumed_shape is None:
        findings.append(Finding("equal-bias", values={"estimator": setting.estimator}))
        if np.isinf(values[names[0]].bounds).any() and any(have_interval):
            findings.append(Finding("approximate", values={"estimator": setting.estimator}))
    return findings
