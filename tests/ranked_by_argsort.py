"""Splits from plain matrices, and the ranks of plain scores: by counting, and by sorting each
user's candidates.
"""

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics.ranking.split import Split, pair_matrix


def one_each(held_out, items):
    """A (users, items) matrix with the held-out item of each user."""
    return pair_matrix(np.arange(len(held_out)), np.asarray(held_out), (len(held_out), items))


def split_of(training, held_out):
    """A split of (users, items) training, and of the same for held-out items, or one of each user.

    The users are 100, 101, …
    """
    training = np.asarray(training, dtype=np.float64)
    held_out = np.asarray(held_out)
    users, items = training.shape
    test = (
        one_each(held_out, items) if held_out.ndim == 1 else csr_array(held_out.astype(np.float64))
    )
    return Split(csr_array(training), test, 100 + np.arange(users), np.arange(items))


def by_definition(scores, training, held_out):
    """User, candidates, above and tied of each held-out item, (users, items), by counting the
    candidates.
    """
    ranks = []
    for user, item in zip(*np.nonzero(held_out), strict=True):
        candidates = [
            candidate
            for candidate in range(len(scores[user]))
            if not (training[user, candidate] or held_out[user, candidate])
        ]
        target = scores[user][item]
        above = sum(bool(scores[user][candidate] > target) for candidate in candidates)
        tied = sum(bool(scores[user][candidate] == target) for candidate in candidates)
        ranks.append((int(user), len(candidates) + 1, above, tied))
    return ranks


def by_argsort(scores, training, held_out):
    """Above and tied of each user."""
    ranks = []
    for user, item in enumerate(held_out):
        descending = np.sort(scores[user][np.asarray(training[user]) == 0])[::-1]
        above = int(np.flatnonzero(descending == scores[user, item])[0])
        ranks.append((above, int((descending == scores[user, item]).sum()) - 1))
    return ranks


def added_in_order(users, items):
    """The scores in double precision, term by term in the order of the factors.

    `sum` is not used, as it may compensate for rounding.
    """
    scores = np.zeros((len(users), len(items)))
    for user, item in np.ndindex(*scores.shape):
        for left, right in zip(users[user].tolist(), items[item].tolist(), strict=True):
            scores[user, item] += float(left) * float(right)
    return scores


def rows(table):
    """Above and tied of each user."""
    return list(zip(table.above.tolist(), table.tied.tolist(), strict=True))
