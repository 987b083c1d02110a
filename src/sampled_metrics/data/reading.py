"""Read the events of a dataset: open its files, with a progress bar, and parse them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from sampled_metrics._running import LATE, terminal_bar
from sampled_metrics.data.archives import MemberStream, find_member, open_member
from sampled_metrics.data.events import EventChunk
from sampled_metrics.data.formats import Format


def read_events(
    path: Path,
    form: Format,
    *,
    member: str | None = None,
    options: Mapping[str, Any] | None = None,
    test: Path | None = None,
) -> Iterator[EventChunk]:
    """Yield the events of a dataset; a terminal shows a progress bar on stderr after two seconds.

    Args:
        path: the dataset's file: plain, gzipped, or a zip archive such as a wheel.
        form: format of the events.
        member: name of the file inside the archive; None for the default of the format.
        options: options of the format's parser.
        test: a second file in the same format, whose events are held out; those of the first file train.

    Raises:
        DataError: a file cannot be read or is malformed; the message names it and the line.
    """
    if test is not None:
        for file, is_held_out in ((path, False), (test, True)):
            for chunk in read_events(file, form, member=member, options=options):
                yield chunk._replace(held_out=np.full(len(chunk.users), is_held_out))
        return
    with ExitStack() as stack:
        arguments: list[Any] = []
        for file, entry in _files(path, form, member or form.member):
            stream = stack.enter_context(open_member(file, entry))
            advance = stack.enter_context(terminal_bar(f"reading {file.name}", stream.size, delay=LATE, of_bytes=True))
            arguments += [_Counted(stream, advance), stream.name]
        yield from form.parse(*arguments, **(options or {}))


class _Counted:
    """A stream that gives the number of bytes of each read to a function."""

    def __init__(self, stream: MemberStream, count: Callable[[int], None]) -> None:
        self._stream, self._count = stream, count

    def read(self, size: int = -1, /) -> bytes:
        content = self._stream.read(size)
        self._count(len(content))
        return content

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def files_beside(path: Path, form: Format, *, member: str | None = None) -> list[Path]:
    """Return the files that are read besides the dataset's own: none, or the other file of a ready-made split.

    Raises:
        DataError: the format does not accept the name of the file, or the archive has no such file.
    """
    return [file for file, _ in _files(path, form, member or form.member) if file != path]


def _files(path: Path, form: Format, member: str | None) -> list[tuple[Path, str | None]]:
    """Return the files to read, each with its entry if it is an archive."""
    if form.other_file is None:
        return [(path, member)]
    entry = find_member(path, member)
    if entry is None:
        return [(path, None), (path.with_name(form.other_file(path.name)), None)]
    return [(path, entry), (path, form.other_file(entry))]
