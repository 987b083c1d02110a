"""Findings in English: a sentence for each kind, and the names, groups and clauses of several
findings.
"""

from dataclasses import replace
from importlib import import_module
from itertools import combinations

import numpy as np
import pytest
from sentences import GAP, PAIR, SHAPE, SIZE, WITH_MARGIN, of, require_sentence, said, verdict

from sampled_metrics.core.evaluation.compare import BONFERRONI, LARGEST_T
from sampled_metrics.core.evaluation.kinds import WORDS
from sampled_metrics.core.evaluation.phrases import rounded_outward
from sampled_metrics.core.evaluation.standings import Standing, Standings
from sampled_metrics.core.evaluation.verdict import Size
from sampled_metrics.core.evaluation.wording import assumed, sentence
from sampled_metrics.core.evaluation.words.order import margin_of_pairs, on_metrics, standing
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.families import Margin
from sampled_metrics.core.inference.setting import Setting

STAGED = {
    "completed": 31,
    "users": 1040,
    "rows": 1040,
    "scores": 227.6,
    "least_candidates": 3541,
    "most_candidates": 3541,
    "k": 10,
    "is_without_hits": False,
}
OTHER_ENDS = {"other_low": 0, "other_high": 0.921}
RANGES = {"least_negatives": 9, "most_negatives": 9}
ORDER = {
    "estimator": "uncorrected",
    "chance": 0.123,
    "exact_better": 0.2,
    "exact_worse": 0.1,
    "expected_better": 0.3,
    "expected_worse": 0.4,
}

