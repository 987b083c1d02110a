"""What a sampled evaluation would show, in words."""

from __future__ import annotations

from sampled_metrics.checks import counted
from sampled_metrics.core.estimators import estimator_name
from sampled_metrics.core.evaluation.kinds import Kind
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import metric_name


def _wrong_order(finding: Finding, setting: Setting) -> str:
    values = finding.values
    (winner, loser) = finding.names
    name = metric_name(finding.metric)
    exact, expected = (
        f"{values[f'{what}_better']:.4f} against {values[f'{what}_worse']:.4f}"
        for what in ("exact", "expected")
    )
    label = values["estimator"]
    by = (
        f"the uncorrected {name}"
        if label == "uncorrected"
        else f"{estimator_name(label)} of {name}"
    )
    return (
        f"Another order: by the exact {name}, {winner} is ahead of {loser} ({exact}). Among "
        f"{counted(setting.negatives, 'sampled negative')}, {by} puts {winner} behind {loser} on "
        f"average ({expected}). The chance of the exact order is {values['chance']:.2f}."
    )


KINDS: dict[str, Kind] = {
    "wrong-order": Kind(
        when="a sampled evaluation orders a pair wrongly on average (`expect`)",
        values=(
            "estimator, chance of the exact order, exact_better, exact_worse, expected_better, "
            "expected_worse"
        ),
        sentence=_wrong_order,
        names_recommenders=True,
        is_first=True,
    ),
    "order-undecided": Kind(
        when="there is such an order",
        sentence=(
            "An order by exact values may be undecided. compare says whether the exact ranks "
            "decide it."
        ),
    ),
}
"""What is known of each kind of finding."""
