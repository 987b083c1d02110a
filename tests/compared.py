"""What holds for comparisons of every kind of ranks."""

import numpy as np
import pandas as pd
import pytest

import sampled_metrics as sm


def require_means_of_users(tables, options):
    """The means of the values of users are the values of a comparison."""
    table = sm.compare(tables, metrics=["ap", "recall@10"], **options)
    by_user = table.by_user
    assert list(by_user) == ["recommender", "user", "ap", "recall@10"]
    assert len(by_user) == 6
    for row in table.to_dict("records"):
        means = by_user.groupby("recommender")[row["metric"]].mean()
        assert (means["A"], means["B"]) == pytest.approx(
            (row["value_a"], row["value_b"]), abs=1e-12
        )
    pd.testing.assert_frame_equal(table.iloc[:1].by_user, by_user)  # of rows, too


def seeds_of_which_two_are_equal(read):
    """Return two tables of the same ranks in other orders of their rows, and one of other ranks."""
    rng = np.random.default_rng(3)
    users = np.array([f"u{number}" for number in range(60)])
    ranks_of_seeds = [rng.integers(1, 9, 60) for _ in range(2)]
    tables = []
    for seed, order_seed in ((0, 1), (0, 2), (1, 3)):
        order = np.random.default_rng(order_seed).permutation(60)
        columns = {"user": users[order], "rank": ranks_of_seeds[seed][order]}
        tables.append(read(pd.DataFrame(columns)))
    return tables


def require_that_equal_seeds_are_named(table, reordered, other_seed, options):
    """Equal tables have a caution that names them, in whatever order their rows are."""
    single_seed_of_b = {"A": [table, other_seed], "B": table}
    result = sm.compare(single_seed_of_b, metrics="recall@3", **options)
    values = {finding.kind: finding.values for finding in result.findings}
    assert values["one-seed"] == {"recommenders": ["B"]}
    assert "equal-seeds" not in values
    copies_of_a = {"A": [table, other_seed, reordered], "B": table}
    result = sm.compare(copies_of_a, metrics="recall@3", **options)
    [finding] = [finding for finding in result.findings if finding.kind == "equal-seeds"]
    assert finding.names == ("A",)
    assert finding.values == {"seeds": ["1", "3"]}


def require_no_interval_of_one_user(result):
    """A single user has a value, and no interval."""
    assert result["value"].notna().all()
    assert result[["low", "high", "standard_error"]].isna().all(axis=None)
    kinds = {finding.kind for finding in result.findings}
    assert "one-user" in kinds
    assert not kinds & {"few-users", "approximate", "supported", "contradicted"}
    assert "without an interval" in result.sentence()
    assert "%" not in result.sentence()  # no level of an interval
