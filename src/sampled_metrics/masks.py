"""Masked arrays, whose mask most functions of numpy drop, so that what is masked would count like the rest."""

from typing import Any

import numpy as np

from sampled_metrics.errors import DataError


def refuse_masked(values: Any, what: str) -> None:
    """Refuse arrays, and lists of them, in which something is masked.

    Args:
        values: anything; only masked arrays have a mask.
        what: what to call it in messages.

    Raises:
        DataError: an entry is masked.
    """
    parts = values if isinstance(values, list | tuple) else [values]
    masked = sum(int(np.ma.getmaskarray(part).sum()) for part in parts if np.ma.is_masked(part))
    if masked:
        raise DataError(f"{what}: has {masked} masked, and none may be missing; leave out what has no number")
