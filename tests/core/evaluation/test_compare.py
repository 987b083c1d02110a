"""Comparisons: differences by hand, pairing by user, families of three, and margins by
definition.
"""

import numpy as np
import pandas as pd
import pytest
from compared import (
    require_means_of_users,
    require_that_equal_seeds_are_refused,
    seeds_of_which_two_are_equal,
)
from read_and import compare, evaluate
from scipy.optimize import brentq
from scipy.stats import ttest_rel

import sampled_metrics as sm
from sampled_metrics.core.evaluation.compare import BONFERRONI, LARGEST_T
from sampled_metrics.core.evaluation.verdict import VERDICTS, Size
from sampled_metrics.core.inference.means import mean_interval
from sampled_metrics.errors import ConfigError, DataError

A = [1, 12, 3, 40, 2, 11]
B = [1, 2, 5, 9, 30, 4]


def frame(ranks, users, **more):
    return pd.DataFrame({"user": users, "rank": ranks, **more})


def of_kind(table, *kinds):
    """The values of the findings of some kinds."""
    return [finding.values for finding in table.findings if finding.kind in kinds]


def test_values_are_those_of_evaluate_and_their_difference():
    table = compare(A, B, candidates=50, names=("old", "new"))
    for column, ranks in (("value_a", A), ("value_b", B)):
        assert table[column].to_numpy() == pytest.approx(
            evaluate(ranks, candidates=50)["value"].to_numpy()
        )
    assert table["difference"].to_numpy() == pytest.approx(
        (table["value_b"] - table["value_a"]).to_numpy()
    )
    assert table["difference"][0] == pytest.approx(5 / 6 - 3 / 6)


def test_the_p_value_is_below_alpha_where_the_interval_of_strict_bounds_excludes_0():
    """The weights of strict bounds are those for the level, so the level is the same."""
    found = []
    for shift in (0.0, 0.3, 0.9):
        one, other = (
            np.random.default_rng(1).geometric([[0.1], [0.1 + shift]], size=(2, 300)).clip(max=21)
        )
        table = compare(
            one, other, candidates=60, negatives=20, metrics=["recall@5", "auc"], estimator="free"
        )
        excludes = (table["low"] > 0) | (table["high"] < 0)
        assert ((table["p_value"] < 0.05) == excludes).all()
        found += excludes.tolist()
    assert {True, False} == set(found)


def test_the_other_way_round_is_mirrored_and_equal_ranks_show_nothing():
    one, other = np.random.default_rng(1).integers(1, 6, size=(2, 30))
    for options in ({"candidates": 11, "negatives": 4}, {"candidates": 11, "exact": True}):
        forth, back, same = (
            compare(*pair, **options) for pair in ((one, other), (other, one), (one, one))
        )
        assert back["low"].to_numpy() == pytest.approx(-forth["high"].to_numpy(), abs=1e-9)
        assert back["high"].to_numpy() == pytest.approx(-forth["low"].to_numpy(), abs=1e-9)
        assert same["p_value"].tolist() == [1.0] * len(same)
        assert ((same["low"] <= 0) & (same["high"] >= 0)).all()


def test_users_are_paired_by_name_wherever_both_say_theirs():
    plain = compare(A, B, candidates=50)
    shuffled = [4, 2, 0, 5, 1, 3]
    users = np.arange(10, 16)
    for name in (users, [str(user) for user in users]):
        table = compare(
            frame(A, name), frame(np.array(B)[shuffled], users[shuffled]), candidates=50
        )
        pd.testing.assert_frame_equal(pd.DataFrame(table), pd.DataFrame(plain))
        assert (
            len(of_kind(table, "paired-by-user")) == len(of_kind(plain, "paired-by-position")) == 1
        )


def test_the_finding_names_the_tables_that_are_paired_by_position():
    """The first table with users is that with which tables without users are paired."""
    users = np.arange(10, 16)
    tables = {"plain": sm.exact_ranks(A, candidates=50)}
    tables |= {name: sm.exact_ranks(frame(A, users), candidates=50) for name in ("named", "other")}
    result = sm.compare(tables, metrics="auc")
    [by_user] = of_kind(result, "paired-by-user")
    [by_position] = of_kind(result, "paired-by-position")
    assert by_user == {"tables": ["named", "other"], "are_all": False}
    assert by_position == {"tables": ["plain", "named"], "without": ["plain"]}


