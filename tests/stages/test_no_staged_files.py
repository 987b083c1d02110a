"""Paths that are no file of staged ranks, and ids without an order."""

from typing import Any

import numpy as np
import pytest
from no_files import (
    NO_PATHS,
    require_that_addresses_are_refused,
    require_that_it_is_refused_in_one_line,
)

import sampled_metrics as sm
from sampled_metrics.errors import DataError

USES = {
    "StagedRanks.read": sm.StagedRanks.read,
    "staged_ranks": lambda path: sm.staged_ranks(
        sm.Ranker(lambda users, _: users * 0.5, name="A"), np.zeros((2, 9)), [1, 2], file=path
    ),
}


def test_an_address_is_no_file_and_is_not_fetched(tmp_path, monkeypatch):
    require_that_addresses_are_refused(sm.StagedRanks.read, "ranks.npz", tmp_path, monkeypatch)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("path", NO_PATHS, ids=repr)
def test_what_is_no_path_is_refused_in_one_line(use, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    require_that_it_is_refused_in_one_line(USES[use], path)


def test_ids_without_an_order_are_refused_before_the_first_score() -> None:
    call_sizes = []

    def score(users: Any, items: Any) -> Any:
        call_sizes.append(len(users))
        return np.ones(len(users))

    with pytest.raises(DataError, match=r"^user_ids"):
        sm.staged_ranks(
            score, np.zeros((3, 3)), [0, 1, 2], user_ids=[object(), 1, 2], item_ids=[1, 2, 3]
        )
    assert not call_sizes
