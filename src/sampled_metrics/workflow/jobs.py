"""A job of the workflow: its log, its progress bar, and one line for an error that a user can cause."""

import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tqdm import tqdm

from sampled_metrics.errors import SampledMetricsError


@contextmanager
def job(log: str | os.PathLike[str], about: str = "") -> Iterator[None]:
    """Log to a file. An error that a user can cause is one line there and on stderr, and the job exits with 1.

    Args:
        log: the file.
        about: first words of that line, for messages that do not say what they are about.
    """
    Path(log).parent.mkdir(parents=True, exist_ok=True)
    logging.raiseExceptions = False  # a log that cannot be written, as on a full disk, is no error
    logging.basicConfig(filename=log, filemode="w", level=logging.INFO, format="%(message)s", force=True)
    try:
        yield
    except SampledMetricsError as error:
        line = f"error: {about}{error}"
        logging.error("%s", line)
        sys.stderr.write(f"{line}\n")  # in one call, as other jobs write, too
        raise SystemExit(1) from None
    except Exception:
        logging.exception("unexpected")
        raise


def progress_bar(what: str) -> Callable[[Iterable[int]], Iterable[int]]:
    """Return a wrapper of an iterable that shows a progress bar on a terminal after two seconds."""
    return partial(tqdm, desc=what, delay=2, leave=False, disable=None)
