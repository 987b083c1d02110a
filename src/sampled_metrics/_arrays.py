"""Names for the arrays that pass through the library; shapes are stated where they are used."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
