"""Bounds of the true metric from a published value alone."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from scipy.stats import binom, hypergeom

import sampled_metrics as sm
from sampled_metrics.papers.known_means import KnownMeans


def test_the_published_example() -> None:
    """The upper end is that of the share itself, as no user can be better than in the sample."""
    result = sm.published(
        {"A": {"hit-rate@10": "0.62"}}, negatives=99, candidates=20000, users=6040
    )
    assert result["estimator"].tolist() == ["decreasing", "free"]
    assert result["assumes"].tolist() == ["decreasing", "none"]
    assert result["high"].tolist() == pytest.approx(
        [0.625 + 1.96 * math.sqrt(0.625 * 0.375 / 6040)] * 2, abs=2e-3
    )
    assert 0 == result["low"][1] < result["low"][0] < 0.01
    bounds = [
        [one.values["low"], one.values["high"]] for one in result.findings if one.kind == "bounds"
    ]
    assert bounds == result[["low", "high"]].to_numpy().tolist()


@pytest.mark.parametrize("labels", [("recall@1", "recall@3"), ("ndcg@5", "recall@3")])
def test_of_very_many_users_the_free_bounds_are_those_of_a_linear_programme(labels) -> None:
    """The least and the greatest Recall@3 of all distributions of ranks that show the two values
    exactly.
    """
    n = 12
    m = 5
    rank = np.arange(1, n + 1)
    x = np.arange(m + 1)
    values = {
        "recall@1": x < 1,
        "recall@3": x < 3,
        "ndcg@5": np.where(x < 5, 1 / np.log2(x + 2), 0),
    }
    shown = hypergeom.pmf(x, n - 1, rank[:, np.newaxis] - 1, m) @ np.stack(
        [values[one] for one in labels], axis=1
    )
    law = 1 / (rank + 1.0)
    means = law / law.sum() @ shown
    equations = {"A_eq": np.vstack((shown.T, np.ones(n))), "b_eq": [*means, 1]}
    ends = [side * linprog(side * (rank <= 3), **equations).fun for side in (1, -1)]
    given = {"A": {label: f"{mean:.9f}" for label, mean in zip(labels, means, strict=True)}}
    options = {
        "negatives": m,
        "candidates": n,
        "users": 10**9,
        "estimators": "free",
        "metrics": "recall@3",
    }
    assert sm.published(given, **options)[["low", "high"]].iloc[0].tolist() == pytest.approx(
        ends, abs=2e-3
    )


def problem(n: int, m: int, labels: tuple[str, ...]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The means of sampled metrics at each true rank, (n, labels), and all true metrics at each
    rank.
    """
    rank = np.arange(1, n + 1)
    x = np.arange(m + 1)

    def values(ranks: np.ndarray, size: int) -> dict[str, np.ndarray]:
        hits = {f"hr@{k}": ranks <= k for k in (1, 2, 3, 5, 10, 50, 90, 100, 250)}
        return hits | {
            "ndcg@10": np.where(ranks <= 10, 1 / np.log2(ranks + 1), 0),
            "mrr": 1 / ranks,
            "auc": (size - ranks) / (size - 1),
        }

    of_samples = values(x + 1, m + 1)
    shown = hypergeom.pmf(x, n - 1, rank[:, np.newaxis] - 1, m) @ np.stack(
        [of_samples[one] for one in labels], axis=1
    )
    return shown, values(rank, n)


def ends_of(shown: np.ndarray, means: np.ndarray, metric: np.ndarray) -> list[float]:
    """The least and the greatest true metric of all distributions of ranks that show the means; NaN
    if none does.
    """
    equations = {"A_eq": np.vstack((shown.T, np.ones(len(shown)))), "b_eq": [*means, 1]}
    solutions = [linprog(side * metric, **equations) for side in (1, -1)]
    return [
        side * (found.fun if found.status == 0 else np.nan)
        for side, found in zip((1, -1), solutions, strict=True)
    ]


