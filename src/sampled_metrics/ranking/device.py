"""Arrays in the memory of a device, such as a GPU, of torch, CuPy, JAX or others that follow the array API standard.

In the memory of the host, numpy reads arrays of any library without a copy, so they need nothing of this.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sampled_metrics._arrays import Ints
from sampled_metrics.errors import DataError


def is_on_device(array: Any) -> bool:
    """Return whether an array of another library is not in the host's memory, or in bfloat16, which numpy lacks."""
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


def detached(array: Any) -> Any:
    """Return an array without its gradient, which tensors of torch may have."""
    return array.detach() if hasattr(array, "detach") else array


class Device:
    """The namespace (`xp`, of array-api-compat) and the device of arrays, and ways to and from it.

    Raises:
        DataError: the arrays differ in library or device, or are no real numbers; or array-api-compat is not installed.
    """

    def __init__(self, *arrays: Any) -> None:
        try:
            import array_api_compat as compat
        except ImportError:
            raise DataError(
                "scores on a device need array-api-compat, which is not installed: pip install "
                "'sampled-metrics[arrays]'"
            ) from None
        self._compat = compat
        try:
            self.xp: Any = compat.array_namespace(*arrays)
        except TypeError:
            names = " and ".join(type(each).__name__ for each in arrays)
            raise DataError(f"scores must be arrays of one library, not {names}") from None
        self._device, *others = (compat.device(each) for each in arrays)
        if any(each != self._device for each in others):
            raise DataError(f"scores must be on one device, not on {self._device} and {others[0]}")
        for each in arrays:
            if not self.xp.isdtype(each.dtype, ("bool", "integral", "real floating")):
                raise DataError(f"scores must be real numbers, not {each.dtype}")

    def __str__(self) -> str:
        return f"{self.xp.__name__.removeprefix('array_api_compat.')} on {self._device}"

    def put(self, array: NDArray[Any]) -> Any:
        """Copy an array from the host."""
        return self.xp.asarray(array, device=self._device)

    def pull(self, array: Any) -> NDArray[Any]:
        """Copy an array to the host."""
        if self._compat.is_torch_array(array):
            return np.asarray(array.cpu())
        if self._compat.is_cupy_array(array):
            return np.asarray(array.get())
        return np.asarray(array) if self._compat.is_jax_array(array) else np.from_dlpack(array, device="cpu", copy=True)

    def take(self, array: Any, index: Ints) -> Any:
        """Return entries or rows of an array, on the device, by indices on the host."""
        return self.xp.take(array, self.put(index), axis=0)

    def count(self, which: Any, positions: Any, ends: Any) -> Ints:
        """Count on the device which of (rows, items) is true, but for training items, and return (rows,) on the host.

        Positions and ends are those of `training_positions`, on the device.
        """
        xp = self.xp
        trained = xp.astype(xp.take(xp.reshape(which, (-1,)), positions, axis=0), xp.int32)
        before = self.pull(xp.take(xp.cumulative_sum(trained, include_initial=True), ends, axis=0))
        return self.pull(xp.count_nonzero(which, axis=1)).astype(np.int64) - np.diff(before)

    @contextmanager
    def exact_products(self) -> Iterator[None]:
        """Multiply float32 matrices without TensorFloat-32 or bfloat16, and restore the library's setting then.

        The setting of torch is one for the process, and that of JAX for the thread. CuPy multiplies in float32 unless
        the environment has CUPY_TF32=1.
        """
        if self._compat.is_jax_namespace(self.xp):
            import jax

            with jax.default_matmul_precision("highest"):
                yield
        elif self._compat.is_torch_namespace(self.xp):
            with _exact_products_of_torch():
                yield
        else:
            yield


def training_positions(training: csr_array, rows: slice) -> tuple[Ints, Ints]:
    """Return the ascending positions of training items in the flattened (rows, items) array of consecutive rows.

    Also returned is the number of them before each row, and of all, as (rows + 1,).
    """
    ends = training.indptr[rows.start : rows.stop + 1].astype(np.int64)
    starts = np.arange(len(ends) - 1) * training.shape[1]
    return np.repeat(starts, np.diff(ends)) + training.indices[ends[0] : ends[-1]], ends - ends[0]


@contextmanager
def _exact_products_of_torch() -> Iterator[None]:
    import torch

    backends: list[Any] = [torch.backends.cuda.matmul, getattr(torch.backends.mkldnn, "matmul", None)]
    before = [(each, each.fp32_precision) for each in backends if hasattr(each, "fp32_precision")]  # from 2.9 on
    try:
        setting = torch.get_float32_matmul_precision()
    except RuntimeError:  # torch refuses to say it if fp32_precision was set
        setting = "highest"
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(setting)
        for each, precision in before:
            each.fp32_precision = precision
