"""Files of scores, ids and pairs: damage is refused."""

import numpy as np
import pytest
from damaged_files import require_that_damage_is_refused

from sampled_metrics.ranking.inputs import read_array


@pytest.mark.parametrize("name", ["scores.npy", "scores.npz"])
def test_files_with_flipped_bits_or_cut_off_are_read_or_refused_in_a_line(name, tmp_path):
    scores = np.random.default_rng(2).random((40, 50))
    (np.savez if name.endswith("npz") else np.save)(tmp_path / name, scores)
    require_that_damage_is_refused(tmp_path / name, read_array)
