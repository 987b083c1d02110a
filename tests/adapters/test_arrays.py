"""Tensors of torch and arrays of JAX.

They are read by numpy on the CPU, and counted on a device.
"""

import numpy as np
import pytest
from docs_blocks import blocks
from ranked_by_argsort import by_argsort, rows

import sampled_metrics as sm
from sampled_metrics.ranking import rank

pytest.importorskip("array_api_compat", reason="array-api-compat is not installed")
RNG = np.random.default_rng(1)
USERS = 300
ITEMS = 200
FACTORS = (
    RNG.normal(size=(USERS, 24)),
    RNG.normal(size=(ITEMS, 24))[RNG.integers(ITEMS // 3, size=ITEMS)],
)
WHOLE = RNG.integers(-2, 3, (USERS, 3)), RNG.integers(-2, 3, (ITEMS, 3))
HELD_OUT = RNG.integers(ITEMS, size=USERS)
TRAINING = (RNG.random((USERS, ITEMS)) < 0.1) & (np.arange(ITEMS) != HELD_OUT[:, np.newaxis])


def array_of(library, array):
    if library == "torch":
        torch = pytest.importorskip("torch", reason="torch is not installed")
        return torch.asarray(array, device="cuda" if torch.cuda.is_available() else "cpu")
    jax_array = pytest.importorskip("jax.numpy", reason="JAX is not installed").asarray(array)
    if jax_array.dtype != array.dtype:
        pytest.skip("JAX has no float64 unless it is asked for")
    return jax_array


@pytest.fixture(params=["torch", "jax"])
def on_device(request, monkeypatch):
    """A library whose arrays in the memory of the host are counted as those on a device."""
    monkeypatch.setattr(rank, "is_on_device", lambda array: not isinstance(array, np.ndarray))
    monkeypatch.setattr(
        rank, "as_array", lambda array: array.detach() if hasattr(array, "detach") else array
    )
    return request.param


def doubles(factors):
    return tuple(part.astype(np.float64) for part in factors)


@pytest.mark.parametrize("d", [1, 40])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_last_digit_decides(on_device, kind, d):
    """Products in float32 decide most ranks of such factors wrongly."""
    digits = RNG.integers(-2, 3, (ITEMS, d)) * float(np.finfo(kind).eps)
    factors = (
        RNG.normal(size=(USERS, d)).astype(kind),
        (RNG.normal(size=(1, d)).astype(kind) * (1 + digits)).astype(kind),
    )
    table = sm.rank(tuple(array_of(on_device, part) for part in factors), TRAINING, HELD_OUT)
    assert table.to_frame().equals(sm.rank(doubles(factors), TRAINING, HELD_OUT).to_frame())


@pytest.mark.parametrize("kind", [np.int32, np.float16, np.bool_])
def test_scores_are_counted_in_their_own_type(on_device, kind):
    scores = (WHOLE[0] @ WHOLE[1].T).astype(kind)
    assert rows(sm.rank(array_of(on_device, scores), TRAINING, HELD_OUT)) == by_argsort(
        scores, TRAINING, HELD_OUT
    )


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_bfloat16(library):
    """numpy lacks the type, so the arrays need the namespace on the CPU, too.

    The counts are those of its numbers.
    """

    def short(array):
        single = array_of(library, array.astype(np.float32))
        return single.bfloat16() if library == "torch" else single.astype("bfloat16")

    def read(array):
        return np.asarray(array.float().cpu() if library == "torch" else array.astype("float32"))

    factors = tuple(map(short, FACTORS))
    expected = sm.rank(doubles(tuple(map(read, factors))), TRAINING, HELD_OUT)
    assert rows(sm.rank(factors, TRAINING, HELD_OUT)) == rows(expected)
    scores = short(FACTORS[0] @ FACTORS[1].T)
    assert rows(sm.rank(scores, TRAINING, HELD_OUT)) == by_argsort(read(scores), TRAINING, HELD_OUT)


def test_settings_that_make_products_less_exact_change_no_rank(on_device):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    factors = tuple(part.astype(np.float32) for part in FACTORS)
    expected = sm.rank(doubles(factors), TRAINING, HELD_OUT)
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        with torch.autocast("cuda" if torch.cuda.is_available() else "cpu", torch.bfloat16):
            table = sm.rank(tuple(array_of("torch", part) for part in factors), TRAINING, HELD_OUT)
    finally:
        torch.set_float32_matmul_precision(before)
    assert table.to_frame().equals(expected.to_frame())


def test_the_example_of_the_docs(capsys):
    """The page does not run it, as torch is not installed there."""
    pytest.importorskip("torch", reason="torch is not installed")
    [code] = blocks("how-to/rank.md", "py")
    page = {}
    exec(blocks("how-to/rank.md", "python")[0], page)
    printed = capsys.readouterr().out.splitlines()
    exec(code, page)
    printed_on_device = capsys.readouterr().out.splitlines()
    assert [line.split() for line in printed_on_device] == [
        line.split() for line in (printed[0], printed[1], printed[3])
    ]


def test_the_sequence_model_of_the_docs():
    """Its states are sums of whole numbers, so that nothing is rounded."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    embeddings = RNG.integers(-2, 3, (ITEMS + 1, 3))
    embeddings[0] = 0

    class Sums(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.items = torch.nn.Embedding.from_pretrained(
                torch.asarray(embeddings, dtype=torch.float32)
            )

        def forward(self, sequences):
            return self.items(sequences).cumsum(axis=1)

    sequences = RNG.integers(ITEMS + 1, size=(USERS, 5))
    page = {
        "model": Sums().to(device).eval(),
        "sequences": torch.asarray(sequences),
        "device": device,
    }
    page |= {"sm": sm, "torch": torch, "training": TRAINING, "held_out": HELD_OUT}
    [code] = blocks("how-to/large.md", "py")
    exec(code, page)
    scores = embeddings[sequences].sum(axis=1) @ embeddings[1:].T
    assert rows(page["ranks"]) == by_argsort(scores, TRAINING, HELD_OUT)
