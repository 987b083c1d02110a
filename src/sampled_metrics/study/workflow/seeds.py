"""Named random streams. A new part of a study does not change the numbers of the others."""

import hashlib

import numpy as np


def stream(seed: int, *names: str) -> np.random.Generator:
    """Return the random generator of one purpose.

    Args:
        seed: the study's seed, 0 or more.
        names: purpose of the stream, such as ``("ml-1m", "X", "negatives")``. Equal names give the same stream. Other
            names give an independent one.
    """
    spawn_key = tuple(int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") for name in names)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=spawn_key)))
