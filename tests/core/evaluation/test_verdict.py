"""Verdicts on pairs: each conclusion from constructed values, margins, shares of users, and
groups.
"""

from dataclasses import replace

import numpy as np
import pytest

import sampled_metrics as sm
from sampled_metrics.core.evaluation.compare import (
    CompareOptions,
    Family,
    Users,
    orders_of_groups,
    verdicts_of,
)
from sampled_metrics.core.evaluation.values import UserValues
from sampled_metrics.core.evaluation.verdict import (
    Conclusion,
    Lead,
    Verdict,
    adjusted,
    verdict_of_row,
)
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.setting import Setting

USERS = 400
RATES = np.array([0.05])
RANKS = {"a": [1, 2, 3, 4] * 100, "b": [1, 1, 1, 9] * 100}


def hits(number, start=0):
    """Values of users of whom so many hit, from the user `start` on."""
    return np.array([(np.arange(USERS) - start) % USERS < number], dtype=float)


def known(low, findings=()):
    bounds = np.array([[(0.0, 1.0)] * 2])
    return UserValues(low, low, True, bounds, bounds[:, 0], low.mean(axis=1), findings=findings)


def between(low, high, point):
    """Values of strict bounds."""
    return replace(known(low), high=high, one_value=False, point=np.array([point]))


def verdict_of(a, b, margin=None, places=None, names=("A", "B"), group=""):
    """Return the verdict on two recommenders from values of users."""
    values = dict(zip(names, (a, b), strict=True))
    places = places or {name: -users_values.low for name, users_values in values.items()}
    family = Family(
        Users(group, Setting(), {"ap": sm.metric("ap")}, values, places, np.arange(USERS), []),
        question="",
        values=values,
        rates=RATES,
        finding=Finding("family"),
    )
    [verdict] = verdicts_of(family, names, CompareOptions(margin=margin))
    return verdict


FEW = known(hits(100))
MANY = known(hits(180))
BELOW, ABOVE = (between(values.low, np.minimum(values.low + 0.1, 1), 0.4) for values in (FEW, MANY))


WIDE = between(FEW.low, np.ones((1, USERS)), 0.3)
OF_OTHER_USERS = known(hits(105, start=300))


@pytest.mark.parametrize(
    ("a", "b", "conclusion"),
    [
        (FEW, MANY, Conclusion.BETTER),
        (MANY, FEW, Conclusion.BETTER),
        (FEW, OF_OTHER_USERS, Conclusion.UNDECIDED),
        (WIDE, MANY, Conclusion.UNDECIDED),
        (BELOW, ABOVE, Conclusion.UNDECIDED),  # a difference of 0, and an interval above it
        (replace(BELOW, point=np.array([0.27])), ABOVE, Conclusion.BETTER),
        (FEW, replace(MANY, is_explained=False), Conclusion.NO_VERDICT),
        (FEW, replace(MANY, is_shared=True), Conclusion.NO_VERDICT),
    ],
)
def test_conclusions(a, b, conclusion):
    verdict = verdict_of(a, b)
    assert verdict.conclusion is conclusion
    if conclusion is Conclusion.BETTER:
        better, worse = ("A", "B") if a is MANY else ("B", "A")
        assert verdict.names == (better, worse)
        assert verdict.in_words == better
    else:
        assert verdict.names == ("A", "B")
        assert verdict.in_words == conclusion.value.replace("-", " ")
    assert verdict.difference == pytest.approx(b.point[0] - a.point[0])
    assert verdict.is_bounded is not (a.one_value and b.one_value)
    assert verdict.has_interval == b.has_interval
    assert np.isnan([verdict.low, verdict.high, verdict.p_value]).all() == (not b.has_interval)


def test_a_metric_that_is_not_defined_has_no_verdict():
    verdict = verdict_of(known(np.full((1, USERS), np.nan)), MANY)
    assert verdict.conclusion is Conclusion.NO_VERDICT
    assert not verdict.is_defined
    assert verdict.better is None


