"""Item-based collaborative filtering: a matrix whose answer is known by hand, and eqs 27-30 as loops."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
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


def naive(training, q, k, k_prime, keep_self, row_norm, denominator):
    """Eqs 27-30 item by item and user by user; the scores, (users, items)."""
    users, items = training.shape
    H = {(u, i) for u in range(users) for i in range(items) if training[u, i]}
    of_item = [{u for u in range(users) if (u, i) in H} for i in range(items)]

    def cos(i, j):
        if not of_item[i] or not of_item[j]:
            return 0.0
        return len(of_item[i] & of_item[j]) / (sqrt(len(of_item[i])) * sqrt(len(of_item[j])))

    def neighbourhood(i, size):
        others = [j for j in range(items) if j != i and cos(i, j) > 0]
        return others if size is None else sorted(others, key=lambda j: (-round(cos(i, j), 12), j))[:size]

    s = [[0.0] * items for _ in range(items)]
    for i in range(items):
        for j in range(items):
            if i == j:
                s[i][j] = cos(i, i) ** q if keep_self else 0.0
            elif i in neighbourhood(j, k) and j in neighbourhood(i, k_prime):
                s[i][j] = cos(i, j) ** q
    for i in range(items):
        if row_norm != "none":
            norm = sum(value**2 for value in s[i]) ** 0.5 if row_norm == "l2" else sum(s[i])
            s[i] = [value / norm if norm else 0.0 for value in s[i]]
    scores = np.zeros((users, items))
    for u in range(users):
        for i in range(items):
            score = sum(s[i][j] for j in range(items) if (u, j) in H)
            total = sum(s[i])
            scores[u, i] = (score / total if total else 0.0) if denominator else score
    return scores


def without_near_ties(training):
    """Whether no two cosines differ by rounding alone, so that both orders of neighbours are the same."""
    values = np.unique(cosines(csr_array(training)))
    return (np.diff(values) > 1e-9).all()


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 2, 3, 0.5]),
    st.sampled_from([None, 1, 2, 4]),
    st.sampled_from([None, 1, 2, 4]),
    st.booleans(),
    st.sampled_from(["l2", "l1", "none"]),
    st.booleans(),
)
def test_is_the_papers_equations_one_by_one(seed, q, k, k_prime, keep_self, row_norm, denominator):
    rng = np.random.default_rng(seed)
    training = (rng.random((rng.integers(1, 7), rng.integers(1, 7))) < 0.45).astype(float)
    if not without_near_ties(training):
        # the neighbours of items that are equally near but for rounding are not what is tested here
        k = k_prime = None
    model = ItemCF(q, k, k_prime, keep_self, row_norm, denominator).fit(csr_array(training), rng)
    scores = model.scores(slice(None), csr_array(training))
    wanted = naive(training, q, k, k_prime, keep_self, row_norm, denominator)
    np.testing.assert_allclose(scores, wanted, rtol=1e-12, atol=1e-14)
