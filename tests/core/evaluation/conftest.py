"""Few resamples for the estimated bias, which take most of the time of `correct`."""

from importlib import import_module

import pytest


@pytest.fixture(scope="module", autouse=True)
def _few_resamples():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            import_module("sampled_metrics.core.evaluation.correct"), "BIAS_RESAMPLES", 20
        )
        yield
