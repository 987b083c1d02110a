"""Sparse matrices with wrong stored places are refused before compiled code runs.

They come from a file or from a caller.
"""

import numpy as np
import pytest
from scipy import sparse
from wrong_matrices import DENSE, FORMATS, HELD_OUT, ITEMS, SHAPE, USERS, WRONG

import sampled_metrics as sm
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.inputs import read_array

USES = {
    "scores": lambda matrix: sm.rank(matrix, np.zeros(SHAPE), HELD_OUT),
    "training": lambda matrix: sm.rank(np.ones(SHAPE), matrix, HELD_OUT),
    "held_out": lambda matrix: sm.rank(np.ones(SHAPE), np.zeros(SHAPE), matrix),
    "negatives": lambda matrix: sm.rank_among_negatives(
        np.ones(SHAPE), matrix, HELD_OUT, negatives=2
    ),
}


@pytest.mark.parametrize("fault", WRONG)
@pytest.mark.parametrize("use", USES)
def test_a_place_outside_of_a_matrix_is_refused(use, fault):
    with pytest.raises(DataError, match="sparse"):
        USES[use](WRONG[fault])


@pytest.mark.parametrize("form", FORMATS)
def test_right_matrices_of_any_format_are_the_dense_ones(form, tmp_path):
    matrix = sparse.csr_array(DENSE).asformat(form)
    expected = sm.rank(DENSE, DENSE, HELD_OUT)
    for scores, training in ((matrix, DENSE), (DENSE, matrix)):
        ranks = sm.rank(scores, training, HELD_OUT)
        assert (ranks.above.tolist(), ranks.tied.tolist()) == (
            expected.above.tolist(),
            expected.tied.tolist(),
        )
    if form in ("csr", "csc", "bsr", "coo", "dia"):
        sparse.save_npz(tmp_path / "m.npz", matrix)
        np.testing.assert_array_equal(read_array(str(tmp_path / "m.npz")).toarray(), DENSE)


def test_pairs_that_are_stored_twice_are_training_items_once():
    """Their sum would be 0 in the type of the numbers."""
    row = np.repeat([0, 1], [256, 2])
    column = np.repeat([3, 4], [256, 2])
    stored = np.append(np.ones(256, dtype=np.int8), np.array([1, -1], dtype=np.int8))
    training = sparse.coo_array((stored, (row, column)), shape=SHAPE)
    candidates = sm.rank(np.ones(SHAPE), training, np.zeros(USERS, dtype=int)).candidates
    assert candidates.tolist() == [ITEMS - 1, ITEMS - 1, *[ITEMS] * 4]


CSR = sparse.csr_array(DENSE)
FILE = {"indices": CSR.indices, "indptr": CSR.indptr, "data": CSR.data, "format": b"csr"}


@pytest.mark.parametrize(
    "parts",
    [
        {"shape": SHAPE, "indices": CSR.indices + 99},
        {"shape": SHAPE, "indptr": CSR.indptr[::-1]},
        {},
    ],
    ids=["items beyond the last", "rows that do not ascend", "no shape"],
)
def test_a_file_that_holds_no_matrix_is_refused(parts, tmp_path):
    np.savez(tmp_path / "m.npz", **(FILE | parts))
    with pytest.raises(DataError, match=r"m\.npz"):
        read_array(str(tmp_path / "m.npz"))


def test_objects_in_a_sparse_matrix_are_refused():
    matrix = sparse.csc_matrix(DENSE)
    matrix.data = matrix.data.astype(object)
    with pytest.raises(DataError, match="object"):
        sm.rank(matrix, np.zeros(SHAPE), HELD_OUT)
