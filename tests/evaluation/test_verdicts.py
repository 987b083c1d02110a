"""Verdicts on pairs: each kind of them from constructed values, margins, shares of users, and groups."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sampled_metrics.evaluation.values import UserValues
from sampled_metrics.evaluation.verdicts import findings_of_groups, higher_findings, pair_rows, verdict_findings
from sampled_metrics.evaluation.wording import LESS, MORE
from sampled_metrics.inference.families import Margin
from sampled_metrics.inference.findings import Finding, Setting

USERS = 400
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


class TestKinds:
    @pytest.mark.parametrize(("a", "b", "names"), [(FEW, MANY, ("B", "A")), (MANY, FEW, ("A", "B"))])
    def test_better(self, a, b, names):
        row = row_of(a, b)
        assert (row["kind"], row["conclusion"]) == ("better", names[0])
        assert row["difference"] == pytest.approx(0.2 if names[0] == "B" else -0.2)
        assert 0 < min(abs(row["low"]), abs(row["high"])) < 0.2
        assert row["p_value"] < 1e-6
        [finding] = finding_of(row)
        assert (finding.kind, finding.metric, finding.names) == ("better", "ap", names)
        assert (finding.values["a"], finding.values["b"]) == ("A", "B")
        for name in ("value_a", "value_b", "difference", "low", "high", "p_value", "is_bounded"):
            assert finding.values[name] == row[name]

    def test_undecided(self):
        row = row_of(known(hits(100)), known(hits(105, first=300)))
        assert (row["kind"], row["conclusion"], row["users"]) == ("undecided", "undecided", USERS)
        assert row["low"] < 0 < row["high"]
        assert finding_of(row)[0].names == ("A", "B")

    def test_of_strict_bounds_are_by_the_ends_and_may_be_narrowed_by_more_negatives(self):
        above, below = (between(values.low, np.minimum(values.low + 0.1, 1), 0.4) for values in (MANY, FEW))
        assert row_of(FEW, MANY)["is_bounded"] is False
        row = row_of(below, above)
        assert (row["is_bounded"], row["kind"]) == (True, "no-verdict")  # a difference of 0, and an interval above it
        assert row_of(replace(below, point=np.array([0.27])), above)["kind"] == "better"
        wide = between(FEW.low, np.ones((1, USERS)), 0.3)
        assert row_of(wide, MANY)["kind"] == "undecided"

    def test_no_verdict_without_an_interval(self):
        row = row_of(FEW, known(hits(180), findings=(Finding("unexplained"),)))
        assert (row["kind"], row["conclusion"]) == ("no-verdict", "no verdict")
        assert np.isnan([row["low"], row["high"], row["p_value"]]).all()
        assert row_of(FEW, replace(MANY, findings=(Finding("narrow"),)))["kind"] == "better"

    @pytest.mark.parametrize("point", [0.2, 0.9])
    def test_no_verdict_if_the_interval_excludes_the_difference(self, point):
        row = row_of(FEW, replace(MANY, point=np.array([point])))
        assert row["low"] > 0
        assert row["kind"] == "no-verdict"

    def test_of_a_metric_that_is_not_defined_are_no_findings(self):
        missing = known(np.full((1, USERS), np.nan))
        row = row_of(missing, MANY)
        assert (row["kind"], finding_of(row)) == ("undecided", [])


class TestMargins:
    ENDS = (row_of(FEW, MANY)["low"], row_of(FEW, MANY)["high"])

    @pytest.mark.parametrize("turned", [False, True])
    @pytest.mark.parametrize(
        ("margin", "size"),
        [
            *((Margin(ENDS[0] - 0.001), MORE), (Margin(ENDS[1] + 0.001), LESS), (Margin(0.2), "")),
            # .25 and .45: the true ratio is 1.8
            *((Margin(0.2, True), MORE), (Margin(2.0, True), LESS), (Margin(0.8, True), "")),
        ],
    )
    def test_say_by_how_much_one_is_better(self, margin, size, turned):
        row = row_of(*((MANY, FEW) if turned else (FEW, MANY)), margin)
        assert (row["kind"], row["conclusion"], row["size"]) == ("better", "A" if turned else "B", size)
        assert row["relative"] == pytest.approx((-1 if turned else 1) * 0.8)
        [verdict] = finding_of(row, replace(SETTING, margin=margin))
        assert (verdict.values["size"], verdict.values["relative"]) == (size, row["relative"])

    @pytest.mark.parametrize("make", [Margin, lambda size: Margin(size / 0.25, True)], ids=["absolute", "relative"])
    def test_of_a_pair_that_is_alike_are_equivalent_if_the_interval_is_within_them(self, make):
        one, other = known(hits(100)), known(hits(100, first=20))
        high = row_of(one, other)["high"]
        for factor, kind in ((1.4, "equivalent"), (0.6, "undecided")):
            row = row_of(one, other, make(factor * high))
            assert (row["kind"], row["conclusion"], row["size"]) == (kind, kind, "")
            assert finding_of(row, replace(SETTING, margin=make(1.0)))[0].names == ("A", "B")

    def test_of_a_pair_without_an_interval_say_nothing(self):
        row = row_of(FEW, known(hits(180), findings=(Finding("unexplained"),)), Margin(0.5))
        assert (row["kind"], row["size"]) == ("no-verdict", "")

    def test_relative_to_a_value_of_0_are_not_defined(self):
        assert np.isnan(row_of(known(hits(0)), MANY, Margin(0.1))["relative"])


class TestShares:
    PLACES = {"A": np.array([[1.0, 2, 3, 4] * 100]), "B": np.array([[1.0, 1, 1, 9] * 100])}  # noqa: RUF012

    def test_are_of_the_users_for_whom_each_ranks_higher(self):
        row = row_of(FEW, MANY, Margin(0.1), self.PLACES)
        assert (row["higher_a"], row["higher_b"]) == (0.25, 0.5)
        assert "higher_a" not in row_of(FEW, MANY)
        setting = replace(SETTING, margin=Margin(0.1))
        for estimator in ("", "free"):
            [higher] = higher_findings(pd.DataFrame([row]), replace(setting, estimator=estimator))
            assert (higher.kind, higher.names) == ("higher", ("A", "B"))
            assert higher.values == {"higher_a": 0.25, "higher_b": 0.5, "is_sampled": bool(estimator)}

    def test_are_missing_where_ranks_are_not_known_and_said_of_two_recommenders_and_all_users_alone(self):
        unknown = {**self.PLACES, "B": np.full((1, USERS), np.nan)}
        row = row_of(FEW, MANY, Margin(0.1), unknown)
        assert np.isnan([row["higher_a"], row["higher_b"]]).all()
        assert [one.kind for one in finding_of(row)] == ["better"]
        assert higher_findings(pd.DataFrame([row]), SETTING) == []
        frame = pd.DataFrame([row_of(FEW, MANY, Margin(0.1), self.PLACES)])
        assert higher_findings(frame, Setting(names=("A", "B", "C"))) == []


class TestGroups:
    def found(self, of_groups, findings=None, overall=()):
        rows = {group: pd.DataFrame([row_of(*pair)]) for group, pair in of_groups.items()}
        return findings_of_groups(rows, {group: (findings or {}).get(group, ()) for group in rows}, SETTING, overall)

    def test_have_verdicts_and_a_finding_where_their_order_differs(self):
        found = self.found({"x": (FEW, MANY), "y": (MANY, FEW), "z": (FEW, MANY), "w": (FEW, FEW)})
        differs, *verdicts, adjusted = found
        assert (differs.kind, differs.metric, differs.names) == ("order-differs", "ap", ("A", "B"))
        assert differs.values == {"B": ["x", "z"], "A": ["y"]}
        assert [(one.kind, one.group) for one in verdicts] == [*(("better", of) for of in "xyz"), ("undecided", "w")]
        assert (adjusted.kind, adjusted.values) == ("groups-adjusted", {"groups": 4, "level": 0.95})

    def test_have_no_such_finding_where_one_is_undecided(self):
        found = self.found({"x": (FEW, MANY), "w": (FEW, FEW)})
        assert [one.kind for one in found] == ["better", "undecided", "groups-adjusted"]

    def test_have_a_finding_where_all_users_together_have_the_other_order(self):
        """B is better than A for all users, and A than B in group x, the only one that is decided."""
        overall = finding_of(row_of(FEW, MANY))
        reversed_order, *_ = self.found({"x": (MANY, FEW), "w": (FEW, FEW)}, overall=overall)
        assert (reversed_order.kind, reversed_order.names) == ("order-reversed", ("B", "A"))
        assert reversed_order.values == {"groups": ["x"]}
        assert self.found({"x": (FEW, MANY)}, overall=overall)[0].kind == "better"

    def test_keep_what_is_said_of_them_alone(self):
        said = [Finding("few-users", names=("A",)), Finding("unexplained"), Finding("family"), Finding("note")]
        found = self.found({"x": (FEW, MANY)}, {"x": said})
        assert [(one.kind, one.group) for one in found[1:-1]] == [("few-users", "x"), ("unexplained", "x")]
