"""Recommenders by type. A new one is a file of this package and an entry of `RECOMMENDERS`.

Other packages add theirs by an entry point (docs/plug-ins.md).
"""

from collections.abc import Mapping
from typing import Any

from sampled_metrics import _plugins
from sampled_metrics.errors import ConfigError
from sampled_metrics.recommenders.command import Command
from sampled_metrics.recommenders.ease import EASE
from sampled_metrics.recommenders.ials import IALS
from sampled_metrics.recommenders.implicit_library import ImplicitLibrary
from sampled_metrics.recommenders.item_cf import ItemCF
from sampled_metrics.recommenders.parameters import config_schema
from sampled_metrics.recommenders.popularity import Popularity
from sampled_metrics.recommenders.precomputed import PrecomputedRanks
from sampled_metrics.recommenders.random_scores import RandomScores
from sampled_metrics.recommenders.recommender import Recommender

__all__ = [
    "RECOMMENDERS",
    "Command",
    "PrecomputedRanks",
    "Recommender",
    "config_schema",
    "recommender",
    "recommender_type",
]

RECOMMENDERS: dict[str, type[Recommender]] = {
    "command": Command,
    "ease": EASE,
    "ials": IALS,
    "implicit": ImplicitLibrary,
    "item-cf": ItemCF,
    "popularity": Popularity,
    "random": RandomScores,
    "ranks": PrecomputedRanks,
}
"""The recommenders by the `type` of their config entry."""


def recommender_type(kind: str) -> type[Recommender]:
    """Return the class of a recommender by its type, of this package or of a plug-in.

    Raises:
        ConfigError: the type is unknown.
    """
    if kind in RECOMMENDERS:
        return RECOMMENDERS[kind]
    theirs = _plugins.names("recommenders")
    if kind in theirs:
        return _plugins.load("recommenders", kind, lambda found: found, _fits, "a subclass of Recommender")
    raise ConfigError(f"unknown recommender type {kind!r}; it may be {', '.join([*RECOMMENDERS, *theirs])}")


def _fits(found: Any) -> bool:
    """Whether it is a recommender, with parameters by which config can be checked."""
    return isinstance(found, type) and issubclass(found, Recommender) and bool(config_schema(found))


def recommender(entry: Mapping[str, Any]) -> Recommender:
    """Make the recommender that a config entry describes, such as ``{"type": "item-cf", "exponent": 3}``.

    Raises:
        ConfigError: the type is unknown, or a parameter is unknown or missing.
    """
    kind = entry["type"]
    made = recommender_type(kind)
    try:
        return made(**{key: value for key, value in entry.items() if key != "type"})
    except TypeError as error:
        raise ConfigError(f"recommender of type {kind}: {error}") from None
