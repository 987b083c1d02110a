"""Write a page about ranks: what was read, a verdict in words, tables and figures."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import pandas as pd

from sampled_metrics import __version__, _files
from sampled_metrics._running import Progress, no_progress, on_one_thread
from sampled_metrics._validation import enumerated
from sampled_metrics.errors import DataError
from sampled_metrics.estimators import estimator, estimator_name
from sampled_metrics.evaluation import compare, correct, evaluate, expect
from sampled_metrics.evaluation.by_group import ORDER_DIFFERS
from sampled_metrics.evaluation.comparison import Comparison
from sampled_metrics.evaluation.evaluate import checked_metrics
from sampled_metrics.evaluation.expect import wrong_orders
from sampled_metrics.evaluation.plots import caption_of
from sampled_metrics.evaluation.result import Result, by_recommender, cell
from sampled_metrics.metrics.metric import MetricsLike, metric_name
from sampled_metrics.ranks.given import cautions_of, tables_by_name
from sampled_metrics.ranks.groups import Groups
from sampled_metrics.ranks.table import Table
from sampled_metrics.rendering.drawing import inline_svg
from sampled_metrics.rendering.page import Page
from sampled_metrics.reporting import figures
from sampled_metrics.sampling.outcomes import Outcomes

if TYPE_CHECKING:  # rendering.drawing says in one line that it is not installed
    from matplotlib.figure import Figure

ESTIMATORS = ("decreasing", "free", "uncorrected")
"""Estimators of sampled ranks that are always shown."""

MORE_ESTIMATORS = ("bv-0.1", "mle")
"""Estimators of sampled ranks that are shown if they are valid for the sample."""

SHOWN_NEGATIVES = 100
"""The number of sampled negatives for which a page of exact ranks says who would be ordered wrongly."""


@on_one_thread
def report(
    ranks: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    metrics: MetricsLike | None = None,
    replacement: bool = False,
    margin: float | str | None = None,
    groups: Groups = False,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
    progress: Progress = no_progress,
) -> str:
    """Write one html page about the ranks of one or several recommenders; it needs matplotlib.

    The page says what was read, and has a verdict in words for each pair, tables, intervals and a histogram of the
    ranks. Exact ranks have the expectation of each metric by number of sampled negatives (`expect`), and sampled ranks
    the intervals of several estimators (`correct`). The page holds its figures, and fetches nothing.

    Args:
        ranks: an `ExactRanks`, a `SampledRanks` or a `RankedLists`, as the readers return them, or a mapping from the
            names of recommenders to them.
        path: a file to write, in a folder that exists.
        metrics: labels such as recall@10; the default is that of `evaluate`.
        replacement: of exact ranks, whether the negatives of what a sample would show may be sampled twice.
        margin: the smallest difference that matters, as in `compare`.
        groups: True for a section by the groups that the reader kept, or a mapping from users to groups, as in
            `compare`.
        confidence_level: probability that an interval covers its value.
        n_resamples: bootstrap samples, for estimators that are not linear in the sample.
        seed: seed of the bootstrap.
        progress: wraps the blocks of bootstrap samples, and the sample sizes of the expectations.

    Returns:
        The page, as text. The intervals of the pairs of three recommenders or more hold together, as in `compare`.

    Raises:
        DataError: the ranks have not been read by a reader, or an error of `evaluate`, `correct` or `compare`.
        ConfigError: a metric or an option does not exist, a metric is repeated, or matplotlib is not installed.
        WriteError: the file cannot be written, or its folder does not exist.

    Examples:
        >>> import sampled_metrics as sm
        >>> ranks = {"old": [5, 80, 3, 200, 9, 30], "new": [2, 40, 1, 90, 4, 10]}
        >>> page = sm.report(sm.exact_ranks(ranks, candidates=1000))
        >>> print(page.split(">", 1)[0])
        <!doctype html

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, sections 4 and 5.
    """
    if path is not None:
        _files.require_folder(path)
    tables = {name or "ranks": table for name, table in tables_by_name(ranks, "report").items()}
    first = next(iter(tables.values()))
    wanted = list(checked_metrics(first, metrics).values()) if first.has_one_relevant_item else metrics
    options: dict[str, Any] = {
        "metrics": wanted,
        "confidence_level": confidence_level,
        "n_resamples": n_resamples,
        "seed": seed,
        "progress": progress,
    }
    page, left_out, names = _Page(), list[str](), enumerated(tables)
    if first.is_sampled:
        results, left_out = _corrected(tables, options)
    else:
        results = {name: evaluate(table, **options) for name, table in tables.items()}
    compared = compare(tables, margin=margin, **options) if len(tables) > 1 else None
    cautions = list(first.cautions if compared is None else cautions_of(tables))
    cautions += next(iter(results.values())).cautions if compared is None else compared.cautions
    page.heading("In short")
    page.paragraphs(dict.fromkeys(cautions), kind="caution")
    if compared is not None:
        page.paragraphs(_verdicts(compared), kind="verdict")
    page.list(_shortest(results, first.is_sampled))
    page.heading("What was read")
    page.table("What was read", _what_was_read(tables))
    page.heading("True metrics, estimated" if first.is_sampled else "Metrics")
    _metrics(
        page, results, left_out, [*cautions, *(caution for table in tables.values() for caution in table.cautions)]
    )
    if compared is not None:
        page.heading(f"Comparison of {names}")
        page.table(f"Comparison of {names}", _worded(compared, list(tables) if len(tables) == 2 else ()))
        page.list(compared.further_remarks)
        page.drawn(figures.intervals(compared), caption_of(compared))
    if groups:
        shown = {
            *cautions,
            *(text for result in (*results.values(), compared) if result is not None for text in result.remarks),
        }
        _by_group(page, tables, groups, margin, options, shown)
    exact = {name: table for name, table in tables.items() if "expect" in table.taken_by}
    if exact:
        _sampled_negatives(page, exact, wanted, replacement, progress, compared)
    _histograms(page, tables, "the sampled negatives" if first.is_sampled else "all candidates")
    page.footer(
        f"Made by sampled-metrics {__version__}, with a confidence level of {100 * confidence_level:g} %, "
        f"{n_resamples} bootstrap samples and the seed {seed}."
    )
    text = page.html(first.title(names))
    if path is not None:
        _files.write_text(path, text)
    return text


class _Page(Page):
    """A page with figures that are drawn here."""

    def __init__(self) -> None:
        super().__init__()
        self._number = count(1)

    def drawn(self, figures: Iterable[tuple[Figure, str]], caption: str = "") -> None:
        """Add figures with their titles, and a caption below them."""
        self.figures((inline_svg(figure, title, f"f{next(self._number)}") for figure, title in figures), caption)


# --- what was read ----------------------------------------------------------------------------------------------------


def _what_was_read(tables: Mapping[str, Table]) -> pd.DataFrame:
    rows = []
    for name, table in tables.items():
        source = {} if table.source in ("", name) else {"Source": table.source}
        rows.append({"Recommender": name} | source | table.facts)
    return pd.DataFrame(rows).fillna("-")


# --- in short, and ranks ----------------------------------------------------------------------------------------------


def _verdicts(compared: Comparison) -> list[str]:
    """Return who is better, in words."""
    names = compared.attrs["names"]
    if len(names) == 2:
        return [verdict(compared, names)]
    return list(compared.further_remarks[: len(compared.by_metric)])


def _shortest(results: Mapping[str, Result], is_sampled: bool) -> list[str]:
    """Return the metrics of each recommender as a sentence: of sampled ranks, what its strict bounds allow."""
    if not is_sampled:
        return [f"{name}: {_values(table)}." for name, table in results.items()]
    bounds = {name: table[table["estimator"].isin(ESTIMATORS[:2])] for name, table in results.items()}
    return [f"{name}: {table.further_remarks[0]}" for name, table in bounds.items() if table["low"].notna().any()]


def _histograms(page: _Page, tables: Mapping[str, Table], among: str) -> None:
    """Write the histograms of the ranks of those recommenders that have ranks."""
    ranks = {name: table.ranked_items for name, table in tables.items() if table.ranked_items is not None}
    if ranks:
        page.heading("Ranks")
        page.drawn(
            ((figure, "Histogram of ranks") for figure in figures.histograms(ranks)),
            f"Ranks of the held-out items among {among}, from best to worst; the last bars are those up to half of the "
            "ranked items, and the worse half. Ties count in expectation.",
        )


# --- metrics ----------------------------------------------------------------------------------------------------------


def _corrected(sampled: Mapping[str, Any], options: Mapping[str, Any]) -> tuple[dict[str, Result], list[str]]:
    """Return the true metrics behind sampled ranks, and sentences on the estimators that are not valid for them."""
    results, left_out = {}, []
    for name, table in sampled.items():
        outcomes, labels = Outcomes.observed(table)[0], list(ESTIMATORS)
        for label in MORE_ESTIMATORS:
            try:
                estimator(label).fit(outcomes, options["metrics"])
            except DataError as error:
                left_out.append(f"{estimator_name(label)} is left out for {name}: {error}.")
            else:
                labels.append(label)
        results[name] = correct(table, estimators=labels, **options)
    return results, left_out


def _metrics(page: _Page, results: Mapping[str, Result], left_out: list[str], known: Sequence[str]) -> None:
    """Write values, remarks and intervals; several recommenders or estimators have a table for each metric.

    Cautions that are known are left out, as the page begins with them.
    """
    cautions = {name: [text for text in result.cautions if text not in known] for name, result in results.items()}
    page.paragraphs([text for text in _by_names(cautions) if text not in known], kind="caution")
    [first, *_] = results.values()
    if len(results) == 1 and first["metric"].is_unique:
        page.table("Metrics", _worded(first))
        page.drawn(figures.intervals(first), caption_of(first))
    else:
        table = by_recommender(results) if len(results) > 1 else first
        for label, cells in table.groupby("metric", sort=False):
            name = metric_name(str(label))
            page.heading(name, 3)
            page.table(name, _worded(cells).drop(columns="Metric"))
            page.drawn(figures.intervals(cells))
        page.paragraphs([caption_of(table)], "caption")
    page.list(_by_names({name: result.further_remarks for name, result in results.items()}))
    page.list(left_out)


def _by_names(sentences: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the sentences on recommenders once each, with the names of those that have them, if not all do."""
    names: dict[str, list[str]] = {}
    for name, of_recommender in sentences.items():
        for sentence in of_recommender:
            names.setdefault(sentence, []).append(name)
    return [
        text if len(having) == len(sentences) else f"{enumerated(having)}: {text}" for text, having in names.items()
    ]


