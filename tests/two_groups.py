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


def two_groups():
    first_size, second_size = SIZES
    dense = np.zeros((first_size + second_size, first_size + second_size))
    dense[:first_size, :first_size] = 1 - np.eye(first_size)
    dense[first_size:, first_size:] = 1 - np.eye(second_size)
    everyone = np.arange(first_size + second_size)
    return Split(
        csr_array(dense),
        one_each(everyone, len(everyone)),
        user_ids=100 + everyone,
        item_ids=200 + everyone,
    )
