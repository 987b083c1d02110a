"""Scores and factors as arrays: of numpy, or of torch, CuPy, JAX and others that follow the array API standard.

In the memory of the host, numpy reads arrays of any library without a copy. Those in the memory of a device, such as a
GPU, stay there.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from sampled_metrics._validation import refuse_masked
from sampled_metrics.errors import DataError

MATRIX = "must be numbers, a row of them for each user and an entry for each item"

_WHOLE = 2.0**53
"""Below it, float64 holds every whole number."""

ScoreFunction = Callable[[slice], ArrayLike]
"""Function from a slice of the users to their (users, items) scores."""

Factors = tuple[Any, Any]
"""Factors of users, (users, d), and of items, (items, d), whose products are the scores."""


def is_on_device(array: Any) -> bool:
    """Return whether numpy cannot read an array: it is not in the host's memory, or is in bfloat16."""
    if isinstance(array, np.ndarray) or not (hasattr(array, "__dlpack_device__") and hasattr(array, "device")):
        return False
    return "cpu" not in str(array.device).lower() or "bfloat16" in str(array.dtype)


def refuse_device(array: Any, name: str) -> None:
    """Raise DataError if numpy cannot read an array where it is."""
    if is_on_device(array):
        raise DataError(
            f"{name}: numpy cannot read {array.dtype} on the device {array.device}; give what it can read, such as "
            f"{name}.float().cpu()"
        )


class Device:
    """The device that arrays are on: the namespace of their library (`xp`), and copies to and from the host.

    Raises:
        DataError: the arrays differ in library or device, or are not real numbers, or array-api-compat is missing.
    """

    def __init__(self, *arrays: Any) -> None:
        self.xp: Any = np
        self.is_host = all(isinstance(array, np.ndarray) for array in arrays)
        if self.is_host:
            return
        try:
            import array_api_compat as compat
        except ImportError:
            raise DataError(
                "scores on a device need array-api-compat, which is not installed: pip install "
                "'sampled-metrics[arrays]'"
            ) from None
        self._compat = compat
        try:
            self.xp = compat.array_namespace(*arrays)
        except TypeError:
            names = " and ".join(type(array).__name__ for array in arrays)
            raise DataError(f"scores must be arrays of one library, not {names}") from None
        self._device, *other_devices = (compat.device(array) for array in arrays)
        if any(device != self._device for device in other_devices):
            raise DataError(f"scores must be on one device, not on {self._device} and {other_devices[0]}")
        for array in arrays:
            if not self.xp.isdtype(array.dtype, ("bool", "integral", "real floating")):
                raise DataError(f"scores must be real numbers, not {array.dtype}")

    def put(self, array: NDArray[Any]) -> Any:
        """Return a copy on the device of an array on the host."""
        return array if self.is_host else self.xp.asarray(array, device=self._device)

    def pull(self, array: Any) -> NDArray[Any]:
        """Return a copy on the host of an array on the device."""
        if self.is_host:
            return np.asarray(array)
        if self._compat.is_torch_array(array):
            return np.asarray(array.cpu())
        if self._compat.is_cupy_array(array):
            return np.asarray(array.get())
        return np.asarray(array) if self._compat.is_jax_array(array) else np.from_dlpack(array, device="cpu", copy=True)

    def take(self, array: Any, index: NDArray[np.integer]) -> Any:
        """Return entries or rows of an array on the device, by indices on the host."""
        return self.xp.take(array, self.put(index), axis=0)

    def count(self, is_true: Any) -> NDArray[np.int64]:
        """Return how many entries of each row of (rows, items) are true, on the host."""
        return self.pull(self.xp.count_nonzero(is_true, axis=1)).astype(np.int64)

    def comparable(self, scores: Any) -> Any:
        """Return scores in a type that numpy has and that holds them without rounding."""
        if self.is_host:
            return scores
        if self.xp.isdtype(scores.dtype, "bool"):
            return self.xp.astype(scores, self.xp.int8)
        narrow = self.xp.isdtype(scores.dtype, "real floating") and self.xp.finfo(scores.dtype).bits < 32
        return self.xp.astype(scores, self.xp.float32) if narrow else scores

    def has_float64(self) -> bool:
        """Return whether the device computes in double precision: Apple's GPUs do not, nor does JAX by default."""
        one = self.put(np.ones(1, dtype=np.float32))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # JAX warns, and goes on in single precision
            try:
                return bool(self.xp.astype(one, self.xp.float64).dtype == self.xp.float64)
            except (TypeError, RuntimeError):
                return False


def as_array(scores: Any) -> Any:
    """Return scores on a device as they are, without a gradient, and others as `as_scores` does."""
    return detached(scores) if is_on_device(scores) else as_scores(scores)


def as_scores(scores: Any) -> NDArray[Any]:
    """Return scores as an array of their own type, without a copy; Python numbers become float64 or integers."""
    refuse_masked(scores, "scores")
    refuse_device(scores, "scores")
    scores = detached(scores)
    python_numbers = None  # the Python numbers, if float64 might round them
    try:
        array = np.asarray(scores)
        if array.dtype == object:
            array, python_numbers = array.astype(np.float64), array
        elif not hasattr(scores, "dtype") and array.dtype == np.float64 and (np.abs(array) >= _WHOLE).any():
            is_frame = isinstance(scores, pd.DataFrame)  # may mix integers and floats, like a list
            python_numbers = scores.to_numpy(object) if is_frame else np.asarray(scores, dtype=object)
        wrong = np.False_ if python_numbers is None else (array != python_numbers) & ~np.isnan(array)
    except (TypeError, ValueError, OverflowError):  # ValueError: rows differ in length
        raise DataError(f"scores {MATRIX}") from None
    if python_numbers is not None and wrong.any():
        raise DataError(f"scores {MATRIX}; float64 cannot hold {python_numbers[wrong][0]!r:.80} without rounding it")
    if array.ndim == 0 or array.dtype.kind not in "biuf":
        raise DataError(f"scores {MATRIX}")
    return array


def detached(array: Any) -> Any:
    """Return an array without its gradient, which tensors of torch may have."""
    return array.detach() if hasattr(array, "detach") else array
