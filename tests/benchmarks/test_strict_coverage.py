"""Strict bounds hold the truth: a quick version of strict_coverage.py."""

import importlib.util
import sys
from pathlib import Path

import pandas as pd
import pytest


@pytest.fixture(scope="module")
def benchmark_module():
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "strict_coverage.py"
    spec = importlib.util.spec_from_file_location("strict_coverage", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.parametrize(("evaluations", "misses"), [(5, 1), pytest.param(40, 3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("shape", ["free", "decreasing"])
def test_coverage(benchmark_module, shape, evaluations, misses):
    """In docs/reproduction/strict-coverage.csv, 2 % miss, or fewer."""
    population = next(benchmark_module.made_up())
    rows = benchmark_module.simulated((population, 100, 1000, shape), evaluations)
    assert [row["metric"] for row in rows] == list(benchmark_module.METRICS)
    assert all(row["covered"] >= (evaluations - misses) / evaluations for row in rows)


def test_every_cell_with_the_assumed_shape_holds_the_truth():
    """The csv has each cell with 200 evaluations, and none is below 93 %."""
    root = Path(__file__).resolve().parents[2]
    table = pd.read_csv(root / "docs" / "reproduction" / "strict-coverage.csv")
    assert (table["evaluations"] >= 200).all()
    assert (table["covered"][table["has_shape"]] >= 0.93).all()