def test_what_a_reader_says_of_one_table_names_its_recommender_and_of_all_it_does_not():
    users = np.arange(10, 16)
    own = {name: sm.exact_ranks(frame(A, users).assign(age=7), candidates=50) for name in "XY"}
    other = sm.exact_ranks(frame(A, users), candidates=50)
    assert "The column age is not used." in sm.compare(own, metrics="auc").remarks
    assert (
        "X: The column age is not used."
        in sm.compare({"X": own["X"], "Y": other}, metrics="auc").remarks
    )


def test_users_are_paired_by_position_where_one_does_not_name_its_users():
    """Ranks i of both are those of one user, in any numbering."""
    one, other, numbers = np.random.default_rng(5).permuted(
        np.tile(np.arange(1, 31), (3, 1)), axis=1
    )
    ends = mean_interval((one - other) / 49, np.ones(30, dtype=int), (-1, 1), 0.05)
    for pair in (
        (one, other),
        (one, pd.Series(other, index=numbers)),
        (frame(one, numbers), list(other)),
    ):
        table = compare(*pair, metrics=["auc"], candidates=50)
        assert (table["low"][0], table["high"][0]) == pytest.approx(ends, rel=1e-9)


def test_users_with_several_rows_count_once_with_their_mean():
    users = np.repeat(np.arange(20), np.arange(20) % 3 + 1)
    one, other = np.random.default_rng(3).integers(1, 51, size=(2, len(users)))
    by_user = np.array([((one - other) / 49)[user == users].mean() for user in range(20)])
    ends = mean_interval(by_user, np.ones(20, dtype=int), (-1, 1), 0.05)
    order = np.random.default_rng(1).permutation(len(users))
    for second in (frame(other[order], users[order]), other):
        row = compare(frame(one, users), second, candidates=50, metrics=["auc"]).iloc[0]
        assert row["difference"] == pytest.approx(by_user.mean())
        assert (row["low"], row["high"]) == pytest.approx(ends)
        assert row["users"] == 20


@pytest.mark.parametrize(
    ("estimator", "kinds"),
    [
        (None, {"assumes", "supported"}),
        ("free", {"assumes"}),
        ("mle", {"equal-bias", "approximate"}),
        ("uncorrected", {"uncorrected-verdicts"}),
    ],
)
def test_verdicts_stand_beside_what_they_assume(estimator, kinds):
    table = compare([1, 4, 2], [1, 1, 3], candidates=50, negatives=5, estimator=estimator)
    expected = kinds | {"drawn-by-user", "few-users", "paired-by-position"}
    assert {one.kind for one in table.findings if one.kind not in VERDICTS} == expected
    assert [one.names for one in table.findings if one.kind == "few-users"] == [("A",), ("B",)]
    assert table.setting.is_uncorrected == (estimator == "uncorrected")
    assert of_kind(table, "assumes") == [{"assumption": estimator or "decreasing"}] * (
        "assumes" in kinds
    )


@pytest.mark.parametrize(
    ("metrics", "cautions"), [(["AUC"], 0), (["recall@2"], 1), (["auc", "ap"], 1)]
)
def test_the_auc_alone_needs_no_correction(metrics, cautions):
    """The mean of the sampled AUC is the true one, whatever the ranks are."""
    table = compare(
        [1, 4, 2], [1, 1, 3], candidates=50, negatives=5, estimator="uncorrected", metrics=metrics
    )
    assert sum(finding.kind == "uncorrected-verdicts" for finding in table.findings) == cautions


@pytest.mark.parametrize(
    ("given", "more", "error", "says"),
    [
        ({"A": A}, {}, DataError, r"two recommenders or more, not \['A'\]"),
        ({"A": A, "B": B}, {"estimator": "mle"}, DataError, "an estimator corrects sampled ranks"),
        (
            {"A": A, "B": B},
            {"negatives": 49, "estimator": ["mle", "cls"]},
            ConfigError,
            "give one, not mle, cls",
        ),
        ({"A": A, "B": B}, {"metrics": ["x"]}, ConfigError, "unknown metric"),
        ({"A": [A, B[:-1]], "B": B}, {}, DataError, "A, seed 1 has 6 users and A, seed 2 5"),
    ],
)
def test_refuses(given, more, error, says):
    with pytest.raises(error, match=says):
        compare(given, candidates=50, **more)


# --- three recommenders -------------------------------------------------------------------------


@pytest.fixture
def ranks():
    rng = np.random.default_rng(12)
    base = rng.integers(1, 100, size=300)
    good, fair = (np.maximum(1, base - rng.integers(0, 30, 300)) for _ in range(2))
    return {"good": good, "fair": fair, "poor": base}


