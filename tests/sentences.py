"""Verdicts and findings to word."""

import math

from sampled_metrics.core.evaluation.verdict import Conclusion, Lead, Verdict
from sampled_metrics.core.evaluation.wording import cautions, remarks
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.setting import Setting

PAIR = Setting(names=("X", "Y"))
ENDS = {"low": 0.01, "high": 0.0345, "p_value": 0.0123, "difference": 0.02}
SIDES = {"a": "X", "b": "Y", "value_a": 0.1, "value_b": 0.12}


def verdict(kind, names=("X", "Y"), metric="ap", size=Lead.UNKNOWN, relative=math.nan, **values):
    """A verdict on two recommenders, of whom the first name is the better one; the interval has a
    side to match.
    """
    values = {**ENDS, **SIDES, **values}
    if names[0] == values["a"] and kind == "better":
        values |= {"low": -values["high"], "high": -values["low"]}
    return Verdict(
        metric=metric,
        **values,
        conclusion=Conclusion(kind),
        users=100,
        size=size,
        relative=relative,
    )


def finding(kind, metric="", names=(), **values):
    return Finding(kind, metric, names, values=values)


def said(*findings, setting=PAIR):
    return [*cautions(findings, setting), *remarks(findings, setting)]
