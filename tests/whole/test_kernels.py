"""Results under other kernels of OpenBLAS than the processor's own."""

import kernels
import pytest
from same_numbers import RAISED, ROOT, differences, numbers_of


@pytest.mark.slow
def test_results_under_other_kernels_agree_to_nine_digits():
    if reason := kernels.why_none():
        pytest.skip(reason)
    expected = numbers_of(ROOT / "src")
    assert not any(RAISED in columns for columns in expected.values())
    for kernel in kernels.other_kernels():
        numbers = numbers_of(ROOT / "src", {kernels.VARIABLE: kernel})
        assert not list(differences(expected, numbers, 1e-9)), kernel
