"""Ranking of arrays on a device, by array-api-strict, whose device `device1` numpy cannot read."""

import sys
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest
from factors_on_devices import CASES, differences
from ranked_by_argsort import by_argsort, rows

import sampled_metrics as sm
from sampled_metrics.errors import ConfigError, DataError, NumericError
from sampled_metrics.ranking import device_factors

RNG = np.random.default_rng(3)
USERS, ITEMS = 31, 47
FACTORS = RNG.integers(-3, 4, (USERS, 3)).astype(float), RNG.integers(-3, 4, (ITEMS, 3)).astype(float)
SCORES = FACTORS[0] @ FACTORS[1].T
HELD_OUT = RNG.integers(ITEMS, size=USERS)
TRAINING = (RNG.random((USERS, ITEMS)) < 0.3) & (np.arange(ITEMS) != HELD_OUT[:, np.newaxis])
EXPECTED = by_argsort(SCORES, TRAINING, HELD_OUT)


def to_device(array: np.ndarray, device: str = "device1") -> Any:
    return strict.asarray(array, device=strict.Device(device))


ON_DEVICE = tuple(map(to_device, FACTORS))


def test_numpy_cannot_read_the_device() -> None:
    with pytest.raises(RuntimeError, match="Can't convert"):
        np.asarray(ON_DEVICE[0])


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("case", CASES)
def test_counts_by_factors_are_those_of_numpy(case: str, kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_factors, "SCORES", 70 * 200)  # so several blocks
    assert differences(to_device, case, 300, 200, kind)[0] == 0


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint16])
def test_whole_numbers_are_scored_in_float64(kind: type) -> None:
    factors = tuple((each + 3).astype(kind) for each in FACTORS)
    expected = by_argsort(factors[0].astype(float) @ factors[1].T.astype(float), TRAINING, HELD_OUT)
    assert rows(sm.rank(tuple(map(to_device, factors)), TRAINING, HELD_OUT)) == expected


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int8, np.int64])
@pytest.mark.parametrize("batch_size", [None, 1, 10])
@pytest.mark.parametrize("form", [lambda scores: scores, lambda scores: lambda users: scores[users, ...]])
def test_scores_are_counted_on_the_device(kind: type, batch_size: int | None, form) -> None:
    scores = form(to_device(SCORES.astype(kind)))
    assert rows(sm.rank(scores, TRAINING, HELD_OUT, batch_size=batch_size)) == EXPECTED


def test_scores_of_true_and_false() -> None:
    assert rows(sm.rank(to_device(SCORES > 0), TRAINING, HELD_OUT)) == by_argsort(SCORES > 0, TRAINING, HELD_OUT)


@pytest.mark.parametrize("scores", [ON_DEVICE, to_device(SCORES)])
def test_users_with_several_held_out_items_or_none(scores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_factors, "SCORES", 5 * ITEMS)
    held_out = (np.random.default_rng(6).random((USERS, ITEMS)) < 0.15) & ~TRAINING
    held_out[:3] = False
    without = USERS - held_out.any(axis=1).sum()
    expected = []
    for user, item in zip(*np.nonzero(held_out), strict=True):
        others = TRAINING[user] | (held_out[user] & (np.arange(ITEMS) != item))
        expected += by_argsort(SCORES[[user]], others[np.newaxis], [item])
    with pytest.warns(UserWarning, match=f"{without} of 31"):
        assert rows(sm.rank(scores, TRAINING, held_out)) == expected


@pytest.mark.parametrize("scores", [ON_DEVICE, to_device(SCORES)])
def test_users_without_training_items(scores) -> None:
    nothing = np.zeros_like(TRAINING)
    assert rows(sm.rank(scores, nothing, HELD_OUT)) == by_argsort(SCORES, nothing, HELD_OUT)


