"""Labels of metrics and estimators, and names of recommenders, as people give them."""

from collections.abc import Sequence
from typing import Any

from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.scalars import shown


def label_of(given: Any, what: str) -> str:
    """Return a label.

    Args:
        given: one label.
        what: what it is of, for messages.

    Raises:
        ConfigError: it is no text.
    """
    if not isinstance(given, str):
        raise ConfigError(f"{what}: a label is text, not {shown(given)}")
    return given


def labels_of(given: str | Sequence[str], what: str) -> list[str]:
    """Return labels as a list.

    Args:
        given: one label, or several.
        what: what they are of, for messages.

    Raises:
        ConfigError: there are none, one is no text, or one is there twice.
    """
    try:
        labels = [given] if isinstance(given, str) else [label_of(each, what) for each in given]
    except TypeError:
        raise ConfigError(f"{what}: give one label or a list of them, not {shown(given)}") from None
    if not labels:
        raise ConfigError(f"{what}: give one label or more")
    for at, label in enumerate(labels):
        if label in labels[:at]:
            raise ConfigError(f"{what}: {label!r} is there twice; give each label once")
    return labels


def names_of_two(given: Any) -> tuple[str, str]:
    """Return the names of two recommenders.

    Raises:
        DataError: they are not two texts, or the same one.
    """
    if not isinstance(given, list | tuple) or len(given) != 2 or not all(isinstance(each, str) for each in given):
        raise DataError(f"names must be two texts, one for each recommender, not {shown(given)}")
    if given[0] == given[1]:
        raise DataError(f"the two recommenders must have different names, not {given[0]!r} twice")
    return given[0], given[1]
