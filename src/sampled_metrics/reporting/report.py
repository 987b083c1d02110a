"""Write a page about ranks: what was read, a verdict in words, tables and figures."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sampled_metrics import __version__, _files
from sampled_metrics._defaults import METRICS
from sampled_metrics._running import Progress, no_progress, on_one_thread
from sampled_metrics.errors import DataError
from sampled_metrics.estimators import estimator, estimator_name
from sampled_metrics.evaluation import compare, correct, evaluate, expect
from sampled_metrics.evaluation.comparison import Comparison
from sampled_metrics.evaluation.evaluate import check_relevance
from sampled_metrics.evaluation.expect import wrong_orders
from sampled_metrics.evaluation.plots import caption_of
from sampled_metrics.evaluation.result import Result, by_recommender, cell
from sampled_metrics.metrics.metric import MetricsLike, metric_name, metrics_by_label
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.ranks.frames import Columns, PerUser, RanksLike
from sampled_metrics.ranks.read import Form, exact_or_sampled, recommenders
from sampled_metrics.ranks.sampled import SampledRanks
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
    ranks: RanksLike | Mapping[str, RanksLike],
    path: str | os.PathLike[str] | None = None,
    *,
    metrics: MetricsLike | None = None,
    candidates: PerUser | None = None,
    negatives: PerUser | None = None,
    exact: bool = False,
    replacement: bool = False,
    by: str | None = None,
    rank_column: str | Sequence[str] | None = None,
    zero_based: bool = False,
    relevance: Any = None,
    relevant_from: float | None = None,
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
        ranks: ranks of one recommender, as in `evaluate` or `correct`, or a mapping from names to ranks. With
            `relevance`, lists in place of ranks; a mapping is then one from names to lists.
        path: a file to write, in a folder that exists.
        metrics: labels, as in `evaluate`.
        candidates: as in `correct`.
        negatives: (users,) or one number: m. If it is given, here or as a column, the ranks are sampled, else exact.
        exact: as in `evaluate`.
        replacement: as in `correct`.
        by: as in `evaluate`.
        rank_column: as in `evaluate`.
        zero_based: as in `evaluate`.
        relevance: the judged items of users, as in `evaluate`.
        relevant_from: as in `evaluate`.
        confidence_level: probability that an interval covers its value.
        n_resamples: bootstrap samples, for estimators that are not linear in the sample.
        seed: seed of the bootstrap.
        progress: as in `evaluate`, and wraps the sample sizes of the expectations.

    Returns:
        The page, as text. The intervals of the pairs of three recommenders or more hold together, as in `compare`.

    Raises:
        DataError: the ranks are wrong, as in `evaluate`, `correct` and `compare`.
        ConfigError: a metric or an option does not exist, a metric is repeated, or matplotlib is not installed.
        WriteError: the file cannot be written, or its folder does not exist.

    Examples:
        >>> import sampled_metrics as sm
        >>> page = sm.report({"old": [5, 80, 3, 200, 9, 30], "new": [2, 40, 1, 90, 4, 10]}, candidates=1000)
        >>> print(page.split(">", 1)[0])
        <!doctype html

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, sections 4 and 5.
    """
    if path is not None:
        _files.require_folder(path)
    check_relevance(
        relevance,
        {"relevant_from": relevant_from},
        {"candidates": candidates, "negatives": negatives, "replacement": replacement},
    )
    form = Form(candidates, negatives, exact, replacement, by, rank_column, zero_based)
    given = {name or "ranks": each for name, each in recommenders(ranks, form).items()}
    read: dict[str, Any] = given if relevance is not None else {**exact_or_sampled(given, form)}
    wanted: Any = metrics
    if relevance is None:
        wanted = list(metrics_by_label(METRICS if metrics is None else metrics).values())
    options: dict[str, Any] = {
        "metrics": wanted,
        "confidence_level": confidence_level,
        "n_resamples": n_resamples,
        "seed": seed,
        "progress": progress,
    }
    judged = {"relevance": relevance, "relevant_from": relevant_from}
    page, left_out = _Page(), list[str]()
    ranked = {name: each for name, each in read.items() if isinstance(each, ExactRanks)}
    sampled = {name: each for name, each in read.items() if isinstance(each, SampledRanks)}
    if relevance is not None:
        title, heading = f"Ranked lists of {_joined(given)}", "Metrics"
        found = {name: evaluate(each, **judged, **options) for name, each in read.items()}
        alone = [f"{name}: {_values(each)}." for name, each in found.items()]
    elif sampled:
        title, heading = f"Ranks of {_joined(given)} among sampled negatives", "True metrics, estimated"
        found, left_out = _corrected(sampled, options)
        bounds = {name: each[each["estimator"].isin(ESTIMATORS[:2])] for name, each in found.items()}
        alone = [f"{name}: {each.further_remarks[0]}" for name, each in bounds.items() if each["low"].notna().any()]
    else:
        title, heading = f"Ranks of {_joined(given)} among all candidates", "Metrics"
        found = {name: evaluate(each, **options) for name, each in ranked.items()}
        alone = [f"{name}: {_values(each)}." for name, each in found.items()]
    names = list(given)
    compared = None
    if len(names) == 2:
        one, other = names
        compared = compare(read[one], read[other], names=(one, other), **judged, **options)
    elif len(names) > 2:
        compared = compare(read, **judged, **options)
    page.heading("In short")
    cautions = dict.fromkeys(caution for table in [*ranked.values(), *sampled.values()] for caution in table.cautions)
    cautions |= dict.fromkeys(next(iter(found.values())).cautions if compared is None else compared.cautions)
    page.paragraphs(cautions, kind="caution")
    if compared is not None:
        said = compared.further_remarks[: len(compared.by_metric)] if len(names) > 2 else [verdict(compared, names)]
        page.paragraphs(said, kind="verdict")
    page.list(alone)
    page.heading("What was read")
    if relevance is None:
        page.table("What was read", _what_was_read(read))
    else:
        page.table("What was read", _lists_read(read, found))
    page.heading(heading)
    _metrics(page, found, left_out, known=list(cautions))
    if compared is not None:
        page.heading(f"Comparison of {_joined(names)}")
        page.table(f"Comparison of {_joined(names)}", _worded(compared, names if len(names) == 2 else ()))
        page.list(compared.further_remarks)
        page.drawn(figures.intervals(compared), caption_of(compared))
    if ranked:
        _sampled_negatives(page, ranked, wanted, replacement, progress, compared)
    if shown := ranked or {name: _among_the_sample(each) for name, each in sampled.items()}:
        page.heading("Ranks")
        among = "all candidates" if ranked else "the sampled negatives"
        page.drawn(
            ((figure, "Histogram of ranks") for figure in figures.histograms(shown)),
            f"Ranks of the held-out items among {among}, from best to worst; the last bars are those up to half of the "
            "ranked items, and the worse half. Ties count in expectation.",
        )
    page.footer(
        f"Made by sampled-metrics {__version__}, with a confidence level of {100 * confidence_level:g} %, "
        f"{n_resamples} bootstrap samples and the seed {seed}."
    )
    text = page.html(title)
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


