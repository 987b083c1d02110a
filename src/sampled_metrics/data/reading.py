"""Read the events of a dataset: open its files, with a progress bar, and parse them."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sampled_metrics._running import LATE, terminal_bar
from sampled_metrics.data.archives import MemberStream, open_member
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
    with (
        open_member(path, member or form.member) as stream,
        terminal_bar(f"reading {path.name}", stream.size, delay=LATE, of_bytes=True) as advance,
    ):
        counted: Any = _Counted(stream, advance)
        yield from form.parse(counted, stream.name, **(options or {}))


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
