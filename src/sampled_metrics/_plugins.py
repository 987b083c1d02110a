"""Estimators, metrics, recommenders and formats of other packages, found by their entry points.

The groups are `sampled_metrics.estimators`, `.metrics`, `.recommenders` and `.formats`. They are read only when a label
is not one of this library's own, and a package is imported only when its label is used.
"""

from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from sampled_metrics.errors import ConfigError, SampledMetricsError, reason


@cache
def _found(group: str) -> dict[str, list[EntryPoint]]:
    """Return the entry points of a group by name; a name may be given by several packages."""
    by_name: dict[str, list[EntryPoint]] = {}
    for each in sorted(entry_points(group=f"sampled_metrics.{group}")):
        by_name.setdefault(each.name, []).append(each)
    return by_name


def names(group: str) -> list[str]:
    """Return the names that other packages give in a group, sorted."""
    return list(_found(group))


def load(group: str, name: str, build: Callable[[Any], Any], fits: Callable[[Any], object], what: str) -> Any:
    """Return what is built from the object that an entry point, one of `names`, refers to.

    Args:
        group: estimators, metrics, recommenders or formats.
        name: name of the entry point.
        build: from that object to what is wanted.
        fits: whether the latter is what it has to be, which `what` names in the message.
        what: see `fits`.

    Raises:
        ConfigError: several packages give the name, or the package fails; the message names it.
    """
    entry, *more = _found(group)[name]
    packages = [f"{each.dist.name} {each.dist.version}" if each.dist else each.value for each in (entry, *more)]
    if more:
        raise ConfigError(f"{name!r} of sampled_metrics.{group} is in several packages: {', '.join(packages)}")
    try:
        found = build(entry.load())
        if not fits(found):
            raise TypeError(f"{entry.value} gives {found!r:.80}, not {what}")
    except SampledMetricsError:
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {reason(error)}"
        raise ConfigError(f"{name!r} of sampled_metrics.{group}, in package {packages[0]}, fails: {why}") from error
    return found
