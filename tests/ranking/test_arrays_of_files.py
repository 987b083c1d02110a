"""Files of models: what a csv file of an array may not begin with."""

import numpy as np
import pandas as pd
import pytest

from sampled_metrics.errors import DataError
from sampled_metrics.ranking.inputs import read_array


@pytest.mark.parametrize("what", ["scores", "factors"])
def test_names_of_columns_in_a_csv_file_are_refused(tmp_path, monkeypatch, what):
    """As DataFrame.to_csv(index=False) writes them: each user would get the scores of the user before."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    matrix = rng.normal(size=(30, 12))
    pd.DataFrame(matrix).to_csv(f"{what}.csv", index=False)
    with pytest.raises(DataError, match=rf"{what}.csv, line 1: has 0 to 11, the names of columns"):
        read_array(f"{what}.csv")
    pd.DataFrame(matrix).to_csv(f"{what}.csv", index=False, header=False)
    np.testing.assert_array_equal(read_array(f"{what}.csv"), matrix)
