"""Findings and verdicts to word, and a check of their sentences."""

import re

import numpy as np

from sampled_metrics.core.evaluation.kinds import KINDS
from sampled_metrics.core.evaluation.verdict import AgainstMargin, Conclusion, Size, Verdict
from sampled_metrics.core.evaluation.wording import cautions, remarks
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.families import Margin
from sampled_metrics.core.inference.setting import Setting

PAIR = Setting(names=("X", "Y"))
SIZE = Margin(0.01)
WITH_MARGIN = Setting(names=("X", "Y"), margin=SIZE)
SHAPE = "better ranks are more frequent than worse ones in the better half of the ranks"
ENDS = {"low": 0.01, "high": 0.0345, "p_value": 0.0123, "difference": 0.02, "is_bounded": False}
SIDES = {"a": "X", "b": "Y", "value_a": 0.1, "value_b": 0.12}
GAP = "the difference (Y - X) is +0.0200, with a 95 % interval of +0.0100 to +0.0345"


def verdict(kind, names=("X", "Y"), metric="ap", group="", size=None, relative=np.nan, **values):
    """A verdict on two recommenders, of whom the first name is the better one; the interval has a
    side to match.
    """
    values = {**ENDS, **SIDES, **values}
    if names[0] == values["a"] and kind == "better":
        values |= {"low": -values["high"], "high": -values["low"]}
    margin = None if size is None else AgainstMargin(relative, np.nan, np.nan, Size(size))
    return Verdict(
        metric, **values, conclusion=Conclusion(kind), users=100, margin=margin, group=group
    )


def of(kind, metric="", names=(), **values):
    return Finding(kind, metric, names, values=values)


def said(*findings, setting=PAIR):
    return [*cautions(findings, setting), *remarks(findings, setting)]


def require_sentence(finding, words, setting=PAIR):
    """A finding is one sentence with some words, with … for others between; and a caution if its
    kind is one.
    """
    [sentence] = said(finding, setting=setting)
    assert re.search(".*".join(re.escape(part.strip()) for part in words.split("…")), sentence), (
        sentence
    )
    assert bool(cautions([finding], setting)) == KINDS[finding.kind].is_caution
