"""Sampled ranks: what they allow, and what they contradict, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sampled_metrics.checks import counted
from sampled_metrics.core.estimators import estimator_name
from sampled_metrics.core.evaluation.kinds import Kind
from sampled_metrics.core.evaluation.phrases import (
    ASSUMPTIONS,
    as_published,
    percent,
    rounded_outward,
)
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import metric_name


def _bounds(finding: Finding, setting: Setting) -> tuple[str, str]:
    values = finding.values
    name = metric_name(finding.metric)
    low, high = rounded_outward(values["low"], values["high"])
    level = percent(setting.confidence_level)
    if assumption := ASSUMPTIONS.get(values["assumes"]):
        sentence = f"With {level} confidence, {{}}, if {assumption}."
        return sentence, f"{name} is between {low} and {high}"
    fewest = values["least_negatives"]
    most = values["most_negatives"]
    allow = (
        f"{counted(fewest, 'negative')} allow{'s' if fewest == 1 else ''}"
        if fewest == most
        else f"{fewest} to {most} negatives allow"
    )
    sentence = f"If drawn uniformly, {allow} {{}}, with {level} confidence, whatever the ranks are."
    return sentence, f"any {name} from {low} to {high}"


def _supported(alike: Sequence[Finding], _: Sequence[Finding], setting: Setting) -> list[str]:
    p_values = []
    for finding in alike:
        is_named = finding.names and len(setting.names) > 1
        whose = f" for {finding.names[0]}" if is_named else ""
        p_values.append(f"p = {finding.values['p_value']:.2g}{whose}")
    samples = "samples do" if len(alike) > 1 else "sample does"
    assumption = alike[0].values["assumption"]
    return [
        f"The {samples} not contradict {assumption} ({', '.join(dict.fromkeys(p_values))}). Not "
        "every wrong assumption is noticed."
    ]


def _contradicted(finding: Finding, _: Setting) -> str:
    assumption = finding.values["assumption"]
    p_value = f"p = {finding.values['p_value']:.2g}"
    published = finding.values.get("values", {})
    if published:
        verb = "contradicts" if len(published) == 1 else "contradict"
        return (
            f"{as_published(published)} {verb} {assumption} ({p_value}), so the interval is that "
            "of a weaker assumption."
        )
    return (
        f"The sample contradicts {assumption} ({p_value}), so its interval is that of free: it "
        "assumes nothing of the ranks."
    )


def _unexplained(finding: Finding, _: Setting) -> str:
    published = finding.values.get("values", {})
    explained = as_published(published) if published else "the sample"
    causes = "Usual causes are"
    if len(published) > 1:
        causes = (
            "The values contradict one another. Usual causes are a misprint, values of several "
            "runs,"
        )
    return (
        f"No distribution of true ranks explains {explained} (p = "
        f"{finding.values['p_value']:.2g}), so there is no interval and no verdict. {causes} "
        "negatives that all users share, ties that count in favour of the held-out item, "
        "negatives that are not drawn uniformly, or with replacement, and a wrong number of "
        "candidates or negatives."
    )


def _bias(finding: Finding, _: Setting) -> tuple[str, str]:
    values = finding.values
    sentence = "the estimated bias, with its standard error: {}."
    if values["has_interval"]:
        sentence = "the interval ignores the bias. The estimated bias, with its standard error: {}."
    if values["error"] > 0:
        decimals = max(0, -int(np.floor(np.log10(values["error"]))))
        bias = f"{values['bias']:+.{decimals}f} ± {values['error']:.{decimals}f}"
    else:
        bias = f"{values['bias']:+.1g} (its standard error is not known, as all users are alike)"
    clause = f"{metric_name(finding.metric)} {bias}"
    return f"{estimator_name(values['estimator'])}: {sentence}", clause


def _replacement(finding: Finding, _: Setting) -> tuple[str, str]:
    values = finding.values
    design, other_design = ("with", "without") if values["replacement"] else ("without", "with")
    ends, others = (
        " to ".join(rounded_outward(values[f"{which}low"], values[f"{which}high"]))
        for which in ("", "other_")
    )
    sentence = (
        f"The negatives are said to be drawn {design} replacement. If they are drawn "
        f"{other_design} it, the intervals are others: {{}}. Make sure which it was."
    )
    name = metric_name(finding.metric)
    return sentence, f"{name} from {others} in place of {ends} ({values['estimator']})"


KINDS: dict[str, Kind] = {
    "bounds": Kind(
        when="strict bounds of a metric are computed",
        values="estimator, low, high, assumes, least_negatives, most_negatives",
        sentence=_bounds,
        of_groups=False,
    ),
    "supported": Kind(
        when="the sample does not contradict the assumption",
        values="assumption, p_value",
        together=_supported,
        of_groups=False,
    ),
    "contradicted": Kind(
        when="it does; a weaker one is taken",
        values=(
            "assumption, p_value; of published numbers also values: the fewest that contradict "
            "it, by label, as written"
        ),
        sentence=_contradicted,
        is_caution=True,
    ),
    "narrow": Kind(
        when="the assumption alone would decide; a weaker one is taken",
        values="assumption",
        sentence=(
            "By {assumption}, the interval would be hardly wider than that of exact ranks of as "
            "many users, so that the assumption alone would decide. So its interval is that of "
            "free: it assumes nothing of the ranks."
        ),
        is_caution=True,
    ),
    "unexplained": Kind(
        when="no distribution of true ranks explains the sample: no interval",
        values=(
            "assumption, p_value; of published numbers also values: the fewest that contradict "
            "one another"
        ),
        sentence=_unexplained,
        is_caution=True,
        forbids_interval=True,
    ),
    "uncorrected-values": Kind(
        when="`uncorrected` is among the estimators",
        sentence=(
            "The rows of uncorrected have the metric of the sampled rank, which is not that of "
            "the true rank (AUC excepted) and can order recommenders wrongly."
        ),
        is_caution=True,
    ),
    "bias": Kind(
        when="the estimated bias is above half of the standard error",
        values="estimator, bias, error, has_interval",
        sentence=_bias,
    ),
    "no-bias": Kind(
        when="the bias is not estimated, as the estimator is not linear",
        values="estimator",
        sentence=(
            "No bias is estimated for {{}}: it is known of estimators that are linear in a "
            "uniform sample."
        ),
        clause="{estimator_name}",
        of_groups=False,
    ),
    "approximate": Kind(
        when="the interval is Student's, of pseudo-values",
        values="estimator",
        sentence=(
            "The intervals of {{}} are Student's intervals of pseudo-values. They can be much "
            "too narrow where hits are rare: rely on those of strict bounds."
        ),
        clause="{estimator_name}",
    ),
    "out-of-range": Kind(
        when="a value or an end of an interval is not from 0 to 1",
        values="estimator, what, value",
        sentence=(
            "{estimator_name}: a metric is from 0 to 1, but not {{}}. Its weights vary too much "
            "for this sample; take an estimator with a larger γ, or more negatives or users."
        ),
        clause="{what} of {metric} ({value:.4g})",
    ),
    "large-weight": Kind(
        when="a single user counts more than 10",
        values="estimator, largest",
        sentence=(
            "{estimator_name}: a single user counts up to {largest:.2g}, where a metric is at "
            "most 1, because its equations are badly conditioned. Take a larger γ."
        ),
    ),
    "replacement": Kind(
        when="with replacement, or without, the interval moves by more than a tenth",
        values="estimator, replacement: as given; low, high, other_low, other_high",
        sentence=_replacement,
    ),
    "drawn-by-user": Kind(
        when="intervals are of negatives that are drawn anew for each user",
        sentence="The negatives of each user are taken to be drawn anew.",
        of_groups=False,
    ),
    "drawn-once": Kind(
        when="all users share one draw of negatives: no interval, no verdict",
        sentence=(
            "All users share one draw of negatives, whose error no number of users reduces or "
            "shows. So there is no interval and no verdict. Several independent draws give them:"
            " read each with drawn='once', and give a list of them."
        ),
        is_caution=True,
        forbids_interval=True,
    ),
    "draws": Kind(
        when="there are several such draws",
        values="draws: their number",
        sentence=(
            "The intervals include the spread between {draws} draws of negatives, which are "
            "taken to be independent."
        ),
        of_groups=False,
    ),
}
"""What is known of each kind of finding."""
