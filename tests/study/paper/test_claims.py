"""The claims in words: each holds on what the paper prints, and not on data that violate it."""

import numpy as np
import pandas as pd
import pytest
from study.read_tables import printed_as_ours

from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics_study import claims, reference, toy, toy_figures
from sampled_metrics_study.inputs import Inputs

TOY_METRICS = ["auc", "ap", "ndcg", "recall@10"]
SIZES = [10, 30, 200, 500, 3000, 5000, 9999]


@pytest.fixture(scope="module")
def example():
    """The running example and its tables."""
    ranks = reference.TOY_RANKS
    n = 10_000
    options = {
        "ranks": ranks,
        "candidates": n,
        "metrics": TOY_METRICS,
        "negatives": 99,
        "replacement": False,
    }
    return {
        "example": options,
        "table_1": toy.table_1(Inputs(options)),
        "figure_2": toy_figures.figure_2(ranks, n, TOY_METRICS, SIZES),
        "figure_3": toy_figures.figure_3(n, TOY_METRICS, [1, 1000], 300),
        "figure_4": toy_figures.figure_4(n, "ap", 100, sorted(reference.PRINTED_ESTIMATORS)),
    }


def verdict_on(checked, start):
    """The verdict on the claim whose words start so."""
    [verdict] = checked.loc[checked["claim"].str.startswith(start), "holds"]
    return verdict


def changed(tables, name, value, *keys):
    """Tables with other numbers in the rows of one of them that hold all keys."""
    table = tables[name].copy()
    has_keys = np.logical_and.reduce([(table == key).any(axis=1) for key in keys])
    assert has_keys.any()
    column = next(
        column for column in ("mean_exact", "correct_exact", "expected", "value") if column in table
    )
    table.loc[has_keys, column] = value(table.loc[has_keys, column]) if callable(value) else value
    return tables | {name: table}


# claim → (table, number, rows)
TOY_VIOLATIONS = {
    "On AUC recommender A is best": ("table_1", 0.3, "B", "recall@10"),
    "On the exact metrics C has 10 times": ("table_1", 0.05, "C", "ap"),
    "On AP, A is better than C": ("figure_2", 0.99, "B", "ap", 30),
    "On AP, A is better than B": ("figure_2", 0.99, "C", "ap", 200),
    "On AP, C is better than A better than B": ("figure_2", 0.0, "C", "ap", 500),
    "On AP, C is better than A, which equals B": ("figure_2", 0.02, "A", "ap", 9999),
    "It takes about m = 5000": ("figure_2", 0.5, "A", "recall@10", 5000),
    "AUC is consistent for all m": ("figure_2", lambda old: old + 1e-4, "auc", 500),
    "Only AUC remains unchanged": ("figure_3", lambda old: old + 1e-4, "auc", 1000),
    "At m = 1 every metric": ("figure_3", lambda old: old**2, "ap", 1),
    "Without the order constraint": ("figure_4", 0.5, "sampled", "bv-0.001"),
    "All corrected metrics are closer": ("figure_4", lambda old: old + 0.9, "expected", "cls"),
}


def test_every_claim_holds_on_the_running_example(example):
    checked = claims.check_toy(**example)
    assert list(checked.columns) == claims.COLUMNS
    assert checked["claim"].nunique() == len(checked) == 17
    assert checked["holds"].eq("yes").all()


def ranks_of(counts):
    """A rank table with so many users at each rank.

    They have as many candidates as the paper's users have on average.
    """
    above = np.repeat(np.array(list(counts)) - 1, list(counts.values()))
    return ExactRanks(np.arange(len(above)), np.full(len(above), 3541), above, np.zeros_like(above))


@pytest.fixture(scope="module")
def paper():
    """What the paper prints, and rank tables and a Figure 6 that agree with what it says."""
    table_3, table_4 = printed_as_ours()
    cells = [*table_3[["recommender", "metric", "estimator"]].agg(" ".join, axis=1)]
    cells += [*table_4[["pair", "metric", "estimator"]].agg(" ".join, axis=1)]
    # per cent of X, Y and Z
    figure_6 = [
        ("uncorrected", {60: (80, 70, 60), 1000: (20, 19, 18), 1300: (14, 15, 16)}),
        ("bv-0.1", {10: (5, 4, 6), 59: (6, 6.5, 7), 60: (6, 6.5, 7), 1300: (7, 8, 9)}),
    ]
    rows = [
        (estimator, m, name, value)
        for estimator, curve in figure_6
        for m, values in curve.items()
        for name, value in zip("XYZ", values, strict=True)
    ]
    return {
        "ranks": {
            "X": ranks_of({5: 459, 50: 1851, 1000: 3480, 3000: 250}),
            "Y": ranks_of({5: 534, 50: 1516, 1200: 3590, 3000: 400}),
            "Z": ranks_of({5: 569, 50: 1724, 1200: 2147, 3000: 1600}),
        },
        "table_3": table_3.assign(reading="default"),
        "table_4": table_4.assign(reading="default"),
        "figure_6": pd.DataFrame(
            rows, columns=["estimator", "negatives", "recommender", "expected"]
        ),
        "printed": pd.DataFrame({"reading": "default", "cell": cells, "standard_error": 1e-4}),
    }


