"""The recommenders by type, and the class of a config entry."""

from collections.abc import Mapping
from typing import Any

from sampled_metrics.checks import did_you_mean
from sampled_metrics.errors import ConfigError
from sampled_metrics_study.recommenders.implicit_library import CONSTRUCTORS
from sampled_metrics_study.recommenders.recommender import Recommender, class_at

RECOMMENDERS = {
    "ease": "ease.EASE",
    "ials": "ials.IALS",
    "implicit": "implicit_library.ImplicitLibrary",
    "item-cf": "item_cf.ItemCF",
    "popularity": "simple.Popularity",
    "random": "simple.RandomScores",
    "ranks": "simple.PrecomputedRanks",
}
"""The class of each recommender, by the `type` of its config entry.

A class is a module of this package, and a name in it.
"""


def recommender_type(kind: str) -> type[Recommender]:
    """Return the class of a recommender by its type.

    The type is a key of `RECOMMENDERS`, or a path, ``package.module.Class``.

    A class with a path is imported from an installed package, or else from the working folder.

    Raises:
        ConfigError: the type is unknown, cannot be imported, or is not a recommender.
    """
    if kind in RECOMMENDERS:
        return class_at(f"{__package__}.{RECOMMENDERS[kind]}")
    if "." not in kind:
        guess = did_you_mean(kind, list(RECOMMENDERS))
        if kind in CONSTRUCTORS:
            guess = f" (a model of the library implicit: type: implicit, model: {kind})"
        raise ConfigError(
            f"unknown recommender type {kind!r}{guess}; it may be {', '.join(RECOMMENDERS)}, or "
            "the path of a class, as mine.models.Mine"
        )
    return class_at(kind)


def parameters_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a config entry, without its type and its seeds."""
    return {key: value for key, value in entry.items() if key not in ("type", "seeds")}


def path_of(recommender: Recommender) -> str:
    """Return the path of the class of a recommender, ``package.module.Class``."""
    return f"{type(recommender).__module__}.{type(recommender).__qualname__}"


def summary_of(recommender: Recommender) -> str:
    """Return the first line of the docstring of a recommender's class, or else the class's name."""
    return (type(recommender).__doc__ or type(recommender).__name__).partition("\n")[0]


def recommender(entry: Mapping[str, Any]) -> Recommender:
    """Return the recommender of a config entry, such as ``{"type": "item-cf", "exponent": 3}``.

    Raises:
        ConfigError: the type is unknown, or a parameter is unknown or missing.
    """
    kind = entry["type"]
    cls = recommender_type(kind)
    try:
        return cls(**parameters_of(entry))
    except TypeError as error:
        raise ConfigError(f"recommender of type {kind}: {error}") from None
