"""Items that a model does not score."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def tied_below(scores: ArrayLike) -> NDArray[Any]:
    """Return scores in which missing ones (NaN) tie with each other, below all others, as -∞."""
    array = np.asarray(scores)
    return np.where(np.isnan(array), -np.inf, array)
