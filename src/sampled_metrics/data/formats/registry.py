"""Formats of event files, and the registry of formats by name."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sampled_metrics.data.events import EventChunk
from sampled_metrics.errors import ConfigError

Parser = Callable[..., Iterator[EventChunk]]
"""Parser of a stream of bytes: `parse(stream, name, **options)`, where errors call the stream `name`.

The parser of a format of two files is `parse(stream, name, other_stream, other_name, **options)`."""


@dataclass(frozen=True)
class Format:
    """Format of a dataset's events.

    Attributes:
        parse: the parser.
        member: name of the file of events inside the published archive, or a pattern such as `*.inter`; None if the
            archive holds only that file.
        options: JSON schema of the options of the parser.
        other_file: for a ready-made split of two files, a function from the name of the first to that of the second.
    """

    parse: Parser
    member: str | None
    options: Mapping[str, Any]
    other_file: Callable[[str], str] | None


FORMATS: dict[str, Format] = {}


def register(
    name: str,
    *,
    member: str | None,
    options: Mapping[str, Any] | None = None,
    required: Sequence[str] = (),
    other_file: Callable[[str], str] | None = None,
) -> Callable[[Parser], Parser]:
    """Register the decorated parser in `FORMATS`.

    Args:
        name: name of the format in `datasets.*.format`.
        member: see `Format`.
        options: JSON schema of each option by name; `default` is the value of an option that config leaves out.
        required: the options that config must have.
        other_file: see `Format`.
    """
    properties = {"properties": dict(options or {}), "required": list(required)}
    schema = {"type": "object", "additionalProperties": False, **properties}

    def enter(parse: Parser) -> Parser:
        FORMATS[name] = Format(parse, member, schema, other_file)
        return parse

    return enter


def get(name: str) -> Format:
    """Return the format of a name.

    Raises:
        ConfigError: no format has the name.
    """
    if name in FORMATS:
        return FORMATS[name]
    raise ConfigError(f"unknown format {name!r}; it may be {', '.join(sorted(FORMATS))}")
