"""The parts of the users that ranking jobs are scattered over."""

import numpy as np
from ranked_by_argsort import split_of
from scipy.sparse import csr_array

from sampled_metrics.recommenders.models import ScoreModel, model, part_of_users


def test_blocks_of_scores_are_those_of_all_users(monkeypatch) -> None:
    """So that scores whose last digit depends on the other users of the block do not change."""
    monkeypatch.setattr(model, "BLOCK_BYTES", 8 * 12 * 3)
    seen, steps = list[slice](), list[int]()

    class Noted(ScoreModel):
        def scores(self, users: slice, training: csr_array) -> np.ndarray:
            seen.append(users)
            return super().scores(users, training)

    noted, split = Noted(np.ones((10, 12))), split_of(np.zeros((10, 12)), np.arange(10))
    noted.rank(split, progress=lambda blocks: steps.extend(blocks) or blocks)
    assert steps == [0, 1, 2, 3]
    whole, seen[:] = list(seen), []
    for part in (1, 2, 3, 4, 5):
        noted.rank(split, part_of_users(split.shape, part, 5))
    assert seen == whole == [slice(0, 3), slice(3, 6), slice(6, 9), slice(9, 10)]
