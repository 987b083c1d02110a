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
from sampled_metrics.core.estimators import BOUNDS, estimator
from sampled_metrics.core.evaluation import correct, evaluate, wording
from sampled_metrics.core.evaluation.compare import CompareOptions, compare_with
from sampled_metrics.core.evaluation.comparison import Comparison
from sampled_metrics.core.evaluation.evaluate import checked_metrics
from sampled_metrics.core.evaluation.result import Result
from sampled_metrics.core.evaluation.standings import MANY
from sampled_metrics.core.evaluation.verdict import Verdict
from sampled_metrics.core.metrics import metric_name
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.core.ranks.reading import UNNAMED
from sampled_metrics.core.ranks.runs import Runs, read_runs
from sampled_metrics.core.sampling.outcomes import Outcomes
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.reporting import figures, words
from sampled_metrics.reporting.drawing import inline_svg
from sampled_metrics.reporting.page import render
from sampled_metrics.reporting.plots import caption_of
from sampled_metrics.reporting.tables import laid_out
from sampled_metrics.running import on_one_thread

if TYPE_CHECKING:  # rendering.drawing says in one line that it is not installed
    from matplotlib.figure import Figure

REPORTED = ("decreasing", "free", "uncorrected")
"""Estimators of sampled ranks that are always shown."""

MORE_REPORTED = ("bv-0.1", "mle")
"""Estimators of sampled ranks that are shown if they are valid for the sample."""

_LEADING = ("group", "inference", "metric", "a", "b", "conclusion", "size")
"""Columns of a comparison that are shown before the numbers, as a wide table is scrolled."""


