"""Reading what an earlier stage of the workflow wrote: a file that is cut off or damaged is named, never half used.

Zip and gzip keep a checksum of what they hold, so that a changed byte is noticed; of a plain csv table it is whether
its numbers are finite and its rows complete.
"""

import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics.errors import DataError

AGAIN = "remove it, and run again"
"""What to do about a damaged file that the workflow makes."""


def read_numbers(
    path: str | os.PathLike[str],
    text: Sequence[str],
    numbers: Sequence[str],
    *,
    may_lack: Sequence[str] = (),
    key: Sequence[str] = (),
) -> pd.DataFrame:
    """Read a csv table that the workflow wrote, gzip where its name ends in .gz.

    Args:
        path: the file.
        text: columns of text.
        numbers: columns of finite numbers.
        may_lack: those of them in which a number may be missing.
        key: columns that tell the rows apart.

    Raises:
        DataError: it cannot be read, lacks a column, or a row is wrong; the message names the line.
    """
    try:
        table = pd.read_csv(path, dtype=dict.fromkeys(text, str))
    except (OSError, ValueError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: is damaged: {_reason(error)}; {AGAIN}") from None
    missing = [name for name in (*text, *numbers) if name not in table]
    if missing:
        raise DataError(f"{path}, line 1: lacks the column {', '.join(missing)}; {AGAIN}")
    if not len(table):
        raise DataError(f"{path}: has no line but its header; {AGAIN}")
    for name in text:
        _refuse(table[name].isna().to_numpy(), path, f"{name} is empty")
    for name in numbers:
        of_numbers = table[name] if table[name].dtype.kind in "iuf" else table[name].astype(str)  # "True" is none
        values = pd.to_numeric(of_numbers, errors="coerce").to_numpy(dtype=np.float64)
        wrong = ~np.isfinite(values)
        if name in may_lack:
            wrong &= table[name].notna().to_numpy()
        _refuse(wrong, path, f"{name} is not a finite number")
    if key:
        _refuse(table.duplicated(list(key)).to_numpy(), path, f"repeats the {', '.join(key)} of an earlier line")
    return table


def read_estimates(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read what scripts/sample.py wrote: an estimate for each reading, metric, estimator and repetition.

    Raises:
        DataError: it is damaged, or the repetitions of some estimator are not all there.
    """
    groups = ["reading", "metric", "estimator"]
    table = read_numbers(path, groups, ["repetition", "estimate"], key=[*groups, "repetition"])
    repetition = table["repetition"].to_numpy()
    _refuse((repetition < 0) | (repetition % 1 != 0), path, "repetition is not a whole number from 0")
    wanted = table["repetition"].max() + 1
    counted = table.groupby(groups, sort=False).size()
    short = counted[counted != wanted]
    if len(short):
        raise DataError(f"{path}: has {short.iloc[0]} of {wanted} repetitions of {' '.join(short.index[0])}; {AGAIN}")
    return table


def read_expected(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read what scripts/expect.py wrote: mean and deviation for each reading, metric and estimator; some have none.

    Raises:
        DataError: it is damaged.
    """
    groups = ["reading", "metric", "estimator"]
    moments = ["mean_exact", "sd_exact"]
    return read_numbers(path, groups, moments, may_lack=moments, key=groups)


def read_runs(
    names: Sequence[str], estimates: Sequence[str], expected: Sequence[str]
) -> tuple[dict[str, pd.DataFrame], dict[str, pd.DataFrame]]:
    """Read estimates and expectations of all recommenders, by recommender.

    Args:
        names: of the recommenders.
        estimates: what `read_estimates` reads, a file each.
        expected: what `read_expected` reads, a file each.

    Raises:
        DataError: a file is damaged, or not all hold the same readings, metrics, estimators and repetitions.
    """
    of_samples = {name: read_estimates(path) for name, path in zip(names, estimates, strict=True)}
    of_no_sample = {name: read_expected(path) for name, path in zip(names, expected, strict=True)}
    groups = ["reading", "metric", "estimator"]
    tables = [*zip(estimates, of_samples.values(), strict=True), *zip(expected, of_no_sample.values(), strict=True)]
    held = {path: set(table[groups].itertuples(index=False, name=None)) for path, table in tables}
    _require_the_same(held)
    repetitions = {path: len(table) // max(1, len(held[path])) for path, table in tables[: len(names)]}
    most = max(repetitions.values(), default=0)
    for path, count in repetitions.items():
        if count != most:
            raise DataError(f"{path}: has {count} of {most} repetitions; {AGAIN}")
    return of_samples, of_no_sample


def read_estimator_studies(names: Sequence[str], paths: Sequence[str | os.PathLike[str]]) -> dict[str, pd.DataFrame]:
    """Read what scripts/compare.py wrote of all recommenders, by recommender.

    Every estimator has a row for each metric, on each sample: each number of negatives, the adaptive sample and the one
    of equal cost.

    Raises:
        DataError: a file is damaged, a row is missing, or not all are of the same samples, estimators and metrics.
    """
    text, numbers = ["sample", "estimator", "metric"], ["exact", "mean", "bias", "sd", "rmse", "error"]
    tables = {}
    for name, path in zip(names, paths, strict=True):
        table = read_numbers(path, text, ["negatives", *numbers], may_lack=numbers, key=[*text, "negatives"])
        for sample, rows in table.groupby("sample"):
            wanted = rows["negatives"].nunique() * rows["estimator"].nunique() * rows["metric"].nunique()
            if len(rows) != wanted:
                raise DataError(f"{path}: has {len(rows)} of {wanted} rows of sample {sample}; {AGAIN}")
        tables[name] = table
    held = {path: set(_samples(table)) for path, table in zip(paths, tables.values(), strict=True)}
    _require_the_same(held)
    return tables


def _require_the_same(held: Mapping[Any, set[tuple[str, ...]]]) -> None:
    """Refuse a file that lacks what the file of another recommender holds."""
    everything = set().union(*held.values())
    for path, these in held.items():
        lacks = sorted(everything - these)
        if lacks:
            raise DataError(f"{path}: lacks {' '.join(lacks[0])}, which another recommender's file has; {AGAIN}")


def _samples(table: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    """What each row is of; the adaptive sample of each recommender has another number of negatives."""
    negatives = table["negatives"].map("{:g}".format).where(table["sample"] == "fixed", "")
    return zip(table["sample"], negatives, table["estimator"], table["metric"], strict=True)


def _refuse(wrong: NDArray[np.bool_], path: str | os.PathLike[str], says: str) -> None:
    if wrong.any():
        raise DataError(f"{path}, line {int(np.argmax(wrong)) + 2}: {says}; {AGAIN}")


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(str(error).split()) or type(error).__name__
