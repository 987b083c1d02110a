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


def words(stated, key):
    """The words of the claim that the function of this name checks."""
    return next(claim.words for claim in stated if claim.check.__name__ == f"_{key}")


@pytest.fixture
def verdict_on(monkeypatch):
    """The verdict on a claim, which is checked alone."""

    def verdict(check, stated, key, tables):
        alone = [claim for claim in getattr(claims, stated) if claim.check.__name__ == f"_{key}"]
        monkeypatch.setattr(claims, stated, claims.Claims(alone))
        [found] = check(**tables)["holds"]
        return found

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
    "exact_winners": ("table_1", "value", constant(0.3), of("B", "recall@10")),
    "tenfold": ("table_1", "value", constant(0.05), of("C", "ap")),
    "below_50": ("figure_2", "expected", constant(0.99), of("B", "ap", negatives=30)),
    "at_200": ("figure_2", "expected", constant(0.99), of("C", "ap", negatives=200)),
    "at_500": ("figure_2", "expected", constant(0.0), of("C", "ap", negatives=500)),
    "large": ("figure_2", "expected", constant(0.02), of("A", "ap", negatives=9999)),
    "recall_5000": ("figure_2", "expected", constant(0.5), of("A", "recall@10", negatives=5000)),
    "auc_constant": ("figure_2", "expected", lambda old: old + 1e-4, {"metric": "auc", "negatives": 500}),
    "auc_unchanged": ("figure_3", "expected", lambda old: old + 1e-4, {"metric": "auc", "negatives": 1000}),
    "linear_at_1": ("figure_3", "expected", lambda old: old**2, {"metric": "ap", "negatives": 1}),
    "oscillation": ("figure_4", "value", constant(0.5), {"panel": "sampled", "estimator": "bv-0.001"}),
    "closer": ("figure_4", "value", lambda old: old + 0.9, {"panel": "expected", "estimator": "cls"}),
}


class TestToy:
    def test_every_claim_holds_on_the_running_example(self, example):
        found = claims.check_toy(**example)
        assert list(found.columns) == claims.COLUMNS
        assert found["claim"].tolist() == [claim.words for claim in claims.toy_claim]
        assert found["holds"].eq("yes").all()

    @pytest.mark.parametrize("key", TOY_VIOLATIONS)
    def test_does_not_hold_on_data_that_violate_it(self, example, key, verdict_on):
        name, column, change, where = TOY_VIOLATIONS[key]
        tables = example | {name: changed(example[name], column, change, **where)}
        assert verdict_on(claims.check_toy, "toy_claim", key, tables) == "no"


# --- the study, on the printed tables ---------------------------------------------------------------------------------

N = 3541


def ranks_of(counts, candidates=N):
    """A rank table with so many users at each rank."""
    above = np.repeat(np.array(list(counts)) - 1, list(counts.values()))
    return ExactRanks(np.arange(len(above)), np.full(len(above), candidates), above, np.zeros_like(above))


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


# claim → (recommender, counts of its ranks), or as above
OF_TABLE_3 = {
    "exact_order": (constant(0.1), of("Y", "ap", estimator="exact")),
    "recall_reversed": (constant(0.55), of("X", "recall@10", estimator="uncorrected")),
    "x_seems_best": (constant(0.4), of("Z", "ndcg@10", estimator="uncorrected")),
    "auc_consistent": (constant(0.95), of("Z", "auc", estimator="bv-0.01")),
    "all_closer": (constant(0.9), of("Y", "ap", estimator="cls")),
    "z_found_best": (constant(0.0), of("Z", "ap", estimator="cls")),
    "low_gamma_order": (constant(0.0), of("Y", "ndcg@10", estimator="bv-0.001")),
    "same_metric": (lambda old: old + 1e-5, of("Y", "ndcg@10", estimator="rank-estimate")),
}
OF_FIGURE_6 = {
    "uncorrected_1000": (constant(99.0), {"estimator": "uncorrected", "recommender": "Y"}),
    # wrong at 59 and right from 60 on is not less than 60
    "bv_60": (constant(1.0), {"estimator": "bv-0.1", "recommender": "Y", "negatives": 59}),
}
OF_TABLE_4 = {
    "rank_estimate_wins": (constant(0.99), {"metric": "auc", "estimator": "rank-estimate", "pair": "X vs Y"}),
    "bv_best": (constant(0.5), {"metric": "ndcg@10", "estimator": "bv-0.1", "pair": "Y vs Z"}),
}
STUDY_VIOLATIONS = {
    "users": ("Y", {5: 534, 50: 5505}),
    "x_top_100": ("X", {5: 459, 50: 1920, 1000: 3411, 3000: 250}),
    "x_bottom_half": ("X", {5: 459, 50: 1851, 1000: 3400, 3000: 330}),
    "z_top_10": ("Z", {5: 500, 50: 5540}),
    "y_between": ("Y", {5: 534, 50: 5506}),  # better in the top 10, and better overall
    "one_third": ("X", {4: 1}, 9999),
    **{key: ("table_3", "mean_exact", *rest) for key, rest in OF_TABLE_3.items()},
    **{key: ("table_4", "correct_exact", *rest) for key, rest in OF_TABLE_4.items()},
    **{key: ("figure_6", "expected", *rest) for key, rest in OF_FIGURE_6.items()},
}


def violated(tables, key):
    """The tables with data that violate a claim."""
    which, *rest = STUDY_VIOLATIONS[key]
    if which in "XYZ":
        return tables | {"ranks": tables["ranks"] | {which: ranks_of(*rest)}}
    column, change, where = rest
    return tables | {which: changed(tables[which], column, change, **where)}


class TestStudy:
    def test_what_the_paper_says_holds_on_what_it_prints(self, paper):
        found = claims.check_study(**paper)
        assert list(found.columns) == claims.COLUMNS
        assert found["claim"].tolist() == [claim.words for claim in claims.study_claim]
        others = found[found["holds"] != "yes"]
        assert others["claim"].tolist() == [words(claims.study_claim, "z_worst_bucket")]
        assert others["holds"].tolist() == ["open"]

    @pytest.mark.parametrize("key", STUDY_VIOLATIONS)
    def test_does_not_hold_on_data_that_violate_it(self, paper, key, verdict_on):
        assert verdict_on(claims.check_study, "study_claim", key, violated(paper, key)) == "no"

    @pytest.mark.parametrize("key", ["z_found_best", "low_gamma_order", "bv_best"])
    def test_fails_within_noise_where_the_numbers_vary_by_more(self, paper, key, verdict_on):
        tables = violated(paper, key)
        tables |= {"printed": tables["printed"].assign(standard_error=1.0)}
        assert verdict_on(claims.check_study, "study_claim", key, tables) == "within noise"

    def test_each_reading_is_checked_with_its_own_numbers(self, paper):
        wrong = violated(paper, "recall_reversed")["table_3"].assign(reading="as-printed")
        tables = paper | {
            "table_3": pd.concat([paper["table_3"], wrong]),
            "table_4": pd.concat([paper["table_4"], paper["table_4"].assign(reading="as-printed")]),
            "printed": pd.concat([paper["printed"], paper["printed"].assign(reading="as-printed")]),
        }
        found = claims.check_study(**tables)
        of_claim = found[found["claim"] == words(claims.study_claim, "recall_reversed")].set_index("reading")["holds"]
        assert of_claim.to_dict() == {"default": "yes", "as-printed": "no"}
