"""Splits from plain matrices, and the ranks of plain scores: from each user's candidates in sorted order."""

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics.data.split import Split
from sampled_metrics.ranks.table import RankTable


def split_of(training, held_out) -> Split:
    """A split of (users, items) training; the users are 100, 101, …"""
    training = np.asarray(training, dtype=np.float64)
    users, items = training.shape
    return Split(csr_array(training), np.array(held_out), 100 + np.arange(users), np.arange(items))


def by_argsort(scores, training, held_out) -> list[tuple[int, int]]:
    """Above and tied of each user."""
    found = []
    for user, held in enumerate(held_out):
        order = np.sort(scores[user][np.asarray(training[user]) == 0])[::-1]
        above = int(np.flatnonzero(order == scores[user, held])[0])
        found.append((above, int((order == scores[user, held]).sum()) - 1))
    return found


def rows(table: RankTable) -> list[tuple[int, int]]:
    """Above and tied of each user."""
    return list(zip(table.above.tolist(), table.tied.tolist(), strict=True))
