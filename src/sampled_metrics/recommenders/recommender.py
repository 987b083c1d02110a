"""The interface of recommenders: parameters, training and its memory."""

from abc import ABC, abstractmethod
from copy import deepcopy
from dataclasses import MISSING, field, fields
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics.recommenders.models import Model

COUNT: dict[str, Any] = {"default": None, "type": ["integer", "null"], "minimum": 1}
"""A whole number that may be left out."""


def parameter(description: str, *, default: Any = MISSING, **schema: Any) -> Any:
    """Define a field of a recommender's dataclass.

    Args:
        description: description for the documentation of the config.
        default: its default; a parameter without one is required.
        **schema: JSON schema keywords for the allowed values, such as ``type="integer", minimum=1``.
    """
    keywords = {"description": description, **schema}
    if default is MISSING:
        return field(metadata={"schema": keywords})
    # each recommender gets its own dict or list
    return field(default_factory=partial(deepcopy, default), metadata={"schema": keywords | {"default": default}})


def config_schema(recommender: type) -> dict[str, Any]:
    """Return the JSON schema of a recommender's config entry, without its type."""
    properties = {definition.name: dict(definition.metadata["schema"]) for definition in fields(recommender)}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "required": [name for name, schema in properties.items() if "default" not in schema],
    }


class Recommender(ABC):
    """An algorithm with its parameters. A subclass is a dataclass whose fields are defined by `parameter`.

    Attributes:
        is_random: whether training draws random numbers. If not, another seed of the study does not train again.
        has_factors: whether the model may have factors. If not, another `ranking.precision` does not rank again.
    """

    is_random = True
    has_factors = True

    @abstractmethod
    def fit(self, training: csr_array, rng: np.random.Generator) -> Model:
        """Train on events.

        Args:
            training: (users, items) 1.0 where there is an event.
            rng: the source of everything random.
        """
