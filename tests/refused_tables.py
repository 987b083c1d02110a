"""What every function refuses that takes tables of ranks."""

import pandas as pd
import pytest

import sampled_metrics as sm
from sampled_metrics._registry import kinds_of_tables


def require_refusals(function, call, tables):
    """Ranks are refused with the readers to call, and tables of other kinds with the functions that
    take them.
    """
    for ranks in ([1, 2], pd.DataFrame({"rank": [1, 2]})):
        with pytest.raises(sm.DataError, match=function) as caught:
            call({"A": ranks, "B": ranks})
        assert all(
            kind.reader in str(caught.value)
            for kind in kinds_of_tables()
            if function in kind.taken_by
        )
    for table in tables:
        if function not in table.taken_by:
            with pytest.raises(sm.DataError, match=table.kind) as caught:
                call({"A": table, "B": table})
            assert all(name in str(caught.value) for name in table.taken_by)