def _values(table: Result) -> str:
    """Return the metrics of a result in words."""
    return ", ".join(
        f"{metric_name(row['metric'])} is {cell(row['value'])} ({cell(row['low'])} to {cell(row['high'])})"
        for row in table.to_dict("records")
    )


def _worded(table: Result, names: Sequence[str] = ()) -> pd.DataFrame:
    """Return a result as text, in words."""
    text = table.as_text()
    for column, name_of in {"metric": metric_name, "estimator": estimator_name}.items():
        if column in text:
            text[column] = text[column].map(name_of)
    words = {column: column.replace("_", " ").capitalize() for column in text}
    if names:
        words |= {"value_a": names[0], "value_b": names[1], "difference": f"{names[1]} - {names[0]}"}
        words |= {"higher_a": f"{names[0]} higher", "higher_b": f"{names[1]} higher"}
    return text.rename(columns=words)


# --- by group ---------------------------------------------------------------------------------------------------------


def _by_group(
    page: _Page,
    tables: Mapping[str, Any],
    groups: Groups,
    margin: float | str | None,
    options: Mapping[str, Any],
    shown: Collection[str],
) -> None:
    """Write values by group, of sampled ranks their strict bounds, and comparisons by group, with a figure of each.

    Sentences that are shown on the page already are left out.
    """
    page.heading("By group")
    given = tables if len(tables) > 1 else next(iter(tables.values()))
    is_sampled = next(iter(tables.values())).is_sampled
    if is_sampled:
        values = correct(given, estimators=ESTIMATORS[0], groups=groups, **options)
    else:
        values = evaluate(given, groups=groups, **options)
    parts = {"Metrics by group": values}
    if len(tables) > 1:
        parts["Comparisons by group"] = compare(tables, margin=margin, groups=groups, **options)
    for title, table in parts.items():
        page.heading(title, 3)
        page.paragraphs([text for text in table.cautions if text not in shown], "caution")
        remarks = [text for text in table.further_remarks if text not in shown]
        page.paragraphs([text for text in remarks if ORDER_DIFFERS in text], "verdict")
        page.table(title, _worded(table, list(tables) if len(tables) == 2 else ()))
        page.drawn(figures.intervals(table), caption_of(table))
        page.list([text for text in remarks if ORDER_DIFFERS not in text])


