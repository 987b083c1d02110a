"""Run a job of the workflow with a log, a progress bar, and one line for an error that a user can cause."""

import logging
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from sampled_metrics.errors import SampledMetricsError


def run(main: Callable[[Any], None], snakemake: Any, about: str = "") -> None:
    """Run a script with a log. An error that a user can cause gives one line there and on stderr, and exit code 1.

    Args:
        main: the function of the script.
        snakemake: the object that Snakemake passes to scripts; its first log is the log file.
        about: start of the error line, for messages that do not name their subject.
    """
    log = Path(snakemake.log[0])
    log.parent.mkdir(parents=True, exist_ok=True)
    logging.raiseExceptions = False  # ignore a log that cannot be written, as on a full disk
    logging.basicConfig(filename=log, filemode="w", level=logging.INFO, format="%(message)s", force=True)
    try:
        main(snakemake)
    except SampledMetricsError as error:
        line = f"error: {about}{error}"
        logging.error("%s", line)
        sys.stderr.write(f"{line}\n")  # in one call, because other jobs also write
        raise SystemExit(1) from None
    except Exception:
        logging.exception("unexpected")
        raise


def progress_bar(what: str) -> Callable[[Iterable[int]], Iterable[int]]:
    """Return a wrapper of an iterable that shows a progress bar on a terminal after two seconds."""
    return partial(tqdm, desc=what, delay=2, leave=False, disable=None)
