"""benchmarks/accuracy.py: its reference against exact arithmetic, and the digits of BV γ that it finds."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from exact_probabilities import exact

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks/accuracy.py"
GAMMAS, LABELS = ["1e-1", "1e-4", "1e-8"], ["recall@10", "ndcg@10", "ap", "auc"]


@pytest.fixture(scope="module")
def accuracy():
    spec = importlib.util.spec_from_file_location("accuracy", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not module.wide_enough():
        pytest.skip("long doubles have no more digits than doubles here")
    return module


@pytest.mark.parametrize("replacement", [True, False])
def test_probabilities_of_the_reference_have_18_digits(accuracy, replacement):
    ours = accuracy.probabilities(np.arange(41), 40, 12, replacement)
    for row, wanted in zip(ours, exact(41, 12, replacement), strict=True):
        for p, fraction in zip(row, wanted, strict=True):
            correct = np.longdouble(fraction.numerator) / np.longdouble(fraction.denominator)
            assert abs(p - correct) <= 1e-17 * correct


@pytest.mark.parametrize("replacement", [True, False])
def test_the_reference_is_exact_arithmetic(accuracy, replacement):
    wanted = accuracy.exactly(60, 10, GAMMAS, LABELS, replacement)
    found, change = accuracy.reference(60, 10, GAMMAS, LABELS, replacement)
    assert change < 1e-14
    assert (accuracy.digits_kept(found, wanted) > 15.5).all()
    assert (accuracy.digits_kept(accuracy.library(60, 10, GAMMAS, LABELS, replacement), wanted) > 10.5).all()


@pytest.mark.parametrize(("n", "m"), [(1000, 60), (3541, 100)])
def test_the_library_keeps_10_digits(accuracy, n, m):
    # at n = 100 000, m = 1000 the script finds 13.5 digits and more for γ = 0.1, and 10.5 for γ = 10⁻⁸
    wanted, change = accuracy.reference(n, m, GAMMAS, LABELS, False)
    assert change < 1e-14
    digits = accuracy.digits_kept(accuracy.library(n, m, GAMMAS, LABELS, False), wanted)
    for row, least in zip(digits, [13, 12, 10], strict=True):
        assert (row > least).all(), digits


def test_says_what_it_does():
    told = subprocess.run([sys.executable, str(SCRIPT), "--help"], capture_output=True, text=True, check=True)
    assert "--candidates" in told.stdout
