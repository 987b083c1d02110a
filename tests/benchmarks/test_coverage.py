"""The intervals cover what they claim to, in a quick version of benchmarks/coverage.py with a fixed seed."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

EVALUATIONS = 150


@pytest.fixture(scope="module")
def benchmark_module():
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "coverage.py"
    spec = importlib.util.spec_from_file_location("coverage_of_intervals", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def study(benchmark_module):
    return benchmark_module.Study(resamples=100, mle_resamples=0, seed=4)


@pytest.fixture(scope="module")
def covered(benchmark_module, study):
    own = {label: benchmark_module.expectation(study, label, study.ranks) for label in benchmark_module.LINEAR}
    own["exact"] = benchmark_module.truth(study, study.ranks)
    simulated = benchmark_module.simulate(benchmark_module.intervals, study, EVALUATIONS)
    return benchmark_module.coverage(study, simulated, own)


@pytest.mark.slow
def test_the_means_are_covered_95_times_in_a_hundred(covered):
    """Each share has a standard error of 1.8 %; that of all together is smaller."""
    assert len(covered) == 3 * 4 * 2
    assert covered["own"].between(0.88, 1).all()
    assert covered["own"].mean() == pytest.approx(0.95, abs=0.02)


@pytest.mark.slow
def test_standard_errors_are_the_deviations_of_the_estimates(covered):
    """A standard deviation of 150 numbers is within 6 % of what it estimates."""
    assert (covered["standard_error"] / covered["deviation"]).between(0.8, 1.25).all()


@pytest.mark.slow
def test_the_truth_is_covered_less_often_where_there_is_bias(covered):
    shares = covered.set_index(["estimator", "metric", "interval"])
    for how in ("delta", "bootstrap"):
        assert shares["truth"]["exact", "recall@10", how] == shares["own"]["exact", "recall@10", how]
        assert shares["truth"]["bv-0.1", "recall@10", how] < shares["own"]["bv-0.1", "recall@10", how] - 0.02
    assert shares["bias"]["bv-0.1", "recall@10", "delta"] < 5 * shares["bias"]["bv-0.01", "recall@10", "delta"] / 2 < 0


def test_the_second_recommender_is_equal_by_recall_alone(benchmark_module, study):
    same, other = (benchmark_module.truth(study, ranks) for ranks in (study.ranks, study.other_ranks))
    assert other[0] == pytest.approx(same[0], rel=1e-12)
    assert np.abs(other[1:] - same[1:]).min() > 1e-4
    assert study.other_ranks.sum() == pytest.approx(1)
