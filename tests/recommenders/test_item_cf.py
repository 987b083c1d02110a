"""Item-based collaborative filtering: a matrix whose answer is known by hand.

test_item_cf_ties.py has eqs 27-30 as loops.
"""

from math import sqrt

import numpy as np
import pytest
from scipy.sparse import csr_array

from sampled_metrics.recommenders.item_cf import Interactions, ItemCF, near_items
from sampled_metrics.recommenders.models import SparseSimilarityModel

# 4 users. Item 0 has users 0-3, item 1 has 0, item 2 has 0 and 1, item 3 has nobody, item 4 has 3.
#        0     1         2          3  4
# 0      1     1/2       1/√2       0  1/2
# 1      1/2   1         1/√2       0  0
# 2      1/√2  1/√2      1          0  0
# 4      1/2   0         0          0  1
TRAINING = csr_array(np.array([[1, 1, 1, 0, 0], [1, 0, 1, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 1]], dtype=float))
H, R = 0.5, 1 / sqrt(2)
COSINE = np.array([[1, H, R, 0, H], [H, 1, R, 0, 0], [R, R, 1, 0, 0], [0, 0, 0, 0, 0], [H, 0, 0, 0, 1]])


def similarity(training=TRAINING, **parameters):
    """s''_ij, item i that is scored in rows."""
    model = ItemCF(**({"exponent": 1} | parameters)).fit(training, np.random.default_rng(0))
    return dense(model).T


def dense(model):
    return model.similarity.toarray() if isinstance(model, SparseSimilarityModel) else model.similarity


def cosines(training):
    """Eq. 27 with q = 1, (items, items)."""
    return Interactions(training).cosines(slice(0, training.shape[1])).toarray()


class TestByHand:
    def test_an_item_without_users_is_similar_to_nothing(self):
        for parameters in ({}, {"denominator": True}, {"neighbours": 2}, {"row_norm": "l1"}):
            found = similarity(**parameters)
            assert (found[3] == 0).all()
            assert (found[:, 3] == 0).all()


class TestNearest:
    def test_all_rows_at_once_or_one_by_one_are_the_same(self):
        interactions = Interactions(TRAINING)
        wanted = COSINE * [[0, 0, 1, 0, 1], [0, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0] * 5, [0] * 5]  # each column's nearest
        np.testing.assert_allclose(near_items(interactions, 1, None).toarray(), wanted, atol=1e-15)
        np.testing.assert_allclose(near_items(interactions, None, 1).toarray(), wanted.T, atol=1e-15)

    @pytest.mark.parametrize(("users", "count", "of"), [(3, 1, 2), (4, 1, 3), (9, 2, 8), (12, 3, 12)])
    def test_items_of_equal_cosine_are_equally_near_whatever_their_counts(self, users, count, of):
        # item 0 has `users` users; `count` of them are among the `of` users of one other item, and three times as many
        # among the 9 × `of` users of another: both have the cosine count / √(users · of)
        first, small, large = np.zeros((3, users + 9 * of))
        first[:users] = small[:count] = large[: 3 * count] = 1
        small[users : users + of - count] = large[users : users + 9 * of - 3 * count] = 1
        for columns in ([first, small, large], [first, large, small]):
            training = csr_array(np.array(columns).T)
            assert cosines(training)[0, 1] == pytest.approx(count / sqrt(users * of))
            assert (near_items(Interactions(training), 1, None).toarray()[:, 0] > 0).tolist() == [False, True, False]
