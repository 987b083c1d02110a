"""Tables 3 and 4 of a dataset, with a part for each m."""

from collections.abc import Callable, Mapping

import pandas as pd

from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.reporting.tables import Section
from sampled_metrics_study import decided, tables
from sampled_metrics_study.inputs import Inputs
from sampled_metrics_study.repetitions import by_size, part_of_size, sizes_of

Runs = Mapping[str, pd.DataFrame]


def table_3(inputs: Inputs) -> pd.DataFrame:
    """Return Table 3."""
    return _by_size(inputs, tables.table_3)


def table_4(inputs: Inputs) -> pd.DataFrame:
    """Return Table 4."""
    return _by_size(inputs, tables.table_4)


def _by_size(
    inputs: Inputs, compute: Callable[[Mapping[str, ExactRanks], Runs, Runs], pd.DataFrame]
) -> pd.DataFrame:
    """Return a table of every m."""
    parts = {}
    for m in sizes_of(next(iter(inputs.estimates.values()))):
        estimates = {name: part_of_size(table, m) for name, table in inputs.estimates.items()}
        expected = {name: part_of_size(table, m) for name, table in inputs.expected.items()}
        parts[m] = compute(inputs.ranks, estimates, expected)
    return by_size(parts)


def layout_3(table: pd.DataFrame, inputs: Inputs) -> list[Section]:
    """Lay out Table 3."""
    return _laid_out(table, lambda part: decided.sections_3(part, inputs.exact))


def layout_4(table: pd.DataFrame, inputs: Inputs) -> list[Section]:
    """Lay out Table 4."""
    repetitions = inputs.options["repetitions"]
    return _laid_out(table, lambda part: decided.sections_4(part, inputs.exact, repetitions))


def _laid_out(
    table: pd.DataFrame, layout: Callable[[pd.DataFrame], list[Section]]
) -> list[Section]:
    """Lay out the parts of every m."""
    return [
        (heading if m is None else f"m = {m}. {heading}", cells)
        for m in sizes_of(table)
        for heading, cells in layout(part_of_size(table, m))
    ]
