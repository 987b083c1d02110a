"""Findings in English: a sentence for each kind, and the names, groups and clauses of several findings."""

from dataclasses import replace

import numpy as np
import pytest

from sampled_metrics.evaluation.compare import BONFERRONI, LARGEST_T
from sampled_metrics.evaluation.standings import Standing, Standings
from sampled_metrics.evaluation.wording import (
    CAUTIONS,
    LESS,
    MORE,
    WORDS,
    assumed,
    cautions,
    margin_of_pairs,
    on_metrics,
    paragraph,
    remarks,
    rounded_outward,
    standing,
)
from sampled_metrics.inference.families import Margin
from sampled_metrics.inference.findings import Finding, Setting

PAIR = Setting(names=("X", "Y"))
SIZE = Margin(0.01)
SHAPE = "better ranks are more frequent than worse ones in the better half of the ranks"
ENDS = {"low": 0.01, "high": 0.0345, "p_value": 0.0123, "difference": 0.02, "is_bounded": False}
SIDES = {"a": "X", "b": "Y", "value_a": 0.1, "value_b": 0.12}
GAP = "The difference (Y - X) is +0.0200, with a 95 % interval of +0.0100 to +0.0345"


def verdict(kind, names=("X", "Y"), metric="ap", group="", **values):
    return Finding(kind, metric, names, group, ENDS | SIDES | values)


def said(*findings, setting=PAIR):
    return [*cautions(findings, setting), *remarks(findings, setting)]


