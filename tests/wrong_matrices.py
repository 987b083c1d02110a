"""Sparse matrices with stored places that are wrong."""

import numpy as np
from scipy import sparse

SHAPE = USERS, ITEMS = 6, 8
DENSE = np.where(np.random.default_rng(1).random(SHAPE) < 0.4, 1.0, 0.0)
HELD_OUT = np.argmin(DENSE, axis=1)
FORMATS = ("csr", "csc", "bsr", "coo", "dia", "lil", "dok")


def changed(form, attribute, place, value):
    """A matrix of a format with one stored place that is wrong."""
    matrix = sparse.csr_matrix(DENSE).asformat(form).copy()
    stored = getattr(matrix, attribute)
    stored[place] = value
    return matrix


def with_wrong_row():
    matrix = sparse.lil_matrix(DENSE)
    matrix.rows[0] = [10**8]
    matrix.data[0] = [1.0]
    return matrix


WRONG = {
    "a row that ends beyond the data": changed("csr", "indptr", 2, 10**6),
    "a row that ends before it begins": changed("csr", "indptr", 3, 0),
    "an item beyond the last": changed("csr", "indices", 0, 10**8),
    "a negative item": changed("csr", "indices", 0, -(10**8)),
    "a column that ends beyond the data": changed("csc", "indptr", 2, 10**6),
    "a block beyond the last": changed("bsr", "indices", 0, 10**8),
    "a pair beyond the last": changed("coo", "row", 0, 10**8),
    "a negative pair": changed("coo", "col", 0, -5),
    "a list with an item beyond the last": with_wrong_row(),
}
