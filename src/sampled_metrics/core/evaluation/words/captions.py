"""Captions of figures and tables: what marks, intervals and letters mean, in words."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from sampled_metrics.core.estimators import estimator_name
from sampled_metrics.core.evaluation.phrases import ASSUMPTIONS, number, percent
from sampled_metrics.core.evaluation.questions import NEW_RUNS
from sampled_metrics.core.evaluation.values import NO_ASSUMPTION, NO_BIAS, UNIFORM
from sampled_metrics.core.evaluation.verdict import Verdict
from sampled_metrics.core.inference.setting import Setting

OF_GROUPS = "The intervals of the groups are wider, so that they hold together."
HOLLOW_BIAS = "Hollow: the interval does not include the bias."
OF_PLAN = "Scores are for each user. Hollow: the interval holds the truth under an assumption only."

_CONDITIONS = {
    **{shape: f"if {condition}" for shape, condition in ASSUMPTIONS.items()},
    NO_ASSUMPTION: "without an assumption on the ranks",
    UNIFORM: "if negatives are drawn uniformly, whatever the ranks are",
    NO_BIAS: "only if the bias of the estimator is zero",
}
"""When an interval holds the true metric, by what it assumes."""


# --- marks ---


def value_in_words(value: float, sign: str = "") -> str:
    """Return a value as a figure has it, which is as in a table; a missing one is not defined."""
    if np.isnan(value):
        return "not defined"
    return number(value, sign).replace("-", "\N{MINUS SIGN}")


# --- intervals ---


def interval_in_words(setting: Setting | None) -> str:
    """Return what an interval is called: by its level, if that is known."""
    return "interval" if setting is None else f"{percent(setting.confidence_level)} interval"


def over_users(interval: str) -> str:
    """Say that an interval counts the chance of users only."""
    return f"The {interval} is over users."


def over_users_and_seeds(interval: str) -> str:
    """Say which chance the interval of each question counts."""
    return f"The {interval} of these runs is over users, and that of new runs over users and seeds."


def assumed_by_estimators(table: pd.DataFrame, interval: str) -> str:
    """Say when the intervals of `correct` or `published` hold the true metric.

    An estimator that assumes something else for some recommenders is named with each recommender.
    """
    varying = table.groupby("estimator")["assumes"].nunique() > 1
    names_by_assumption: dict[str, list[str]] = {}
    for row in table.to_dict("records"):
        name = estimator_name(str(row["estimator"]))
        if varying[row["estimator"]] and "recommender" in row:
            name = f"{name} of {row['recommender']}"
        names = names_by_assumption.setdefault(str(row["assumes"]), [])
        if name not in names:
            names.append(name)
    return " ".join(
        f"{', '.join(names)}: the {interval} holds the true metric {_CONDITIONS[assumption]}."
        for assumption, names in names_by_assumption.items()
    )


# --- pairs ---


def hollow(verdicts: Iterable[Verdict]) -> str:
    """Say what the hollow marks of these verdicts are; nothing if there are none."""
    conclusions = sorted({verdict.kind for verdict in verdicts}, reverse=True)
    return f"Hollow: {' or '.join(conclusions)}, the interval includes 0." if conclusions else ""


def within_margin(margin: str) -> str:
    """Say what the shaded part of a figure is."""
    return f"Shaded: differences within the margin of {margin}."


# --- LaTeX tables ---


def in_brackets(setting: Setting) -> str:
    """Say what follows the values of a table in brackets."""
    return f"In brackets: {percent(setting.confidence_level)} intervals."


def over_runs(inferences: Iterable[str]) -> str:
    """Say which runs the intervals of a table describe."""
    return f"The intervals describe {'new' if NEW_RUNS in set(inferences) else 'these'} runs."


def letters(setting: Setting, *, by_group: bool) -> str:
    """Say what letters mean in a table of recommenders."""
    level = percent(setting.confidence_level)
    together = ""
    if by_group or len(setting.names) > 2:
        groups = " and groups" if by_group else ""
        together = f", which hold together for all pairs{groups}"
    return (
        "Recommenders without a letter in common differ by the metric "
        f"({level} intervals of the differences{together})."
    )


# --- expectations ---


def of_expectations(negatives: int) -> str:
    """Say among how many negatives a metric is expected, and what the bars are.

    `negatives` is 0 if their number is not known.
    """
    return (
        f"Among {negatives or 'the'} sampled negatives. Bars: one standard deviation of an "
        "evaluation of these users."
    )
