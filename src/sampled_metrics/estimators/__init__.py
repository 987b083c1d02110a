"""Estimators by label. A new one is a file of this package and a registration here."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sampled_metrics._defaults import KNOWN
from sampled_metrics._validation import check_labels, did_you_mean
from sampled_metrics.errors import ConfigError
from sampled_metrics.estimators.bias_variance import BiasVariance
from sampled_metrics.estimators.least_squares import ConstrainedLeastSquares
from sampled_metrics.estimators.linear import LinearEstimate, LinearEstimator
from sampled_metrics.estimators.maximum_entropy import MaximumEntropy
from sampled_metrics.estimators.maximum_likelihood import MaximumLikelihood
from sampled_metrics.estimators.protocol import Estimate, Estimator
from sampled_metrics.estimators.rank_estimate import RankEstimate
from sampled_metrics.estimators.shapes import SHAPES
from sampled_metrics.estimators.smooth import Smooth
from sampled_metrics.estimators.strict_bounds import ShapeEstimate, StrictBounds
from sampled_metrics.estimators.uncorrected import Uncorrected

__all__ = [
    "Estimate",
    "Estimator",
    "EstimatorsLike",
    "LinearEstimate",
    "LinearEstimator",
    "ShapeEstimate",
    "estimator",
    "estimator_name",
    "estimators_by_label",
    "linear_estimator",
    "usual_label",
]

EstimatorsLike = str | Estimator | Sequence[str | Estimator]
"""Accepted forms of estimators: one label or object with the method fit, or several."""

_NUMBER = r"([0-9.]+(?:e-?[0-9]+)?)"


class _Entry(NamedTuple):
    """A kind of estimators; the patterns of their labels are the keys of the registry."""

    usage: str  # form of the labels, for messages
    name: Callable[[re.Match[str]], str]  # displayed name
    build: Callable[[re.Match[str], bool | None], Estimator]  # from a label and the assumed replacement


_REGISTRY: dict[str, _Entry] = {
    "|".join(SHAPES): _Entry(
        ", ".join(SHAPES),
        lambda label: label[0].capitalize(),
        lambda label, replacement: StrictBounds(label[0], replacement),
    ),
    "uncorrected": _Entry("uncorrected", lambda label: "Sampled (uncorrected)", lambda label, _: Uncorrected()),
    "rank-estimate": _Entry("rank-estimate", lambda label: "Rank Estimate", lambda label, _: RankEstimate()),
    "rank-estimate-as-printed": _Entry(
        "rank-estimate-as-printed", lambda label: label[0], lambda label, _: RankEstimate(1)
    ),
    "cls": _Entry("cls", lambda label: "CLS", lambda label, replacement: ConstrainedLeastSquares(replacement)),
    rf"bv-{_NUMBER}": _Entry(
        "bv-γ with γ from 0 to 1, such as bv-0.1",
        lambda label: f"BV {label[1]}",
        lambda label, replacement: BiasVariance(_number("γ", label[1]), replacement),
    ),
    r"mle(?:-([1-9][0-9]{0,5}))?": _Entry(
        "mle or mle-I with I iterations of EM",
        lambda label: f"MLE {label[1] or ''}".rstrip(),
        lambda label, replacement: MaximumLikelihood(int(label[1] or 100), replacement),
    ),
    rf"mes(?:-{_NUMBER})?": _Entry(
        "mes or mes-η",
        lambda label: f"MES {label[1] or ''}".rstrip(),
        lambda label, replacement: MaximumEntropy(_number("η", label[1] or "0.01"), replacement),
    ),
    "smooth": _Entry("smooth", lambda label: "Smooth", lambda label, replacement: Smooth(replacement)),
}

_ALIASES = {"sampled": "uncorrected", "sampled-(uncorrected)": "uncorrected", "em": "mle"}
"""Other names of estimators."""


def _number(what: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"{what} must be a number, not {text!r}") from None


def estimator(label: str, *, assume_replacement: bool | None = None) -> Estimator:
    """Return the estimator of a label such as ``cls`` or ``bv-0.1``.

    Args:
        label: its name in config and in the tables, in any case; ``BV 0.1`` and ``BV0.1`` are ``bv-0.1``.
        assume_replacement: whether the estimators that use P(x | r) take it as binomial, as the paper does for any
            sample, or as hypergeometric. If it is None, they follow the design of the sample.

    Raises:
        ConfigError: there is no such estimator.

    Examples:
        The weights w_x of CLS if x of 3 sampled negatives rank above the held-out item, with 10 candidates:

        >>> import sampled_metrics as sm
        >>> from sampled_metrics.sampling.design import SamplingDesign
        >>> from sampled_metrics.sampling.outcomes import Outcomes
        >>> outcomes = Outcomes.of(SamplingDesign(3), candidates=10)
        >>> sm.estimator("cls").fit(outcomes, [sm.metric("recall@3")]).weights.round(3)
        array([[1.208, 0.064, 0.   , 0.   ]])

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 5.
    """
    canonical = usual_label(label)
    for pattern, entry in _REGISTRY.items():
        if found := re.fullmatch(pattern, canonical):
            return entry.build(found, assume_replacement)
    known = ", ".join(entry.usage for entry in _REGISTRY.values())
    meant = did_you_mean(label.lower(), KNOWN)
    raise ConfigError(f"unknown estimator {label!r}{meant}; it may be {known}")


def usual_label(label: str) -> str:
    """Return the label that files have of an estimator, from one in any case or a displayed name.

    Others are returned unchanged.
    """
    words = re.sub(r"[\s_]+", "-", label.strip().lower())
    found = _ALIASES.get(words) or re.sub(r"^(bv|mes|mle)(?=[0-9.])", r"\1-", words)
    return found if any(re.fullmatch(pattern, found) for pattern in _REGISTRY) else label


def estimator_name(label: str) -> str:
    """Return the displayed name of an estimator: ``bv-0.1`` is BV 0.1, ``mle-50`` is MLE 50.

    The row ``exact`` of tables has a name too. Any other label is returned unchanged.
    """
    canonical = usual_label(label)
    for pattern, entry in _REGISTRY.items():
        if found := re.fullmatch(pattern, canonical):
            return entry.name(found)
    return "Exact" if label == "exact" else label


def estimators_by_label(given: EstimatorsLike, what: str = "estimators") -> dict[str, Estimator]:
    """Return one estimator, or several, by label as it is written: MLE is the estimator ``mle`` by this name.

    An estimator is given by its label, or as an object with the method `fit`, whose label is its text.

    Raises:
        ConfigError: there are none, one is unknown, or two are the same estimator, such as bv-0.1 and bv-0.10.
    """
    found: dict[str, Estimator] = {}
    for each in check_labels(given, what, Estimator):
        label = each.strip() if isinstance(each, str) else str(each)
        one = estimator(label) if isinstance(each, str) else each
        for before, other in found.items():
            if label == before or one == other:
                raise ConfigError(f"{what}: {before!r} and {label!r} are the same one; give it once")
        found[label] = one
    return found


def linear_estimator(label: str | Estimator, *, assume_replacement: bool | None = None) -> LinearEstimator:
    """Return an estimator that is linear in the sample; its expectation has a closed form.

    Raises:
        ConfigError: there is no such estimator, or it is not linear.
    """
    found = estimator(label, assume_replacement=assume_replacement) if isinstance(label, str) else label
    if not isinstance(found, LinearEstimator):
        raise ConfigError(
            f"estimator {str(label)!r} is not linear in the sample, so that it has no weights to show here"
        )
    return found
