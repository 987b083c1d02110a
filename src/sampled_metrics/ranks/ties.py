"""Ties in rank tables: how many candidates score the same as the held-out item."""

import logging

import numpy as np

from sampled_metrics._validation import Floats
from sampled_metrics.ranks.exact import ExactRanks

_LOGGER = logging.getLogger(__name__)


def tied_shares(table: ExactRanks) -> Floats:
    """Return the share of each row's other candidates that tie with the held-out item, (rows,)."""
    return table.tied / np.maximum(table.candidates - 1, 1)


def half_tied(table: ExactRanks) -> int:
    """Count the rows in which half of the other candidates or more tie with the held-out item."""
    return int((tied_shares(table) >= 0.5).sum())


def ties_remark(table: ExactRanks) -> str:
    """Say in how many rows half of the other candidates or more tie; the text is empty if in none."""
    if not (rows := half_tied(table)):
        return ""
    return (
        f"in {rows} of {len(table)} rows, half of the other candidates or more tie with the held-out item; "
        "the rank of such an item is mostly chance"
    )


def log_ranks(table: ExactRanks) -> None:
    """Log how many items were ranked among how many candidates, how many tie, and the remark on ties as a warning."""
    _LOGGER.info(
        "%d held-out items among %.1f candidates on average; %d of them tie with other candidates",
        *(len(table), table.candidates.mean(), (table.tied > 0).sum()),
    )
    if remark := ties_remark(table):
        _LOGGER.warning("%s", remark)
