"""Files of scores, ids and pairs: an address is none, and damage is refused."""

import numpy as np
import pytest
from damaged_files import require_that_damage_is_refused
from no_files import require_that_addresses_are_refused

from sampled_metrics.ranking.inputs import read_array, read_ids, read_pairs

READERS = {
    "scores.csv": read_array,
    "scores.npy": read_array,
    "scores.npz": read_array,
    "scores.parquet": read_array,
    "ids.txt": read_ids,
    "pairs.csv": read_pairs,
}


@pytest.mark.parametrize("name", READERS)
def test_an_address_is_no_file_and_is_not_fetched(name, tmp_path, monkeypatch):
    require_that_addresses_are_refused(READERS[name], name, tmp_path, monkeypatch)


@pytest.mark.parametrize("name", ["scores.npy", "scores.npz"])
def test_files_with_flipped_bits_or_cut_off_are_read_or_refused_in_a_line(name, tmp_path):
    scores = np.random.default_rng(2).random((40, 50))
    (np.savez if name.endswith("npz") else np.save)(tmp_path / name, scores)
    require_that_damage_is_refused(tmp_path / name, read_array)