# --- what a sample would show -----------------------------------------------------------------------------------------


def _sampled_negatives(
    page: _Page,
    tables: Mapping[str, Any],
    wanted: Any,
    replacement: bool,
    progress: Progress,
    compared: Comparison | None,
) -> None:
    """Write the expectation of an evaluation on sampled negatives, by their number."""
    most = min(int(table.candidates.min()) for table in tables.values()) - 1
    sizes = [digit * 10**power for power in range(9) for digit in (1, 2, 5) if digit * 10**power <= most]
    page.heading("What sampled negatives would show")
    if not sizes:
        page.paragraphs(["A user has no candidates besides the held-out item, so there is nothing to sample."])
        return
    expected = {m: expect(tables, negatives=m, metrics=wanted, replacement=replacement) for m in progress(sizes)}
    rows = pd.concat([pd.DataFrame(table).assign(negatives=m) for m, table in expected.items()], ignore_index=True)
    drawn = (
        (figures.by_sample_size(cells), metric_name(str(label))) for label, cells in rows.groupby("metric", sort=False)
    )
    page.drawn(
        drawn, "The mean of an evaluation on sampled negatives, over all samples, by their number; thin lines: exact."
    )
    if SHOWN_NEGATIVES in expected and compared is not None:
        page.list(_orders(expected[SHOWN_NEGATIVES], compared))


