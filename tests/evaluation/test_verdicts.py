"""Verdicts on pairs: each kind of them from constructed values, margins, shares of users, and groups."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import sampled_metrics as sm
from sampled_metrics.evaluation.values import NO_INTERVAL, UserValues
from sampled_metrics.evaluation.verdicts import (
    findings_of_groups,
    higher_findings,
    key_of_row,
    pair_rows,
    verdict_findings,
    verdicts_by_row,
)
from sampled_metrics.inference.families import Margin
from sampled_metrics.inference.findings import Finding, Setting

USERS = 400
RANKED = [sm.exact_ranks([1, 2, 3], candidates=9)] * 2
LISTED = [sm.ranked_lists({"ann": {"x": 2.0, "y": 1.0}}, relevance={"ann": {"x": 1}})] * 2
SETTING = Setting(names=("A", "B"))
RATES = np.array([0.05])


def hits(number, first=0):
    """Values of users of whom so many hit, from a first one on."""
    return np.array([(np.arange(USERS) - first) % USERS < number], dtype=float)


def known(low, findings=()):
    bounds = np.array([[(0.0, 1.0)] * 2])
    return UserValues(low, low, bounds, bounds[:, 0], low.mean(axis=1), findings=findings)


def between(low, high, point):
    """Values of strict bounds."""
    return replace(known(low), high=high, point=np.array([point]))


def row_of(a, b, margin=None, places=None):
    places = {"A": -a.low, "B": -b.low} if places is None else places
    [row] = pair_rows(("A", "B"), {"A": a, "B": b}, ["ap"], RATES, margin, places)
    return row


def finding_of(row, setting=SETTING):
    return verdict_findings(pd.DataFrame([row]), setting)


FEW, MANY = known(hits(100)), known(hits(180))
BELOW, ABOVE = (between(of_one.low, np.minimum(of_one.low + 0.1, 1), 0.4) for of_one in (FEW, MANY))


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        (FEW, MANY, "better"),
        (MANY, FEW, "better"),
        (known(hits(100)), known(hits(105, first=300)), "undecided"),
        (between(FEW.low, np.ones((1, USERS)), 0.3), MANY, "undecided"),
        (BELOW, ABOVE, "no-verdict"),  # strict bounds: a difference of 0, and an interval above it
        (replace(BELOW, point=np.array([0.27])), ABOVE, "better"),
        (FEW, replace(MANY, point=np.array([0.2])), "no-verdict"),  # the interval is above the difference, or below
        (FEW, replace(MANY, point=np.array([0.9])), "no-verdict"),
        *((FEW, replace(MANY, findings=(Finding(why),)), "no-verdict") for why in sorted(NO_INTERVAL)),
        (FEW, replace(MANY, findings=(Finding("narrow"),)), "better"),
    ],
)
def test_kinds(a, b, kind):
    row = row_of(a, b)
    better = ("A", "B") if a is MANY else ("B", "A")
    assert row["conclusion"] == (better[0] if kind == "better" else kind.replace("-", " "))
    assert (row["kind"], row["difference"]) == (kind, pytest.approx(b.point[0] - a.point[0]))
    assert row["is_bounded"] is not (a.have_one_value and b.have_one_value)
    assert np.isnan([row["low"], row["high"], row["p_value"]]).all() == (not b.has_interval)
    [finding] = finding_of(row)
    assert (finding.kind, finding.metric) == (kind, "ap")
    assert finding.names == (better if kind == "better" else ("A", "B"))
    assert all(finding.values[name] == row[name] or np.isnan(row[name]) for name in ("value_a", "low", "high"))


def test_a_metric_that_is_not_defined_has_no_finding():
    row = row_of(known(np.full((1, USERS), np.nan)), MANY)
    assert (row["kind"], finding_of(row)) == ("undecided", [])


@pytest.mark.parametrize("make", [Margin, lambda size: Margin(size / 0.25, True)], ids=["absolute", "relative"])
def test_a_pair_that_is_alike_is_equivalent_if_the_interval_is_within_the_margins(make):
    one, other = known(hits(100)), known(hits(100, first=20))
    high = row_of(one, other)["high"]
    for factor, kind in ((1.4, "equivalent"), (0.6, "undecided")):
        row = row_of(one, other, make(factor * high))
        assert (row["kind"], row["conclusion"], row["size"]) == (kind, kind, "")


def test_shares_are_of_the_users_for_whom_each_ranks_higher():
    places = {"A": np.array([[1.0, 2, 3, 4] * 100]), "B": np.array([[1.0, 1, 1, 9] * 100])}
    row, setting = row_of(FEW, MANY, Margin(0.1), places), replace(SETTING, margin=Margin(0.1))
    assert "higher_a" not in row_of(FEW, MANY)
    for estimator in ("", "free"):
        [higher] = higher_findings(pd.DataFrame([row]), RANKED, replace(setting, estimator=estimator))
        assert (higher.kind, higher.names) == ("higher", ("A", "B"))
        assert higher.values == {"higher_a": 0.25, "higher_b": 0.5, "is_sampled": bool(estimator)}
    assert higher_findings(pd.DataFrame([row]), RANKED, Setting(names=("A", "B", "C"))) == []
    assert higher_findings(pd.DataFrame([row]), LISTED, setting) == []  # the shares are those of a metric
    unknown = row_of(FEW, MANY, Margin(0.1), {**places, "B": np.full((1, USERS), np.nan)})
    assert np.isnan([unknown["higher_a"], unknown["higher_b"]]).all()
    assert higher_findings(pd.DataFrame([unknown]), RANKED, SETTING) == []


def test_a_row_finds_its_verdict_whatever_the_recommenders_are_called():
    """B is better, and is called as if nothing were decided."""
    row = pair_rows(("A", "undecided"), {"A": FEW, "undecided": MANY}, ["ap"], RATES, None, {})[0]
    setting = Setting(names=("A", "undecided"))
    [finding] = verdict_findings(pd.DataFrame([row]), setting)
    assert (finding.kind, finding.names) == ("better", ("undecided", "A"))
    of_group = replace(finding, kind="undecided", group="g")
    verdicts = verdicts_by_row([finding, Finding("family"), of_group])
    assert verdicts[key_of_row({"metric": "ap"}, setting)] is finding
    assert verdicts[key_of_row({"metric": "ap", "a": "A", "b": "undecided", "group": "all"}, setting)] is finding
    assert verdicts[key_of_row({"metric": "ap", "group": "g"}, setting)] is of_group


def of_groups(pairs, findings=(), overall=()):
    rows = {group: pd.DataFrame([row_of(*pair)]) for group, pair in pairs.items()}
    return findings_of_groups(rows, dict.fromkeys(rows, findings), SETTING, overall)


def test_groups_have_a_finding_where_all_users_together_have_the_other_order_and_keep_what_is_said_of_them_alone():
    """B is better than A for all users, and A than B in group x, the only one that is decided."""
    overall, said = finding_of(row_of(FEW, MANY)), [Finding("unexplained"), Finding("family"), Finding("note")]
    reversed_order, *found = of_groups({"x": (MANY, FEW), "w": (FEW, FEW)}, said, overall)
    assert (reversed_order.kind, reversed_order.names) == ("order-reversed", ("B", "A"))
    assert reversed_order.values == {"groups": ["x"]}
    expected = [
        ("better", "x"),
        ("unexplained", "x"),
        ("undecided", "w"),
        ("unexplained", "w"),
        ("groups-adjusted", ""),
    ]
    assert sorted((one.kind, one.group) for one in found) == sorted(expected)


def test_groups_have_verdicts_and_a_finding_where_their_order_differs():
    found = of_groups({"x": (FEW, MANY), "y": (MANY, FEW), "z": (FEW, MANY), "w": (FEW, FEW)})
    differs, *verdicts, adjusted = found
    assert (differs.kind, differs.metric, differs.names) == ("order-differs", "ap", ("A", "B"))
    assert differs.values == {"B": ["x", "z"], "A": ["y"]}
    assert [(one.kind, one.group) for one in verdicts] == [*(("better", of) for of in "xyz"), ("undecided", "w")]
    assert (adjusted.kind, adjusted.values) == ("groups-adjusted", {"groups": 4, "level": 0.95})
