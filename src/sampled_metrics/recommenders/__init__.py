"""Recommenders by type. A new one is a file of this package and an entry of `RECOMMENDERS`."""

from collections.abc import Mapping
from typing import Any

from sampled_metrics.errors import ConfigError
from sampled_metrics.recommenders.ease import EASE
from sampled_metrics.recommenders.ials import IALS
from sampled_metrics.recommenders.implicit_library import ImplicitLibrary
from sampled_metrics.recommenders.item_cf import ItemCF
from sampled_metrics.recommenders.parameters import config_schema
from sampled_metrics.recommenders.popularity import Popularity
from sampled_metrics.recommenders.precomputed import PrecomputedRanks
from sampled_metrics.recommenders.random_scores import RandomScores
from sampled_metrics.recommenders.recommender import Recommender

__all__ = ["RECOMMENDERS", "PrecomputedRanks", "Recommender", "config_schema", "recommender"]

RECOMMENDERS: dict[str, type[Recommender]] = {
    "ease": EASE,
    "ials": IALS,
    "implicit": ImplicitLibrary,
    "item-cf": ItemCF,
    "popularity": Popularity,
    "random": RandomScores,
    "ranks": PrecomputedRanks,
}
"""The recommenders by the `type` of their config entry."""


def recommender(entry: Mapping[str, Any]) -> Recommender:
    """Make the recommender that a config entry describes, such as ``{"type": "item-cf", "exponent": 3}``.

    Raises:
        ConfigError: the type is unknown, or a parameter is unknown or missing.
    """
    kind = entry["type"]
    if kind not in RECOMMENDERS:
        raise ConfigError(f"unknown recommender type {kind!r}; it may be {', '.join(RECOMMENDERS)}")
    try:
        return RECOMMENDERS[kind](**{key: value for key, value in entry.items() if key != "type"})
    except TypeError as error:
        raise ConfigError(f"recommender of type {kind}: {error}") from None