@pytest.mark.parametrize(
    "make", [float, lambda size: f"{400 * size}%"], ids=["absolute", "relative"]
)
def test_a_pair_that_is_alike_is_equivalent_if_the_interval_is_within_the_margins(make):
    a = known(hits(100))
    b = known(hits(100, start=20))
    high = verdict_of(a, b).high
    wide = verdict_of(a, b, make(1.4 * high))
    narrow = verdict_of(a, b, make(0.6 * high))
    assert (wide.conclusion, wide.size) == (Conclusion.EQUIVALENT, Lead.UNKNOWN)
    assert (narrow.conclusion, narrow.size) == (Conclusion.UNDECIDED, Lead.UNKNOWN)


def test_shares_are_of_the_users_for_whom_each_ranks_higher():
    places = {"A": np.array([RANKS["a"]], dtype=float), "B": np.array([RANKS["b"]], dtype=float)}
    verdict = verdict_of(FEW, MANY, 0.1, places)
    assert (verdict.higher_a, verdict.higher_b) == (0.25, 0.5)
    assert np.isnan(verdict_of(FEW, MANY).higher_a)
    unknown = verdict_of(FEW, MANY, 0.1, {**places, "B": np.full((1, USERS), np.nan)})
    assert np.isnan([unknown.higher_a, unknown.higher_b]).all()


def test_a_recommender_may_be_called_as_a_conclusion_is():
    """B is better, and is called as if nothing were decided."""
    ranks = {"A": [9, 8, 7, 30] * 50, "undecided": [1, 2, 1, 3] * 50}
    result = sm.compare(sm.exact_ranks(ranks, candidates=50, exact=True), metrics="ap")
    [row] = result.to_dict("records")
    verdict = verdict_of_row(row, result.findings, result.setting.names)
    assert (verdict.better, verdict.worse) == ("undecided", "A")
    assert verdict_of_row(row | {"metric": "auc"}, result.findings, result.setting.names) is None


def test_p_values_are_adjusted_within_a_metric_and_a_question():
    """By Holm's method .01, .04 and .03 of a family are .03, .06 and .06."""
    verdict = verdict_of(FEW, MANY)
    family = [replace(verdict, p_value=p_value) for p_value in (0.01, 0.04, 0.03)]
    others = [
        replace(verdict, p_value=0.5, metric="auc"),
        replace(verdict, p_value=0.4, inference="these_runs"),
    ]
    verdicts_of_groups = [
        replace(verdict, p_value=p_value, group=group)
        for p_value, group in ((0.2, "x"), (0.3, "y"))
    ]
    verdicts = adjusted([*family, *others, *verdicts_of_groups])
    p_values = [verdict.p_value for verdict in verdicts]
    assert p_values == pytest.approx([0.03, 0.06, 0.06, 0.5, 0.4, 0.4, 0.4])
    not_all_pairs = adjusted(family, has_all_pairs=False)
    assert all(np.isnan(verdict.p_value) for verdict in not_all_pairs)


def orders(overall, **pairs):
    verdicts = [verdict_of(*pair, group=group) for group, pair in pairs.items()]
    return orders_of_groups([verdict_of(*overall)], verdicts, "")


def test_groups_have_a_finding_where_all_users_together_have_the_other_order():
    """B is better than A for all users, and A than B in group x, the only one that is decided."""
    [finding] = orders((FEW, MANY), x=(MANY, FEW), w=(FEW, FEW))
    assert (finding.kind, finding.names) == ("order-reversed", ("B", "A"))
    assert finding.values == {"groups": ["x"]}
    assert orders((FEW, MANY), x=(FEW, MANY), w=(FEW, FEW)) == []


def test_groups_have_a_finding_where_their_order_differs():
    [finding] = orders((FEW, FEW), x=(FEW, MANY), y=(MANY, FEW), z=(FEW, MANY), w=(FEW, FEW))
    assert (finding.kind, finding.metric, finding.names) == ("order-differs", "ap", ("A", "B"))
    assert finding.values == {"groups_a": ["y"], "groups_b": ["x", "z"]}


@pytest.mark.parametrize(
    ("name", "text"), [("undecided", '"undecided"'), ('"undecided"', '""undecided""')]
)
def test_a_name_in_the_column_conclusion_is_no_conclusion(name, text):
    """The second recommender has more hits."""
    assert verdict_of(FEW, MANY, names=("A", name)).row()["conclusion"] == text
    assert verdict_of(FEW, FEW, names=("A", name)).row()["conclusion"] == "undecided"


def test_columns_of_two_recommenders_are_headed_by_their_names():
    assert Verdict.headings("A", "B")["difference"] == "B - A"
