"""Run a job of the workflow with a log, progress and its random streams.

An error that a user can cause is one line.
"""

import hashlib
import logging
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from pathlib import Path
from typing import Any

import numpy as np

from sampled_metrics import file_io
from sampled_metrics.errors import SampledMetricsError
from sampled_metrics.running import LATE, terminal_progress
from sampled_metrics_study import provenance

_OURS = {"root", "sampled_metrics"}  # loggers of the scripts and of the library
_LOGGED_EVERY = 10.0  # seconds


def run(main: Callable[[Any], None], snakemake: Any, title: str) -> None:
    """Run a script with a log, and write its title to stderr.

    The log, the first of snakemake, holds the title, counts, remarks, and the time or the error.
    Remarks are warnings of the script and of the library, and also go to stderr, as does an error.
    An error that a user can cause is one line, with exit code 1. The title may contain wildcards
    and params, as in "rank {wildcards.recommender} on {wildcards.dataset}".

    The output `versions`, if the rule has it, gets the versions of code and software that ran, and
    the part of the config that the job depends on.
    """
    log = Path(snakemake.log[0])
    log.parent.mkdir(parents=True, exist_ok=True)
    title = title.format(wildcards=snakemake.wildcards, params=snakemake.params)
    logging.raiseExceptions = False  # ignore a log that cannot be written, as on a full disk
    remarks = logging.StreamHandler()
    remarks.setFormatter(logging.Formatter(f"{title.replace('%', '%%')}: %(message)s"))
    remarks.addFilter(
        lambda record: record.levelno == logging.WARNING and record.name.split(".")[0] in _OURS
    )
    handlers: list[logging.Handler] = [
        logging.FileHandler(log, mode="w", encoding="utf-8"),
        remarks,
    ]
    logging.basicConfig(handlers=handlers, level=logging.INFO, format="%(message)s", force=True)
    started = time.monotonic()
    logging.info("%s", title)
    sys.stderr.write(f"{title}\n")  # in one call, because other jobs also write
    try:
        main(snakemake)
        if record := getattr(snakemake.output, "versions", None):
            file_io.write_json(
                record, provenance.versions(title) | {"config": stated_config(snakemake.params)}
            )
    except SampledMetricsError as error:
        logging.error("error: %s", error)
        sys.stderr.write(f"{title} failed: {error}\n  log: {log}\n")
        raise SystemExit(1) from None
    except Exception as error:
        first_line = str(error).splitlines()[0] if str(error) else ""
        message = f"unexpected {type(error).__name__}: {first_line}"
        logging.exception("unexpected")
        logging.error("error: %s", message)
        sys.stderr.write(f"{title} failed: {message}\n  log: {log}\n")
        raise
    logging.info("finished in %.1f s", time.monotonic() - started)


def stated_config(params: Any) -> dict[str, Any]:
    """Return the parts of the config that the params of a job have."""
    names = ("seed", "dataset", "split", "parameters", "sampling", "estimators", "metrics", "toy")
    return {name: getattr(params, name) for name in names if hasattr(params, name)}


def progress_bar(what: str) -> Callable[[Iterable[Any]], Iterable[Any]]:
    """Return a wrapper of an iterable that shows its progress and an estimate of the time left.

    A terminal shows a bar after two seconds. The log gets a line every ten seconds.
    """

    def shown(steps: Iterable[Any]) -> Iterable[Any]:
        bar = terminal_progress(steps, what, delay=LATE)
        return _logged(bar, len(steps), what) if isinstance(steps, Sized) else bar

    return shown


def _logged(steps: Iterable[Any], total: int, what: str) -> Iterator[Any]:
    """Yield the steps.

    Log every ten seconds how many are done, and an estimate of the time left.
    """
    started = last_logged = time.monotonic()
    for done, step in enumerate(steps):
        now = time.monotonic()
        if done and now - last_logged >= _LOGGED_EVERY:
            last_logged = now
            left = (now - started) / done * (total - done)
            logging.info("%s: %d of %d done, about %.0f s left", what, done, total, left)
        yield step


def log_left_out(sizes: Iterable[int], used: Iterable[int]) -> None:
    """Log a remark on the sample sizes for which a user has too few other candidates."""
    left_out = sorted(set(sizes) - set(used))
    if left_out:
        logging.warning(
            "left out, as a user has fewer other candidates: m = %s", ", ".join(map(str, left_out))
        )


def memory_of_machine() -> float:
    """Return the bytes of the machine's memory; infinity where Python does not know them."""
    if not hasattr(os, "sysconf"):  # Windows
        return math.inf
    return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def stream(seed: int, *names: str) -> np.random.Generator:
    """Return the random generator of a purpose, such as ("ml-1m", "X", "negatives").

    Equal names and seeds give the same stream. Other names give an independent one.
    """
    spawn_key = tuple(
        int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") for name in names
    )
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=spawn_key)))
