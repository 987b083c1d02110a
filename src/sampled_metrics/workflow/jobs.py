"""A job of the workflow: its log, its progress bar, and errors that a user can cause said in one line."""

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
    """Log to a file; on an error that a user can cause, say it in one line there and on stderr, and exit with 1.

    Args:
        log: the file.
        about: what the line begins with, where its message alone would not say what it is about.
    """
    Path(log).parent.mkdir(parents=True, exist_ok=True)
    logging.raiseExceptions = False  # a log that cannot be written, as on a full disk, is not what is wrong
    logging.basicConfig(filename=log, filemode="w", level=logging.INFO, format="%(message)s", force=True)
    try:
        yield
    except SampledMetricsError as error:
        line = f"error: {about}{error}"
        logging.error("%s", line)
        sys.stderr.write(f"{line}\n")  # at once: other jobs write, too
        raise SystemExit(1) from None
    except Exception:
        logging.exception("unexpected")
        raise


def progress_bar(what: str) -> Callable[[Iterable[int]], Iterable[int]]:
    """Return a wrapper of a range that shows a progress bar on a terminal once it has taken two seconds."""
    return partial(tqdm, desc=what, delay=2, leave=False, disable=None)