SENTENCES = [
    (Finding("caution", values={"text": "Read with care."}), PAIR, "Read with care."),
    (Finding("note", values={"text": "Users are paired."}), PAIR, "Users are paired."),
    (
        Finding("few-completed", values={"completed": 3, "needed": 30, "most": 0.12345, "users": 40, "open": 5, "k": 10,
                                         "boundary": 64}),
        PAIR,
        "Only 3 users are completed, and an interval needs 30. With 97.5 % confidence, no metric is above 0.123: of 40 "
        "users, 5 have fewer than 10 candidates above the held-out item among the first 64. Take a larger depth, or "
        "depth=None.",
    ),
    (
        Finding("unexplained", values={"assumption": "free", "p_value": 0.001}),
        PAIR,
        "No distribution of true ranks explains the sample (p = 0.001), so there is no interval and no verdict. Usual "
        "causes are negatives that all users share, ties that count in favour of the held-out item, negatives that are "
        "not drawn uniformly, or with replacement, and a wrong number of candidates or negatives.",
    ),
    (
        Finding("drawn-once"),
        PAIR,
        "All users share one draw of negatives, whose error no number of users reduces or shows. So there is no "
        "interval and no verdict. Several independent draws give them: read each with drawn='once', and give a list of "
        "them.",
    ),
    (Finding("drawn-by-user"), PAIR, "The negatives of each user are taken to be drawn anew."),
    (
        Finding("draws", values={"draws": 5}),
        PAIR,
        "The intervals include the spread between 5 draws of negatives, which are taken to be independent.",
    ),
    (
        Finding("replacement", "ap", values={"estimator": "free", "replacement": False, "low": 0.1081, "high": 0.7461,
                                             "other_low": 0.0, "other_high": 0.921}),
        PAIR,
        "The negatives are said to be drawn without replacement. If they are drawn with it, the intervals are others: "
        "AP from 0 to 0.93 in place of 0.10 to 0.75 (free). Make sure which it was.",
    ),
    (
        Finding("no-share", "hr@10", values={"value": "0.69863", "users": 6040, "below": 0.69850993,
                                             "above": 0.6986754}),
        PAIR,
        "No number of 6,040 users has the Hit rate@10 0.69863; the nearest are 0.69851 and 0.698675. It is taken to be "
        "a mean over seeds.",
    ),
    (
        Finding("contradicted", values={"assumption": "decreasing", "p_value": 0.02}),
        PAIR,
        "The sample contradicts decreasing (p = 0.02), so the interval is that of a weaker assumption.",
    ),
    (
        Finding("narrow", values={"assumption": "decreasing"}),
        PAIR,
        "By decreasing, the interval would be hardly wider than that of exact ranks of as many users, so that the "
        "assumption alone would decide. The interval is that of a weaker assumption.",
    ),
    (
        Finding("uncorrected-values"),
        PAIR,
        "The rows of uncorrected have the metric of the sampled rank, which is not that of the true rank (AUC "
        "excepted) and can order recommenders wrongly.",
    ),
    (
        Finding("uncorrected-verdicts"),
        PAIR,
        "These are uncorrected sampled metrics: except for AUC, the better recommender by them may be the worse by the "
        "true metric.",
    ),
    (
        Finding("supported", names=("X",), values={"assumption": "decreasing", "p_value": 0.4567}),
        PAIR,
        "The sample does not contradict decreasing (p = 0.46 for X). Not every wrong assumption is noticed.",
    ),
    (
        Finding("bounds", "recall@10", values={"low": 0.1234, "high": 0.1711, "assumes": "decreasing",
                                               "least_negatives": 9, "most_negatives": 9}),
        Setting(0.9),
        f"With 90 % confidence, Recall@10 is between 0.123 and 0.172, if {SHAPE}.",
    ),
    (
        Finding("bounds", "ap", values={"low": 0, "high": 0.5, "assumes": "none", "least_negatives": 1,
                                        "most_negatives": 1}),
        PAIR,
        "Without an assumption on the ranks, 1 negative allows any AP from 0 to 0.50, with 95 % confidence.",
    ),
    (
        Finding("bounds", "ap", values={"low": 0, "high": 1, "assumes": "none", "least_negatives": 5,
                                        "most_negatives": 9}),
        PAIR,
        "Without an assumption on the ranks, 5 to 9 negatives allow any AP from 0 to 1, with 95 % confidence.",
    ),
    (
        Finding("auc-too-low", "auc", values={"estimator": "mes", "auc": 0.98765}),
        PAIR,
        "MES: its AUC is too low. The AUC of the sample, which has no bias, is 0.988.",
    ),
    (
        Finding("out-of-range", "recall@10", values={"estimator": "bv-0.1", "what": "the value", "value": 1.23456}),
        PAIR,
        "BV 0.1: a metric is from 0 to 1, but not the value of Recall@10 (1.235). Its weights vary too much for this "
        "sample; take an estimator with a larger γ, or more negatives or users.",
    ),
    (
        Finding("bias", "ap", values={"estimator": "bv-1", "bias": -0.0316, "error": 0.0042}),
        PAIR,
        "BV 1: the interval ignores the bias. The estimated bias, with its standard error: AP -0.032 ± 0.004.",
    ),
    (
        Finding("bias", "ap", values={"estimator": "bv-1", "bias": 0.0316, "error": np.nan}),
        PAIR,
        "BV 1: the interval ignores the bias. The estimated bias, with its standard error: AP +0.03 (its standard "
        "error is not known, as all users are alike).",
    ),
    (
        Finding("no-bias", values={"estimator": "mle"}),
        PAIR,
        "No bias is estimated for MLE: it is known of estimators that are linear in a uniform sample.",
    ),
    (
        Finding("approximate", values={"estimator": "mes-0.1"}),
        PAIR,
        "The intervals of MES 0.1 are Student's intervals of pseudo-values. They can be much too narrow where hits are "
        "rare: rely on those of strict bounds.",
    ),
    (
        Finding("large-weight", values={"estimator": "cls", "largest": 123.4}),
        PAIR,
        "CLS: a single user counts up to 1.2e+02, where a metric is at most 1, because its equations are badly "
        "conditioned. Take a larger γ.",
    ),
    (verdict("better", ("Y", "X")), PAIR, f"AP: Y is better than X. {GAP}."),
    (verdict("undecided"), PAIR, f"AP: undecided. {GAP} that includes 0 (p = 0.012)."),
    (
        verdict("undecided", is_bounded=True),
        PAIR,
        f"AP: undecided. {GAP} that includes 0 (p = 0.012). To see how often more negatives, or more "
        "users, would decide, use plan.",
    ),
    (verdict("no-verdict"), PAIR, f"AP: no verdict. {GAP}, which excludes the difference itself."),
    (verdict("no-verdict", low=np.nan, high=np.nan), PAIR, "AP: no verdict."),
    (
        verdict("equivalent", size="", relative=0.2),
        replace(PAIR, margin=SIZE),
        f"AP: X and Y are equivalent. {GAP.replace('+0.0200', '+0.0200 (+20 % of the worse value)')}.",
    ),
    (
        verdict("better", ("Y", "X"), size=MORE),
        replace(PAIR, margin=SIZE),
        f"AP: Y is better than X by more than the margin of 0.01. {GAP}.",
    ),
    (
        verdict("better", ("Y", "X"), size=LESS),
        replace(PAIR, margin=Margin(0.02, True)),
        f"AP: Y is better than X, by less than the margin of 2 % of the worse value. {GAP}.",
    ),
    (
        verdict("better", ("Y", "X"), size=""),
        replace(PAIR, margin=SIZE),
        f"AP: Y is better than X; whether by more than the margin of 0.01 is undecided. {GAP}.",
    ),
    (
        Finding("order-reversed", "ap", ("X", "Y"), values={"groups": ["b", "c"]}),
        PAIR,
        "By AP, X is better than Y for all users together, but Y is better than X for groups b and c.",
    ),
    (
        Finding("order-differs", "ap", ("X", "Y"), values={"Y": ["b"], "X": ["a", "c"]}),
        PAIR,
        "The order by AP differs between groups: Y is better than X for group b, and X is better than Y for groups a "
        "and c.",
    ),
    (
        Finding("margin"),
        replace(PAIR, margin=SIZE),
        "Equivalent means that the 95 % interval is within ± 0.01, which is stricter than two one-sided tests at 5 %.",
    ),
    (
        Finding("margin"),
        Setting(0.9, margin=Margin(0.02, True)),
        "The margin is 2 % of the worse value, and is judged by the 90 % intervals of b - 1.02 a and a - 1.02 b. "
        "Equivalent means that both are below 0, which is stricter than two one-sided tests at 10 %.",
    ),
    (
        Finding(
            "best-pairs",
            "auc",
            values={"most": 10, "recommenders": 12, "pairs": 66, "method": LARGEST_T},
        ),
        PAIR,
        "Of 12 recommenders, the 10 best by AUC are shown. The intervals of a metric hold together at 95 % for all 66 "
        "pairs (the largest of several t). For the other pairs and the p-values, call compare.",
    ),
    (
        Finding("family", values={"pairs": 3, "method": LARGEST_T, "rate": 0.0}),
        PAIR,
        "The intervals of a metric hold together at 95 % for its 3 pairs (the largest of several t). The p-values are "
        "adjusted for these pairs by the method of Holm. Metrics are not adjusted for one another.",
    ),
    (
        Finding("family", values={"pairs": 3, "method": BONFERRONI, "rate": 0.05 / 3}),
        PAIR,
        "The intervals of a metric hold together at 95 % for its 3 pairs (Bonferroni, each at 98.33 %). The p-values "
        "are adjusted for these pairs by the method of Holm. Metrics are not adjusted for one another.",
    ),
    (
        Finding("seeds", values={"seeds": {"X": 2, "Y": 1}}),
        PAIR,
        "The intervals include the spread between the seeds of X (2 seeds); that of Y, of one seed, is taken to be 0.",
    ),
    (
        Finding("assumes", names=("X", "Y"), values={"assumption": "decreasing"}),
        PAIR,
        f"The intervals are of the true difference, if {SHAPE}.",
    ),
    (
        Finding("assumes", names=("X", "Y"), values={"assumption": "free"}),
        PAIR,
        "The intervals are of the true difference, without an assumption on the ranks.",
    ),
    (
        Finding("equal-bias", values={"estimator": "bv-0.1"}),
        PAIR,
        "The comparison is between the means of BV 0.1, and assumes that its bias is equal for both. If its bias "
        "differs between them, so does the true difference. The estimator decreasing does not assume that.",
    ),
    (
        Finding("higher", names=("X", "Y"), values={"higher_a": 0.1, "higher_b": 0.305, "is_sampled": True}),
        PAIR,
        "Among the sampled negatives, Y ranks the held-out item higher for 30.5 % of the users, and X for 10 %.",
    ),
    (Finding("undefined", "auc"), PAIR, "AUC is not defined, as a user has only one candidate."),
    (
        Finding("several-rows"),
        PAIR,
        "Some users have several rows. A user counts by the mean over the user's rows, each of one relevant item among "
        "irrelevant ones. Hit rate, NDCG or MAP of all items of a user together are others: `evaluate` has them of "
        "ranked lists.",
    ),
    (
        Finding("few-users", values={"users": 7}),
        PAIR,
        "There are only 7 users. With fewer than 100, intervals are rough: a few users who are unlike the others "
        "decide them.",
    ),
    (
        Finding("equal-metrics", values={"metrics": ["recall@10", "hr@10"]}),
        PAIR,
        "Recall@10 and Hit rate@10 are equal here, as ranks are of one relevant item, with grade 1.",
    ),
    (
        Finding("group-level"),
        Setting(0.9),
        "The interval of each group is at 90 % by itself; compare adjusts its verdicts for the number of groups.",
    ),
    (
        Finding("groups-adjusted", values={"groups": 2, "level": 0.975}),
        PAIR,
        "The verdicts by group are adjusted for the 2 groups: their intervals hold together at 95 % (Bonferroni, each "
        "group at 97.5 %), and the p-values are adjusted by the method of Holm.",
    ),
    (
        Finding("wrong-order", "ap", ("X", "Y"), values={"estimator": "uncorrected", "chance": 0.123,
                                                         "exact_better": 0.2, "exact_worse": 0.1,
                                                         "expected_better": 0.3, "expected_worse": 0.4}),
        replace(PAIR, negatives=100),
        "Another order: by the exact AP, X is ahead of Y (0.2000 against 0.1000). Among 100 sampled negatives, the "
        "uncorrected AP puts X behind Y on average (0.3000 against 0.4000). The chance of the exact order is 0.12.",
    ),
    (
        Finding("order-undecided"),
        PAIR,
        "An order by exact values may be undecided. compare says whether the exact ranks decide it.",
    ),
    (
        Finding("published-order", "ap", ("Y", "X"), values={"low": 0.011, "high": 0.025, "assumption": "decreasing",
                                                             "is_decided": True}),
        PAIR,
        f"By these numbers, with 95 % confidence and if {SHAPE}, Y is better than X by AP (0.011 to 0.025).",
    ),
    (
        Finding("published-order", "ap", ("X", "Y"), values={"low": -0.2, "high": 0.5, "assumption": "free",
                                                             "is_decided": False}),
        PAIR,
        "These numbers do not order X and Y by AP (X may be better by up to 0.20, Y by up to 0.50), with 95 % "
        "confidence.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("finding", "setting", "sentence"), SENTENCES, ids=[row[0].kind for row in SENTENCES])
def test_of_each_kind(finding, setting, sentence):
    assert said(finding, setting=setting) == [sentence]
    assert bool(cautions([finding], setting)) == (finding.kind in CAUTIONS)


def test_there_is_a_sentence_for_each_kind():
    """Those of plans are in test_plan.py."""
    assert {kind for kind in WORDS if not kind.startswith("plan-")} == {finding.kind for finding, *_ in SENTENCES}


def test_a_finding_on_a_pair_names_both_and_has_no_name_before_it():
    """Also of three recommenders, where a sentence about one of them begins with its name."""
    setting = Setting(names=("X", "Y", "W"))
    pairs = [finding for finding, *_ in SENTENCES if len(finding.names) == 2]
    assert len({finding.kind for finding in pairs}) > 5
    for finding in pairs:
        entry = WORDS[finding.kind]
        assert entry.names_recommenders or entry.together, finding.kind
        if entry.together is None:
            [text] = [*cautions([finding], setting), *remarks([finding], setting)]
            assert not text.startswith(f"{finding.names[0]}: ")


FEW = Finding("few-users", values={"users": 7})
[FEW_WORDS] = said(FEW)


class TestNames:
    def test_are_said_unless_all_recommenders_are_meant(self):
        of_x, of_y = (replace(FEW, names=(name,)) for name in PAIR.names)
        assert said(of_x) == [f"X: {FEW_WORDS}"]
        assert said(of_x, of_y) == [FEW_WORDS]
        assert said(of_x, replace(of_y, values={"users": 8}))[0] == f"X: {FEW_WORDS}"

    @pytest.mark.parametrize("name", ["CLS", "MLE", "{}", "{0}", "%s", "AP"])
    def test_that_look_like_other_words_are_kept(self, name):
        setting = Setting(names=(name, "Y"))
        bias = Finding("bias", "ap", values={"estimator": "cls", "bias": 0.01, "error": 0.002})
        found = said(replace(FEW, names=(name,)), replace(bias, names=(name,)), bias, setting=setting)
        assert found == [f"{name}: {FEW_WORDS}", f"{name}: {said(bias)[0]}", said(bias)[0]]
        gap = GAP.replace("X", name)
        assert said(verdict("better", (name, "Y"), a=name), setting=setting) == [f"AP: {name} is better than Y. {gap}."]

    def test_with_braces_are_kept_beside_clauses(self):
        order = {"low": 0.1, "high": 0.2, "assumption": "free", "is_decided": True}
        findings = [Finding("published-order", metric, ("{}", "Y"), values=order) for metric in ("ap", "auc")]
        [sentence] = said(*findings, setting=Setting(names=("{}", "Y")))
        assert sentence.endswith(
            ", {} is better than Y by AP (0.10 to 0.20), {} is better than Y by AUC (0.10 to 0.20)."
        )

    def test_of_notes_are_not_said_twice(self):
        note = Finding("note", names=("X",), values={"text": "ranks: no user is named."})
        assert said(note) == ["X: no user is named."]
        assert said(replace(note, values={"text": "X: no user is named."})) == ["X: no user is named."]


class TestGroups:
    def test_are_said_unless_all_users_are_meant(self):
        young = replace(FEW, group="young")
        assert said(young) == [f"young: {FEW_WORDS}"]
        assert said(FEW, young) == [FEW_WORDS]
        assert said(replace(young, names=("X",))) == [f"X: young: {FEW_WORDS}"]

    def test_of_a_pair_have_their_verdicts_in_a_sentence_for_each_metric(self):
        findings = [
            verdict("better", ("X", "Y"), group="a"), verdict("better", ("Y", "X"), group="b"),
            verdict("undecided", group="c"), verdict("better", ("Y", "X"), group="d"),
            verdict("no-verdict", ("X", "Y"), "auc", "a"),
        ]  # fmt: skip
        assert said(*findings) == [
            "AP by group: Y is better than X for groups b and d; X is better than Y for group a; undecided for group "
            "c.",
            "AUC by group: no verdict for group a.",
        ]

    def test_of_several_recommenders_name_those_that_may_be_the_best(self):
        setting, values = Setting(names=("X", "Y", "Z")), {"X": 0.1, "Y": 0.2, "Z": 0.3}
        pairs = [(a, b, kind, group) for group, kinds in {"a": ("better", "better", "better"),
                                                          "b": ("better", "better", "undecided")}.items()
                 for (a, b), kind in zip((("X", "Y"), ("X", "Z"), ("Y", "Z")), kinds, strict=True)]  # fmt: skip
        findings = [
            verdict(kind, (b, a), group=group, a=a, b=b, value_a=values[a], value_b=values[b])
            for a, b, kind, group in pairs
        ]
        assert said(*findings, setting=setting) == ["The best by AP: Z for group a; Z or Y for group b."]


class TestTogether:
    def test_clauses_of_a_sentence_have_commas_between_them(self):
        bias = {"estimator": "bv-1", "bias": -0.0316, "error": 0.0042}
        findings = [Finding("bias", label, values=bias) for label in ("ap", "auc", "ap")]
        other = Finding("bias", "ap", values=bias | {"estimator": "cls"})
        sentence = "the interval ignores the bias. The estimated bias, with its standard error:"
        assert said(*findings, FEW, other) == [
            f"BV 1: {sentence} AP -0.032 ± 0.004, AUC -0.032 ± 0.004.", FEW_WORDS, f"CLS: {sentence} AP -0.032 ± 0.004."
        ]  # fmt: skip

    def test_supported_samples_are_one_sentence(self):
        findings = [
            Finding("supported", names=(name,), values={"assumption": "decreasing", "p_value": p_value})
            for name, p_value in (("X", 0.4), ("Y", 1.0))
        ]
        assert said(*findings) == [
            "The samples do not contradict decreasing (p = 0.4 for X, p = 1 for Y). Not every wrong assumption is "
            "noticed."
        ]

    def test_assumptions_that_differ_name_their_pairs(self):
        findings = [Finding("assumes", names=pair, values={"assumption": assumption})
                    for pair, assumption in ((("X", "Y"), "free"), (("X", "Z"), "decreasing"))]  # fmt: skip
        sentences = (
            "The intervals of X and Y are of the true difference, without an assumption on the ranks.",
            f"The intervals of X and Z are of the true difference, if {SHAPE}.",
        )
        assert assumed([*findings, FEW], PAIR) == sentences

    def test_verdicts_of_two_are_one_text_by_metric(self):
        kinds = {
            "ap": "better",
            "mrr": "better",
            "auc": "undecided",
            "recall@10": "equivalent",
            "ndcg@10": "no-verdict",
        }
        findings = [verdict(kind, ("Y", "X"), label) for label, kind in kinds.items()]
        assert on_metrics(findings, PAIR) == (
            "Y is better than X on AP and MRR. X and Y are equivalent on Recall@10. Undecided between X and Y: AUC. No "
            "verdict on X and Y: NDCG@10."
        )
        sizes = [verdict("better", ("X", "Y"), "ap", size=MORE), verdict("better", ("X", "Y"), "auc", size="")]
        assert (
            on_metrics(sizes, PAIR) == "X is better than Y on AP, by more than the margin. X is better than Y on AUC."
        )

    def test_sampled_metrics_are_called_so_except_for_auc(self):
        setting = replace(PAIR, is_uncorrected=True)
        for label, name in (("recall@10", "Sampled Recall@10"), ("auc", "AUC")):
            [sentence] = said(verdict("undecided", metric=label), setting=setting)
            assert sentence.startswith(f"{name}: undecided. ")


class TestParagraph:
    """What a result says to a reviewer, by hand."""

    def test_of_values_with_intervals(self):
        rows = [
            {"recommender": name, "metric": "recall@10", "value": value, "low": value - 0.1, "high": value + 0.1}
            for name, value in (("X", 0.25), ("Y", 0.5))
        ]
        assert paragraph(
            rows, [Finding("few-users", values={"users": 9})], Setting(0.9, "9 users, n = 50", ("X", "Y"))
        ) == (
            "Recall@10 of X and Y was measured (9 users, n = 50). The values, with 90 % intervals: Recall@10 of X "
            "0.2500 (0.1500 to 0.3500); Recall@10 of Y 0.5000 (0.4000 to 0.6000). There are only 9 users. With fewer "
            "than 100, intervals are rough: a few users who are unlike the others decide them."
        )

    def test_of_sampled_ranks_has_what_their_bounds_allow(self):
        ends = {"low": 0.1, "high": 0.4}
        row = {"estimator": "free", "metric": "auc", "value": 0.2, **ends}
        bounds = Finding("bounds", "auc", values={**ends, "estimator": "free", "assumes": "none",
                                                  "least_negatives": 20, "most_negatives": 20})  # fmt: skip
        assert paragraph(
            [row], [bounds, Finding("note", values={"text": "More."})], Setting(0.95, "60 users, m = 20")
        ) == (
            "AUC was estimated from ranks among sampled negatives (60 users, m = 20). Without an assumption on the "
            "ranks, 20 negatives allow any AUC from 0.10 to 0.40, with 95 % confidence."
        )

    def test_of_a_comparison_has_the_verdict_on_its_rows(self):
        setting = Setting(names=("X", "Y"), parameters="60 users, n = 50", estimator="free")
        verdicts = [verdict("no-verdict", metric=label, low=float("nan")) for label in ("ap", "auc")]
        found = paragraph([{"metric": "ap", "difference": 0.1}], verdicts, setting)
        assert found == (
            "AP of X and Y was compared user by user, from ranks among sampled negatives, by the estimator free "
            "(60 users, n = 50). AP: no verdict."
        )

    def test_of_an_expectation_and_of_a_plan(self):
        row = {"estimator": "cls", "metric": "ap", "recommender": "X", "exact": 0.1, "expected": 0.125}
        assert paragraph([row], [], Setting(names=("X",), negatives=20)) == (
            "AP of X was measured, and expected among 20 sampled negatives. The values: AP of X 0.1000, expected by "
            "CLS 0.1250."
        )
        assert paragraph([{"way": "all"}], [Finding("note", values={"text": "More."})], Setting(0.95, "9 users")) == (
            "9 users. More."
        )


class TestStandings:
    @pytest.mark.parametrize(
        ("order", "decided", "sentence"),
        [
            ("abc", "ac", "a is better than c. a and b, and b and c, cannot be told apart."),
            ("bca", "ca ba", "b and c are better than a. b and c cannot be told apart."),
            ("abc", "", "a, b and c cannot be told apart."),
            ("abc", "ab ac bc", "a is better than b and c. b is better than c."),
            ("abcde", "ab ac ad ae", "a is better than all others. b, c, d and e cannot be told apart."),
        ],
    )
    def test_state_the_decided_pairs_first(self, order, decided, sentence):
        value = {name: -place for place, name in enumerate(order)}
        names = sorted(order)
        wins = [tuple(pair) for pair in decided.split()]
        findings = []
        for a, b in ((a, b) for a in names for b in names if a < b):
            pair = next((win for win in wins if set(win) == {a, b}), None)
            of_pair = {"a": a, "b": b, "value_a": value[a], "value_b": value[b]}
            findings.append(verdict("better" if pair else "undecided", pair or (a, b), **of_pair))
        assert standing(Standings.from_verdicts(findings)) == sentence
        assert said(*findings, setting=Setting(names=tuple(names))) == [f"AP: {sentence}"]

    def test_of_many_name_the_best_alone(self):
        """The first of twelve is better than the last two."""
        rows = [Standing(name, 12.0 - place, "a") for place, name in enumerate("abcdefghijkl")]
        standings = Standings(rows, [(0, 10), (0, 11), (1, 11)], [])
        assert standing(standings) == "a has the largest value, and is better than 2 of the 11 others."

    def test_with_a_margin_have_a_sentence_on_it(self):
        setting = Setting(names=("X", "Y", "Z"), margin=SIZE)
        of_pairs = [verdict("better", ("X", "Y"), size=MORE), verdict("equivalent", ("X", "Z"), size=""),
                    verdict("better", ("Z", "Y"), size="")]  # fmt: skip
        about, meaning = margin_of_pairs(of_pairs, setting)
        assert about == "AP: X is better than Y by more than the margin; X and Z are equivalent."
        assert meaning.startswith("Equivalent means that the 95 % interval is within ± 0.01")


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ((0.0, 0.0), ("0", "0")),
        ((0.0, -1e-12), ("0", "0")),
        ((-0.0, -0.0), ("0", "0")),
        ((0.12345, 0.12389), ("0.12345", "0.12389")),
        ((0.1234, 0.1711), ("0.123", "0.172")),
        ((0.2, 0.7), ("0.20", "0.70")),
        ((-0.004, 1.0), ("-0.01", "1")),
    ],
)
def test_ends_are_rounded_outward_and_have_no_negative_zero(ends, text):
    assert rounded_outward(*ends) == text
