"""Recommenders by type. A new one is a file of this package and an entry of `RECOMMENDERS`.

A class outside the library needs neither: its type is its dotted path (docs/own-study.md). A recommender is
imported when it is used, so that the workflow can tell on which recommender a job depends.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

from sampled_metrics.errors import ConfigError, reason
from sampled_metrics.recommenders.recommender import Recommender, config_schema, parameter

__all__ = ["RECOMMENDERS", "Recommender", "config_schema", "parameter", "recommender", "recommender_type"]

RECOMMENDERS = {
    "ease": "ease.EASE",
    "ials": "ials.IALS",
    "implicit": "implicit_library.ImplicitLibrary",
    "item-cf": "item_cf.ItemCF",
    "popularity": "simple.Popularity",
    "random": "simple.RandomScores",
    "ranks": "simple.PrecomputedRanks",
}
"""The classes of the recommenders, as modules of this package and names in them, by the `type` of the config entry."""


def recommender_type(kind: str) -> type[Recommender]:
    """Return the class of a recommender by its type: a key of `RECOMMENDERS`, or a path, ``package.module.Class``.

    A class with a path is imported from an installed package, or else from the working folder.

    Raises:
        ConfigError: the type is unknown, cannot be imported, or is not a recommender.
    """
    if kind in RECOMMENDERS:
        module, _, name = RECOMMENDERS[kind].partition(".")
        return getattr(import_module(f"{__name__}.{module}"), name)
    module, dot, name = kind.rpartition(".")
    if not dot:
        may_be = f"it may be {', '.join(RECOMMENDERS)}, or the path of a class, as mine.models.Mine"
        raise ConfigError(f"unknown recommender type {kind!r}; {may_be}")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # last, so that a file of the study hides no module that others import
    try:
        cls = getattr(import_module(module), name)
    except (Exception, SystemExit) as error:  # whatever the module does
        raise ConfigError(f"{kind!r} cannot be imported: {type(error).__name__}: {reason(error)}") from error
    if not (isinstance(cls, type) and issubclass(cls, Recommender)):
        raise ConfigError(f"{kind!r} is not a subclass of sampled_metrics.recommenders.Recommender")
    if not (is_dataclass(cls) and all("schema" in parameter.metadata for parameter in fields(cls))):
        raise ConfigError(f"{kind!r} is not a dataclass whose fields are defined by `parameter`")
    return cls


def recommender(entry: Mapping[str, Any]) -> Recommender:
    """Return the recommender that a config entry describes, such as ``{"type": "item-cf", "exponent": 3}``.

    Raises:
        ConfigError: the type is unknown, or a parameter is unknown or missing.
    """
    kind = entry["type"]
    cls = recommender_type(kind)
    try:
        return cls(**{key: value for key, value in entry.items() if key != "type"})
    except TypeError as error:
        raise ConfigError(f"recommender of type {kind}: {error}") from None
