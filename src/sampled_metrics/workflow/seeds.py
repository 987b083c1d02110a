"""Named random streams: what is added to a study changes the numbers of nothing that was there before."""

import hashlib

import numpy as np


def stream(seed: int, *names: str) -> np.random.Generator:
    """Return the random generator of one purpose.

    Args:
        seed: the study's seed, 0 or more.
        names: what the stream is for, for example ``("ml-1m", "X", "negatives")``. Other names give an independent
            stream, the same names the same one.
    """
    spawn_key = tuple(int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") for name in names)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=spawn_key)))
