"""What functions refuse that take a sparse matrix or a path: one contract for all packages.

tests/base and tests/ranking have the functions of their packages.
"""

import numpy as np
import pytest
from no_files import NO_PATHS, require_that_it_is_refused_in_one_line
from wrong_matrices import HELD_OUT, SHAPE, WRONG

import sampled_metrics as sm

MATRICES = {
    "training of staged ranks": lambda matrix: sm.staged_ranks(
        lambda users, items: users * 0.0, matrix, HELD_OUT
    ),
    "scores of an epoch": lambda matrix: sm.validator(np.zeros(SHAPE), HELD_OUT, metrics="auc")(
        matrix
    ),
}


@pytest.mark.parametrize("fault", WRONG)
@pytest.mark.parametrize("use", MATRICES)
def test_a_sparse_matrix_with_a_place_outside_is_refused(use, fault):
    """Before compiled code reads it."""
    with pytest.raises(sm.DataError, match="sparse"):
        MATRICES[use](WRONG[fault])


RANKS = sm.exact_ranks([1, 2, 30], candidates=90)
PATHS = {
    "report": lambda path: sm.report(RANKS, path, metrics="recall@10"),
    "plot": lambda path: sm.evaluate(RANKS).plot(path),
    "to_latex": lambda path: sm.evaluate(RANKS).to_latex(path),
    "StagedRanks.read": lambda path: sm.StagedRanks.read(path),
    "staged_ranks": lambda path: sm.staged_ranks(
        sm.Ranker(lambda users, _: users * 0.5, name="A"), np.zeros((2, 9)), [1, 2], file=path
    ),
}


@pytest.mark.parametrize("use", PATHS)
@pytest.mark.parametrize("path", NO_PATHS, ids=repr)
def test_what_is_no_path_is_refused_in_one_line(use, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    require_that_it_is_refused_in_one_line(PATHS[use], path)
