"""Items that a model does not score."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def tied_below(scores: ArrayLike) -> NDArray[Any]:
    """Return scores with -∞ for missing ones (NaN), which then tie below all others."""
    array = np.asarray(scores)
    return np.where(np.isnan(array), -np.inf, array)
