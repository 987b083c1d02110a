"""The claims in words: each holds on the running example or on the printed tables, and not on data that violate it."""

import numpy as np
import pandas as pd
import pytest

from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.study import claims, reference, toy

TOY_METRICS = ["auc", "ap", "ndcg", "recall@10"]
SIZES = [10, 30, 200, 500, 3000, 5000, 9999]


@pytest.fixture(scope="module")
def example():
    """The running example and its tables."""
    ranks, n = reference.TOY_RANKS, 10_000
    given = {"ranks": ranks, "candidates": n, "metrics": TOY_METRICS, "negatives": 99, "replacement": False}
    return {
        "example": given,
        "table_1": toy.table_1(given),
        "figure_2": toy.figure_2(ranks, n, TOY_METRICS, SIZES),
        "figure_3": toy.figure_3(n, TOY_METRICS, [1, 1000], 300),
        "figure_4": toy.figure_4(n, "ap", 100, sorted(reference.ESTIMATORS)),
    }


def verdict_on(found, start):
    """The verdict on the claim whose words start so."""
    [verdict] = found.loc[found["claim"].str.startswith(start), "holds"]
    return verdict


def changed(table, column, change, **keys):
    """A table with a column changed where the keys have these values (or one of them)."""
    at = np.logical_and.reduce(
        [table[key].isin(value if isinstance(value, list) else [value]) for key, value in keys.items()]
    )
    assert at.any()
    table = table.copy()
    table.loc[at, column] = change(table.loc[at, column])
    return table


def constant(value):
    return lambda _: value


def of(recommender, metric, **more):
    return {"recommender": recommender, "metric": metric, **more}


# claim → (table, column, change, where)
TOY_VIOLATIONS = {
    "On AUC recommender A is best": ("table_1", "value", constant(0.3), of("B", "recall@10")),
    "On the exact metrics C has 10 times": ("table_1", "value", constant(0.05), of("C", "ap")),
    "On AP, A is better than C": ("figure_2", "expected", constant(0.99), of("B", "ap", negatives=30)),
    "On AP, A is better than B": ("figure_2", "expected", constant(0.99), of("C", "ap", negatives=200)),
    "On AP, C is better than A better than B": ("figure_2", "expected", constant(0.0), of("C", "ap", negatives=500)),
    "On AP, C is better than A, which equals B": (
        "figure_2",
        "expected",
        constant(0.02),
        of("A", "ap", negatives=9999),
    ),
    "It takes about m = 5000": ("figure_2", "expected", constant(0.5), of("A", "recall@10", negatives=5000)),
    "AUC is consistent for all m": (
        "figure_2",
        "expected",
        lambda old: old + 1e-4,
        {"metric": "auc", "negatives": 500},
    ),
    "Only AUC remains unchanged": (
        "figure_3",
        "expected",
        lambda old: old + 1e-4,
        {"metric": "auc", "negatives": 1000},
    ),
    "At m = 1 every metric": ("figure_3", "expected", lambda old: old**2, {"metric": "ap", "negatives": 1}),
    "Without the order constraint": ("figure_4", "value", constant(0.5), {"panel": "sampled", "estimator": "bv-0.001"}),
    "All corrected metrics are closer": (
        "figure_4",
        "value",
        lambda old: old + 0.9,
        {"panel": "expected", "estimator": "cls"},
    ),
}


class TestToy:
    def test_every_claim_holds_on_the_running_example(self, example):
        found = claims.check_toy(**example)
        assert list(found.columns) == claims.COLUMNS
        assert found["claim"].nunique() == len(found) == 17
        assert found["holds"].eq("yes").all()

    @pytest.mark.parametrize("key", TOY_VIOLATIONS)
    def test_does_not_hold_on_data_that_violate_it(self, example, key):
        name, column, change, where = TOY_VIOLATIONS[key]
        tables = example | {name: changed(example[name], column, change, **where)}
        assert verdict_on(claims.check_toy(**tables), key) == "no"


# --- the study, on the printed tables ---------------------------------------------------------------------------------

N = 3541


def ranks_of(counts):
    """A rank table with so many users at each rank."""
    above = np.repeat(np.array(list(counts)) - 1, list(counts.values()))
    return ExactRanks(np.arange(len(above)), np.full(len(above), N), above, np.zeros_like(above))


@pytest.fixture(scope="module")
def paper():
    """What the paper prints, and rank tables and a Figure 6 that agree with what it says."""
    tables = reference.table_3(), reference.table_4()
    swapped = tables[1]["metric"] == "auc"
    table_4 = tables[1].assign(
        reading="default",
        worse=tables[1]["pair"].str[0].where(~swapped, tables[1]["pair"].str[-1]),
        better=tables[1]["pair"].str[-1].where(~swapped, tables[1]["pair"].str[0]),
    )
    cells = [*tables[0][["recommender", "metric", "estimator"]].agg(" ".join, axis=1)]
    cells += [*tables[1][["pair", "metric", "estimator"]].agg(" ".join, axis=1)]
    printed = pd.DataFrame({"reading": "default", "cell": cells, "standard_error": 1e-4})
    # percent: X, Y, Z
    curves = {"uncorrected": {60: (80, 70, 60), 1000: (20, 19, 18), 1300: (14, 15, 16)}, "bv-0.1": {}}
    curves["bv-0.1"] = {10: (5, 4, 6), 59: (6, 6.5, 7), 60: (6, 6.5, 7), 1300: (7, 8, 9)}
    figure_6 = pd.DataFrame(
        [
            (estimator, m, name, value)
            for estimator, curve in curves.items()
            for m, values in curve.items()
            for name, value in zip("XYZ", values, strict=True)
        ],
        columns=["estimator", "negatives", "recommender", "expected"],
    )
    return {
        "ranks": {
            "X": ranks_of({5: 459, 50: 1851, 1000: 3480, 3000: 250}),
            "Y": ranks_of({5: 534, 50: 1516, 1200: 3590, 3000: 400}),
            "Z": ranks_of({5: 569, 50: 1724, 1200: 2147, 3000: 1600}),
        },
        "table_3": tables[0].assign(reading="default", mean_exact=tables[0]["mean"]),
        "table_4": table_4.assign(correct_exact=table_4["correct"]),
        "figure_6": figure_6,
        "printed": printed,
    }


