"""Results under other kernels of OpenBLAS than the processor's own."""

import json
import subprocess
import sys
from pathlib import Path

import kernels
import numpy as np
import pytest


def results_under(kernel):
    """The columns of some public results, from a process that asks for a kernel."""
    command = [sys.executable, str(Path(kernels.__file__).with_name("kernel_numbers.py"))]
    ran = subprocess.run(
        command, env=kernels.environment(kernel), check=True, capture_output=True, text=True
    )
    return json.loads(ran.stdout)


@pytest.mark.slow
def test_results_under_other_kernels_agree_to_nine_digits():
    if reason := kernels.why_none():
        pytest.skip(reason)
    expected = results_under("")
    for kernel in kernels.other_kernels():
        results = results_under(kernel)
        assert results.keys() == expected.keys()
        for name, columns in expected.items():
            assert results[name].keys() == columns.keys()
            for column, values in columns.items():
                if all(isinstance(value, (int, float)) for value in values):
                    np.testing.assert_allclose(
                        results[name][column],
                        values,
                        rtol=1e-9,
                        atol=1e-9,
                        err_msg=f"{kernel}: {name}, {column}",
                    )
                else:
                    assert results[name][column] == values
