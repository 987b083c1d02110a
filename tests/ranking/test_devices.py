"""What is refused of arrays on a device, by array-api-strict, whose device `device1` numpy cannot read."""

from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import sampled_metrics as sm
from sampled_metrics.errors import DataError

RNG = np.random.default_rng(3)
USERS, ITEMS = 31, 47
FACTORS = RNG.integers(-3, 4, (USERS, 3)).astype(float), RNG.integers(-3, 4, (ITEMS, 3)).astype(float)
SCORES = FACTORS[0] @ FACTORS[1].T
HELD_OUT = RNG.integers(ITEMS, size=USERS)
TRAINING = (RNG.random((USERS, ITEMS)) < 0.3) & (np.arange(ITEMS) != HELD_OUT[:, np.newaxis])


def to_device(array: np.ndarray, device: str = "device1") -> Any:
    return strict.asarray(array, device=strict.Device(device))


ON_DEVICE = tuple(map(to_device, FACTORS))


@pytest.mark.parametrize(
    ("scores", "error", "says"),
    [
        ((ON_DEVICE[0], FACTORS[1]), DataError, "must be arrays of one library, not Array and ndarray"),
        ((ON_DEVICE[0], to_device(FACTORS[1], "CPU_DEVICE")), DataError, "must be on one device, not on .*device1"),
        (ON_DEVICE[::-1], DataError, r"scores have shape \(47, 31\), but training has 31 users"),
        ((ON_DEVICE[0], ON_DEVICE[1][:, :2]), DataError, r"not arrays of \(31, 3\), \(47, 2\)"),
        (ON_DEVICE[:1], DataError, "a tuple of scores must be two factors"),
        (tuple(to_device(each + 0j) for each in FACTORS), DataError, "must be real numbers, not .*complex128"),
        ((to_device(FACTORS[0] - np.inf), ON_DEVICE[1]), DataError, "factors are not finite"),
        ((ON_DEVICE[0], to_device(FACTORS[1] + np.inf)), DataError, "factors are not finite"),
        ((ON_DEVICE[0] * np.nan, ON_DEVICE[1]), DataError, "factors are not finite"),
        (tuple(to_device(each * 1e200) for each in FACTORS), DataError, "too large for scores in float64"),
        (to_device(SCORES + 0j), DataError, "must be real numbers, not .*complex128"),
        (to_device(SCORES[0]), DataError, "must be numbers, a row of them for each user"),
        (lambda users: to_device(SCORES[users, 1:]), DataError, r"have shape \(31, 46\), not \(31, 47\)"),
    ],
)
def test_refuses(scores, error: type, says: str) -> None:
    with pytest.raises(error, match=says):
        sm.rank(scores, TRAINING, HELD_OUT)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: sm.rank_among_negatives(to_device(SCORES), TRAINING, HELD_OUT, negatives=5), "scores"),
        (lambda: sm.rank(ON_DEVICE, to_device(TRAINING), HELD_OUT), "training"),
        (lambda: sm.rank(ON_DEVICE, TRAINING, to_device(HELD_OUT)), "held_out"),
    ],
)
def test_what_has_to_be_on_the_host(call, name: str) -> None:
    with pytest.raises(
        DataError, match=rf"^{name}: numpy cannot read .* on the device .*device1.*, such as {name}.float"
    ):
        call()
