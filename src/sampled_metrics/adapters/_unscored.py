"""Items that a model does not score."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray


def tied_below(scores: ArrayLike) -> NDArray[Any]:
    """Return scores in which missing ones (NaN) tie with each other, below all others."""
    found = np.asarray(scores)
    lowest = found[~pd.isna(found)].min(initial=np.inf)
    return np.where(np.isnan(found), np.nextafter(lowest, -np.inf) if np.isfinite(lowest) else 0.0, found)
