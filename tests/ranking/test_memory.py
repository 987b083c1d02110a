"""The memory budget: too little is refused with what would be enough."""

import math

import pytest

from sampled_metrics.errors import ConfigError
from sampled_metrics.ranking.memory import MEGABYTE, spare_memory


def test_what_a_budget_leaves() -> None:
    assert spare_memory(100 * MEGABYTE, 100, "ranking") == 0
    assert spare_memory(99 * MEGABYTE + 1, 100, "ranking") == MEGABYTE - 1
    assert spare_memory(10**15, None, "ranking") == math.inf


def test_too_little_is_refused_in_one_line_with_what_would_do() -> None:
    with pytest.raises(ConfigError) as no:
        spare_memory(100 * MEGABYTE + 1, 100, "ranking")
    assert str(no.value) == "ranking.memory: ranking takes 101 MB at least, and may take 100; give 101 or more"
