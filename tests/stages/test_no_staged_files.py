"""Files of staged ranks: what is none, what is damaged, and ids that no file holds."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from damaged_files import require_that_damage_is_refused
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
        lambda users, _: users * 0.5, np.zeros((2, 9)), [1, 2], file=path
    ),
}


def test_an_address_is_no_file_and_is_not_fetched(tmp_path, monkeypatch):
    require_that_addresses_are_refused(sm.StagedRanks.read, "ranks.sqlite", tmp_path, monkeypatch)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("path", NO_PATHS, ids=repr)
def test_what_is_no_path_is_refused_in_one_line(use, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    require_that_it_is_refused_in_one_line(USES[use], path)


@pytest.mark.parametrize("name", ["staged.parquet", "staged.sqlite"])
def test_files_with_flipped_bits_or_cut_off_are_read_or_refused_in_a_line(name, tmp_path):
    rng = np.random.default_rng(2)
    scores = rng.random((40, 50))
    held_out = rng.integers(0, 50, 40)
    path = tmp_path / name
    sm.staged_ranks(
        lambda users, items: scores[users, items],
        np.zeros((40, 50)),
        held_out,
        k=5,
        depth=20,
        file=path,
    )
    require_that_damage_is_refused(path, sm.read_ranks)


@pytest.mark.parametrize("ending", ["parquet", "sqlite"])
@pytest.mark.parametrize(
    "ids",
    [
        [2**127, 1, 2],
        [-(2**70), 1, 2],
        [1j, 2, 3],
        [b"\xff", b"b", b"c"],
        [object(), 1, 2],
        pd.Series([[1], [2], [3]]),
        pd.Series([{1}, {2}, {3}]),
        pd.Series([{"a": 1}, {"a": 2}, {"a": 3}]),
        np.zeros(3, dtype=[("a", "i8")]),
    ],
)
@pytest.mark.parametrize("kind", ["user", "item"])
def test_ids_that_no_file_holds_are_refused_before_the_first_score(
    kind, ids, ending, tmp_path
) -> None:
    call_sizes = []

    def score(users: Any, items: Any) -> Any:
        call_sizes.append(len(users))
        return np.ones(len(users))

    with pytest.raises(DataError, match=rf"^{kind}_ids: .*must be text"):
        sm.staged_ranks(
            score,
            np.zeros((3, 3)),
            [0, 1, 2],
            file=tmp_path / f"s.{ending}",
            **{f"{kind}_ids": ids},
        )
    assert not call_sizes
    assert not list(tmp_path.iterdir())
