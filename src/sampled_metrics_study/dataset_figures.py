"""The figures of a dataset: Figures 5 and 6."""

from collections.abc import Mapping, Sequence

import pandas as pd

from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.reporting import rank_histogram, sample_sizes
from sampled_metrics_study.jobs import log_left_out, progress_bar

_STEPS = (1, 1.5, 2, 3, 5, 7)
_LARGEST = 1500  # larger samples take long, and their metrics are near the exact ones


def default_sizes(tables: Mapping[str, ExactRanks], steps: Sequence[float]) -> list[int]:
    """Return sample sizes that every user's candidates allow, ascending.

    Sizes are multiples (steps) of powers of ten, from 10 on, or from 1 on if a user has fewer than
    100 other candidates. The largest one is 1500.
    """
    fewest = min(int(table.candidates.min()) for table in tables.values()) - 1
    powers = (10, 100, 1000) if fewest >= 100 else (1, 10)
    sizes = {round(step * power) for power in powers for step in steps}
    return sorted(size for size in sizes if size <= min(fewest, _LARGEST))


def figure_5(ranks: Mapping[str, ExactRanks], edges: Sequence[int]) -> pd.DataFrame:
    """Return the result of `rank_histogram`."""
    return rank_histogram.rank_histogram(ranks, edges)


def figure_6(
    ranks: Mapping[str, ExactRanks],
    metric: str,
    estimators: Sequence[str],
    negatives: Sequence[int] | None,
    replacement: bool,
    model: str,
) -> pd.DataFrame:
    """Return the result of `expected_by_sample_size`.

    By default, it is for sizes that every user's candidates allow.

    The estimators take P(x | r) as binomial with replacement, or if that is the model.
    """
    sizes = negatives or default_sizes(ranks, _STEPS)
    table = sample_sizes.expected_by_sample_size(
        ranks,
        metric,
        estimators,
        sizes,
        replacement=replacement,
        assume_replacement=replacement or model == "binomial",
        progress=progress_bar("figure 6"),
    )
    log_left_out(sizes, table["negatives"])
    return table


draw_5 = rank_histogram.draw
draw_6 = sample_sizes.draw
