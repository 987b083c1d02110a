"""Addresses in place of a file of staged ranks, and ids without an order."""

from typing import Any

import numpy as np
import pytest
from no_files import require_that_addresses_are_refused

import sampled_metrics as sm
from sampled_metrics.errors import DataError


def test_an_address_is_no_file_and_is_not_fetched(tmp_path, monkeypatch):
    require_that_addresses_are_refused(sm.StagedRanks.read, "ranks.npz", tmp_path, monkeypatch)


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
