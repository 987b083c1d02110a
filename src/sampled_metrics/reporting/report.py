"""Write a page about ranks: what was read, a verdict in words, tables and figures."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics import __version__, file_io
from sampled_metrics.checks import enumerated
from sampled_metrics.core.estimators import BOUNDS, estimator, estimator_name
from sampled_metrics.core.evaluation import correct, evaluate, expect, wording
from sampled_metrics.core.evaluation.compare import CompareOptions, compare_with
from sampled_metrics.core.evaluation.comparison import Comparison
from sampled_metrics.core.evaluation.evaluate import checked_metrics
from sampled_metrics.core.evaluation.expect import wrong_orders
from sampled_metrics.core.evaluation.result import Result, by_recommender
from sampled_metrics.core.evaluation.standings import MANY
from sampled_metrics.core.evaluation.verdict import Verdict
from sampled_metrics.core.metrics import can_mislead, metric_name
from sampled_metrics.core.ranks.runs import tables_by_name
from sampled_metrics.core.ranks.table import Table
from sampled_metrics.core.sampling.draws import EQUAL
from sampled_metrics.core.sampling.outcomes import Outcomes
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.reporting import figures, words
from sampled_metrics.reporting.drawing import inline_svg
from sampled_metrics.reporting.page import render
from sampled_metrics.reporting.plots import caption_of
from sampled_metrics.reporting.tables import laid_out
from sampled_metrics.running import Progress, no_progress, on_one_thread

if TYPE_CHECKING:  # rendering.drawing says in one line that it is not installed
    from matplotlib.figure import Figure

ESTIMATORS = ("decreasing", "free", "uncorrected")
"""Estimators of sampled ranks that are always shown."""

MORE_ESTIMATORS = ("bv-0.1", "mle")
"""Estimators of sampled ranks that are shown if they are valid for the sample."""

_DECIMALS = {
    "value",
    "low",
    "high",
    "standard_error",
    "bias",
    "bias_error",
    "value_a",
    "value_b",
    "difference",
}
"""Columns that are shown with four decimals."""

_LEADING = ("group", "metric", "a", "b", "conclusion", "size")
"""Columns of a comparison that are shown before the numbers."""

SHOWN_NEGATIVES = 100
"""The number of sampled negatives for which a page of exact ranks says who would be ordered
wrongly.
"""


@on_one_thread
def report(
    ranks: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    replacement: bool = False,
    progress: Progress = no_progress,
    **options: Any,
) -> str:
    """Write one html page about the ranks of one or several recommenders; it needs matplotlib.

    The page says what was read, and has a verdict in words for each pair (and first of all, whether
    a group of users has another one), tables, intervals and a histogram of the ranks. Exact ranks
    have the expectation of each metric by number of sampled negatives (`expect`), and sampled ranks
    the intervals of several estimators (`correct`). Of more than 10 recommenders, the tables of
    metrics have all, and the pairs and figures are of the 10 best by the first metric; the page
    says so. It holds its figures, and fetches nothing.

    Args:
        ranks: an `ExactRanks`, a `SampledRanks` or a `RankedLists`, as the readers return them, or
            a mapping from the names of recommenders to them.
        path: a file to write, in a folder that exists.
        replacement: of exact ranks, whether the negatives of what a sample would show may be
            sampled twice.
        progress: wraps the sample sizes of the expectations.
        options: further options are those of `compare`: metrics, margin, groups (for a section by
            group) and confidence_level. metrics and confidence_level are for the whole page.

    Returns:
        The page, as text. The intervals of the pairs of three recommenders or more hold together,
        as in `compare`.

    Raises:
        DataError: the ranks have not been read by a reader, or an error of `evaluate`, `correct` or
            `compare`.
        ConfigError: a metric or an option does not exist, a metric is repeated, or matplotlib is
            not installed; there is a margin for one recommender, or replacement without exact
            ranks; or the file does not end in .html.
        WriteError: the file cannot be written, is that of the ranks, or its folder does not exist.

    Examples:
        >>> import sampled_metrics as sm
        >>> ranks = {"old": [5, 80, 3, 200, 9, 30], "new": [2, 40, 1, 90, 4, 10]}
        >>> page = sm.report(sm.exact_ranks(ranks, candidates=1000))
        >>> print(page.split(">", 1)[0])
        <!doctype html

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, sections 4
        and 5.
    """
    comparing = CompareOptions(**({"best": MANY} | options))
    tables_of_names = tables_by_name(ranks, "report")
    is_named = all(tables_of_names)
    tables = {name or "ranks": table for name, table in tables_of_names.items()}
    if path is not None:
        file_io.require_writable(path, [table.source for table in tables.values()])
    _check(tables, path, comparing.margin, replacement)
    example = next(iter(tables.values()))  # all are of one kind
    wanted = comparing.metrics
    if example.has_one_relevant_item:
        wanted = list(checked_metrics(example, comparing.metrics).values())
    comparing = replace(comparing, metrics=wanted)
    options_of_values: dict[str, Any] = {
        "metrics": wanted,
        "confidence_level": comparing.confidence_level,
    }

    # the results
    left_out: list[str] = []
    if example.is_sampled:
        results, left_out = _corrected(tables, options_of_values)
    else:
        results = {name: evaluate(table, **options_of_values) for name, table in tables.items()}
    compared = None
    if len(tables) > 1:
        compared = compare_with(tables, replace(comparing, groups=False))
    best = tables if compared is None else _best(tables, compared)

    # what is said once, at the top of the page
    all_results = [*results.values()] if compared is None else [*results.values(), compared]
    cautions = all_results[0].cautions if compared is None else compared.cautions
    known = [*cautions, *(caution for table in tables.values() for caution in table.cautions)]
    remarks = {remark for result in all_results for remark in result.remarks}

    # the parts of the page, whose figures are numbered in this order
    drawn = _Drawn()
    values = _values_of(results, left_out, known, drawn)
    values["heading"] = "True metrics, estimated" if example.is_sampled else "Metrics"
    by_group = []
    if comparing.groups:
        by_group = _by_group(tables, comparing, options_of_values, {*cautions, *remarks}, drawn)
    comparison = None if compared is None else _comparison(compared, list(best), drawn)
    exact = {name: table for name, table in best.items() if "expect" in table.taken_by}
    negatives = None
    if exact:
        negatives = _sampled_negatives(exact, wanted, replacement, progress, compared, drawn)
    histograms = _histograms(best, example.is_sampled, drawn)
    names = words.several_in_words(tables) if is_named else "one recommender"
    text = render(
        "report.html",
        title=example.title.format(names=names),
        cautions=cautions,
        verdicts=[] if compared is None else words.verdicts_in_words(compared),
        reversals=[verdict for part in by_group for verdict in part["verdicts"]],
        shortest=_shortest(results, example.is_sampled),
        values=values,
        comparison=comparison,
        groups=by_group,
        negatives=negatives,
        ranks=histograms,
        read=laid_out(_what_was_read(tables)),
        version=__version__,
        level=f"{100 * comparing.confidence_level:g}",
    )
    if path is not None:
        file_io.write_text(path, text)
    return text


def _check(tables: Mapping[str, Table], path: Any, margin: Any, replacement: bool) -> None:
    """Raise ConfigError if an option has no effect on the page, or its file is no html."""
    if margin is not None and len(tables) < 2:
        raise ConfigError(
            "margin: is for the pairs of two recommenders or more, and there is one; leave it out"
        )
    if replacement and not any("expect" in table.taken_by for table in tables.values()):
        kind = next(iter(tables.values())).kind
        raise ConfigError(
            f"replacement: is for what a sample of exact ranks would show, not for {kind}; leave "
            "it out"
        )
    if path is not None and Path(path).suffix.lower() not in ("", ".html", ".htm"):
        raise ConfigError(
            f"{os.fspath(path)}: a page is html, so the name of its file ends in .html"
        )


class _Drawn:
    """Draws figures as elements of one page, whose parts have names of their own."""

    def __init__(self) -> None:
        self._number = count(1)

    def __call__(self, figures: Iterable[tuple[Figure, str]]) -> list[str]:
        """Return figures with these titles as svg."""
        return [inline_svg(figure, title, f"f{next(self._number)}") for figure, title in figures]


# --- what was read ------------------------------------------------------------------------------


def _what_was_read(tables: Mapping[str, Table]) -> pd.DataFrame:
    rows = []
    for name, table in tables.items():
        source = {} if table.source in ("", name) else {"Source": table.source}
        rows.append({"Recommender": name} | source | table.facts)
    return pd.DataFrame(rows).fillna("-")


def _best(tables: Mapping[str, Table], compared: Comparison) -> dict[str, Table]:
    """Return the tables of the recommenders whose pairs are on the page."""
    if "a" not in compared:
        return dict(tables)
    shown = {*compared["a"], *compared["b"]}
    return {name: table for name, table in tables.items() if name in shown}


# --- in short, and ranks ------------------------------------------------------------------------


def _shortest(results: Mapping[str, Result], is_sampled: bool) -> list[str]:
    """Return what strict bounds of sampled ranks allow, or the metrics of a single recommender."""
    if is_sampled:
        return words.bounds_in_words(results)
    return words.metrics_in_words(results) if len(results) == 1 else []


def _histograms(tables: Mapping[str, Table], is_sampled: bool, drawn: _Drawn) -> dict[str, Any]:
    """Return the histograms of the ranks of those recommenders that have ranks."""
    ranks = {
        name: table.ranked_items for name, table in tables.items() if table.ranked_items is not None
    }
    pictures = figures.histograms(ranks) if ranks else ()
    titled = ((picture, "Histogram of ranks") for picture in pictures)
    return {"figures": drawn(titled), "caption": words.of_histograms(is_sampled)}


# --- metrics ------------------------------------------------------------------------------------


def _corrected(
    sampled: Mapping[str, Any], options: Mapping[str, Any]
) -> tuple[dict[str, Result], list[str]]:
    """Return the true metrics behind sampled ranks, and sentences on what is left out.

    Estimators that are not valid for the ranks are left out.
    """
    results = {}
    left_out = []
    for name, table in sampled.items():
        outcomes = Outcomes.observed(table)[0]
        labels = list(ESTIMATORS)
        for label in MORE_ESTIMATORS:
            try:
                estimator(label).fit(outcomes, options["metrics"])
            except DataError as error:
                left_out.append(words.left_out(label, name, error))
            else:
                labels.append(label)
        results[name] = correct(table, estimators=labels, **options)
    return results, left_out


def _values_of(
    results: Mapping[str, Result], left_out: list[str], known: Sequence[str], drawn: _Drawn
) -> dict[str, Any]:
    """Return values, remarks and intervals.

    Several recommenders or estimators have a table for each metric. Cautions that are known are
    left out, as the page begins with them.
    """
    cautions = {}
    further = {}
    for name, result in results.items():
        cautions[name] = [caution for caution in result.cautions if caution not in known]
        further[name] = result.further_remarks
    is_alone = len(results) == 1
    table = next(iter(results.values())) if is_alone else by_recommender(results)
    bounds = table[_holds_truth(table)]
    if is_alone and table["metric"].is_unique:
        tables = [{"heading": "", "note": "", "table": laid_out(_worded(table)), "biased": None}]
    else:
        tables = [
            _of_metric(str(label), cells) for label, cells in table.groupby("metric", sort=False)
        ]
    sentences = words.by_recommender_in_words(cautions)
    return {
        "cautions": [sentence for sentence in sentences if sentence not in known],
        "tables": tables,
        "figures": drawn(figures.intervals(bounds)),
        "caption": caption_of(bounds),
        "remarks": [*words.by_recommender_in_words(further), *left_out],
    }


def _of_metric(label: str, cells: Result) -> dict[str, Any]:
    """Return the rows of a metric.

    Those of estimators whose interval does not cover their bias are apart.
    """
    holds_truth = _holds_truth(cells)
    bounds = _worded(cells[holds_truth]).drop(columns="Metric")
    biased = _worded(cells[~holds_truth]).drop(columns="Metric")
    return {
        "heading": metric_name(label),
        "note": words.BIASED_AUC if label == "auc" else words.BIASED,
        "table": laid_out(bounds),
        "biased": laid_out(biased) if len(biased) else None,
    }


def _holds_truth(table: Result) -> NDArray[np.bool_]:
    """Return which (rows,) intervals hold the true metric: not those of estimators with a bias."""
    if "estimator" in table:
        return table["estimator"].isin(BOUNDS).to_numpy()
    return np.ones(len(table), dtype=bool)


def _comparison(compared: Comparison, names: Sequence[str], drawn: _Drawn) -> dict[str, Any]:
    """Return the comparison of recommenders."""
    return {
        "heading": f"Comparison of {enumerated(names)}",
        "table": laid_out(_worded(compared, names if len(names) == 2 else ())),
        "remarks": compared.further_remarks,
        "figures": drawn(figures.intervals(compared)),
        "caption": caption_of(compared),
    }


def _worded(table: Result, names: Sequence[str] = ()) -> pd.DataFrame:
    """Return a result as text, in words."""
    text = table.as_text().reset_index(drop=True)
    for column in _DECIMALS.intersection(text):
        text[column] = ["-" if np.isnan(value) else f"{value:z.4f}" for value in table[column]]
    for column, name_of in {"metric": metric_name, "estimator": estimator_name}.items():
        if column in text:
            text[column] = text[column].map(name_of)
    if "conclusion" in text:  # before the numbers, as a wide table goes on beyond the page
        leading = [name for name in _LEADING if name in text]
        text = text[[*leading, *text.columns.difference(leading, sort=False)]]
    headings = {column: column.replace("_", " ").capitalize() for column in text}
    headings |= Verdict.headings(*(names or ("A", "B")))
    return text.rename(columns=headings)


# --- by group -----------------------------------------------------------------------------------


def _by_group(
    tables: Mapping[str, Any],
    comparing: CompareOptions,
    options: Mapping[str, Any],
    shown: Collection[str],
    drawn: _Drawn,
) -> list[dict[str, Any]]:
    """Return values by group and comparisons by group, with a figure of each.

    The values of sampled ranks are their strict bounds. Sentences that are shown on the page
    already are left out.
    """
    example = next(iter(tables.values()))
    ranks = tables if len(tables) > 1 else example
    if example.is_sampled:
        values = correct(ranks, estimators=ESTIMATORS[0], groups=comparing.groups, **options)
    else:
        values = evaluate(ranks, groups=comparing.groups, **options)
    parts = {"Metrics by group": values}
    if len(tables) > 1:
        parts["Comparisons by group"] = compare_with(tables, comparing)
    shown_parts = []
    for title, table in parts.items():
        kinds = ("order-differs", "order-reversed")
        differing = [finding for finding in table.findings if finding.kind in kinds]
        verdicts = wording.remarks(differing, table.setting)
        remarks = [text for text in table.further_remarks if text not in {*shown, *verdicts}]
        shown_parts.append(
            {
                "heading": title,
                "cautions": [text for text in table.cautions if text not in shown],
                "verdicts": verdicts,
                "table": laid_out(_worded(table, list(tables) if len(tables) == 2 else ())),
                "figures": drawn(figures.intervals(table)),
                "caption": caption_of(table),
                "remarks": remarks,
            }
        )
    return shown_parts


# --- what a sample would show -------------------------------------------------------------------


def _sampled_negatives(
    tables: Mapping[str, Any],
    wanted: Any,
    replacement: bool,
    progress: Progress,
    compared: Comparison | None,
    drawn: _Drawn,
) -> dict[str, Any]:
    """Return the expectation of an evaluation on sampled negatives, by their number."""
    largest = min(int(table.candidates.min()) for table in tables.values()) - 1
    round_sizes = [digit * 10**power for power in range(9) for digit in (1, 2, 5)]
    sizes = [size for size in round_sizes if size <= largest]
    if not sizes:
        return {"figures": [], "orders": [], "note": words.NOTHING_TO_SAMPLE}
    expected = {
        m: expect(tables, negatives=m, metrics=wanted, replacement=replacement)
        for m in progress(sizes)
    }
    tables_of_sizes = [pd.DataFrame(table).assign(negatives=m) for m, table in expected.items()]
    rows = pd.concat(tables_of_sizes, ignore_index=True)
    by_size = (
        (figures.by_sample_size(cells), metric_name(str(label)))
        for label, cells in rows.groupby("metric", sort=False)
    )
    orders = []
    if compared is not None and SHOWN_NEGATIVES in expected:
        orders = _orders(expected[SHOWN_NEGATIVES], compared)
    return {"figures": drawn(by_size), "orders": orders, "caption": words.BY_SAMPLE_SIZE}


def _orders(expected: Result, compared: Comparison) -> list[str]:
    """Say which decided pairs a sample orders wrongly, and how many pairs are not decided.

    Pairs with a recommender that has no expectation, as of staged ranks, are left out.
    """
    names = set(expected["recommender"])
    if len(names) < 2:
        return []
    verdicts = [
        verdict
        for verdict in compared.verdicts
        if {*verdict.names} <= names and can_mislead(verdict.metric)
    ]
    decided = {
        (verdict.metric, *verdict.names): verdict
        for verdict in verdicts
        if verdict.better is not None
    }
    values = expected.set_index(["metric", "recommender"])["expected"]
    alike = []
    for label, better, worse in sorted(decided):
        if abs(values[label, better] - values[label, worse]) <= EQUAL:
            alike.append(decided[label, better, worse])
    wrong = [
        finding
        for finding in wrong_orders(expected, expected.setting.negatives)
        if (finding.metric, *finding.names) in decided
    ]
    labels = dict.fromkeys(compared["metric"])
    orders = words.Orders(
        negatives=expected.setting.negatives,
        verdicts=verdicts,
        wrong=wrong,
        alike=alike,
        unchanged=[label for label in labels if not can_mislead(label)],
    )
    return words.orders_in_words(orders, expected.setting)