# claim → (recommender, its ranks), or (table, number, rows)
STUDY_VIOLATIONS = {
    "In total there are 6040 ranks": ("Y", ranks_of({5: 534, 50: 5505})),
    "X puts 2310 items": ("X", ranks_of({5: 459, 50: 1920, 1000: 3411, 3000: 250})),
    "X puts fewer than 300": ("X", ranks_of({5: 459, 50: 1851, 1000: 3400, 3000: 330})),
    "Z is the best in the top 10": ("Z", ranks_of({5: 500, 50: 5540})),
    # in the top 10, and overall
    "Y is better than X in the top 10": ("Y", ranks_of({5: 534, 50: 5506})),
    "m = 1000 is about": (
        "X",
        ExactRanks(np.arange(1), np.array([9999]), np.array([3]), np.array([0])),
    ),
    "On exact Recall, NDCG and AP": ("table_3", 0.1, "ap", "exact", "Y"),
    "On sampled Recall": ("table_3", 0.55, "recall@10", "uncorrected", "X"),
    "On sampled NDCG and AP": ("table_3", 0.4, "ndcg@10", "uncorrected", "Z"),
    "On AUC all sampled results": ("table_3", 0.95, "auc", "bv-0.01", "Z"),
    "All corrections are closer": ("table_3", 0.9, "ap", "cls", "Y"),
    "All corrections place Z": ("table_3", 0.0, "ap", "cls", "Z"),
    "BV with γ of 0.1 or less": ("table_3", 0.0, "ndcg@10", "bv-0.001", "Y"),
    "Uncorrected, it needs more": ("figure_6", 99.0, "uncorrected", "Y"),
    # wrong at 59 and right from 60 on is not less than 60
    "With BV 0.1 the order is right": ("figure_6", 1.0, "bv-0.1", "Y", 59),
    "Under the rank estimate": ("table_3", lambda old: old + 1e-5, "ndcg@10", "rank-estimate", "Y"),
    "The rank estimate is never worse": ("table_4", 0.99, "auc", "rank-estimate", "X vs Y"),
    "BV 0.1 gets all but one": ("table_4", 0.5, "ndcg@10", "bv-0.1", "Y vs Z"),
}


def violated(paper, key):
    """The tables of the paper, with what violates a claim."""
    name, *change = STUDY_VIOLATIONS[key]
    if name in paper["ranks"]:
        [ranks] = change
        return paper | {"ranks": paper["ranks"] | {name: ranks}}
    return changed(paper, name, *change)


def test_what_the_paper_says_holds_on_what_it_prints(paper):
    checked = claims.check_study(**paper)
    assert list(checked.columns) == claims.COLUMNS
    assert checked["claim"].nunique() == len(checked) == 19
    assert verdict_on(checked, "Z puts the items of over 1600") == "open"
    assert (checked["holds"] != "yes").sum() == 1


@pytest.mark.parametrize("key", [*TOY_VIOLATIONS, *STUDY_VIOLATIONS])
def test_a_claim_does_not_hold_on_tables_that_violate_it(example, paper, key):
    if key in TOY_VIOLATIONS:
        checked = claims.check_toy(**changed(example, *TOY_VIOLATIONS[key]))
    else:
        checked = claims.check_study(**violated(paper, key))
    assert verdict_on(checked, key) == "no"


def test_a_claim_fails_within_noise_where_the_numbers_vary_by_more(paper):
    for key in ("All corrections place Z", "BV with γ of 0.1 or less", "BV 0.1 gets all but one"):
        tables = violated(paper, key)
        tables["printed"] = tables["printed"].assign(standard_error=1.0)
        assert verdict_on(claims.check_study(**tables), key) == "within noise"


def test_each_reading_is_checked_with_its_own_numbers(paper):
    violating = violated(paper, "On sampled Recall")
    tables = dict(paper)
    for name in ("table_3", "table_4", "printed"):
        tables[name] = pd.concat([paper[name], violating[name].assign(reading="as-printed")])
    checked = claims.check_study(**tables)
    rows = checked[checked["claim"].str.startswith("On sampled Recall")]
    verdicts = rows.set_index("reading")["holds"].to_dict()
    assert verdicts == {"default": "yes", "as-printed": "no"}