@on_one_thread
def report(
    ranks: Any,
    path: str | os.PathLike[str] | None = None,
    **options: Any,
) -> str:
    """Write one html page about the ranks of one or several recommenders; it needs matplotlib.

    The page begins with a verdict in words for each pair, and whether a group of users has another
    one. Then it has tables, intervals, a histogram of the ranks, and what was read. Sampled ranks
    have the intervals of several estimators (`correct`). Of more than 10 recommenders, the tables
    of metrics have all, and the pairs and figures have the 10 best by the first metric; the page
    says so. The page holds its figures, and fetches nothing.

    Args:
        ranks: an `ExactRanks`, a `SampledRanks` or a `RankedLists`, as the readers return them, or
            a mapping from the names of recommenders to them. Several seeds of a recommender are a
            list of tables, as in `compare`.
        path: a file to write, in a folder that exists.
        options: the options of `compare`: metrics, margin, groups (for a section by group) and
            confidence_level. metrics and confidence_level are for the whole page.

    Returns:
        The page, as text. The intervals of the pairs of three recommenders or more hold together,
        as in `compare`.

    Raises:
        DataError: the ranks have not been read by a reader, or an error of `evaluate`, `correct` or
            `compare`.
        ConfigError: a metric or an option does not exist, a metric is repeated, or matplotlib is
            not installed; there is a margin for one recommender; or the file does not end in .html.
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
    recommenders = read_runs(ranks, "report")
    names = [runs.name for runs in recommenders]
    sources = [table.source for runs in recommenders for table in runs.tables]
    if path is not None:
        file_io.require_writable(path, sources)
    _check(len(names), path, comparing.on_pairs)
    example = recommenders[0].first_table  # all are of one kind
    wanted = comparing.metrics
    if example.has_one_relevant_item:
        wanted = list(checked_metrics(example, comparing.metrics).values())
    comparing = replace(comparing, metrics=wanted)
    groups = comparing.groups
    confidence_level = comparing.confidence_level
    shared: dict[str, Any] = {"metrics": wanted, "confidence_level": confidence_level}

    # the results
    left_out: list[str] = []
    if example.is_sampled:
        labels, left_out = _valid_estimators(recommenders, wanted)
        result = correct(ranks, estimators=labels, **shared)
    else:
        result = evaluate(ranks, **shared)
    compared = None
    if len(names) > 1:
        compared = compare_with(ranks, replace(comparing, groups=False))

    grouped = dict[str, Result]()
    if groups and example.is_sampled:  # the values are strict bounds
        strict = correct(ranks, estimators=REPORTED[0], groups=groups, **shared)
        grouped["Metrics by group"] = strict
    elif groups:
        grouped["Metrics by group"] = evaluate(ranks, groups=groups, **shared)
    if groups and len(names) > 1:
        grouped["Comparisons by group"] = compare_with(ranks, comparing)

    # what is said once, at the top of the page
    verdicts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    cautions = result.cautions
    if compared is not None:
        verdicts = words.verdicts_in_words(compared)
        notes = words.notes_in_words(compared)
        cautions = compared.cautions
    said = {*verdicts, *notes, *cautions}

    # the parts of the page, whose figures are numbered in this order
    drawn = _Drawn()
    values = _values_of(result, drawn)
    values["heading"] = "True metrics, estimated" if example.is_sampled else "Metrics"
    values["cautions"] = _not_in(said, result.cautions)
    values["remarks"] = [*_not_in(said, result.further_remarks), *left_out]
    values["meanings"] = words.meanings(result["metric"], example.has_one_relevant_item)
    said.update(result.remarks)
    best = names
    if compared is not None and "a" in compared:
        best = [name for name in names if name in {*compared["a"], *compared["b"]}]
    comparison = None
    if compared is not None:
        comparison = _comparison(compared, best, said, drawn)
        said.update(compared.remarks)
    by_group = _by_group(grouped, names, said, drawn)
    shown = [runs for runs in recommenders if runs.name in best]
    text = render(
        "report.html",
        title=example.title.format(
            names="one recommender" if names == [UNNAMED] else words.several_in_words(names)
        ),
        verdicts=verdicts,
        notes=notes,
        cautions=cautions,
        reversals=[verdict for part in by_group for verdict in part["verdicts"]],
        shortest=_shortest(result, names, example.is_sampled),
        values=values,
        comparison=comparison,
        groups=by_group,
        ranks=_histograms(shown, example.is_sampled, drawn),
        read=laid_out(_what_was_read(recommenders)),
        version=__version__,
        level=f"{100 * confidence_level:g}",
    )
    if path is not None:
        file_io.write_text(path, text)
    return text


def _not_in(said: Collection[str], sentences: Iterable[str]) -> list[str]:
    """Return the sentences that the page does not have yet."""
    return [sentence for sentence in sentences if sentence not in said]


def _check(recommenders: int, path: Any, options: Sequence[str]) -> None:
    """Raise ConfigError if options for pairs have no effect on the page, or its file is no html."""
    if options and recommenders < 2:
        raise ConfigError(
            f"{enumerated(options)}: must be left out; there is one recommender, and no pair"
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


def _what_was_read(recommenders: Sequence[Runs]) -> pd.DataFrame:
    """Return a row for each table: its recommender, with the seed, its file and its facts."""
    rows = []
    for runs in recommenders:
        for label, table in runs.by_label.items():
            name = label or "ranks"
            source = {} if table.source in ("", name) else {"Source": table.source}
            rows.append({"Recommender": name} | source | table.facts)
    return pd.DataFrame(rows).fillna("-")


# --- in short, and ranks ------------------------------------------------------------------------


def _shortest(result: Result, names: Sequence[str], is_sampled: bool) -> list[str]:
    """Return what strict bounds of sampled ranks allow, or the metrics of a single recommender."""
    if is_sampled:
        return words.bounds_in_words(result, names)
    return words.metrics_in_words(result) if len(names) == 1 else []


def _histograms(recommenders: Sequence[Runs], is_sampled: bool, drawn: _Drawn) -> dict[str, Any]:
    """Return the histograms of the recommenders that have ranks, several seeds counted together."""
    ranks = {}
    for runs in recommenders:
        tables = [table.ranked_items for table in runs.tables]
        if all(table is not None for table in tables):
            above = np.concatenate([table.above for table in tables])
            tied = np.concatenate([table.tied for table in tables])
            candidates = np.concatenate([table.candidates for table in tables])
            ranks[runs.name or "ranks"] = ExactRanks(np.arange(len(above)), candidates, above, tied)
    pictures = figures.histograms(ranks) if ranks else ()
    titled = ((picture, "Histogram of ranks") for picture in pictures)
    return {"figures": drawn(titled), "caption": words.of_histograms(is_sampled)}


# --- metrics ------------------------------------------------------------------------------------


def _valid_estimators(recommenders: Sequence[Runs], metrics: Any) -> tuple[list[str], list[str]]:
    """Return the estimators that are valid for all ranks, and why others are left out."""
    labels = list(REPORTED)
    left_out = []
    for label in MORE_REPORTED:
        try:
            for runs in recommenders:
                for table in runs.tables:
                    estimator(label).fit(Outcomes.observed(table)[0], metrics)
        except DataError as error:
            left_out.append(words.left_out(label, runs.name, error))
        else:
            labels.append(label)
    return labels, left_out


def _values_of(result: Result, drawn: _Drawn) -> dict[str, Any]:
    """Return values and intervals.

    Several recommenders or estimators have a table for each metric.
    """
    bounds = result[_holds_truth(result)]
    if result["metric"].is_unique:
        tables = [{"heading": "", "note": "", "table": laid_out(_worded(result)), "biased": None}]
    else:
        tables = [
            _of_metric(str(label), cells) for label, cells in result.groupby("metric", sort=False)
        ]
    return {
        "tables": tables,
        "figures": drawn(figures.intervals(bounds)),
        "caption": caption_of(bounds),
    }


def _of_metric(label: str, cells: Result) -> dict[str, Any]:
    """Return the rows of a metric, with the estimators whose interval ignores their bias apart."""
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


def _comparison(
    compared: Comparison, names: Sequence[str], said: Collection[str], drawn: _Drawn
) -> dict[str, Any]:
    """Return the comparison of recommenders, without remarks that are said already."""
    return {
        "heading": f"Comparison of {enumerated(names)}",
        "table": laid_out(_worded(compared, names if len(names) == 2 else ())),
        "remarks": _not_in(said, compared.further_remarks),
        "figures": drawn(figures.intervals(compared)),
        "caption": caption_of(compared),
    }


def _worded(table: Result, names: Sequence[str] = ()) -> pd.DataFrame:
    """Return a result with its cells as text."""
    leading = [name for name in _LEADING if name in table] if "conclusion" in table else []
    ordered = table[[*leading, *table.columns.difference(leading, sort=False)]]
    return ordered.in_words(Verdict.headings(*(names or ("A", "B"))))


# --- by group -----------------------------------------------------------------------------------


def _by_group(
    parts: Mapping[str, Result], names: Sequence[str], said: Collection[str], drawn: _Drawn
) -> list[dict[str, Any]]:
    """Return results by group, with a figure of each.

    Sentences that are shown on the page already are left out.
    """
    shown_parts = []
    for title, table in parts.items():
        kinds = ("order-differs", "order-reversed")
        differing = [finding for finding in table.findings if finding.kind in kinds]
        verdicts = wording.remarks(differing, table.setting)
        remarks = _not_in({*said, *verdicts}, table.further_remarks)
        shown_parts.append(
            {
                "heading": title,
                "cautions": _not_in(said, table.cautions),
                "verdicts": verdicts,
                "table": laid_out(_worded(table, names if len(names) == 2 else ())),
                "figures": drawn(figures.intervals(table)),
                "caption": caption_of(table),
                "remarks": remarks,
            }
        )
    return shown_parts
