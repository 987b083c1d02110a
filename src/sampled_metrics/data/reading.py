"""From a dataset's file to its events: open what the format says, with a progress bar, and parse it."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tqdm import tqdm

from sampled_metrics.data.archives import find_member, open_member
from sampled_metrics.data.events import EventChunk
from sampled_metrics.data.formats.registry import Format


def read_events(
    path: Path, form: Format, *, member: str | None = None, options: Mapping[str, Any] | None = None
) -> Iterator[EventChunk]:
    """Yield the events of a dataset; on a terminal, stderr has a progress bar once it has taken two seconds.

    Args:
        path: the dataset's file: plain, gzipped, or a zip archive, which a wheel is too.
        form: how the events are written.
        member: name of the file inside the archive; None if it is the format's own.
        options: what the format's parser takes.

    Raises:
        DataError: a file cannot be read or is malformed; the message names it and the line.
    """
    with ExitStack() as stack:
        arguments: list[Any] = []
        for file, entry in _files(path, form, member or form.member):
            stream = stack.enter_context(open_member(file, entry))
            bar = tqdm.wrapattr(
                stream, "read", total=stream.size, desc=f"reading {file.name}", delay=2, leave=False, disable=None
            )
            arguments += [stack.enter_context(bar), stream.name]
        yield from form.parse(*arguments, **(options or {}))


def files_beside(path: Path, form: Format, *, member: str | None = None) -> list[Path]:
    """Return the files that are read besides a dataset's own: none, or the other one of a ready-made split.

    Raises:
        DataError: the name of the file is not one that the format takes, or it is an archive without such a file.
    """
    return [file for file, _ in _files(path, form, member or form.member) if file != path]


def _files(path: Path, form: Format, member: str | None) -> list[tuple[Path, str | None]]:
    """Return the files to read, and which entry of each if it is an archive."""
    if form.other_file is None:
        return [(path, member)]
    entry = find_member(path, member)
    if entry is None:
        return [(path, None), (path.with_name(form.other_file(path.name)), None)]
    return [(path, entry), (path, form.other_file(entry))]
