"""Numbers that people give one at a time, which may be anything in Python."""

from numbers import Integral, Real
from typing import Any

import numpy as np


def is_whole(value: Any) -> bool:
    """Whether it is a whole number by its type; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_real(value: Any) -> bool:
    """Whether it is a real number by its type, NaN included; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def shown(value: Any) -> str:
    """Return a value as people write it, for messages: text in quotation marks, numpy's numbers as Python's."""
    return f"{value.item() if isinstance(value, np.generic) else value!r:.80}"