def test_scores_that_are_not_finite_are_refused_of_candidates_alone() -> None:
    scores = np.where(TRAINING, np.nan, SCORES)
    assert rows(sm.rank(to_device(scores), TRAINING, HELD_OUT)) == EXPECTED
    scores[4, HELD_OUT[4]] = -np.inf
    assert rows(sm.rank(to_device(scores), TRAINING, HELD_OUT)) == by_argsort(scores, TRAINING, HELD_OUT)
    scores[4, HELD_OUT[4]] = np.inf
    with pytest.raises(DataError, match=r"gives user 4 a score that is NaN or \+inf"):
        sm.rank(to_device(scores), TRAINING, HELD_OUT)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_masked_items_rank_last(kind: type) -> None:
    scores = np.where(RNG.random(SCORES.shape) < 0.4, -np.inf, SCORES).astype(kind)
    assert np.isinf(scores[np.arange(USERS), HELD_OUT]).any()
    assert rows(sm.rank(to_device(scores), TRAINING, HELD_OUT)) == by_argsort(scores, TRAINING, HELD_OUT)


def test_a_product_that_is_less_exact_than_float32_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As by TensorFloat-32, which keeps 10 of 23 bits of each factor."""
    product = strict.matmul

    def rounded(array: Any) -> Any:
        bits = np.from_dlpack(array, device="cpu", copy=True).view(np.int32)
        return to_device(((bits + 2**12) & ~(2**13 - 1)).view(np.float32))

    factors = tuple(to_device(np.random.default_rng(1).normal(size=(n, 16))) for n in (USERS, ITEMS))
    sm.rank(factors, TRAINING, HELD_OUT)
    monkeypatch.setattr(strict, "matmul", lambda left, right: product(rounded(left), rounded(right)))
    with pytest.raises(NumericError, match=r"of array_api_strict on .*device1.* larger errors than float32 has"):
        sm.rank(factors, TRAINING, HELD_OUT)


def test_counts_do_not_depend_on_the_product(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a library makes of a product, within the bound, the counts are the same."""
    rng, product = np.random.default_rng(4), strict.matmul

    def off(left: Any, right: Any) -> Any:
        found = np.from_dlpack(product(left, right), device="cpu", copy=True)
        sides = (np.linalg.norm(np.from_dlpack(each, device="cpu", copy=True), axis=1) for each in (left, right.T))
        bound = 24 * 2.0**-24 * np.outer(*sides)
        return to_device(found + (rng.choice([-1, 1], found.shape) * bound).astype(np.float32))

    monkeypatch.setattr(strict, "matmul", off)
    for kind in (np.float32, np.float64):
        assert differences(to_device, "duplicates", 200, 300, kind)[0] == 0


@pytest.mark.parametrize(
    ("scores", "error", "says"),
    [
        ((ON_DEVICE[0], FACTORS[1]), DataError, "must be arrays of one library, not Array and ndarray"),
        ((ON_DEVICE[0], to_device(FACTORS[1], "CPU_DEVICE")), DataError, "must be on one device, not on .*device1"),
        (ON_DEVICE[::-1], DataError, r"scores have shape \(47, 31\), but training has 31 users"),
        ((ON_DEVICE[0], ON_DEVICE[1][:, :2]), DataError, r"not arrays of \(31, 3\), \(47, 2\)"),
        (ON_DEVICE[:1], DataError, "a tuple of scores must be two factors"),
        (tuple(to_device(each + 0j) for each in FACTORS), DataError, "must be real numbers, not .*complex128"),
        (tuple(to_device(each + np.inf) for each in FACTORS), DataError, "factors are not finite"),
        (tuple(to_device(each.astype(np.float32) * 1e30) for each in FACTORS), DataError, "too large for .* float32"),
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


def test_factors_have_no_batches() -> None:
    with pytest.raises(ConfigError, match="leave it out for factors"):
        sm.rank(ON_DEVICE, TRAINING, HELD_OUT, batch_size=4)


def test_without_array_api_compat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    assert rows(sm.rank(tuple(to_device(each, "CPU_DEVICE") for each in FACTORS), TRAINING, HELD_OUT)) == EXPECTED
    with pytest.raises(DataError, match=r"pip install 'sampled-metrics\[arrays\]'$"):
        sm.rank(ON_DEVICE, TRAINING, HELD_OUT)
