"""The interface of recommenders: parameters, training and its memory."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from copy import deepcopy
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import partial
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sampled_metrics.checks import Ints
from sampled_metrics.errors import ConfigError, reason

if TYPE_CHECKING:
    from sampled_metrics.ranking.split import Split
    from sampled_metrics_study.recommenders.models import Model

COUNT: dict[str, Any] = {"default": None, "type": ["integer", "null"], "minimum": 1}
"""A whole number that may be left out."""


def parameter(description: str, *, default: Any = MISSING, **schema: Any) -> Any:
    """Define a field of a recommender's dataclass.

    Args:
        description: description for the documentation of the config.
        default: its default; a parameter without one is required.
        **schema: JSON schema keywords for the allowed values, such as ``type="integer",
            minimum=1``.
    """
    keywords = {"description": description, **schema}
    if default is MISSING:
        return field(metadata={"schema": keywords})
    # each recommender gets its own dict or list
    return field(
        default_factory=partial(deepcopy, default),
        metadata={"schema": keywords | {"default": default}},
    )


def config_schema(recommender: type) -> dict[str, Any]:
    """Return the JSON schema of a recommender's config entry, without its type."""
    properties = {
        definition.name: dict(definition.metadata["schema"]) for definition in fields(recommender)
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "required": [name for name, schema in properties.items() if "default" not in schema],
    }


@dataclass(frozen=True)
class TrainingEvents:
    """The training events of all users, those of a user in the order of time.

    Events at the same time, and events without timestamps, have the order of the file.

    Attributes:
        user: (events,) index of the user, a row of the matrix; ascending.
        item: (events,) index of the item, a column of the matrix.
        timestamp: (events,) times in the unit of the file; None if the file has none.

    Examples:
        The last item of each user:

        >>> import numpy as np
        >>> from sampled_metrics_study.recommenders import TrainingEvents
        >>> events = TrainingEvents(user=np.array([0, 0, 1]), item=np.array([7, 2, 5]))
        >>> events.item[np.diff(events.user, append=-1) != 0]
        array([2, 5])
    """

    user: Ints
    item: Ints
    timestamp: NDArray[np.generic] | None = None

    @classmethod
    def of(cls, split: Split) -> TrainingEvents:
        """Return the training events of a split, which was read with its timestamps."""
        user = np.repeat(np.arange(split.shape.users), np.diff(split.training.indptr))
        item = np.asarray(split.training.indices)
        times = split.timestamps
        keys = [key for key in (split.positions, times, user) if key is not None]
        order = np.lexsort(keys)
        return cls(user[order], item[order], None if times is None else times[order])


class Recommender(ABC):
    """An algorithm with its parameters.

    A subclass is a dataclass whose fields are defined by `parameter`.

    Attributes:
        is_random: whether training draws random numbers. If not, another seed of the study does not
            train again.
        has_factors: whether the model may have factors. If not, another `ranking.precision` does
            not rank again.
    """

    is_random = True
    has_factors = True

    @abstractmethod
    def fit(self, training: csr_array, rng: np.random.Generator) -> Model:
        """Train on events.

        A subclass may have a third parameter with the name events, for the times and the order of
        the events: it is then given `TrainingEvents`. With a parameter of the name threads, it is
        given the threads of its job, which may not change the model.

        Args:
            training: (users, items) 1.0 where there is an event.
            rng: the source of everything random.
        """

    def memory(self, users: int, items: int, events: int) -> int:
        """Return about how many bytes training and ranking hold, without the split.

        A cluster is asked for as much memory, and no result depends on it. The default is 4 GB.
        """
        return 4 * 10**9


def dense_memory(items: int) -> int:
    """Return the bytes of three dense matrices of similarities of items."""
    return 3 * 8 * items**2


def factor_memory(users: int, items: int, factors: int) -> int:
    """Return the bytes of factors of users and items, which are held three times."""
    return 3 * 8 * factors * (users + items)


def takes(kind: type[Recommender], name: str) -> bool:
    """Return whether the method `fit` of a class has a parameter of a name: events or threads."""
    return name in signature(kind.fit).parameters


def trained(
    recommender: Recommender, split: Split, rng: np.random.Generator, threads: int = 1
) -> Model:
    """Return the model that a recommender makes of the training events of a split.

    The model does not depend on the number of threads.
    """
    options: dict[str, Any] = {}
    if takes(type(recommender), "events"):
        options["events"] = TrainingEvents.of(split)
    if takes(type(recommender), "threads"):
        options["threads"] = threads
    return recommender.fit(split.training, rng, **options)


def class_at(path: str) -> type[Recommender]:
    """Return the class of a recommender by its path, ``package.module.Class``.

    A class of your own is imported from an installed package, or else from the working folder.

    Raises:
        ConfigError: it cannot be imported, or is not a recommender.
    """
    module, _, name = path.rpartition(".")
    if os.getcwd() not in sys.path:
        # last, so that a file of the study hides no module that others import
        sys.path.append(os.getcwd())
    try:
        cls = getattr(import_module(module), name)
    except (Exception, SystemExit) as error:  # whatever the module does
        raise ConfigError(
            f"{path!r} cannot be imported: {type(error).__name__}: {reason(error)}"
        ) from error
    if not (isinstance(cls, type) and issubclass(cls, Recommender)):
        raise ConfigError(
            f"{path!r} is not a subclass of sampled_metrics_study.recommenders.Recommender"
        )
    if not (is_dataclass(cls) and all("schema" in parameter.metadata for parameter in fields(cls))):
        raise ConfigError(f"{path!r} is not a dataclass whose fields are defined by `parameter`")
    return cls