# a finding, its words with … for others between, and the setting unless it is PAIR
SENTENCES = [
    (
        of("no-rank-zero", source="X", names=("X",)),
        "X: No rank is 0, … leave it out if the best is 1.",
    ),
    (
        of("not-uniform", p_value=0.00123, excess=4.26, items=400, never=7, never_by_chance=2.6),
        "uniformly for each user (p = 0.0012): 7 of 400 items are never drawn, by chance 3, and "
        "popular items are drawn too often by 4.3 standard errors.",
    ),
    (
        of("not-uniform", p_value=0.0, excess=-4.26, items=400, never=7, never_by_chance=2.6),
        "(p < 1e-16): … too rarely by 4.3 standard errors.",
    ),
    (
        of("shared-negatives", partners=12.345),
        "with 12.3 other users on average, so they are read as drawn once.",
    ),
    (of("columns-taken", columns={"user": "uid"}), "The column uid is taken as user."),
    (
        of("columns-taken", columns={"user": "uid", "candidates": "n"}),
        "The columns uid and n are taken as user and candidates (how many items an exact "
        "evaluation ranks for each user)",
    ),
    (of("columns-not-used", columns=["a"], unit=""), "The column a is not used."),
    (
        of("columns-not-used", columns=["a"], unit="row"),
        "The column a is not used. If a column names",
    ),
    (of("rows-as-users"), "Each row counts as a user … no column user"),
    (of("one-grade"), "each is relevant, with grade 1."),
    (
        of("nothing-relevant", users=2, all=9),
        "2 of 9 users have no relevant item, and count with the value 0.",
    ),
    (
        of("not-judged", source="a.csv", users=2, all=9),
        "a.csv: 2 of 9 users have no judged item, and are left out.",
    ),
    (
        of("empty-lists", source="ranks", users=2, all=9),
        "2 of 9 users … are missing, and count as empty lists.",
    ),
    (
        of("equal-scores", source="ranks", users=2, all=9),
        "2 of 9 users have a relevant item with the score of others",
    ),
    (
        of("all-tied", source="ranks", rows=2, all=9),
        "2 of 9 held-out items have the score of all their candidates",
    ),
    (
        of("items-not-judged", source="Z", item="i1", judged="7"),
        "Z: None of its items is judged for any user; they are such as 'i1', and the judged ones "
        "such as '7'.",
    ),
    (of("paired-by-user", tables=["X", "Z"], are_all=True), "Users are paired by the column user."),
    (
        of("paired-by-user", tables=["X", "Z"], are_all=False),
        "Users of X and Z are paired by the column user.",
    ),
    (
        of("paired-by-position", tables=["X", "Z"], without=["X", "Z"]),
        "Users are paired by position: row i of X and Z is taken to be the same user.",
    ),
    (
        of("paired-by-position", tables=["X", "Z"], without=["Z"]),
        "row i of X and Z is taken to be the same user, as Z has no column user.",
    ),
    (
        of("paired-by-position", tables=["X", "Z", "Y"], without=["X", "Z", "Y"]),
        "row i of all 3 tables is taken to be the same user.",
    ),
    (
        of(
            "paired-by-position",
            tables=["A, seed 1", "B", "C", "D", "E"],
            without=["B", "C", "D", "E"],
        ),
        "row i of A, seed 1 and B and C and 2 others is taken to be the same user, as B and C and "
        "D and E have no column",
    ),
    (
        of("groups-left-out", users={"old": 1, "new": 0}),
        "Left out, as an interval needs 2 users or more: old (1 user) and new (0 users).",
    ),
    (
        of("completed", **STAGED),
        "Staged ranks of 1,040 users, 228 scores for each of 3,541 candidates; 31 users were ",
    ),
    (
        of("completed", **STAGED | {"rows": 2000, "completed": 1, "least_candidates": 90}),
        "Staged ranks of 1,040 users in 2,000 rows, 228 scores for each of 90 to 3,541 candidates; "
        "1 user was completed.",
    ),
    (
        of("completed", **STAGED | {"is_without_hits": True}),
        "; no user has a held-out item among the first 10, as if the ranker masked it.",
    ),
    (
        of("unexplained", assumption="free", p_value=0.001),
        "(p = 0.001), so there is no interval and no verdict.",
    ),
    (of("drawn-once"), "one draw of negatives … no interval and no verdict."),
    (of("drawn-by-user"), "drawn anew"),
    (of("draws", draws=5), "between 5 draws"),
    (
        of(
            "replacement",
            "ap",
            estimator="free",
            replacement=False,
            low=0.1081,
            high=0.7461,
            **OTHER_ENDS,
        ),
        "drawn without replacement … drawn with it … AP from 0 to 0.93 in place of 0.10 to 0.75 "
        "(free).",
    ),
    (
        of("contradicted", assumption="decreasing", p_value=0.02),
        "contradicts decreasing (p = 0.02)",
    ),
    (
        of(
            "unexplained",
            assumption="free",
            p_value=0.001,
            values={"hr@1": "0.644", "hr@5": "0.814"},
        ),
        "explains Hit rate@1 0.644 and Hit rate@5 0.814 (p = 0.001) … contradict one another … a "
        "misprint",
    ),
    (
        of(
            "contradicted",
            assumption="decreasing",
            p_value=0.02,
            values={"hr@1": "0.6", "mrr": "0.7"},
        ),
        "Hit rate@1 0.6 and MRR 0.7 contradict decreasing (p = 0.02)",
    ),
    (
        of("contradicted", assumption="decreasing", p_value=0.02, values={"mrr": "0.7"}),
        "MRR 0.7 contradicts decreasing (p = 0.02)",
    ),
    (of("narrow", assumption="decreasing"), "By decreasing, … would be hardly wider"),
    (of("uncorrected-values"), "not that of the true rank (AUC excepted)"),
    (of("uncorrected-verdicts"), "may be the worse by the true metric"),
    (
        of("supported", names=("X",), assumption="decreasing", p_value=0.4567),
        "The sample does not contradict decreasing (p = 0.46 for X).",
    ),
    (
        of("bounds", "recall@10", low=0.1234, high=0.1711, assumes="decreasing", **RANGES),
        f"With 90 % confidence, Recall@10 is between 0.123 and 0.172, if {SHAPE}.",
        Setting(0.9),
    ),
    (
        of(
            "bounds",
            "ap",
            low=0,
            high=0.5,
            assumes="uniform negatives",
            least_negatives=1,
            most_negatives=1,
        ),
        "If drawn uniformly, 1 negative allows any AP from 0 to 0.50, with 95 % … whatever the "
        "ranks are.",
    ),
    (
        of("out-of-range", "recall@10", estimator="bv-0.1", what="the value", value=1.23456),
        "BV 0.1: … the value of Recall@10 (1.235).",
    ),
    (
        of("bias", "ap", estimator="bv-1", bias=-0.0316, error=0.0042, has_interval=True),
        "BV 1: the interval ignores the bias. … AP -0.032 ± 0.004.",
    ),
    (
        of("bias", "ap", estimator="bv-1", bias=0.0316, error=np.nan, has_interval=False),
        "BV 1: the estimated bias, with its standard error: AP +0.03 (its standard error is not "
        "known",
    ),
    (of("no-bias", estimator="mle"), "No bias is estimated for MLE"),
    (of("approximate", estimator="mes-0.1"), "of MES 0.1 are Student's … much too narrow"),
    (of("large-weight", estimator="cls", largest=123.4), "CLS: a single user counts up to 1.2e+02"),
    (verdict("better", ("Y", "X")), f"AP: Y is better than X; {GAP}."),
    (verdict("undecided"), f"AP: undecided; {GAP} that includes 0 (p = 0.012)."),
    (
        verdict("undecided", is_bounded=True),
        f"{GAP} that includes 0 (p = 0.012). … more negatives, or more users",
    ),
    (verdict("no-verdict", low=np.nan, high=np.nan), "AP: no verdict."),
    (
        verdict("equivalent", size="", relative=0.2),
        "AP: X and Y are equivalent; the difference (Y - X) is +0.0200 (+20 % of the worse value), "
        "with",
        WITH_MARGIN,
    ),
    (
        verdict("better", ("Y", "X"), size=Size.MORE),
        "Y is better than X by more than the margin of 0.01;",
        WITH_MARGIN,
    ),
    (
        verdict("better", ("Y", "X"), size=Size.LESS),
        "Y is better than X, by less than the margin of 2 % of the worse value;",
        replace(PAIR, margin=Margin(0.02, True)),
    ),
    (
        verdict("better", ("Y", "X"), size=""),
        "whether by more than the margin of 0.01 is undecided;",
        WITH_MARGIN,
    ),
    (
        of("equal-tables", names=("X",), seeds=["1", "3"], are_draws=False),
        "X: Seeds 1 and 3 have the same ranks for all users.",
    ),
    (
        of("equal-tables", names=("X",), seeds=["1", "3"], are_draws=True),
        "X: Draws 1 and 3 of negatives have the same ranks for all users.",
    ),
    (
        of("these-runs", reason="one seed", of=["X"]),
        "of these runs alone, the mean over the seeds … new runs, as X has one seed, which does "
        "not show how seeds vary.",
    ),
    (
        of("these-runs", reason="strict bounds", of=[]),
        "new runs, as strict bounds do not show how seeds vary.",
    ),
    (
        of("order-reversed", "ap", ("X", "Y"), groups=["b", "c"]),
        "By AP, X is better than Y for all users together, but Y is better than X for groups b and "
        "c.",
    ),
    (
        of("order-differs", "ap", ("X", "Y"), groups={"Y": ["b"], "X": ["a", "c"]}),
        "by AP differs … Y is better than X for group b, and X is better than Y for groups a and "
        "c.",
    ),
    (of("margin"), "the 95 % interval is within ± 0.01, … tests at 5 %.", WITH_MARGIN),
    (
        of("margin"),
        "2 % of the worse value, … 90 % intervals of b - 1.02 a and a - 1.02 b. … tests at 10 %.",
        Setting(0.9, margin=Margin(0.02, True)),
    ),
    (
        of("best-pairs", "auc", most=10, recommenders=12, pairs=66, method=LARGEST_T),
        "Of 12 recommenders, the 10 best by AUC … at 95 % for all 66 pairs (the largest of several "
        "t).",
    ),
    (
        of("family", pairs=3, method=LARGEST_T, rate=0.0),
        "at 95 % for its 3 pairs (the largest of several t). … Holm",
    ),
    (
        of("family", pairs=3, method=BONFERRONI, rate=0.05 / 3),
        "3 pairs (Bonferroni, each at 98.33 %).",
    ),
    (
        of("several-metrics", "recall@10", metrics=4),
        "The 4 metrics are not adjusted … its own 90 % … Decide by the first one, Recall@10.",
        Setting(0.9),
    ),
    (
        of("seeds", seeds={"X": 2, "Y": 3}),
        "new runs include the spread between the seeds of X (2 seeds) and Y (3",
    ),
    (
        of("assumes", names=("X", "Y"), assumption="decreasing"),
        f"of the true difference, if {SHAPE}.",
    ),
    (
        of("assumes", names=("X", "Y"), assumption="decreasing", only="X"),
        "true difference, if better ranks … of the ranks of X.",
    ),
    (of("assumes", names=("X", "Y"), assumption="free"), "whatever the ranks are."),
    (of("equal-bias", estimator="bv-0.1"), "the means of BV 0.1, … its bias is equal for both."),
    (
        of("higher", names=("X", "Y"), higher_a=0.1, higher_b=0.305, is_sampled=True),
        "Among the sampled negatives, Y … higher for 30.5 % of the users, and X for 10 %.",
    ),
    (of("undefined", "auc"), "AUC is not defined"),
    (of("several-rows"), "A user counts by the mean over the user's rows"),
    (of("few-users", users=7), "only 7 users … fewer than 100"),
    (of("one-user", is_open=False), "only one user, so there is no interval"),
    (of("one-user", is_open=True), "not all candidates were scored"),
    (
        of("equal-metrics", metrics=["recall@10", "hr@10"]),
        "Recall@10 and Hit rate@10 are equal here",
    ),
    (of("group-level"), "at 90 % by itself", Setting(0.9)),
    (
        of("groups-adjusted", groups=2, level=0.975),
        "2 groups: … at 95 % (Bonferroni, each group at 97.5 %)",
    ),
    (
        of("wrong-order", "ap", ("X", "Y"), **ORDER),
        "by the exact AP, X is ahead of Y (0.2000 against 0.1000). Among 100 sampled negatives, "
        "the uncorrected AP puts X behind Y on average (0.3000 against 0.4000). The chance of the "
        "exact order is 0.12.",
        replace(PAIR, negatives=100),
    ),
    (of("order-undecided"), "may be undecided. compare"),
]
KINDS = [finding.kind for finding, *_ in SENTENCES]