def _what_was_read(read: Mapping[str, SampledRanks | ExactRanks]) -> pd.DataFrame:
    rows = []
    for name, table in read.items():
        row = {"Recommender": name}
        if table.source not in ("", name):
            row["Source"] = table.source
        row["Rows"] = str(len(table))
        users = "one for each row" if table.user is None else str(table.user_numbers.max() + 1)
        row |= {"Users": users, "Candidates": _range(table.candidates)}
        if isinstance(table, SampledRanks):
            row |= {"Negatives": _range(table.negatives), "Ties": "not known"}
        else:
            tied = int((table.tied > 0).sum())
            row["Ties"] = f"{tied} rows" if tied else "none"
        rows.append(row)
    return pd.DataFrame(rows).fillna("-")


def _lists_read(given: Mapping[str, Any], found: Mapping[str, Result]) -> pd.DataFrame:
    rows = []
    for name, each in given.items():
        row = {"Recommender": name}
        if isinstance(each, Columns) and each.name != name:
            row["Source"] = each.name
        rows.append(row | {"Judged users": str(found[name]["users"].iloc[0])})
    return pd.DataFrame(rows).fillna("-")


def _range(values: np.ndarray) -> str:
    low, high = values.min(), values.max()
    return str(low) if low == high else f"{low} to {high}"


# --- metrics ----------------------------------------------------------------------------------------------------------


def _corrected(sampled: Mapping[str, SampledRanks], options: Mapping[str, Any]) -> tuple[dict[str, Result], list[str]]:
    """Return the true metrics behind sampled ranks, and sentences on the estimators that are not valid for them."""
    found, left_out = {}, []
    for name, each in sampled.items():
        outcomes, labels = Outcomes.observed(each)[0], list(ESTIMATORS)
        for label in MORE_ESTIMATORS:
            try:
                estimator(label).fit(outcomes, options["metrics"])
            except DataError as error:
                left_out.append(f"{estimator_name(label)} is left out for {name}: {error}.")
            else:
                labels.append(label)
        found[name] = correct(each, estimators=labels, **options)
    return found, left_out


