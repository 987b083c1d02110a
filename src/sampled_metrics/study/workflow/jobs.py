"""Run a job of the workflow with a log and progress. An error that a user can cause is one line."""

import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from pathlib import Path
from typing import Any

from sampled_metrics._running import LATE, terminal_progress
from sampled_metrics.errors import SampledMetricsError, WriteError

_OURS = {"root", "sampled_metrics"}  # loggers of the scripts and of the library
_FINISHED = "finished in "
_ERROR = "error: "
_LOGGED_EVERY = 10.0  # seconds


def run(main: Callable[[Any], None], snakemake: Any, title: str) -> None:
    """Run a script with a log, and write its title to stderr.

    The log holds the title, counts, remarks, and the time or the error. Remarks are warnings of the script and of the
    library. They also go to stderr. An error that a user can cause is one line in the log, with exit code 1. The
    workflow repeats it at the end of the run (`failures`).

    Args:
        main: the function of the script.
        snakemake: the object that Snakemake passes to scripts. Its first log is the log file.
        title: what the job does, such as "rank {wildcards.recommender} on {wildcards.dataset}". It may contain
            wildcards and params.
    """
    log = Path(snakemake.log[0])
    log.parent.mkdir(parents=True, exist_ok=True)
    title = title.format(wildcards=snakemake.wildcards, params=snakemake.params)
    logging.raiseExceptions = False  # ignore a log that cannot be written, as on a full disk
    remarks = logging.StreamHandler()
    remarks.setFormatter(logging.Formatter(f"{title.replace('%', '%%')}: %(message)s"))
    remarks.addFilter(lambda record: record.levelno == logging.WARNING and record.name.split(".")[0] in _OURS)
    handlers: list[logging.Handler] = [logging.FileHandler(log, mode="w", encoding="utf-8"), remarks]
    logging.basicConfig(handlers=handlers, level=logging.INFO, format="%(message)s", force=True)
    started = time.monotonic()
    _say(title)
    try:
        main(snakemake)
    except SampledMetricsError as error:
        logging.error("%s%s", _ERROR, error)
        if isinstance(error, WriteError):  # on a full disk, the log is not written either
            sys.stderr.write(f"{_ERROR}{error}\n")
        raise SystemExit(1) from None
    except Exception as error:
        logging.exception("unexpected")
        logging.error("%sunexpected %s: %s", _ERROR, type(error).__name__, str(error).partition("\n")[0])
        raise
    logging.info("%s%.1f s", _FINISHED, time.monotonic() - started)


def _say(line: str) -> None:
    """Write a line to the log and to stderr."""
    logging.info("%s", line)
    sys.stderr.write(f"{line}\n")  # in one call, because other jobs also write


def progress_bar(what: str) -> Callable[[Iterable[Any]], Iterable[Any]]:
    """Return a wrapper of an iterable that shows its progress and an estimate of the time left.

    A terminal shows a bar after two seconds. The log gets a line every ten seconds.
    """

    def shown(steps: Iterable[Any]) -> Iterable[Any]:
        bar = terminal_progress(steps, what, delay=LATE)
        return _logged(bar, len(steps), what) if isinstance(steps, Sized) else bar

    return shown


def _logged(steps: Iterable[Any], total: int, what: str) -> Iterator[Any]:
    """Yield the steps. Log every ten seconds how many are done, and an estimate of the time left."""
    started = last_logged = time.monotonic()
    for done, step in enumerate(steps):
        now = time.monotonic()
        if done and now - last_logged >= _LOGGED_EVERY:
            last_logged, left = now, (now - started) / done * (total - done)
            logging.info("%s: %d of %d done, about %.0f s left", what, done, total, left)
        yield step


def log_left_out(sizes: Iterable[int], used: Iterable[int]) -> None:
    """Log a remark on the sample sizes that were not used because a user has too few other candidates."""
    left_out = sorted(set(sizes) - set(used))
    if left_out:
        logging.warning("left out, as a user has fewer other candidates: m = %s", ", ".join(map(str, left_out)))


def failures(logs: str | os.PathLike[str], since: float) -> list[str]:
    """Return a text for each failed job: its title, its error, and its log.

    Args:
        logs: folder of the logs that `run` wrote.
        since: seconds since 1970. Logs that were last written before it belong to an earlier run.
    """
    failed = []
    for log in sorted(Path(logs).rglob("*.log")):
        if log.stat().st_mtime < since:
            continue
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines() or [log.stem]
        if not lines[-1].startswith(_FINISHED):
            killed = "it was killed, interrupted, or had no room for its log; a system kills jobs that need too much"
            reason = lines[-1].removeprefix(_ERROR) if lines[-1].startswith(_ERROR) else killed
            failed.append(f"{lines[0]} failed: {reason}\n  log: {log}")
    return failed