@pytest.mark.parametrize("row", SENTENCES, ids=KINDS)
def test_of_each_kind(row):
    require_sentence(*row)


def test_every_kind_of_the_core_has_a_sentence_here():
    assert {kind for module in WORDS.values() for kind in import_module(module).KINDS} == {*KINDS}


FEW = Finding("few-users", values={"users": 7})
[FEW_WORDS] = said(FEW)


# --- names and groups ---------------------------------------------------------------------------


def test_names_are_said_unless_all_recommenders_are_meant_and_groups_unless_all_users_are():
    x, y = (replace(FEW, names=(name,)) for name in PAIR.names)
    young = replace(FEW, group="young")
    assert said(x) == [f"X: {FEW_WORDS}"]
    assert said(x, y) == said(FEW, young) == [FEW_WORDS]
    assert said(x, replace(y, values={"users": 8}))[0] == f"X: {FEW_WORDS}"
    assert said(young) == [f"young: {FEW_WORDS}"]
    assert said(replace(young, names=("X",))) == [f"X: young: {FEW_WORDS}"]


def test_groups_of_a_pair_have_their_verdicts_in_a_sentence_for_each_metric():
    findings = [
        verdict("better", ("X", "Y"), group="a"),
        verdict("better", ("Y", "X"), group="b"),
        verdict("undecided", group="c"),
        verdict("better", ("Y", "X"), group="d"),
        verdict("no-verdict", ("X", "Y"), "auc", "a"),
    ]
    assert said(*findings) == [
        "AP by group: Y is better than X for groups b and d; X is better than Y for group a; "
        "undecided for group c.",
        "AUC by group: no verdict for group a.",
    ]


