"""Estimators by label. A new one is a file of this package and an entry of `ESTIMATORS`.

The command names estimators in its help, so this module loads none of them before one is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from sampled_metrics.core.estimators.protocol import Estimate, Estimator, EstimatorsLike
from sampled_metrics.errors import ConfigError

if TYPE_CHECKING:
    from sampled_metrics.core.estimators.linear import LinearEstimator

__all__ = [
    "BOUNDS",
    "ESTIMATORS",
    "KNOWN",
    "LINEAR",
    "Entry",
    "Estimate",
    "Estimator",
    "EstimatorsLike",
    "estimator",
    "estimator_name",
    "estimators_by_label",
    "line_styles",
    "linear_estimator",
    "usual_label",
]

_NUMBER = r"([0-9.]+(?:e-?[0-9]+)?)"
_BOUNDS = "sampled_metrics.core.estimators.strict_bounds.StrictBounds"
_RANK_ESTIMATE = "sampled_metrics.core.estimators.linear.RankEstimate"


@dataclass(frozen=True)
class Entry:
    """What is known of an estimator, or of a family of them, before it is loaded.

    Attributes:
        label: the label; for a family, the label of one member.
        path: the dotted path of the class, a frozen dataclass. If the class has a field
            `replacement`, it says whether P(x | r) is taken as binomial.
        name: the displayed name, with ``{}`` in place of the parameter.
        pattern: the regular expression of the labels of a family, whose group is the parameter, an
            argument of the class.
        parameter: the symbol and the type of the parameter.
        arguments: the arguments of the class before the parameter.
        usage: the labels of a family, as messages describe them.
        aliases: other labels.
        is_linear: whether the estimator is linear in the sample
            (`sampled_metrics.core.estimators.linear`).
        is_listed: whether help names the estimator.
        lines: by label, the number of a style that is the same in all figures
            (`sampled_metrics.reporting.drawing.style`).
    """

    label: str
    path: str
    name: str
    pattern: str = ""
    parameter: tuple[str, type] = ("", str)
    arguments: tuple[Any, ...] = ()
    usage: str = ""
    aliases: tuple[str, ...] = ()
    is_linear: bool = False
    is_listed: bool = True
    lines: Mapping[str, int] = field(default_factory=dict)

    def match(self, label: str) -> re.Match[str] | None:
        """Return how a label matches the pattern, or None."""
        return re.fullmatch(self.pattern or re.escape(self.label), label)

    def displayed(self, match: re.Match[str]) -> str:
        """Return the displayed name of a matched label."""
        return self.name.format(*(group or "" for group in match.groups())).rstrip()

    def build(self, match: re.Match[str], replacement: bool | None) -> Estimator:
        """Return the estimator of a matched label.

        Raises:
            ConfigError: its parameter is not allowed.
        """
        module, _, name = self.path.rpartition(".")
        estimator_class = getattr(import_module(module), name)
        sign, convert = self.parameter
        try:
            parameters = [convert(text) for text in match.groups() if text is not None]
        except ValueError:
            raise ConfigError(f"{sign} must be a number, not {match[1]!r}") from None
        field_names = {attribute.name for attribute in fields(estimator_class)}
        assumed = {"replacement": replacement} if "replacement" in field_names else {}
        return estimator_class(*self.arguments, *parameters, **assumed)


ESTIMATORS = (
    Entry("decreasing", _BOUNDS, "Decreasing", arguments=("decreasing",), lines={"decreasing": 10}),
    Entry("free", _BOUNDS, "Free", arguments=("free",), lines={"free": 11}),
    Entry(
        "uncorrected",
        "sampled_metrics.core.estimators.linear.Uncorrected",
        "Sampled (uncorrected)",
        aliases=("sampled", "sampled-(uncorrected)"),
        is_linear=True,
        lines={"uncorrected": 1},
    ),
    Entry(
        "rank-estimate", _RANK_ESTIMATE, "Rank Estimate", is_linear=True, lines={"rank-estimate": 2}
    ),
    Entry(
        "rank-estimate-as-printed",
        _RANK_ESTIMATE,
        "rank-estimate-as-printed",
        arguments=(1,),
        is_linear=True,
        is_listed=False,
    ),
    Entry(
        "cls",
        "sampled_metrics.core.estimators.linear.ConstrainedLeastSquares",
        "CLS",
        is_linear=True,
        lines={"cls": 3},
    ),
    Entry(
        "bv-0.1",
        "sampled_metrics.core.estimators.linear.BiasVariance",
        "BV {}",
        pattern=f"bv-{_NUMBER}",
        parameter=("γ", float),
        usage="bv-γ with γ from 0 to 1, such as bv-0.1",
        is_linear=True,
        lines={"bv-1": 4, "bv-0.1": 5, "bv-0.01": 6, "bv-0.001": 7},
    ),
    Entry(
        "mle",
        "sampled_metrics.core.estimators.rank_distribution.MaximumLikelihood",
        "MLE {}",
        pattern="mle(?:-([1-9][0-9]{0,5}))?",
        parameter=("I", int),
        usage="mle or mle-I with I iterations of EM",
        aliases=("em",),
        lines={"mle": 9},
    ),
    Entry(
        "mes",
        "sampled_metrics.core.estimators.rank_distribution.MaximumEntropy",
        "MES {}",
        pattern=f"mes(?:-{_NUMBER})?",
        parameter=("η", float),
        usage="mes or mes-η",
        lines={"mes": 8},
    ),
    Entry(
        "smooth", "sampled_metrics.core.estimators.smooth.Smooth", "Smooth", lines={"smooth": 12}
    ),
)
"""All estimators."""

KNOWN = tuple(entry.label for entry in ESTIMATORS if entry.is_listed)
"""The labels that help names."""

BOUNDS = tuple(entry.label for entry in ESTIMATORS if entry.path == _BOUNDS)
"""The labels of strict bounds of the true metric."""

LINEAR = tuple(entry.label for entry in ESTIMATORS if entry.is_listed and entry.is_linear)
"""The labels of estimators that are linear in the sample."""


def _entry_of(label: str) -> tuple[Entry, re.Match[str]] | None:
    """Return the entry of a label and the match of its pattern, or None for an unknown label."""
    for entry in ESTIMATORS:
        if match := entry.match(label):
            return entry, match
    return None


def estimator(label: str, *, assume_replacement: bool | None = None) -> Estimator:
    """Return the estimator of a label such as ``cls`` or ``bv-0.1``.

    Args:
        label: its name in config and in the tables, in any case; ``BV 0.1`` and ``BV0.1`` are
            ``bv-0.1``.
        assume_replacement: whether the estimators that use P(x | r) take it as binomial, as the
            paper does for any sample, or as hypergeometric. If it is None, they follow the design
            of the sample.

    Raises:
        ConfigError: there is no such estimator.

    Examples:
        The weights w_x of CLS if x of 3 sampled negatives rank above the held-out item, with 10
        candidates:

        >>> import sampled_metrics as sm
        >>> from sampled_metrics.core.sampling.distributions import SamplingDesign
        >>> from sampled_metrics.core.sampling.outcomes import Outcomes
        >>> outcomes = Outcomes.from_design(SamplingDesign(3), candidates=10)
        >>> sm.estimator("cls").fit(outcomes, [sm.metric("recall@3")]).weights.round(3)
        array([[1.208, 0.064, 0.   , 0.   ]])

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 5.
    """
    if matched := _entry_of(usual_label(label)):
        entry, match = matched
        return entry.build(match, assume_replacement)
    from sampled_metrics.checks import did_you_mean  # loads numpy

    known = ", ".join(entry.usage or entry.label for entry in ESTIMATORS)
    meant = did_you_mean(label.lower(), KNOWN)
    raise ConfigError(f"unknown estimator {label!r}{meant}; it may be {known}")


def usual_label(label: str) -> str:
    """Return an estimator's label for a label in any case or a displayed name.

    Other text is returned unchanged.
    """
    hyphenated = re.sub(r"[\s_]+", "-", label.strip().lower())
    aliases = {alias: entry.label for entry in ESTIMATORS for alias in entry.aliases}
    # bv0.1 is bv-0.1
    usual = aliases.get(hyphenated) or re.sub(r"^([a-z]+)(?=[0-9.])", r"\1-", hyphenated)
    return usual if _entry_of(usual) else label


def estimator_name(label: str) -> str:
    """Return the displayed name of an estimator: ``bv-0.1`` is BV 0.1, ``mle-50`` is MLE 50.

    The row ``exact`` of tables has a name too. Any other label is returned unchanged.
    """
    if matched := _entry_of(usual_label(label)):
        entry, match = matched
        return entry.displayed(match)
    return "Exact" if label == "exact" else label


def line_styles(labels: Iterable[str]) -> dict[str, int]:
    """Return the number of the style of each estimator's line, by label.

    The row ``exact`` has the first style. Labels without a style of their own have the next free
    ones. The styles are those of `sampled_metrics.reporting.drawing.style`.
    """
    style_by_label = {"exact": 0}
    for entry in ESTIMATORS:
        style_by_label.update(entry.lines)
    usual_labels = {label: usual_label(label) for label in labels}
    for usual in usual_labels.values():
        style_by_label.setdefault(usual, len(style_by_label))
    return {label: style_by_label[usual] for label, usual in usual_labels.items()}


def estimators_by_label(
    estimators: EstimatorsLike, what: str = "estimators"
) -> dict[str, Estimator]:
    """Return one or several estimators by label. Labels stay as written: for MLE, the key is MLE.

    An estimator is given by its label, or as an `Estimator`, whose label is its text.

    Raises:
        ConfigError: there are none, one is unknown, or two are the same estimator, such as bv-0.1
            and bv-0.10.
    """
    from sampled_metrics.checks import check_labels  # loads numpy

    by_label: dict[str, Estimator] = {}
    for label_or_estimator in check_labels(estimators, what, Estimator):
        if isinstance(label_or_estimator, str):
            label = label_or_estimator.strip()
            new_estimator = estimator(label)
        else:
            label = str(label_or_estimator)
            new_estimator = label_or_estimator
        for earlier_label, earlier_estimator in by_label.items():
            if label == earlier_label or new_estimator == earlier_estimator:
                raise ConfigError(
                    f"{what}: {earlier_label!r} and {label!r} are the same one; give it once"
                )
        by_label[label] = new_estimator
    return by_label


def linear_estimator(
    label: str | Estimator, *, assume_replacement: bool | None = None
) -> LinearEstimator:
    """Return an estimator that is linear in the sample; its expectation has a closed form.

    Raises:
        ConfigError: there is no such estimator, or it is not linear.
    """
    chosen = (
        estimator(label, assume_replacement=assume_replacement) if isinstance(label, str) else label
    )
    if not chosen.is_linear:
        raise ConfigError(
            f"estimator {str(label)!r} is not linear in the sample, so that it has no weights to "
            "show here"
        )
    return cast("LinearEstimator", chosen)
