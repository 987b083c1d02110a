"""A validator of factors on a device ranks them there."""

import numpy as np
import pytest

import sampled_metrics as sm
from sampled_metrics.ranking import rank

strict = pytest.importorskip("array_api_strict")


def test_a_validator_ranks_factors_on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """A factor of each item is its score. Users 1 to 3 have it as it is, user 4 its negative."""
    scores = np.array([5.0, 1.0, 4.0, 2.0, 3.0], dtype=np.float32)
    users = np.array([[1.0], [1.0], [1.0], [-1.0]], dtype=np.float32)
    training = np.zeros((4, 5))
    training[1, 0] = 1  # an item above the held-out one, which is no candidate
    validator = sm.validator(training, [3, 3, 0, 1], metrics=["recall@10"])
    monkeypatch.setattr(rank, "FactorCounts", None)  # that of the host

    device = strict.Device("device1")
    factors = tuple(
        strict.asarray(array, device=device) for array in (users, scores[:, np.newaxis])
    )
    ranks = validator(factors).ranks

    assert ranks.above.tolist() == [3, 2, 0, 0]
    assert ranks.tied.tolist() == [0, 0, 0, 0]
    assert ranks.candidates.tolist() == [5, 4, 5, 5]
