"""Ranks by factors on a device are those in double precision on the host.

They are, however the device's products round. array-api-strict stands for the device;
tests/adapters/test_arrays.py has torch and JAX, where they are installed. The scores to compare
with are added term by term by Python's own floats, or exact fractions.
"""

import math
from fractions import Fraction

import array_api_strict as strict
import numpy as np
import pytest
from ranked_by_argsort import added_in_order, by_argsort, rows
from strict_device import on_device

import sampled_metrics as sm
from sampled_metrics.errors import DataError
from sampled_metrics.ranking import device_factors
from sampled_metrics.ranking.inputs import Device

PRODUCT = strict.matmul
SMALL = {"SCORES": 60, "ITEMS": 15, "NUMBERS": 60, "UNDECIDED": 10}
"""Sizes of blocks."""


class Data:
    """Factors, and training and held-out items of some users and items."""

    def __init__(self, users, items):
        rng = np.random.default_rng(7)
        self.factors = users, items
        self.held_out = rng.integers(len(items), size=len(users))
        is_held_out = np.arange(len(items)) == self.held_out[:, np.newaxis]
        self.training = (rng.random((len(users), len(items))) < 0.2) & ~is_held_out
        self.expected = by_argsort(added_in_order(users, items), self.training, self.held_out)

    def ranks(self, to=on_device):
        return rows(sm.rank(tuple(map(to, self.factors)), self.training, self.held_out))


def last_digits(d, kind):
    """Items that differ by last digits alone, and some not at all."""
    rng = np.random.default_rng(d)
    digits = 1 + float(np.finfo(kind).eps) * rng.integers(-2, 3, (24, d))
    items = rng.normal(size=(1, d)).astype(kind) * digits.astype(kind)
    return Data(rng.normal(size=(10, d)).astype(kind), items)


def short(users, items):
    """A product whose factors of float32 are rounded to the 11 bits of TensorFloat-32."""
    if users.dtype != strict.float32:
        return PRODUCT(users, items)

    def rounded(array):
        numbers = np.from_dlpack(array, device="cpu", copy=True)
        digits, exponents = np.frexp(numbers)
        cut = np.ldexp(np.rint(np.ldexp(digits, 11)), exponents - 11).astype(np.float32)
        return strict.asarray(cut, device=array.device)

    return PRODUCT(rounded(users), rounded(items))


def off_within_the_bound(users, items):
    """A product of the float32 type with the error that d operations may have.

    It is exact where nothing is rounded.
    """
    product = PRODUCT(users, items)
    left, right = (np.from_dlpack(array, device="cpu", copy=True) for array in (users, items))
    lengths = np.outer(np.linalg.norm(left, axis=1), np.linalg.norm(right, axis=0))
    is_rounded = (left[:, np.newaxis, :] * right.T != 0).sum(axis=2) > 1
    signs = np.random.default_rng(1).choice([-1, 1], lengths.shape)
    error = is_rounded * signs * left.shape[1] * float(np.finfo(left.dtype).eps) * lengths
    return product + strict.asarray(error.astype(left.dtype), device=product.device)


@pytest.mark.parametrize("d", [1, 40])
def test_a_last_digit_of_factors_decides_on_the_host(d):
    data = last_digits(d, np.float64)
    assert data.ranks(np.asarray) == data.expected


@pytest.mark.parametrize("product", [PRODUCT, short, off_within_the_bound])
@pytest.mark.parametrize("d", [1, 20])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("sizes", [{}, SMALL], ids=["one block", "small blocks"])
def test_ranks_do_not_depend_on_the_product(sizes, kind, d, product, monkeypatch):
    for name, size in sizes.items():
        monkeypatch.setattr(device_factors, name, size)
    monkeypatch.setattr(strict, "matmul", product)
    data = last_digits(d, kind)
    assert data.ranks() == data.expected


def test_blocks_fit_and_no_block_of_scores_is_copied(monkeypatch):
    users = 60
    items = 400
    for name, size in {"SCORES": 2000, "ITEMS": 150, "NUMBERS": 400}.items():
        monkeypatch.setattr(device_factors, name, size)
    products = []
    pulled = []
    pull = Device.pull

    def multiplied(left, right):
        products.append(left.shape[0] * right.shape[1])
        return PRODUCT(left, right)

    def copied(device, array):
        pulled.append(math.prod(array.shape))
        return pull(device, array)

    monkeypatch.setattr(strict, "matmul", multiplied)
    monkeypatch.setattr(Device, "pull", copied)
    rng = np.random.default_rng(0)
    data = Data(*(rng.normal(size=(count, 8)).astype(np.float32) for count in (users, items)))
    assert data.ranks() == data.expected
    assert max(products) <= 2000
    assert max(pulled) <= 100  # of a row for each user, or numbers of pairs
    assert sum(pulled) < users * items / 3  # the training items, a fifth, among them


@pytest.mark.parametrize("product", [PRODUCT, short], ids=["float32", "TensorFloat-32"])
def test_without_float64_the_host_decides(product, monkeypatch):
    data = last_digits(24, np.float32)
    monkeypatch.setattr(Device, "has_float64", lambda device: False)
    monkeypatch.setattr(strict, "matmul", product)
    assert data.ranks() == data.expected


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
def test_users_and_items_without_factors_tie(kind):
    rng = np.random.default_rng(3)
    users = rng.integers(-3, 4, (40, 5)).astype(kind)
    items = rng.integers(-3, 4, (60, 5)).astype(kind)
    users[::3] = 0
    items[::2] = 0
    for columns in (items, np.zeros((60, 5), dtype=kind)):
        data = Data(users, columns)
        assert data.ranks() == data.expected


def test_scores_that_float64_rounds_are_those_of_the_host():
    """The terms are added in order: 1 is lost beside 2^60, unless the large terms cancel first."""
    large = 2.0**60
    users = np.ones((3, 3))
    items = np.array([[large, 1, -large], [large, -large, 1], [1, large, -large], [0.0, 0.5, 0.0]])
    assert [sum(map(Fraction, line)) for line in items.tolist()] == [1, 1, 1, Fraction(1, 2)]
    assert rows(sm.rank((on_device(users), on_device(items)), np.zeros((3, 4)), [0, 1, 3])) == [
        (2, 1),
        (0, 0),
        (1, 0),
    ]


@pytest.mark.parametrize(("user", "item"), [(1.0, np.nan), (-np.inf, 1.0), (1e160, 1e160)])
def test_factors_that_are_not_finite_or_too_large_are_refused(user, item):
    users = np.ones((5, 2))
    items = np.ones((6, 2))
    users[1, 1] = user
    items[1, 1] = item
    with pytest.raises(DataError, match=r"float64"):
        sm.rank((on_device(users), on_device(items)), np.zeros((5, 6)), np.arange(5))
