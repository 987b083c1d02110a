"""Estimators by label. A new one is a file of this package and a registration here."""

import re
from collections.abc import Callable

from sampled_metrics.errors import ConfigError
from sampled_metrics.estimators.bias_variance import BiasVariance
from sampled_metrics.estimators.least_squares import ConstrainedLeastSquares
from sampled_metrics.estimators.linear import Estimator, LinearEstimate
from sampled_metrics.estimators.rank_estimate import RankEstimate
from sampled_metrics.estimators.uncorrected import Uncorrected

__all__ = ["Estimator", "LinearEstimate", "estimator"]

# pattern of the label → (what to call it in messages, (groups of the pattern, assumed replacement) → estimator)
_REGISTRY: dict[str, tuple[str, Callable[[re.Match[str], bool], Estimator]]] = {
    r"uncorrected": ("uncorrected", lambda label, replacement: Uncorrected()),
    r"rank-estimate": ("rank-estimate", lambda label, replacement: RankEstimate()),
    r"rank-estimate-as-printed": ("rank-estimate-as-printed", lambda label, replacement: RankEstimate(1)),
    r"cls": ("cls", lambda label, replacement: ConstrainedLeastSquares(replacement)),
    r"bv-([0-9.]+(?:e-?[0-9]+)?)": (
        "bv-γ with γ from 0 to 1, such as bv-0.1",
        lambda label, replacement: BiasVariance(_gamma(label[1]), replacement),
    ),
}


def _gamma(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"γ must be a number from 0 to 1, not {text!r}") from None


def estimator(label: str, *, assume_replacement: bool) -> Estimator:
    """Return the estimator of a label such as ``cls`` or ``bv-0.1``.

    Args:
        label: its name in config and in the tables.
        assume_replacement: whether the estimators that use P(x | r) take it as binomial (the paper, whatever the
            sample) rather than hypergeometric.

    Raises:
        ConfigError: there is no such estimator.
    """
    for pattern, (_, build) in _REGISTRY.items():
        if found := re.fullmatch(pattern, label):
            return build(found, assume_replacement)
    known = ", ".join(name for name, _ in _REGISTRY.values())
    raise ConfigError(f"unknown estimator {label!r}; it may be {known}")
