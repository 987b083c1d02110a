"""Tensors of torch and arrays of JAX: as numpy reads them on the CPU, and as they are counted on a device."""

from typing import Any

import numpy as np
import pytest
from docs_blocks import blocks
from factors_on_devices import CASES, differences, factors_of
from ranked_by_argsort import by_argsort, rows

import sampled_metrics as sm
from sampled_metrics.errors import NumericError
from sampled_metrics.ranking import rank as rank_module
from sampled_metrics.ranking import scores as scores_module
from sampled_metrics.ranking.device import Device

pytest.importorskip("array_api_compat", reason="array-api-compat is not installed")
USERS, ITEMS = 300, 200


def array_of(library: str, array: np.ndarray) -> Any:
    if library == "torch":
        return pytest.importorskip("torch", reason="torch is not installed").asarray(array)
    found = pytest.importorskip("jax.numpy", reason="JAX is not installed").asarray(array)
    if found.dtype != array.dtype:
        pytest.skip("JAX has no float64 unless it is asked for")
    return found


def count_on_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count arrays of other libraries in the memory of the host as if they were on a device."""
    for module in (rank_module, scores_module):
        monkeypatch.setattr(module, "is_on_device", lambda array: not isinstance(array, np.ndarray))


@pytest.fixture(params=["torch", "jax"])
def library(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=["torch", "jax"])
def on_device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A library whose arrays in the memory of the host are counted as those on a device."""
    count_on_device(monkeypatch)
    return request.param


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("case", CASES)
def test_counts_by_factors_are_those_of_numpy(on_device: str, case: str, kind: type) -> None:
    assert differences(lambda array: array_of(on_device, array), case, USERS, ITEMS, kind)[0] == 0


def test_factors_on_the_cpu_need_no_namespace(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Device, "__init__", None)
    assert differences(lambda array: array_of(library, array), "whole", USERS, ITEMS, np.float32)[0] == 0


@pytest.mark.parametrize("kind", [np.float32, np.int32, np.float16, np.bool_])
def test_scores_are_counted_in_their_own_type(on_device: str, kind: type) -> None:
    factors, training, held_out = factors_of("whole", USERS, ITEMS, np.int64)
    scores = (factors[0] @ factors[1].T).astype(kind)
    found = sm.rank(array_of(on_device, scores), training, held_out)
    assert rows(found) == by_argsort(scores, training, held_out)


@pytest.mark.parametrize("kind", [np.float16, np.int32])
def test_factors_of_other_types(on_device: str, kind: type) -> None:
    assert differences(lambda array: array_of(on_device, array), "whole", USERS, ITEMS, kind)[0] == 0


def test_bfloat16(library: str) -> None:
    """numpy lacks the type, so the arrays need the namespace on the CPU too; the counts are those of its numbers."""
    factors, training, held_out = factors_of("duplicates", USERS, ITEMS, np.float32)
    short = [array_of(library, each).to(_torch().bfloat16) if library == "torch" else _jax16(each) for each in factors]
    numbers = [np.asarray(each.float() if library == "torch" else each.astype("float32")) for each in short]
    wanted = sm.rank(tuple(each.astype(np.float64) for each in numbers), training, held_out)
    assert rows(sm.rank(tuple(short), training, held_out)) == rows(wanted)
    scores = np.asarray(numbers[0] @ numbers[1].T)
    stored = array_of("torch", scores).to(_torch().bfloat16) if library == "torch" else _jax16(scores)
    read = np.asarray(stored.float() if library == "torch" else stored.astype("float32"))
    assert rows(sm.rank(stored, training, held_out)) == by_argsort(read, training, held_out)


def _torch() -> Any:
    return pytest.importorskip("torch")


def _jax16(array: np.ndarray) -> Any:
    return array_of("jax", array).astype("bfloat16")


@pytest.mark.parametrize("device", [False, True])
def test_gradients_are_left_out(device: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = _torch()
    if device:
        count_on_device(monkeypatch)
    factors, training, held_out = factors_of("whole", USERS, ITEMS, np.float32)
    layers = [torch.nn.Parameter(torch.asarray(each)) for each in factors]
    expected = rows(sm.rank(factors, training, held_out))
    assert rows(sm.rank(tuple(layers), training, held_out)) == expected
    assert rows(sm.rank(layers[0] @ layers[1].T, training, held_out)) == expected
    assert rows(sm.rank(lambda users: layers[0][users] @ layers[1].T, training, held_out)) == expected
    assert all(each.requires_grad for each in layers)


@pytest.mark.parametrize("by", ["nothing", "high", "tf32"])
def test_the_precision_of_torch_is_full_while_it_multiplies_and_is_then_as_before(by: str) -> None:
    torch = _torch()
    backends = torch.backends.cuda.matmul, torch.backends.mkldnn.matmul
    before = [each.fp32_precision for each in backends]
    try:
        if by == "high":
            torch.set_float32_matmul_precision("high")
        if by == "tf32":
            torch.backends.cuda.matmul.fp32_precision = "tf32"
        set_by_user = [each.fp32_precision for each in backends]
        with Device(torch.ones(1)).exact_products():
            assert [each.fp32_precision for each in backends] == ["ieee", "ieee"]
            assert torch.get_float32_matmul_precision() == "highest"
            assert not torch.backends.cuda.matmul.allow_tf32
        assert [each.fp32_precision for each in backends] == set_by_user
        if by != "tf32":
            assert torch.get_float32_matmul_precision() == {"nothing": "highest", "high": "high"}[by]
    finally:
        torch.set_float32_matmul_precision("highest")
        for each, precision in zip(backends, before, strict=True):
            each.fp32_precision = precision


def test_the_precision_of_jax_is_full_while_it_multiplies() -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    product = jax.make_jaxpr(jax.numpy.matmul)
    with Device(jax.numpy.ones(1)).exact_products():
        assert "HIGHEST" in str(product(jax.numpy.ones((2, 2)), jax.numpy.ones((2, 2))))
    assert jax.config.jax_default_matmul_precision is None


def test_products_in_bfloat16_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = _torch()
    count_on_device(monkeypatch)
    factors, training, held_out = factors_of("normal", USERS, ITEMS, np.float32)
    with torch.autocast("cpu", torch.bfloat16), pytest.raises(NumericError, match="torch on cpu has larger errors"):
        sm.rank(tuple(map(torch.asarray, factors)), training, held_out)


def test_the_example_of_the_docs(capsys: pytest.CaptureFixture[str]) -> None:
    """The page does not run it, as torch is not installed there."""
    _torch()
    [code] = blocks("how-to/rank.md", "py")
    page: dict[str, Any] = {}
    exec(blocks("how-to/rank.md", "python")[0], page)
    printed = capsys.readouterr().out.splitlines()
    exec(code, page)
    shown = capsys.readouterr().out.splitlines()
    assert [line.split() for line in shown] == [line.split() for line in (printed[0], printed[1], printed[3])]
