"""Metrics by group: those of the rows of the group alone, and verdicts that are adjusted for the
groups.
"""

import numpy as np
import pandas as pd
import pytest

import sampled_metrics as sm
from sampled_metrics.errors import ConfigError, DataError

USERS = np.repeat(np.arange(100, 250), 2)  # two rows of each user
RNG = np.random.default_rng(46)
X, Z = (RNG.geometric(chance, len(USERS)).clip(max=40) for chance in (0.1, 0.15))
AGE = {user: "old" if user % 3 else "young" for user in range(100, 250)}
ITEM = np.where(RNG.random(len(USERS)) < 0.3, "rare", "frequent")
RECALL = {"metrics": ["recall@10", "auc"]}


def frame(ranks, rows=slice(None), **more):
    columns = {
        "user": USERS,
        "rank": ranks,
        "age": [AGE[user] for user in USERS],
        "item_kind": ITEM,
    } | more
    return pd.DataFrame(columns)[rows].reset_index(drop=True)


def exact(rows=slice(None), **options):
    return sm.exact_ranks({"X": frame(X, rows), "Z": frame(Z, rows)}, candidates=50, **options)


def rows_of_group(result, group):
    return pd.DataFrame(result[result["group"] == group].drop(columns="group")).reset_index(
        drop=True
    )


def require_same(result, expected, columns):
    pd.testing.assert_frame_equal(
        pd.DataFrame(result)[columns], pd.DataFrame(expected)[columns], check_dtype=False
    )


AGE_OF_ROWS = np.array([AGE[user] for user in USERS])


@pytest.mark.parametrize(
    ("column", "groups"), [("age", AGE_OF_ROWS), ("item_kind", ITEM)], ids=["users", "rows"]
)
def test_values_are_those_of_the_rows_of_the_group_alone(column, groups):
    result = sm.evaluate(exact(groups=column), groups=True, **RECALL)
    for group in set(groups):
        alone = sm.evaluate(exact(groups == group), **RECALL)
        require_same(rows_of_group(result, group), alone, [*alone.columns])
    require_same(
        rows_of_group(result, "all"),
        sm.evaluate(exact(), **RECALL),
        ["recommender", "metric", "value", "low", "high"],
    )


def test_of_a_single_user_are_left_out_with_a_remark():
    result = sm.evaluate(exact(), groups=AGE | {100: "alone"})
    assert set(result["group"]) == {"all", "old", "young"}
    few_users = [finding for finding in result.findings if finding.kind == "few-users"]
    assert {finding.group: finding.values["users"] for finding in few_users} == {
        "old": 99,
        "young": 50,
    }


def test_comparisons_of_groups_hold_together_and_leave_all_rows_as_they_are():
    result = sm.compare(exact(groups="age"), groups=True, margin=0.05, **RECALL)
    plain = sm.compare(exact(), margin=0.05, **RECALL)
    require_same(rows_of_group(result, "all"), plain, [*plain.columns])
    [adjustment] = [finding for finding in result.findings if finding.kind == "groups-adjusted"]
    assert adjustment.values["groups"] == 2
    p_values = {}
    for group in ("old", "young"):
        in_group = exact(group == AGE_OF_ROWS)
        alone = sm.compare(in_group, confidence_level=0.975, margin=0.05, **RECALL)
        require_same(rows_of_group(result, group), alone, [*alone.columns.drop("p_value")])
        p_values[group] = alone["p_value"].to_numpy()
    smaller = np.minimum(p_values["old"], p_values["young"])
    for group in ("old", "young"):
        is_smaller = p_values[group] == smaller
        holm = np.where(is_smaller, 2 * smaller, np.maximum(2 * smaller, p_values[group]))
        in_groups = rows_of_group(result, group)["p_value"].to_numpy()
        assert in_groups == pytest.approx(np.minimum(holm, 1))


NUMBERED = sm.exact_ranks({"X": [1, 40], "Z": [2, 3]}, candidates=50)
OTHER_GROUPS = {"X": frame(X), "Z": frame(Z, age=np.where(Z > 9, "old", "far"))}


@pytest.mark.parametrize(
    ("tables", "groups", "word"),
    [
        (exact(), True, "no groups"),
        (exact(), pd.Series(["a", "b"], [100, 100]), "user 100"),
        (exact(), dict.fromkeys(AGE, "a"), "not 1"),
        (exact(), {user: user for user in AGE}, "not 150"),
        (exact(), AGE | {100: "all"}, "all"),
        (NUMBERED, {1: "a", 2: "b"}, "user"),
        (sm.exact_ranks(OTHER_GROUPS, candidates=50, groups="age"), True, "'far'"),
    ],
)
def test_groups_that_are_none_are_refused(tables, groups, word):
    with pytest.raises((ConfigError, DataError), match=word):
        sm.compare(tables, groups=groups)


def test_empty_groups_are_refused():
    with pytest.raises(DataError, match="age"):
        sm.exact_ranks(frame(X, age=""), candidates=50, groups="age")


def test_a_series_has_groups_by_row_or_by_user_and_is_refused_if_it_may_be_either():
    """With several rows of each user, an entry of each row is a column of the frame."""
    ranks = {"user": np.repeat(np.arange(30), 3), "rank": np.tile([1, 50, 2, 60, 70, 3], 15)}
    near_and_far = pd.Series(np.where(ranks["rank"] <= 10, "near", "far"))
    by_row = sm.evaluate(
        sm.exact_ranks(ranks, candidates=100), metrics="recall@10", groups=near_and_far
    )
    values = by_row.set_index("group")["value"]
    assert (values["far"], values["near"]) == (0, 1)

    backwards = {"user": np.arange(20)[::-1], "rank": np.arange(20) * 4 + 1}
    one_row_each = sm.exact_ranks(backwards, candidates=100)
    groups = pd.Series(np.where(np.arange(20) < 10, "a", "b"))
    with pytest.raises(DataError, match="rows"):
        sm.evaluate(one_row_each, groups=groups)
    by_user = sm.evaluate(one_row_each, metrics="recall@10", groups=groups.rename_axis("user"))
    values = by_user.set_index("group")["value"]
    assert (values["a"], values["b"]) == (0, 0.3)