def with_ranks(name, counts):
    return lambda tables: tables | {"ranks": tables["ranks"] | {name: ranks_of(counts)}}


def with_changed(which, column, change, **where):
    return lambda tables: tables | {which: changed(tables[which], column, change, **where)}


STUDY_VIOLATIONS = {
    "In total there are 6040 ranks": with_ranks("Y", {5: 534, 50: 5505}),
    "X puts 2310 items": with_ranks("X", {5: 459, 50: 1920, 1000: 3411, 3000: 250}),
    "X puts fewer than 300": with_ranks("X", {5: 459, 50: 1851, 1000: 3400, 3000: 330}),
    "Z is the best in the top 10": with_ranks("Z", {5: 500, 50: 5540}),
    "Y is better than X in the top 10": with_ranks("Y", {5: 534, 50: 5506}),  # better in the top 10, and better overall
    "On exact Recall, NDCG and AP": with_changed(
        "table_3", "mean_exact", constant(0.1), metric="ap", estimator="exact", recommender="Y"
    ),
    "On sampled Recall": with_changed(
        "table_3", "mean_exact", constant(0.55), metric="recall@10", estimator="uncorrected", recommender="X"
    ),
    "On sampled NDCG and AP": with_changed(
        "table_3", "mean_exact", constant(0.4), metric="ndcg@10", estimator="uncorrected", recommender="Z"
    ),
    "On AUC all sampled results": with_changed(
        "table_3", "mean_exact", constant(0.95), metric="auc", estimator="bv-0.01", recommender="Z"
    ),
    "All corrections are closer": with_changed(
        "table_3", "mean_exact", constant(0.9), metric="ap", estimator="cls", recommender="Y"
    ),
    "All corrections place Z": with_changed(
        "table_3", "mean_exact", constant(0.0), metric="ap", estimator="cls", recommender="Z"
    ),
    "BV with γ of 0.1 or less": with_changed(
        "table_3", "mean_exact", constant(0.0), metric="ndcg@10", estimator="bv-0.001", recommender="Y"
    ),
    "m = 1000 is about": lambda tables: (
        tables
        | {"ranks": tables["ranks"] | {"X": ExactRanks(np.arange(1), np.array([9999]), np.array([3]), np.array([0]))}}
    ),
    "Uncorrected, it needs more": with_changed(
        "figure_6", "expected", constant(99.0), estimator="uncorrected", recommender="Y"
    ),
    # wrong at 59 and right from 60 on is not less than 60
    "With BV 0.1 the order is right": with_changed(
        "figure_6", "expected", constant(1.0), estimator="bv-0.1", recommender="Y", negatives=59
    ),
    "Under the rank estimate": with_changed(
        "table_3", "mean_exact", lambda old: old + 1e-5, metric="ndcg@10", estimator="rank-estimate", recommender="Y"
    ),
    "The rank estimate is never worse": with_changed(
        "table_4", "correct_exact", constant(0.99), metric="auc", estimator="rank-estimate", pair="X vs Y"
    ),
    "BV 0.1 gets all but one": with_changed(
        "table_4", "correct_exact", constant(0.5), metric="ndcg@10", estimator="bv-0.1", pair="Y vs Z"
    ),
}


class TestStudy:
    def test_what_the_paper_says_holds_on_what_it_prints(self, paper):
        found = claims.check_study(**paper)
        assert list(found.columns) == claims.COLUMNS
        assert found["claim"].nunique() == len(found) == 19
        assert verdict_on(found, "Z puts the items of over 1600") == "open"
        assert (found["holds"] != "yes").sum() == 1

    @pytest.mark.parametrize("key", STUDY_VIOLATIONS)
    def test_does_not_hold_on_data_that_violate_it(self, paper, key):
        assert verdict_on(claims.check_study(**STUDY_VIOLATIONS[key](paper)), key) == "no"

    @pytest.mark.parametrize("key", ["All corrections place Z", "BV with γ of 0.1 or less", "BV 0.1 gets all but one"])
    def test_fails_within_noise_where_the_numbers_vary_by_more(self, paper, key):
        tables = STUDY_VIOLATIONS[key](paper)
        tables["printed"] = tables["printed"].assign(standard_error=1.0)
        assert verdict_on(claims.check_study(**tables), key) == "within noise"

    def test_each_reading_is_checked_with_its_own_numbers(self, paper):
        wrong = STUDY_VIOLATIONS["On sampled Recall"](paper)["table_3"].assign(reading="as-printed")
        tables = paper | {
            "table_3": pd.concat([paper["table_3"], wrong]),
            "table_4": pd.concat([paper["table_4"], paper["table_4"].assign(reading="as-printed")]),
            "printed": pd.concat([paper["printed"], paper["printed"].assign(reading="as-printed")]),
        }
        found = claims.check_study(**tables)
        of_claim = found[found["claim"].str.startswith("On sampled Recall")].set_index("reading")["holds"]
        assert of_claim.to_dict() == {"default": "yes", "as-printed": "no"}
