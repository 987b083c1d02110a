"""Recommenders by type. A new one is a file of this package and a registration here."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics.errors import ConfigError
from sampled_metrics.recommenders.ease import EASE
from sampled_metrics.recommenders.ials import IALS
from sampled_metrics.recommenders.implicit_library import ImplicitLibrary
from sampled_metrics.recommenders.item_cf import ItemCF
from sampled_metrics.recommenders.models import Model, read_model
from sampled_metrics.recommenders.parameters import config_schema
from sampled_metrics.recommenders.popularity import Popularity
from sampled_metrics.recommenders.precomputed import PrecomputedRanks
from sampled_metrics.recommenders.random_scores import RandomScores

__all__ = [
    "RECOMMENDERS",
    "TYPES",
    "ItemCF",
    "Model",
    "Recommender",
    "build",
    "config_schema",
    "precomputed",
    "read_model",
    "recommender",
]


class Recommender(Protocol):
    """An algorithm with its parameters: a dataclass whose fields are defined by `parameter`."""

    def fit(self, training: csr_array, rng: np.random.Generator) -> Model:
        """Train on (users, items) events, 1.0 where there is one; everything random comes from rng."""
        ...


RECOMMENDERS: dict[str, Any] = {
    "ease": EASE,
    "ials": IALS,
    "implicit": ImplicitLibrary,
    "item-cf": ItemCF,
    "popularity": Popularity,
    "random": RandomScores,
}
"""The recommenders that can be trained, by the `type` of their config entry."""

TYPES: dict[str, Any] = RECOMMENDERS | {"ranks": PrecomputedRanks}
"""What a config entry may be of: a recommender to train, or ranks that are there already."""


def build(entry: Mapping[str, Any]) -> Any:
    """Build what a config entry describes, such as ``{"type": "item-cf", "exponent": 3}``.

    Raises:
        ConfigError: the type is unknown, or a parameter is unknown or missing.
    """
    kind = entry["type"]
    if kind not in TYPES:
        raise ConfigError(f"unknown recommender type {kind!r}; it may be {', '.join(TYPES)}")
    try:
        return TYPES[kind](**{key: value for key, value in entry.items() if key != "type"})
    except TypeError as error:
        raise ConfigError(f"recommender of type {kind}: {error}") from None


def precomputed(entry: Mapping[str, Any]) -> PrecomputedRanks | None:
    """Return the ready-made ranks that a config entry names, or None if it names a recommender to train."""
    built = build(entry)
    return built if isinstance(built, PrecomputedRanks) else None


def recommender(entry: Mapping[str, Any]) -> Recommender:
    """Build a recommender that can be trained from its config entry; ready-made ranks cannot."""
    built = build(entry)
    if isinstance(built, PrecomputedRanks):
        raise ConfigError("ready-made ranks (type ranks) cannot be trained")
    trained: Recommender = built
    return trained