def test_many_are_adjusted_by_holm(ranks):
    table = compare(ranks, candidates=100, metrics="auc")
    names = zip(table["a"], table["b"], strict=True)
    alone = [
        compare(ranks[a], ranks[b], candidates=100, metrics="auc")["p_value"][0] for a, b in names
    ]
    first, second, third = sorted(alone)
    wanted = [3 * first, max(3 * first, 2 * second), max(3 * first, 2 * second, third)]
    assert sorted(table["p_value"]) == pytest.approx(wanted)


def test_many_by_strict_bounds_or_of_seeds_are_those_at_the_level_of_bonferroni(ranks):
    rng = np.random.default_rng(3)
    few = {
        name: 1 + rng.hypergeometric(each[:100] - 1, 100 - each[:100], 9)
        for name, each in ranks.items()
    }
    seeds = {name: [each[:60], each[60:120]] for name, each in ranks.items()}
    for given, options in ((few, {"negatives": 9, "estimator": "free"}), (seeds, {})):
        options |= {"candidates": 100, "metrics": "auc"}
        table = compare(given, **options)
        bonferroni = {"pairs": 3, "method": BONFERRONI, "rate": pytest.approx(0.05 / 3)}
        of_new_runs = {"of": "new runs"} if "of" in table else {}
        assert of_kind(table, "family")[0] == bonferroni | of_new_runs
        for row in table[:3].itertuples():
            pair = {name: given[name] for name in (row.a, row.b)}
            alone = compare(pair, **options, confidence_level=1 - 0.05 / 3).iloc[0]
            assert (row.low, row.high) == pytest.approx((alone["low"], alone["high"]))


def test_the_best_alone_have_the_intervals_of_all_pairs(ranks):
    tables = sm.exact_ranks(ranks, candidates=100)
    options = {"metrics": ["auc", "recall@10"]}
    every = sm.compare(tables, best=3, **options)
    best = sm.compare(tables, best=2, **options)
    pd.testing.assert_frame_equal(every, sm.compare(tables, **options))
    assert of_kind(every, "family") == [{"pairs": 3, "method": LARGEST_T, "rate": 0.0}]
    of_pair = every[(every["a"] == "good") & (every["b"] == "fair")].reset_index(drop=True)
    pd.testing.assert_frame_equal(best, of_pair.drop(columns="p_value"))
    numbers = {"most": 2, "recommenders": 3, "pairs": 3, "method": LARGEST_T}
    assert of_kind(best, "best-pairs") == [numbers]
    assert of_kind(best, "family") == []


def test_many_are_in_groups_that_cannot_be_told_apart(ranks):
    table = compare(ranks, candidates=100, metrics=["auc", "recall@1"])
    of_auc = [
        (verdict.kind, verdict.names) for verdict in table.verdicts if verdict.metric == "auc"
    ]
    assert of_auc == [
        ("undecided", ("good", "fair")),
        ("better", ("good", "poor")),
        ("better", ("fair", "poor")),
    ]
    standings = table.standings()
    assert standings["recommender"][:3].tolist() == ["good", "fair", "poor"]
    assert standings["group"][:3].tolist() == ["a", "a", "b"]
    assert standings["value"][0] == table["value_a"][0]
    assert set(table[table["metric"] == "auc"].standings()["metric"]) == {"auc"}


def test_a_sentence_has_the_numbers_and_what_they_assume_and_no_advice(ranks):
    three = compare(ranks, candidates=100, metrics="auc")
    assert three.sentence() == "AUC: good and fair are better than poor."
    sampled = np.random.default_rng(1).integers(1, 6, size=(2, 30))
    two = compare(*sampled, candidates=11, negatives=4, metrics="auc")
    assert "use plan" in two.remarks[0]
    [row] = two.itertuples()
    sentence = two.sentence()
    assert (
        f"is {row.difference:+.4f}, with a 95 % interval of {row.low:+.4f} to {row.high:+.4f}"
        in sentence
    )
    assert sentence.endswith(
        "if better ranks are more frequent than worse ones in the better half of the ranks."
    )
    assert len(sentence.split()) <= 40


