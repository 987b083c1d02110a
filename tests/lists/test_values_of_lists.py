"""Values by user of ranked lists, and comparisons of lists."""

import numpy as np
import pytest
import read_and
from compared import (
    require_means_of_users,
)
from user_values import USERS, places, require_difference, require_within_bounds, values

import sampled_metrics as sm
from sampled_metrics.core.metrics import Metric


def lists(seed=0):
    rng = np.random.default_rng(seed)
    run = {
        str(user): {f"i{item}": score for item, score in enumerate(rng.random(20))}
        for user in range(USERS)
    }
    return sm.ranked_lists(run, relevance={str(user): {"i0": 1, "i1": 2} for user in range(USERS)})


def test_have_the_point_as_mean_and_are_within_their_bounds():
    require_within_bounds(values(lists()), "lists")


def test_a_difference_is_that_of_each_user_with_bounds_of_every_difference():
    require_difference(values(lists()), values(lists(1)))


def test_places_are_the_values():
    user_values = values(lists())
    np.testing.assert_array_equal(places(lists(), of=user_values), -user_values.low)


# --- evaluated and compared ---

RUN = {"ann": {"film": 0.9, "song": 0.4}, "bob": {"film": 0.2, "book": 0.8, "song": 0.5}}
GRADES = {"ann": {"song": 3}, "bob": {"book": 1, "film": 2}}


def test_a_metric_of_ones_own_is_refused():
    inverse_square = Metric(
        "inverse-square",
        lambda rank, _: 1 / np.asarray(rank, dtype=float) ** 2,
        linear_in_rank=False,
        cutoff=None,
    )
    with pytest.raises(sm.ConfigError, match="metric"):
        read_and.evaluate(RUN, relevance=GRADES, metrics=[inverse_square])


COMPARED = {"u": {"x": 3.0, "y": 1.0}, "v": {"x": 1.0, "y": 2.0}, "w": {"y": 2.0, "x": 0.5}}
JUDGED = {"u": {"x": 1}, "v": {"x": 1}, "w": {"x": 1, "y": 1}}


def test_the_means_of_the_values_of_users_are_the_values():
    reversed_for_u = {**COMPARED, "u": {"y": 1.0, "x": 0.5}}
    tables = sm.ranked_lists({"A": COMPARED, "B": reversed_for_u}, relevance=JUDGED)
    require_means_of_users(tables, {})