def test_groups_of_several_recommenders_name_those_that_may_be_the_best():
    setting = Setting(names=("X", "Y", "Z"))
    values = {"X": 0.1, "Y": 0.2, "Z": 0.3}
    findings = [
        verdict(kind, (b, a), group=group, a=a, b=b, value_a=values[a], value_b=values[b])
        for group, last in {"a": "better", "b": "undecided"}.items()
        for a, b, kind in (("X", "Y", "better"), ("X", "Z", "better"), ("Y", "Z", last))
    ]
    assert said(*findings, setting=setting) == [
        "The best by AP: Z for group a; Z or Y for group b."
    ]


@pytest.mark.parametrize("name", ["CLS", "{0}", "%s"])
def test_names_that_look_like_other_words_are_kept(name):
    setting = Setting(names=(name, "Y"))
    gap = f"the difference (Y - {name}) is -0.0200, with a 95 % interval of -0.0345 to -0.0100"
    assert said(verdict("better", (name, "Y"), a=name, difference=-0.02), setting=setting) == [
        f"AP: {name} is better than Y; {gap}."
    ]


# --- several findings in one sentence -----------------------------------------------------------


def test_clauses_of_a_sentence_have_commas_between_them():
    bias = {"estimator": "bv-1", "bias": -0.0316, "error": 0.0042, "has_interval": True}
    findings = [Finding("bias", label, values=bias) for label in ("ap", "auc", "ap")]
    bias_of_cls = Finding("bias", "ap", values=bias | {"estimator": "cls"})
    sentence = "the interval ignores the bias. The estimated bias, with its standard error:"
    assert said(*findings, FEW, bias_of_cls) == [
        f"BV 1: {sentence} AP -0.032 ± 0.004, AUC -0.032 ± 0.004.",
        FEW_WORDS,
        f"CLS: {sentence} AP -0.032 ± 0.004.",
    ]
    supported = [
        of("supported", names=(name,), assumption="decreasing", p_value=p_value)
        for name, p_value in (("X", 0.4), ("Y", 1))
    ]
    [sentence] = said(*supported)
    assert sentence.startswith(
        "The samples do not contradict decreasing (p = 0.4 for X, p = 1 for Y)."
    )


