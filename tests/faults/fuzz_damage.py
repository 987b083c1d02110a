"""A stage's file, damaged at random: refused, or what it held is read unchanged."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from hypothesis import strategies as st
from ranked_by_argsort import one_each
from scipy.sparse import csr_array

from faults.fuzzing import Target
from sampled_metrics.data.split import Split, read_split
from sampled_metrics.ranks.exact import ExactRanks, exact_ranks
from sampled_metrics.recommenders.models import (
    FactorModel,
    Model,
    SparseSimilarityModel,
    read_model,
)

Read = Callable[[Path], Any]
PLACES = 10_000
"""A place in a file is given in parts of its length, so that one damage can be done to a file of any length."""

DAMAGE = st.tuples(st.integers(0, PLACES), st.integers(0, 9), st.binary(max_size=9))
"""Where, how many bytes are taken away, and what stands there instead."""


def done(content: bytes, damages: list[tuple[int, int, bytes]]) -> bytes:
    for place, taken, instead in damages:
        at = place * len(content) // PLACES
        content = content[:at] + instead + content[at + taken :]
    return content


def flat(value: Any) -> list[Any]:
    """Everything that is held, comparable."""
    if isinstance(value, csr_array):
        return [value.shape, value.indptr.tolist(), value.indices.tolist(), value.data.tolist()]
    if isinstance(value, np.ndarray):
        return [value.tolist()]
    held = value if isinstance(value, tuple) else vars(value).values() if hasattr(value, "__dict__") else None
    return [repr(value)] if held is None else [type(value).__name__, *(flat(each) for each in held)]


def damaged(name: str, write: Callable[[Path], None], read: Read) -> Target:
    """A file that is written and read so."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path)
        whole, held = path.read_bytes(), flat(read(path))

    def check(damages: list[tuple[int, int, bytes]]) -> None:
        path = Path(name)  # in a folder of the test's own
        path.write_bytes(done(whole, damages))
        assert flat(read(path)) == held

    ends = [(PLACES // 2, len(whole), b""), (0, 0, b"\0"), (PLACES, 0, b"\0")]
    return Target(st.lists(DAMAGE, min_size=1, max_size=3), check, [[each] for each in ends])


TRAINING = csr_array(np.array([[1.0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]]))
SPLIT = Split(TRAINING, one_each([2, 0, 1], 4), np.array(["ada", "ben", "cleo"]), np.array([10, 20, 30, 40]))
RANKS = ExactRanks(np.array(["a", "b", "c"]), np.array([9, 8, 9]), np.array([0, 3, 5]), np.array([0, 1, 2]))
MODELS: dict[str, Model] = {
    "factors": FactorModel(np.arange(6.0).reshape(3, 2), np.arange(8.0).reshape(4, 2)),
    "similarities": SparseSimilarityModel(csr_array(np.eye(4) / 3)),
}
DAMAGED = {
    "a split, damaged": damaged("split.npz", SPLIT.write, read_split),
    **{f"a model of {name}, damaged": damaged("model.npz", model.write, read_model) for name, model in MODELS.items()},
    "ranks in gzip, damaged": damaged("ranks.csv.gz", RANKS.write, lambda path: replace(exact_ranks(path), source="")),
}