def _metrics(page: _Page, found: Mapping[str, Result], left_out: list[str], known: Sequence[str]) -> None:
    """Write values, remarks and intervals; several recommenders or estimators have a table for each metric.

    Cautions that are known, as the page begins with them, are left out.
    """
    others = {name: [said for said in result.cautions if said not in known] for name, result in found.items()}
    page.paragraphs([said for said in _by_names(others) if said not in known], kind="caution")
    [first, *_] = found.values()
    if len(found) == 1 and first["metric"].is_unique:
        page.table("Metrics", _worded(first))
        page.drawn(figures.intervals(first), caption_of(first))
    else:
        table = by_recommender(found) if len(found) > 1 else first
        for label, cells in table.groupby("metric", sort=False):
            name = metric_name(str(label))
            page.heading(name, 3)
            page.table(name, _worded(cells).drop(columns="Metric"))
            page.drawn(figures.intervals(cells))
        page.paragraphs([caption_of(table)], "caption")
    page.list(_by_names({name: each.further_remarks for name, each in found.items()}))
    page.list(left_out)


def _by_names(sentences: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the sentences on recommenders once each, with the names of those that have them, if not all do."""
    names: dict[str, list[str]] = {}
    for name, of_recommender in sentences.items():
        for sentence in of_recommender:
            names.setdefault(sentence, []).append(name)
    return [said if len(those) == len(sentences) else f"{_joined(those)}: {said}" for said, those in names.items()]


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
    return text.rename(columns=words)


# --- what a sample would show -----------------------------------------------------------------------------------------


def _sampled_negatives(
    page: _Page,
    tables: Mapping[str, ExactRanks],
    wanted: MetricsLike,
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
    found = {m: expect(tables, negatives=m, metrics=wanted, replacement=replacement) for m in progress(sizes)}
    rows = pd.concat([pd.DataFrame(each).assign(negatives=m) for m, each in found.items()], ignore_index=True)
    drawn = (
        (figures.by_sample_size(cells), metric_name(str(label))) for label, cells in rows.groupby("metric", sort=False)
    )
    page.drawn(
        drawn, "The mean of an evaluation on sampled negatives, over all samples, by their number; thin lines: exact."
    )
    if SHOWN_NEGATIVES in found and compared is not None:
        page.list(_orders(found[SHOWN_NEGATIVES], compared))


def _orders(expected: Result, compared: Comparison) -> list[str]:
    """Say which decided pairs a sampled metric orders wrongly, and how many pairs the exact ranks do not decide."""
    decided = {
        (label, each.rows[better].name, each.rows[worse].name)
        for label, each in compared.by_metric.items()
        for better, worse in each.decided
    }
    wrong = [
        sentence
        for (_, label, better, worse), sentence in wrong_orders(expected, SHOWN_NEGATIVES).items()
        if (label, better, worse) in decided
    ]
    said = list(wrong)
    undecided = int((compared["conclusion"] == "undecided").sum())
    if decided and not wrong:
        which = "all decided pairs" if undecided else "all recommenders"
        said.append(f"With {SHOWN_NEGATIVES} sampled negatives, {which} are ordered rightly on average.")
    if undecided:
        said.append(
            f"Undecided by the exact ranks: {undecided} of {len(compared)} comparisons of two recommenders by a "
            "metric. No order of these is right or wrong."
        )
    return said


def _among_the_sample(ranks: SampledRanks) -> ExactRanks:
    """Return sampled ranks as ranks among m + 1 items."""
    return ExactRanks(None, ranks.negatives + 1, ranks.x, np.zeros_like(ranks.x))


# --- words ------------------------------------------------------------------------------------------------------------


def verdict(compared: Result, names: Sequence[str]) -> str:
    """Return in words which of two recommenders is better, by metric."""
    sentences = []
    decided = compared["conclusion"].value_counts()
    for winner, loser in sorted((tuple(names), tuple(names[::-1])), key=lambda each: -decided.get(each[0], 0)):
        if on := [metric_name(label) for label in compared["metric"][compared["conclusion"] == winner]]:
            sentences.append(f"{winner} is better than {loser} on {_joined(on)}.")
    if undecided := [metric_name(label) for label in compared["metric"][compared["conclusion"] == "undecided"]]:
        sentences.append(f"Undecided between {names[0]} and {names[1]}: {_joined(undecided)}.")
    return " ".join(sentences)


def _joined(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else str(last)