def test_remarks_come_by_recommender_and_then_those_of_all():
    """A and C have few users of their own kind: one ties all ranks, the other has a note of its
    reader.
    """
    rng = np.random.default_rng(4)
    x = {"A": rng.integers(0, 21, 300), "B": np.minimum(rng.geometric(0.5, 300) - 1, 20)}
    tables = {
        name: sm.sampled_ranks(1 + above, negatives=20, candidates=900) for name, above in x.items()
    }
    remarks = sm.correct(
        tables, estimators=["bv-0.1", "mle"], metrics=["recall@10", "auc"]
    ).further_remarks
    owners = [remark.split(": ")[0] for remark in remarks]
    places = [{"A": 0, "B": 1}.get(owner, 2) for owner in owners]
    assert places == sorted(places)
    assert set(places) == {0, 1, 2}


def test_values_of_seeds_are_means():
    table = compare({"X": [A, B], "Y": [B, B]}, candidates=50, metrics="ap")
    ap = [evaluate(each, candidates=50, metrics="ap")["value"][0] for each in (A, B)]
    assert table[["value_a", "value_b"]].iloc[0].tolist() == pytest.approx([np.mean(ap), ap[1]])
    assert of_kind(table, "seeds") == [{"seeds": {"X": 2, "Y": 2}}]


# --- margins: intervals of b - (1 + d) a by definition; test_verdict.py has conclusions ---------

HIT = 1
MISS = 40
FEW = [HIT] * 20 + [MISS] * 80
# 10 hits of the others are missed, and 30 others found
MANY = [HIT] * 10 + [MISS] * 10 + [HIT] * 30 + [MISS] * 50
OF_HITS = {"metrics": ["recall@10"], "candidates": 50, "exact": True}


def row(one=FEW, other=MANY, **options):
    return compare(one, other, **OF_HITS, **options).iloc[0]


def hits(probabilities, users, rng):
    """Ranks of independent recommenders that hit with some probabilities."""
    return [np.where(rng.random(users) < probability, HIT, MISS) for probability in probabilities]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        *(
            (given, "margin must be a number above 0")
            for given in (0, np.nan, np.inf, "2 parts", "-2%", True, [1])
        ),
        *((given, "margin must be .* up to 1,000,000%") for given in ("1e306%", "1000001%")),
        *(
            (given, r"a difference of recall@10 is never above .* from 0 to 1; .* \"2%\"")
            for given in (1, "1e9")
        ),
    ],
)
def test_refuses_margins(given, says):
    with pytest.raises(ConfigError, match=says):
        row(margin=given)


@pytest.mark.parametrize(
    ("margin", "size"),
    [
        (0.05, Size.MORE.value),
        (0.2, ""),
        (0.35, Size.LESS.value),
        ("20 %", Size.MORE.value),
        ("60%", ""),
        ("400%", Size.LESS.value),
    ],
)
def test_margins_are_judged_by_the_interval_of_the_difference_less_the_margin(margin, size):
    a, b = (np.array(ranks) <= 10 for ranks in (FEW, MANY))
    ratio, least = (1 + float(margin[:-1]) / 100, 0.0) if isinstance(margin, str) else (1.0, margin)
    low, high = mean_interval(b - ratio * a, np.ones(100, dtype=int), (-ratio, 1.0), 0.05)
    assert size == (Size.MORE.value if low > least else Size.LESS.value if high < least else "")
    for one, other in ((FEW, MANY), (MANY, FEW)):
        found = row(one, other, margin=margin)
        plain = row(one, other)
        assert found[plain.index].equals(plain)
        assert {found["higher_a"], found["higher_b"]} == {0.1, 0.3}  # of the users
        assert (found["size"], found["difference"] > 0) == (size, found["conclusion"] == "B")
        assert found["relative"] == pytest.approx(found["difference"] / 0.2)


@pytest.mark.parametrize(("percent", "alone", "of_three"), [(17, True, True), (23, True, False)])
def test_relative_margins_of_several_pairs_are_judged_at_the_level_of_their_intervals(
    percent, alone, of_three
):
    """That level is the one at which the interval of the difference itself is the stated one."""
    a, b = (np.array(ranks) <= 10 for ranks in (FEW, MANY))
    ones = np.ones(100, dtype=int)
    ratio = 1 + percent / 100
    found = compare({"A": FEW, "B": MANY, "C": FEW[::-1]}, **OF_HITS, margin=f"{percent}%").iloc[0]
    alpha = brentq(
        lambda alpha: mean_interval(1 * b - a, ones, (-1, 1), alpha)[0] - found["low"], 1e-3, 0.2
    )
    lows = [mean_interval(b - ratio * a, ones, (-ratio, 1.0), each)[0] for each in (0.05, alpha)]
    assert [low > 0 for low in lows] == [alone, of_three]
    assert (found["size"] == Size.MORE.value) == of_three


