"""What a format is, and the table of formats by name."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from sampled_metrics.errors import ConfigError


class EventChunk(NamedTuple):
    """Consecutive events of a file, in file order; all arrays have shape (events,)."""

    users: npt.NDArray[np.int64]
    """Ids as in the file."""
    items: npt.NDArray[np.int64]
    """Ids as in the file."""
    ratings: npt.NDArray[np.float64]
    """On the file's own scale."""
    timestamps: npt.NDArray[np.int64]
    """In the file's own unit: for MovieLens, seconds since 1970 in UTC."""


Parser = Callable[[BinaryIO, str], Iterator[EventChunk]]
"""Turns a stream into events; the second argument is the name that errors call the stream by."""


@dataclass(frozen=True)
class Format:
    """How a dataset's events are written."""

    member: str
    """Name of the file that holds the events inside the published archive."""
    parse: Parser


FORMATS: dict[str, Format] = {}


def register(name: str, *, member: str) -> Callable[[Parser], Parser]:
    """Enter the decorated parser into `FORMATS`.

    Args:
        name: what `datasets.*.format` calls it.
        member: name of the file that holds the events inside the published archive.
    """

    def enter(parse: Parser) -> Parser:
        FORMATS[name] = Format(member=member, parse=parse)
        return parse

    return enter


def get(name: str) -> Format:
    """Return the format that is registered under a name.

    Raises:
        ConfigError: there is none.
    """
    if name not in FORMATS:
        raise ConfigError(f"unknown format {name!r}; it may be {', '.join(sorted(FORMATS))}")
    return FORMATS[name]