@pytest.mark.parametrize(("n", "m"), [(2000, 200), (2000, 300), (2000, 500), (1500, 1499)])
@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        (("hr@10", "ndcg@10", "mrr"), "hr@100"),
        (("hr@90", "auc"), "hr@250"),
        (("hr@50", "hr@90"), "mrr"),
    ],
)
def test_the_bounds_among_many_negatives_hold_those_of_the_full_problem(
    n, m, labels, wanted
) -> None:
    """Of 10⁹ users; a law of three ranks and one of all.

    The whole programme has all ranks and each x.
    """
    shown, true = problem(n, m, labels)
    rank = np.arange(1, n + 1)
    for law in (1 / (rank + 3.0), 1e-9 + np.isin(rank, (4, 150, n // 3))):
        means = (law / law.sum() @ shown).round(9)
        low, high = ends_of(shown, means, true[wanted])
        given = {"A": {label: f"{mean:.9f}" for label, mean in zip(labels, means, strict=True)}}
        options = {
            "negatives": m,
            "candidates": n,
            "users": 10**9,
            "estimators": "free",
            "metrics": wanted,
        }
        [row] = sm.published(given, **options).itertuples()
        assert (row.low, row.high) == pytest.approx((low, high), abs=2e-3)
        assert row.low <= low + 1e-4
        assert row.high >= high - 1e-4


def test_of_10_000_negatives_the_free_bounds_are_those_in_closed_form() -> None:
    """Who is not among the first 100 is at rank 101 at best, which is first in the sample with a
    chance of .37.
    """
    n = 10**6
    m = 10_000
    users = 10**9
    options = {
        "negatives": m,
        "candidates": n,
        "users": users,
        "estimators": "free",
        "metrics": ["hr@1", "hr@100"],
    }
    first, other = sm.published({"A": {"hr@1": "0.620000000"}}, **options).itertuples()
    chance = hypergeom.pmf(0, n - 1, 100, m)
    assert (first.low, first.high) == (0, pytest.approx(0.62, abs=1e-4))
    assert (other.low, other.high) == pytest.approx(((0.62 - chance) / (1 - chance), 1), abs=1e-4)


def test_among_all_9_999_negatives_the_bounds_are_those_of_a_share() -> None:
    options = {"negatives": 9999, "candidates": 10_000, "users": 25_000, "estimators": "free"}
    result = sm.published({"A": {"hr@1": "0.24000", "hr@500": "0.70000"}}, **options)
    error = 1.96 * np.sqrt([0.24 * 0.76 / 25_000, 0.7 * 0.3 / 25_000])
    for side, ends in ((-1, result["low"]), (1, result["high"])):
        apart = side * (ends.to_numpy() - [0.24, 0.70])
        assert (apart >= error).all()  # two values share the error rate
        assert (apart <= 1.4 * error).all()


def subsets(labels: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [
        some for size in range(1, len(labels) + 1) for some in itertools.combinations(labels, size)
    ]


def test_values_that_no_ranks_explain_are_named() -> None:
    """By linear programmes: no ranks show the three named values, and ranks show any two of
    them.
    """
    n = 200
    m = 20
    labels = ("hr@1", "hr@2", "hr@3", "auc")
    means = dict(zip(labels, (0.30, 0.30, 0.60, 0.80), strict=True))
    shown, _ = problem(n, m, labels)
    possible = {
        some: not np.isnan(
            ends_of(
                shown[:, [labels.index(one) for one in some]],
                [means[one] for one in some],
                np.ones(n),
            )[0]
        )
        for some in subsets(labels)
    }
    given = {label: f"{mean:.6f}" for label, mean in means.items()}
    result = sm.published({"A": given, "B": {"auc": "0.7"}}, negatives=m, candidates=n, users=10**6)
    [finding] = [
        one
        for one in result.findings
        if one.kind == "unexplained" and one.values["assumption"] == "free"
    ]
    named = tuple(finding.values["values"])
    assert finding.names == ("A",)
    assert not possible[named]
    assert all(possible[some] for some in subsets(named)[:-1])
    assert finding.values["values"] == {label: given[label] for label in named}
    assert result.loc[result["recommender"] == "B", "high"].notna().all()


@pytest.mark.parametrize("label", ["hr@5", "hr@50", "mrr"])
def test_an_exact_value_that_the_sampled_ones_exclude_is_named_with_the_fewest_that_do(
    label,
) -> None:
    """Just within the ends of the linear programme of all values, and beyond them, where fewer may
    have other ends.
    """
    n = 200
    m = 20
    labels = ("hr@1", "hr@5", "auc")
    shown, true = problem(n, m, labels)
    law = 1 / (np.arange(1, n + 1) + 1.0)
    means = (law / law.sum() @ shown).round(9)
    ends = {
        some: ends_of(
            shown[:, [labels.index(one) for one in some]],
            means[[labels.index(one) for one in some]],
            true[label],
        )
        for some in subsets(labels)
    }
    low, high = ends[labels]
    given = {name: f"{mean:.9f}" for name, mean in zip(labels, means, strict=True)}
    options = {
        "negatives": m,
        "candidates": n,
        "users": 10**9,
        "estimators": "free",
        "metrics": "hr@10",
    }
    for value, is_excluded in (
        (low - 4e-3, True),
        (low + 4e-3, False),
        (high - 4e-3, False),
        (high + 4e-3, True),
    ):
        if not 0 <= value <= 1:
            continue
        findings = sm.published(
            {"A": given}, exact={"A": {label: f"{value:.9f}"}}, **options
        ).findings
        contradicted = [one for one in findings if one.kind == "exact-contradicted"]
        assert len(contradicted) == is_excluded
        for finding in contradicted:
            named = tuple(finding.values["values"])
            assert (finding.metric, finding.values["assumption"]) == (label, "free")
            assert (finding.values["low"], finding.values["high"]) == pytest.approx(
                ends[named], abs=1e-3
            )
            assert not ends[named][0] <= value <= ends[named][1]
            assert all(
                ends[some][0] - 2e-3 <= value <= ends[some][1] + 2e-3
                for some in subsets(named)[:-1]
            )


def test_the_misprint_of_a_table_among_1000_and_5000_images_is_named() -> None:
    """Two of three values are among those that no ranks explain; the model beside it has none
    (COCO, Rao et al.).
    """
    sampled = {
        "CAMERA": {"hr@1": "0.644", "hr@5": "0.814", "hr@10": "0.908"},
        "BERT": {"hr@1": "0.597", "hr@5": "0.894", "hr@10": "0.950"},
    }
    exact = {"CAMERA": {"hr@5": "0.534"}, "BERT": {"hr@5": "0.677"}}
    result = sm.published(
        sampled, negatives=999, candidates=5000, users=25_000, exact=exact, metrics="hr@5"
    )
    [finding] = [one for one in result.findings if one.kind == "exact-contradicted"]
    assert (finding.names, finding.metric, finding.values["value"]) == (
        ("CAMERA",),
        "hr@5",
        "0.534",
    )
    assert finding.values["values"] == {"hr@1": "0.644", "hr@5": "0.814"}
    without = sm.published(sampled, negatives=999, candidates=5000, users=25_000, metrics="hr@5")
    pd.testing.assert_frame_equal(pd.DataFrame(result), pd.DataFrame(without))


def test_a_value_may_have_all_digits_of_a_number() -> None:
    """So that it stands for less than 10⁻¹² around it."""
    options = {"negatives": 49, "candidates": 1000, "users": 10**5, "estimators": "free"}
    highs = [
        sm.published({"A": {"mrr": value}}, **options)["high"][0]
        for value in ("0.6444251537322998", "0.644425")
    ]
    assert highs[0] == pytest.approx(highs[1], abs=1e-4)


def test_an_exact_value_may_contradict_the_assumption_alone_and_none_of_a_range_of_candidates() -> (
    None
):
    """R@1 .5 among 99 is any true R@1 up to .5, but not .5 where ranks decrease; among 100 it is
    .5.
    """
    given = {"A": {"hr@1": "0.500"}}
    options = {"negatives": 99, "users": 10**4, "exact": {"A": {"hr@1": "0.50"}}}
    alone = sm.published({"A": {"hr@1": "0.500", "auc": "0.70"}}, candidates=10_000, **options)
    assert [
        one.values["assumption"] for one in alone.findings if one.kind == "exact-contradicted"
    ] in (
        [],
        ["decreasing"],
    )
    low = options | {"exact": {"A": {"hr@1": "0.20"}}}
    kinds = [
        [one.kind for one in sm.published(given, candidates=n, **low).findings]
        for n in (100, (100, 10_000))
    ]
    assert ["exact-contradicted" in of_n for of_n in kinds] == [True, False]


@pytest.mark.parametrize("mean", [0.03, 0.97])
def test_few_users_who_decide_a_mean_allow_a_larger_deviance(mean: float) -> None:
    """3 of 100 users, and one more: 1.96² / 2 + (log 40 - 1.96² / 2) / 4."""
    known = KnownMeans(np.array([[1.0, 0.0]]), np.array([mean]), np.array([mean]), 100)
    assert known.limit(0.05) == pytest.approx(1.920729 + 1.768150 / 4, abs=1e-6)
    assert known.p_value(1.920729 + 1.768150 / 4) == pytest.approx(0.05, abs=1e-6)


def test_pairs_are_ordered_wrongly_at_most_as_often_as_stated() -> None:
    """Two laws with the same AUC, whose sampled AUC differ by chance alone."""
    rng = np.random.default_rng(4)
    wrong = 0
    repetitions = 15
    for _ in range(repetitions):
        values = {}
        for name, law in {"A": [20, 20], "B": [1, 39]}.items():
            ranks = rng.choice(law, 200)
            x = rng.hypergeometric(ranks - 1, 40 - ranks, 10)
            values[name] = {"auc": f"{1 - x.mean() / 10:.4f}"}
        findings = sm.published(
            values, negatives=10, candidates=40, users=200, estimators="free"
        ).findings
        wrong += any(finding.values.get("is_decided") for finding in findings)
    assert wrong / repetitions <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / repetitions)


def test_pairs_are_bounded_by_the_ends_of_both_at_a_share_of_the_rate() -> None:
    options = {"negatives": 99, "candidates": 1000, "users": 500, "metrics": "auc"}
    values = {
        name: {"auc": value} for name, value in {"A": "0.80", "B": "0.90", "C": "0.81"}.items()
    }
    result = sm.published(values, **options)
    for name, of_one in values.items():
        rows = result[result["recommender"] == name].reset_index(drop=True)
        pd.testing.assert_frame_equal(
            pd.DataFrame(rows), pd.DataFrame(sm.published({name: of_one}, **options))
        )
    orders = [finding for finding in result.findings if finding.kind == "published-order"]
    assert [(one.names, one.values["is_decided"], one.values["assumption"]) for one in orders] == [
        (("B", "A"), True, "free"), (("A", "C"), False, "decreasing"), (("B", "C"), True, "free")
    ]  # fmt: skip
    options |= {"estimators": "free", "confidence_level": 1 - 0.05 / 3}
    a, b = (sm.published({name: values[name]}, **options).iloc[0] for name in "AB")
    ends = [orders[0].values[name] for name in ("low", "high")]
    assert ends == pytest.approx((b["low"] - a["high"], b["high"] - a["low"]), abs=2e-3)


def test_a_range_of_candidates_holds_the_bounds_of_each_number() -> None:
    options = {"negatives": 19, "users": 1000, "metrics": "auc", "estimators": "decreasing"}
    values = {"hr@10": "0.80", "ndcg@10": "0.60"}
    again = {"recall@10": 0.8, "precision@10": "0.080"}
    [together] = sm.published({"A": values}, candidates=(100, 1000), **options).itertuples()
    for n in (100, 1000):
        alone, twice = (
            sm.published({"A": given}, candidates=n, **options)
            for given in (values, values | again)
        )
        assert together.low <= alone["low"][0] + 1e-9
        assert together.high >= alone["high"][0] - 1e-9
        assert twice.equals(alone)


def test_a_whole_number_beside_numbers_with_decimals_is_rounded_as_they_are() -> None:
    """So 0 beside .12 is up to 4 of 1000 users; alone it is nobody."""
    options = {"negatives": 99, "candidates": 1000, "users": 1000, "metrics": "hr@1"}
    high = [
        sm.published({"A": {"hr@1": of}, "B": {"hr@1": 0.12}}, **options)["high"][0]
        for of in (0, "0.00", "0")
    ]
    assert high[0] == high[1] > 0.005 > high[2]


def test_an_assumption_is_contradicted_only_if_all_counts_of_a_rounded_value_contradict_it() -> (
    None
):
    """Of N users, 1.000 is .9995 N to N.

    All with x = 0 fits; 40, 210 and 50 with x = 1 to 4, 5 to 9 and more not.
    """
    options = {"negatives": 100, "candidates": 3541, "users": 604_000, "estimators": "decreasing"}
    labels = ("recall@1", "recall@5", "recall@10")
    rounded = sm.published({"A": dict.fromkeys(labels, "1.000")}, **options)
    assert set(rounded["assumes"]) == {"decreasing"}
    assert {finding.kind for finding in rounded.findings} == {"bounds", "drawn-by-user"}
    shares = [f"{users / 604_000:.9f}" for users in (603_700, 603_740, 603_950)]
    contradicts = sm.published({"A": dict(zip(labels, shares, strict=True))}, **options)
    assert set(contradicts["assumes"]) == {"none"}
    found = [
        finding.values["assumption"]
        for finding in contradicts.findings
        if finding.kind == "contradicted"
    ]
    assert found == ["decreasing"]
    assert (rounded["low"] <= contradicts["low"] + 1e-12).all()


def test_coverage_of_a_binomial_share_by_enumeration() -> None:
    """With m = n - 1 the value is that of the true ranks, also at 0 and 1, so the coverage is a sum
    over all counts.
    """
    users = 20
    counts = np.arange(21)
    given = {
        "negatives": 99,
        "candidates": 100,
        "users": users,
        "estimators": "free",
        "metrics": "recall@10",
    }
    ends = [
        sm.published({"A": {"recall@10": f"{each / users:.3f}"}}, **given)[["low", "high"]]
        for each in counts
    ]
    low, high = np.concatenate(ends).T
    for truth in np.linspace(0.01, 0.99, 99):
        assert binom.pmf(counts, users, truth) @ ((low <= truth) & (truth <= high)) >= 0.93


@pytest.mark.parametrize(
    ("values", "more", "says"),
    [
        (dict.fromkeys([f"hr@{k}" for k in range(1, 8)], 0.5), {}, "at most 6 values"),
        ({"recall@5": 0.5}, {"estimators": "mle"}, "mle needs all ranks; .* free, decreasing$"),
        ({"precision@5": 0.3}, {}, "precision@5: the value must be from 0 to 0.2, not 0.3"),
        ({"hr@10": 69.7}, {}, r"from 0 to 1, not 69.7; in per cent\? Write 0.697$"),
        ({"recall@10": "many"}, {}, "recall@10: the value must be a number, not 'many'"),
        ({"recall@10": "nan"}, {}, "recall@10: the value must be a number, not 'nan'"),
        ({"recall@200": 0.5}, {}, "recall@200: k must be at most the 99 negatives"),
        ({"mrr": "0.001"}, {}, "A: values: mrr .* cannot be: no sample has it"),
        (
            {"hr@10": 0.70, "hr@20": 0.61, "mrr": 0.35},
            {},
            r"A: values: hr@10 \(0.7\) above hr@20 \(0.61\) cannot be",
        ),
        (
            {"hr@10": 0.5, "recall@10": 0.6},
            {},
            "hr@10 and recall@10 are the same share, so they contradict",
        ),
        (
            {"recall@5": 0.5},
            {"candidates": (300, 200)},
            "give one number, or the least and the largest",
        ),
        ({"recall@5": 0.5}, {"candidates": 0.5}, "candidates must be a whole number"),
        (
            {
                "hr@1": 0.2,
                "hr@2": 0.4,
                "mrr": 0.55,
                "auc": 0.8,
            },  # MRR is at most .2 + .2 / 2 + .6 / 3
            {},
            r"mrr \(0.55\), hr@2 \(0.4\) and hr@1 \(0.2\) cannot be: no sample has all of them",
        ),
        (
            {"recall@5": 0.5},
            {"exact": {"B": {"hr@5": 0.1}}},
            "exact: there are no sampled values of 'B'; there are of A",
        ),
        ({"recall@5": 0.5}, {"exact": {"A": 0.1}}, "exact: give values by recommender"),
        (
            {"recall@5": 0.5},
            {"exact": {"A": {"hr@5": 2}}},
            "A: exact: hr@5: the value must be from 0 to 1, not 2",
        ),
        ({"recall@5": 0.5}, {"users": 0}, "users must be a whole number, 1 or more, not 0"),
        ({"recall@5": 0.5}, {"users": 2**54}, "users must be 2.53 or less"),
        ({"recall@5": 0.5}, {"candidates": 50}, "99 negatives without replacement were asked for"),
    ],
)
def test_refuses(values, more, says) -> None:
    with pytest.raises((sm.DataError, sm.ConfigError), match=says):
        sm.published({"A": values}, **{"negatives": 99, "candidates": 20000, "users": 6040} | more)


@pytest.mark.parametrize("values", [{}, [0.68], {"GMF": 0.68}])
def test_refuses_values_that_are_not_by_recommender(values) -> None:
    with pytest.raises(sm.ConfigError, match="values: give them by recommender"):
        sm.published(values, negatives=99, candidates=3706, users=6040)


def test_a_share_that_no_number_of_users_has_is_said_and_bounded_as_it_is_written():
    """The bounds of the others are as without it, and its own are between those of the nearest
    shares.
    """
    options = {"negatives": 99, "candidates": 1000, "users": 100, "metrics": "recall@10"}
    others = {"B": {"hr@10": "0.5"}}
    both = sm.published({"A": {"precision@10": "0.0333333"}} | others, **options)
    [finding] = [one for one in both.findings if one.kind == "no-share"]
    assert (finding.metric, finding.names) == ("precision@10", ("A",))
    nearest = {"below": pytest.approx(0.033), "above": pytest.approx(0.034)}
    assert finding.values == {"value": "0.0333333", "users": 100} | nearest
    ends = {
        share: sm.published({"A": {"hr@10": share}}, **options)["high"].to_numpy()
        for share in (0.33, 0.34)
    }
    assert (ends[0.33] <= both["high"][:2]).all()
    assert (both["high"][:2] <= ends[0.34]).all()
    assert both["high"][2:].tolist() == sm.published(others, **options)["high"].tolist()
