"""Published numbers, in words."""

from __future__ import annotations

from sampled_metrics.core.evaluation.kinds import Kind
from sampled_metrics.core.evaluation.phrases import (
    ASSUMPTIONS,
    as_published,
    better,
    percent,
    rounded_outward,
)
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import metric_name


def _exact_contradicted(finding: Finding, setting: Setting) -> str:
    values = finding.values
    name = metric_name(finding.metric)
    sampled = values["values"]
    verb = "allow" if len(sampled) > 1 else "allows"
    low, high = rounded_outward(values["low"], values["high"])
    assumption = ASSUMPTIONS[values["assumption"]]
    condition = f"if {assumption}" if assumption else "whatever the ranks are"
    return (
        f"The exact {name} {values['value']} contradicts {as_published(sampled)} of the sample, "
        f"which {verb} {low} to {high}, {condition}. "
        "Usual causes are a misprint, values of several runs, negatives that all users share or "
        "that are not drawn uniformly, and a wrong number of candidates or negatives."
    )


def _published_order(finding: Finding, setting: Setting) -> tuple[str, str]:
    values = finding.values
    name = metric_name(finding.metric)
    confidence = f"with {percent(setting.confidence_level)} confidence"
    assumption = ASSUMPTIONS[values["assumption"]]
    if values["is_decided"]:
        sizes = sorted((abs(values["low"]), abs(values["high"])))
        smallest, largest = rounded_outward(*sizes)
        uniform = "if negatives are drawn uniformly, whatever the ranks are"
        condition = f"if {assumption}" if assumption else uniform
        clause = f"{better(*finding.names)} by {name} ({smallest} to {largest})"
        return f"By these numbers, {confidence} and {condition}, {{}}.", clause
    a, b = finding.names
    _, most_a = rounded_outward(0.0, -values["low"])
    _, most_b = rounded_outward(0.0, values["high"])
    condition = f", even if {assumption}" if assumption else ""
    clause = f"{a} and {b} by {name} ({a} may be better by up to {most_a}, {b} by up to {most_b})"
    return f"These numbers do not order {{}}, {confidence}{condition}.", clause


KINDS: dict[str, Kind] = {
    "published-order": Kind(
        when="numbers of two recommenders are published",
        values="low, high, assumption, is_decided",
        sentence=_published_order,
        names_recommenders=True,
        is_first=True,
    ),
    "exact-contradicted": Kind(
        when="published sampled numbers exclude a published exact one",
        values=(
            "value: the exact one; low, high: what the sampled ones allow; assumption: the "
            "weakest under which they do; values: the fewest sampled ones that do, by label, as "
            "written"
        ),
        sentence=_exact_contradicted,
        is_caution=True,
    ),
    "read-with-decimals": Kind(
        when="a published number is read with zeros at its end, which others of its metric have",
        values="label, value: as they are given; read: the number with the zeros",
        sentence="{label} is read as {read}, with the decimals of the others. Text keeps its "
        'own: "{value}".',
        of_groups=False,
    ),
    "no-share": Kind(
        when="no number of users has a published share",
        values="value, users, below, above: the nearest shares",
        sentence=(
            "No number of {users:,} users has the {metric} {value}; the nearest are {below:.6g} "
            "and {above:.6g}. It is taken to be a mean over seeds."
        ),
    ),
}
"""What is known of each kind of finding."""
