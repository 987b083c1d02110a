"""Values that have an order and are no numbers, and values that are no flags."""

import numpy as np
import pandas as pd
import pytest

import sampled_metrics as sm

NO_NUMBERS = {
    "periods": pd.period_range("2001", periods=3, freq="Y"),
    "cells that are periods": pd.Series(
        list(pd.period_range("2001", periods=3, freq="Y")), dtype=object
    ),
    "times": pd.to_datetime(["2001-01-01", "2002-01-01", "2003-01-01"]),
    "durations": pd.to_timedelta([1, 2, 3], unit="s"),
    "durations of numpy": np.array([1, 2, 3], dtype="m8[s]"),
    "complex numbers": [1 + 0j, 2, 3],
    "intervals": pd.interval_range(0, 3),
}


def require_a_flag(call, name, *, takes_long=False):
    """Call a function with a flag of numpy, and with what is no flag, which it refuses by the name
    of its argument.
    """
    if not takes_long:
        call(np.False_)
    for flag in ("no", 0, None, np.array(True)):
        with pytest.raises(sm.ConfigError, match=f"^{name} must be True or False, not "):
            call(flag)
