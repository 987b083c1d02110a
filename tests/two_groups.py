"""A split whose right answer is known: two groups of users and items that have nothing to do with
each other.

The first group has 6 users and 6 items, the second 8 and 8. Each user trains on all items of the
group but one, which is held out; nobody has an item of the other group. So the held-out item
belongs first, before the other group's.
"""

import numpy as np
from ranked_by_argsort import one_each
from scipy.sparse import csr_array

from sampled_metrics.ranking.split import Split

SIZES = (6, 8)


def two_groups() -> Split:
    first, second = SIZES
    dense = np.zeros((first + second, first + second))
    dense[:first, :first] = 1 - np.eye(first)
    dense[first:, first:] = 1 - np.eye(second)
    everyone = np.arange(first + second)
    return Split(
        csr_array(dense),
        one_each(everyone, len(everyone)),
        user_ids=100 + everyone,
        item_ids=200 + everyone,
    )
