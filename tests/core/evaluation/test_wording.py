"""Findings in English: format strings, names and groups, and the sentence of a row."""

import string
from itertools import combinations

import numpy as np
import pytest
from sentences import PAIR, finding, said, verdict

from sampled_metrics.core.evaluation.kinds import tables_of_kinds
from sampled_metrics.core.evaluation.standings import Standings
from sampled_metrics.core.evaluation.verdict import Lead
from sampled_metrics.core.evaluation.wording import sentence
from sampled_metrics.core.evaluation.words.order import by_margin, on_metrics, standing
from sampled_metrics.core.findings import CAUTION, REMARK
from sampled_metrics.core.inference.setting import Setting

KINDS = [kind for _, kinds in tables_of_kinds() for kind in kinds]
OF_ROW = ("the columns of the row", "the columns of its row")
FEW = finding("few-users", users=7)
[FEW_WORDS] = said(FEW)


# --- the tables of kinds ------------------------------------------------------------------------


def test_a_kind_says_its_values_and_what_to_do():
    for kind in KINDS:
        assert kind.rank in (CAUTION, REMARK)
        assert kind.when
        assert kind.action
        fields = {
            name.split("[")[0] for _, name, _, _ in string.Formatter().parse(kind.text) if name
        }
        fields -= {"metric", "names", "confidence"}
        is_of_row = kind.values.startswith(OF_ROW)
        assert is_of_row or all(name in kind.values for name in fields), kind.name
    assert len({kind.name for kind in KINDS}) == len(KINDS)


# --- names and groups ---------------------------------------------------------------------------


def test_a_remark_begins_with_its_recommender_group_and_file():
    young = finding("few-users", names=("X",), users=7)
    assert said(young) == [f"X: {FEW_WORDS}"]
    assert said(young, setting=Setting(names=("X",))) == [FEW_WORDS]
    [remark] = said(finding("columns-not-used", source="a.csv", columns="b"))
    assert remark.startswith("a.csv: Columns")
    [remark] = said(finding("columns-not-used", names=("X",), source="X", columns="b"))
    assert remark.startswith("X: Columns")


# --- verdicts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("conclusion", "values", "words"),
    [
        ("better", {"size": Lead.MORE}, "better than Y by more than the margin; the difference"),
        ("better", {"assumes": ", if so"}, "to -0.01, if so."),
        ("equivalent", {"relative": 0.05}, "X and Y are equivalent; … (+5 % of the worse value)"),
        ("undecided", {}, "AP: undecided; … includes 0 (p = 0.0123)."),
    ],
)
def test_a_verdict_is_a_sentence(conclusion, values, words):
    [remark] = said(verdict(conclusion, **values))
    for part in words.split(" … "):
        assert part in remark


def test_verdicts_of_two_are_one_text_by_metric():
    kinds = [("ap", "better"), ("mrr", "better"), ("auc", "undecided"), ("recall@10", "equivalent")]
    findings = [
        verdict(kind, ("Y", "X"), label) for label, kind in [*kinds, ("ndcg@10", "no-verdict")]
    ]
    assert on_metrics(findings, PAIR) == (
        "Y is better than X on AP and MRR. X and Y are equivalent on Recall@10. Undecided between "
        "X and Y: AUC. No verdict on X and Y: NDCG@10."
    )


# --- sentences and standings --------------------------------------------------------------------


VALUE = {"metric": "ap", "recommender": "X", "value": 0.125, "low": 0.1, "high": 0.15}
EXPECTED = {"metric": "ap", "recommender": "X", "exact": 0.1, "expected": 0.125}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        pytest.param(VALUE, "AP is 0.125 (95 % interval 0.1 to 0.15).", id="value"),
        pytest.param(VALUE | {"value": np.nan}, "AP is not defined", id="not-defined"),
        pytest.param(
            VALUE | {"estimator": "decreasing", "assumes": "decreasing"},
            "AP with decreasing is 0.125 (95 % interval 0.1 to 0.15), if a better rank",
            id="decreasing",
        ),
        pytest.param(
            VALUE | {"estimator": "cls", "assumes": "bias is zero"},
            "if the bias of the estimator is zero.",
            id="bias",
        ),
        pytest.param(
            VALUE | {"inference": "new_runs", "group": "old"},
            "old: AP of new runs is 0.125",
            id="group-of-new-runs",
        ),
        pytest.param(
            EXPECTED | {"estimator": "cls"},
            "AP is 0.1, and among 20 sampled negatives 0.125 on average with cls.",
            id="expected",
        ),
        pytest.param({"way": "all"}, "drawn independently", id="first-remark"),
    ],
)
def test_sentences(row, words):
    setting = Setting(names=("X",), negatives=20)
    assert words in sentence([row], [finding("drawn-by-user")], setting)


@pytest.mark.parametrize(
    ("order", "decided", "words"),
    [
        ("abc", "ac", "a is better than c. a and b, and b and c, cannot be distinguished."),
        (
            "abcde",
            "ab ac ad ae",
            "a is better than all others. b, c, d and e cannot be distinguished.",
        ),
    ],
)
def test_standings_state_the_decided_pairs_first(order, decided, words):
    value = {name: -place for place, name in enumerate(order)}
    wins = decided.split()
    verdicts = []
    for a, b in combinations(sorted(order), 2):
        win = next((win for win in wins if {*win} == {a, b}), "")
        sides = {"a": a, "b": b, "value_a": value[a], "value_b": value[b]}
        verdicts.append(verdict("better" if win else "undecided", tuple(win) or (a, b), **sides))
    assert " ".join(standing(Standings.from_verdicts(verdicts))) == words


def test_pairs_that_a_margin_decides_are_named():
    kinds = [
        ("better", ("X", "Y"), Lead.MORE),
        ("equivalent", ("X", "Z"), Lead.UNKNOWN),
        ("better", ("Z", "Y"), Lead.UNKNOWN),
    ]
    verdicts = [verdict(kind, pair, size=size, a=pair[0], b=pair[1]) for kind, pair, size in kinds]
    assert by_margin(verdicts) == {
        "ap": "X is better than Y by more than the margin; X and Z are equivalent"
    }
