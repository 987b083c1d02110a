"""Files of models: what a csv file of an array may not begin with."""

import numpy as np
import pandas as pd
import pytest

from sampled_metrics.errors import DataError
from sampled_metrics.ranking.inputs import read_array, read_ids


@pytest.mark.parametrize("what", ["scores", "factors"])
def test_names_of_columns_in_a_csv_file_are_refused(tmp_path, monkeypatch, what):
    """As DataFrame.to_csv(index=False) writes them: each user would get the scores of the user before."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    matrix = rng.normal(size=(30, 12))
    pd.DataFrame(matrix).to_csv(f"{what}.csv", index=False)
    with pytest.raises(DataError, match=rf"{what}.csv, line 1: has 0 to 11, the names of columns"):
        read_array(f"{what}.csv")
    pd.DataFrame(matrix).to_csv(f"{what}.csv", index=False, header=False)
    np.testing.assert_array_equal(read_array(f"{what}.csv"), matrix)


def _write_huge(path, rows):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows},), }}".ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())


@pytest.mark.parametrize("rows", [10**12, 10**30])
def test_an_array_that_no_memory_holds_is_refused(tmp_path, rows):
    _write_huge(tmp_path / "scores.npy", rows)
    with pytest.raises(DataError, match=r"scores\.npy: (its array does not fit|cannot be read)"):
        read_array(str(tmp_path / "scores.npy"))


def test_a_sparse_matrix_without_its_numbers_is_refused(tmp_path):
    path = tmp_path / "scores.npz"
    np.savez(path, format=np.array(b"csr"), indices=np.arange(3), indptr=np.arange(3), shape=np.array([2, 3]))
    with pytest.raises(DataError, match=r"scores\.npz: is no sparse matrix of SciPy: data"):
        read_array(str(path))


@pytest.mark.parametrize("content", [b"\xef\xbb\xbfa\nb\n", b"a\r\nb\r\n\r\n", b"a\nb"])
def test_ids_may_begin_with_a_byte_order_mark_and_end_with_empty_lines(tmp_path, content):
    (tmp_path / "ids.txt").write_bytes(content)
    assert read_ids(str(tmp_path / "ids.txt")).tolist() == ["a", "b"]