@pytest.mark.slow
@pytest.mark.parametrize("margin", [0.1, "40%"])
def test_of_three_pairs_at_the_edge_claims_are_rare_together(margin):
    """The pairs FEW, C and MANY, C are at the edge, and FEW, MANY are equal."""
    rng = np.random.default_rng(46)
    runs = 150
    wrong = 0
    for _ in range(runs):
        ranks = dict(zip("ABC", hits((0.25, 0.25, 0.35), 300, rng), strict=True))
        rows = compare(ranks, **OF_HITS, margin=margin)
        with_c = rows["b"] == "C"
        of_c = (rows["size"] != "") | rows["conclusion"].isin(["equivalent", "A", "B"])
        of_equals = rows["conclusion"].isin(["A", "B"])
        wrong += bool(np.where(with_c, of_c, of_equals).any())
    assert wrong / runs <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize("kind", ["exact", "sampled"])
def test_the_same_ranks_are_no_second_seed_in_whatever_order(kind):
    sizes = {"candidates": 40} if kind == "exact" else {"candidates": 900, "negatives": 20}
    options = {"estimator": "bv-0.1"} if kind == "sampled" else {}
    reader = sm.exact_ranks if kind == "exact" else sm.sampled_ranks
    first, again, second = seeds_of_which_two_are_equal(lambda frame: reader(frame, **sizes))
    require_that_equal_seeds_are_refused(first, again, second, options)
    if kind == "sampled":
        with pytest.raises(DataError, match="seeds 1 and 2 have the same ranks"):
            sm.correct({"A": [first, again]}, estimators="bv-0.1")


@pytest.mark.parametrize(
    ("tables", "options"),
    [
        pytest.param(
            sm.exact_ranks({"A": [1, 7, 12], "B": [2, 3, 40]}, candidates=50), {}, id="exact"
        ),
        pytest.param(
            sm.sampled_ranks({"A": [1, 4, 2], "B": [2, 3, 6]}, candidates=50, negatives=9),
            {"estimator": "bv-0.1"},
            id="sampled",
        ),
        pytest.param(
            {"A": [sm.exact_ranks(ranks, candidates=50) for ranks in ([1, 7, 12], [2, 9, 30])],
             "B": [sm.exact_ranks(ranks, candidates=50) for ranks in ([1, 8, 12], [2, 9, 31])]},
            {},
            id="seeds",
        ),
    ],
)  # fmt: skip
def test_the_means_of_the_values_of_users_are_the_values(tables, options):
    require_means_of_users(tables, options)


def test_values_are_those_of_the_same_user_in_any_order_of_rows():
    """The average precision of one relevant item is one over its rank; that of a user, the mean
    over the rows.
    """
    first = pd.DataFrame({"user": ["b", "a", "b"], "rank": [4, 2, 1]})
    second = pd.DataFrame({"user": ["a", "b", "b"], "rank": [5, 10, 2]})
    by_user = sm.compare(
        sm.exact_ranks({"A": first, "B": second}, candidates=50), metrics="MAP"
    ).by_user
    assert by_user.to_dict("list") == {
        "recommender": ["A", "A", "B", "B"],
        "user": ["a", "b", "a", "b"],
        "MAP": pytest.approx([0.5, (0.25 + 1) / 2, 0.2, (0.1 + 0.5) / 2]),
    }


def test_bounds_have_no_values_of_users():
    table = compare([1, 4, 2], [1, 1, 3], candidates=50, negatives=5)
    with pytest.raises(
        DataError, match=r"by_user: strict bounds have no value of a user; .*bv-0.1"
    ):
        table.by_user  # noqa: B018


def test_a_t_test_of_the_values_decides_what_compare_leaves_open():
    """Each user is one place better, and the AUC by 1 / (n - 1), which differs little."""
    old = np.arange(300) % 100 + 2
    n = np.arange(300) + 900
    table = sm.compare(
        sm.exact_ranks({"old": old, "new": old - 1}, candidates=n, exact=True), metrics="auc"
    )
    values = table.by_user.pivot(index="user", columns="recommender", values="auc")
    gains = 1 / (n - 1.0)
    np.testing.assert_allclose(values["new"] - values["old"], gains, atol=1e-12)
    assert ttest_rel(values["new"], values["old"]).statistic == pytest.approx(
        gains.mean() / (gains.std(ddof=1) / np.sqrt(300)), rel=1e-6
    )
    assert table["conclusion"].tolist() == ["undecided"]
