"""What a format is, and the table of formats by name."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sampled_metrics.data.events import EventChunk
from sampled_metrics.errors import ConfigError

Parser = Callable[..., Iterator[EventChunk]]
"""Turns a stream of bytes into events: `parse(stream, name, **options)`, where name is what errors call the stream.

A format of two files has `parse(stream, name, other_stream, other_name, **options)`."""


@dataclass(frozen=True)
class Format:
    """How a dataset's events are written.

    Attributes:
        parse: the parser.
        member: name of the file that holds the events inside the published archive, which may be a pattern such as
            `*.inter`; None if the archive holds nothing else.
        options: JSON schema of the options that the parser takes.
        other_file: for a ready-made split, which comes as two files: from the name of the one to the name of the other.
    """

    parse: Parser
    member: str | None
    options: Mapping[str, Any]
    other_file: Callable[[str], str] | None

    @property
    def is_ready_made_split(self) -> bool:
        """Whether the files say themselves which events are held out."""
        return self.other_file is not None


FORMATS: dict[str, Format] = {}


def register(
    name: str,
    *,
    member: str | None,
    options: Mapping[str, Any] | None = None,
    required: Sequence[str] = (),
    other_file: Callable[[str], str] | None = None,
) -> Callable[[Parser], Parser]:
    """Enter the decorated parser into `FORMATS`.

    Args:
        name: what `datasets.*.format` calls it.
        member: see `Format`.
        options: JSON schema of each option by name; its `default` is what it is if config does not say.
        required: the options without which config is refused.
        other_file: see `Format`.
    """

    def enter(parse: Parser) -> Parser:
        schema = {
            "type": "object",
            "additionalProperties": False,
            "properties": dict(options or {}),
            "required": list(required),
        }
        FORMATS[name] = Format(parse, member, schema, other_file)
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