def test_assumptions_that_differ_name_their_pairs():
    pairs = {("X", "Y"): "free", ("X", "Z"): "decreasing"}
    findings = [
        of("assumes", names=pair, assumption=assumption) for pair, assumption in pairs.items()
    ]
    on_free, on_decreasing = assumed([*findings, FEW], PAIR)
    assert on_free.startswith("The intervals of X and Y ")
    assert on_decreasing.startswith("The intervals of X and Z ")


def test_verdicts_of_two_are_one_text_by_metric():
    kinds = [("ap", "better"), ("mrr", "better"), ("auc", "undecided"), ("recall@10", "equivalent")]
    findings = [
        verdict(kind, ("Y", "X"), label) for label, kind in [*kinds, ("ndcg@10", "no-verdict")]
    ]
    assert on_metrics(findings, PAIR) == (
        "Y is better than X on AP and MRR. X and Y are equivalent on Recall@10. Undecided between "
        "X and Y: AUC. No verdict on X and Y: NDCG@10."
    )
    sizes = [
        verdict("better", metric="ap", size=Size.MORE),
        verdict("better", metric="auc", size=""),
    ]
    words = "X is better than Y on AP, by more than the margin. X is better than Y on AUC."
    assert on_metrics(sizes, PAIR) == words


# --- sentences and standings --------------------------------------------------------------------


