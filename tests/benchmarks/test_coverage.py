"""Intervals hold the truth and comparisons raise few false alarms: a quick version of benchmarks/coverage.py."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from sampled_metrics.metrics.metric import metric

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def benchmark_module():
    path = ROOT / "benchmarks" / "coverage.py"
    spec = importlib.util.spec_from_file_location("coverage_of_intervals", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.parametrize("evaluations", [60, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("users", [10, 200])
@pytest.mark.parametrize("name", ["n = 3541, m = 100", "n = 100 and 5000, m = 50", "n = 3541, m = 100, ties of 20"])
def test_coverage_and_alarms(benchmark_module, name, users, evaluations):
    """A share of .95 of 300 evaluations has a standard error of .013, and 3.5 of these are allowed."""
    candidates, negatives, ties = benchmark_module.CANDIDATES[name]
    setting = benchmark_module.Setting(name, users, candidates, negatives, ties, 5)
    row = benchmark_module.simulated(evaluations, 1, setting)
    most = 0.05 + 3.5 * np.sqrt(0.05 * 0.95 / evaluations)
    assert (row["covered"] >= 1 - most).all()
    for rates in row["alarms"].values():
        assert (rates <= most).all()
    assert np.isfinite(row["reported"]).all()


def test_truth_is_the_mean_of_drawn_metrics(benchmark_module):
    setting = benchmark_module.Setting("", 20_000, (100, 5000), 50, 1, 3)
    ranks = setting.draw(np.random.default_rng(2))
    drawn = setting.exact(ranks)
    wanted = np.stack([metric(label).of_rank(ranks, setting.n) for label in benchmark_module.METRICS], axis=1)
    np.testing.assert_allclose(drawn, wanted, rtol=1e-9)
    truth = setting.mean_over_users({n: setting.ranks[n] @ setting.values[n] for n in setting.ranks})
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - truth) < 4 * error).all()
