"""The functions of all packages compute on one thread of linear algebra each, as the core does."""

import numpy as np
import pytest
from ranked_by_argsort import one_each
from scipy.sparse import csr_array
from threads_seen import TABLES, threads_seen

import sampled_metrics as sm
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.ranking.split import Split
from sampled_metrics.reporting.sample_sizes import expected_by_sample_size
from sampled_metrics_study import repetitions
from sampled_metrics_study.recommenders.models import FactorModel
from sampled_metrics_study.recommenders.ranking import rank_by_model

SPLIT = Split(csr_array(np.eye(3, 4)), one_each([1, 2, 3], 4), np.arange(3), np.arange(4))
MODEL = FactorModel(np.ones((3, 2)), np.ones((4, 2)))
FUNCTIONS = {
    "plan": lambda seen: sm.plan(
        TABLES, negatives=[5], estimators="uncorrected", metric=seen.metric()
    ),
    "report": lambda seen: sm.report({"x": TABLES["x"]}, metrics=seen.metric()),
    "samples": lambda seen: repetitions.samples(
        TABLES["x"], SamplingDesign(5), 2, ["random"], np.random.default_rng(0), seen.progress
    ),
    "expected_by_sample_size": lambda seen: expected_by_sample_size(
        TABLES,
        "ap",
        ["bv-0.1"],
        [5],
        replacement=False,
        assume_replacement=False,
        progress=seen.progress,
    ),
    "rank on one": lambda seen: rank_by_model(MODEL, SPLIT, progress=seen.progress, threads=1),
    "rank on two": lambda seen: rank_by_model(MODEL, SPLIT, progress=seen.progress, threads=2),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_compute_on_one_thread_each(name):
    assert threads_seen(FUNCTIONS[name]) == {1}