VALUE = {"metric": "ap", "recommender": "X", "value": 0.125, "low": 0.1, "high": 0.15}
EXPECTED = {"metric": "ap", "recommender": "X", "exact": 0.1, "expected": 0.125}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        pytest.param(VALUE, "AP of X is 0.1250 (95 % interval 0.1000 to 0.1500).", id="value"),
        pytest.param(
            VALUE | {"low": np.nan}, "AP of X is 0.1250, without an interval.", id="no-interval"
        ),
        pytest.param(VALUE | {"value": np.nan}, "AP of X is not defined.", id="not-defined"),
        pytest.param(
            VALUE | {"estimator": "decreasing", "assumes": "decreasing"},
            f"AP of X is 0.1250 by Decreasing (95 % interval 0.1000 to 0.1500), if {SHAPE}.",
            id="decreasing",
        ),
        pytest.param(
            VALUE | {"estimator": "cls", "assumes": "bias is zero"},
            "AP of X is 0.1250 by CLS (95 % interval 0.1000 to 0.1500), if the bias of the "
            "estimator is zero.",
            id="bias",
        ),
        pytest.param(
            VALUE | {"of": "new runs", "group": "old"},
            "old: AP of X, of new runs, is 0.1250 (95 % interval 0.1000 to 0.1500).",
            id="group-of-new-runs",
        ),
        pytest.param(
            EXPECTED | {"estimator": "cls"},
            "AP of X is 0.1000, and among 20 sampled negatives 0.1250 on average by CLS.",
            id="expected",
        ),
        pytest.param(
            {"way": "all"},
            "The negatives of each user are taken to be drawn anew.",
            id="first-remark",
        ),
    ],
)
def test_sentences(row, words):
    setting = Setting(names=("X",), negatives=20)
    assert sentence([row], [of("drawn-by-user")], setting) == words


@pytest.mark.parametrize(
    ("order", "decided", "sentence"),
    [
        ("abc", "ac", "a is better than c. a and b, and b and c, cannot be told apart."),
        ("bca", "ca ba", "b and c are better than a. b and c cannot be told apart."),
        ("abc", "", "a, b and c cannot be told apart."),
        (
            "abcde",
            "ab ac ad ae",
            "a is better than all others. b, c, d and e cannot be told apart.",
        ),
    ],
)
def test_standings_state_the_decided_pairs_first(order, decided, sentence):
    value = {name: -place for place, name in enumerate(order)}
    wins = decided.split()
    findings = []
    for a, b in combinations(sorted(order), 2):
        win = next((win for win in wins if {*win} == {a, b}), "")
        sides = {"a": a, "b": b, "value_a": value[a], "value_b": value[b]}
        findings.append(verdict("better" if win else "undecided", tuple(win) or (a, b), **sides))
    assert " ".join(standing(Standings.from_verdicts(findings))) == sentence
    assert said(*findings, setting=Setting(names=tuple(sorted(order)))) == [f"AP: {sentence}"]


def test_standings_of_many_name_the_best_alone():
    rows = [Standing(name, 12.0 - place, "a") for place, name in enumerate("abcdefghijkl")]
    words = "a has the largest value, and is better than 2 of the 11 others."
    assert standing(Standings(rows, [(0, 10), (0, 11), (1, 11)], [])) == [words]


def test_standings_with_a_margin_have_a_sentence_on_it():
    setting = Setting(names=("X", "Y", "Z"), margin=SIZE)
    kinds = [
        ("better", ("X", "Y"), Size.MORE),
        ("equivalent", ("X", "Z"), ""),
        ("better", ("Z", "Y"), ""),
    ]
    about, meaning = margin_of_pairs(
        [verdict(kind, pair, size=size, a=pair[0], b=pair[1]) for kind, pair, size in kinds],
        setting,
    )
    assert about == "AP: X is better than Y by more than the margin; X and Z are equivalent."
    assert meaning.startswith("Equivalent means that the 95 % interval is within ± 0.01")


def test_ends_are_rounded_outward_and_have_no_negative_zero():
    assert rounded_outward(0.0, -1e-12) == rounded_outward(-0.0, -0.0) == ("0", "0")
    assert rounded_outward(0.12345, 0.12389) == ("0.12345", "0.12389")
    assert rounded_outward(0.1234, 0.1711) == ("0.123", "0.172")
    assert rounded_outward(-0.004, 1.0) == ("-0.01", "1")
