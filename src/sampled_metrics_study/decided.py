"""What the exact ranks decide, and Tables 3 and 4 with it."""

import logging
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from sampled_metrics.core.evaluation import evaluate
from sampled_metrics.core.evaluation.compare import CompareOptions, compare_with
from sampled_metrics.core.evaluation.verdict import VERDICTS
from sampled_metrics.core.evaluation.wording import remarks
from sampled_metrics.core.metrics import MetricsLike
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.core.ranks.sampled import SampledRanks
from sampled_metrics.errors import DataError
from sampled_metrics.reporting.tables import Section
from sampled_metrics_study import tables
from sampled_metrics_study.repetitions import VARIANTS

_ON_MARGIN = {*VERDICTS, "by-margin", "margin", "relative-margin"}
"""Kinds of findings on a margin; verdicts are sentences if there are two recommenders."""


class Exact(NamedTuple):
    """What the exact ranks say.

    Attributes:
        values: columns recommender, metric, value, low and high, with intervals at 95 %.
        decided: (metric, better, worse) of the decided pairs, best first; None if the users cannot
            be compared.
        on_margin: sentences on which metrics differ by more or less than the margin.
    """

    values: pd.DataFrame
    decided: Sequence[tuple[str, str, str]] | None
    on_margin: Sequence[str] = ()


def exact_findings(ranks: Mapping[str, ExactRanks], options: CompareOptions) -> Exact:
    """Return the exact metrics with intervals, and the pairs that a comparison by user decides.

    The intervals of the pairs of a metric hold together at 95 %. The decided pairs depend on the
    metrics alone, as the tables do, and not on further options.
    """
    values = pd.DataFrame(evaluate(ranks, metrics=options.metrics))[
        ["recommender", "metric", "value", "low", "high"]
    ]
    if len(ranks) < 2:
        return Exact(values, [])
    try:
        decided = decided_pairs(ranks, options.metrics)
    except DataError as error:  # ready-made ranks whose users have other names or another order
        logging.getLogger(__name__).warning("the exact ranks are not compared by user: %s", error)
        return Exact(values, None)
    if not options.on_pairs:
        return Exact(values, decided)
    compared = compare_with(ranks, options)
    on_margin = [finding for finding in compared.findings if finding.kind in _ON_MARGIN]
    return Exact(values, decided, remarks(on_margin, compared.setting))


def decided_pairs(
    ranks: Mapping[str, ExactRanks | SampledRanks], metrics: MetricsLike | None
) -> list[tuple[str, str, str]]:
    """Return (metric, better, worse) of the pairs that `compare` decides, best first."""
    by_metric = compare_with(ranks, CompareOptions(metrics=metrics)).by_metric
    return [
        (label, standings.rows[better].name, standings.rows[worse].name)
        for label, standings in by_metric.items()
        for better, worse in standings.decided
    ]


def is_decided(
    table_4: pd.DataFrame, decided: Sequence[tuple[str, str, str]] | None
) -> "pd.Series[bool]":
    """Return whether the exact ranks decide the order of the pair, for each row of Table 4."""
    rows = zip(table_4["metric"], table_4["better"], table_4["worse"], strict=True)
    return pd.Series([row in (decided or ()) for row in rows], index=table_4.index, dtype=bool)


def table_3(table: pd.DataFrame, exact: Exact) -> pd.DataFrame:
    """Lay out Table 3.

    The best by the exact metric, and those that are not decided to be worse, are bold.
    """
    cells = tables.cells_3(table)
    if exact.decided is not None and table["recommender"].nunique() > 1:
        rows_of_best = exact.values.groupby("metric")["value"].idxmax()
        best = exact.values.loc[rows_of_best, ["metric", "recommender"]]
        best_keys = set(best.itertuples(index=False, name=None))
        worse_keys = {
            (label, worse) for label, better, worse in exact.decided if (label, better) in best_keys
        }
        keys = zip(cells["metric"], cells["recommender"], strict=True)
        is_best = np.array([key not in worse_keys for key in keys])
        is_bold = is_best & (cells["estimator"] == "exact")
        cells["cell"] = cells["cell"].where(~is_bold, "**" + cells["cell"] + "**")
    return tables.wide(cells, ["metric", "recommender"])


def table_4(
    table: pd.DataFrame, exact: Exact, repetitions: int | None, column: str = "correct"
) -> pd.DataFrame:
    """Lay out Table 4 with a column that says whether the exact ranks decide a row.

    An undecided row has no bold cell.

    The interval of Agresti and Caffo, at 95 %, distinguishes the shares of two estimators. Without
    repetitions (None), the shares are exact, and those of the largest one, as shown, are bold.
    """
    cells = tables.cells_4(table, column)
    keys = ["pair", "metric"]
    groups = [cells[key] for key in keys]
    decided = is_decided(cells, exact.decided)
    if repetitions is None:
        shown = (100 * cells[column]).round()
        is_best = shown == shown.groupby(groups).transform("max")
    else:
        share = (cells[column] * repetitions + 1) / (repetitions + 2)
        variance = share * (1 - share) / (repetitions + 2)
        best = share.groupby(groups).transform("idxmax")
        half_width = 1.96 * np.sqrt(variance + variance.loc[best].to_numpy())
        is_best = share.loc[best].to_numpy() - share <= half_width
    cells["cell"] = cells["cell"].where(~(decided & is_best), "**" + cells["cell"] + "**")
    otherwise = "not compared" if exact.decided is None else "undecided"
    words = decided.map({True: "decided", False: otherwise})
    order = cells.assign(cell=words, estimator="Exact order").drop_duplicates(keys)
    wide = tables.wide(cells, keys)
    wide.insert(2, "Exact order", tables.wide(order, keys)["Exact order"])
    return wide


def sections_3(table: pd.DataFrame, exact: Exact) -> list[Section]:
    """Lay out Table 3, a section for each reading; values in per cent."""
    return [
        (VARIANTS[str(name)].heading, table_3(rows, exact))
        for name, rows in table.groupby("reading", sort=False)
    ]


def sections_4(table: pd.DataFrame, exact: Exact, repetitions: int) -> list[Section]:
    """Lay out Table 4, a section for each reading, in per cent of repetitions.

    Sections with the exact probabilities follow. A table without pairs has no section.
    """
    if table.empty:
        return []
    probabilities = (
        "Without repetitions: the probability of the right order, by the normal approximation. "
    )
    by_reading = [
        (VARIANTS[str(name)].heading, rows) for name, rows in table.groupby("reading", sort=False)
    ]
    counted = [(heading, table_4(rows, exact, repetitions)) for heading, rows in by_reading]
    expected = [
        (probabilities + heading, table_4(rows, exact, None, "correct_exact"))
        for heading, rows in by_reading
    ]
    return [*counted, *expected]