def _orders(expected: Result, compared: Comparison) -> list[str]:
    """Say which decided pairs a sampled metric orders wrongly, and how many pairs the exact ranks do not decide."""
    decided = {
        (label, standings.rows[better].name, standings.rows[worse].name)
        for label, standings in compared.by_metric.items()
        for better, worse in standings.decided
    }
    wrong = [
        sentence
        for (_, label, better, worse), sentence in wrong_orders(expected, SHOWN_NEGATIVES).items()
        if (label, better, worse) in decided
    ]
    sentences = list(wrong)
    undecided = int((compared["conclusion"] == "undecided").sum())
    if decided and not wrong:
        pairs = "all decided pairs" if undecided else "all recommenders"
        sentences.append(f"With {SHOWN_NEGATIVES} sampled negatives, {pairs} are ordered rightly on average.")
    if undecided:
        sentences.append(
            f"Undecided by the exact ranks: {undecided} of {len(compared)} comparisons of two recommenders by a "
            "metric. No order of these is right or wrong."
        )
    return sentences


# --- words ------------------------------------------------------------------------------------------------------------


def verdict(compared: Result, names: Sequence[str]) -> str:
    """Return in words which of two recommenders is better, by metric, and by how much if there is a margin."""
    sentences = []
    decided = compared["conclusion"].value_counts()
    sizes = compared["size"] if "size" in compared else pd.Series("", index=compared.index)
    for winner, loser in sorted((tuple(names), tuple(names[::-1])), key=lambda pair: -decided.get(pair[0], 0)):
        for size in dict.fromkeys(sizes):
            rows = (compared["conclusion"] == winner) & (sizes == size)
            if on := [metric_name(label) for label in compared["metric"][rows]]:
                by = f", by {size}" if size else ""
                sentences.append(f"{winner} is better than {loser} on {enumerated(on)}{by}.")
    for conclusion, text in {"equivalent": "Equivalent are", "undecided": "Undecided between"}.items():
        if on := [metric_name(label) for label in compared["metric"][compared["conclusion"] == conclusion]]:
            sentences.append(f"{text} {names[0]} and {names[1]}: {enumerated(on)}.")
    return " ".join(sentences)
