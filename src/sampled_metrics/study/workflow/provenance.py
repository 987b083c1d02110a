"""The provenance of results: the code, the data, the configuration, versions of software, and times."""

import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_info

import sampled_metrics
from sampled_metrics import _files

_SOFTWARE = ("numpy", "scipy", "pandas", "implicit", "matplotlib", "snakemake")


def provenance(
    config: Mapping[str, Any], data: Mapping[str, Mapping[str, str]], benchmarks: Sequence[str]
) -> dict[str, Any]:
    """Return the code, the data, the configuration, the software and the times of a study.

    Args:
        config: the configuration, complete.
        data: result of `checksums`.
        benchmarks: Snakemake's benchmark of each job, a file such as ``…/ml-1m/train-X.tsv``, with the seconds.
    """
    seconds = {_job(path): float(pd.read_csv(path, sep="\t")["s"].iloc[-1]) for path in sorted(benchmarks)}
    return {
        "code": code(),
        "software": software(),
        "data": data,
        "seed": config["seed"],
        "config": config,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": seconds,
    }


def _job(benchmark: str) -> str:
    """Return the name of a job by its benchmark, such as ml-1m/train-X or summary."""
    return benchmark.rpartition("benchmarks/")[2].removesuffix(".tsv")


def checksums(
    ranks: Sequence[str], archives: Mapping[str, Mapping[str, str]], groups: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """Return the SHA-256 of the archive, the groups and the rank tables of each dataset, by dataset and file.

    Args:
        ranks: the rank tables, files such as ``…/ml-1m/ranks/X.csv.gz``.
        archives: the source and the sha256 of the archive of each dataset that was split here.
        groups: the file of the groups of users of each dataset that has one.
    """
    data: dict[str, dict[str, str]] = {}
    for path in ranks:
        dataset = Path(path).parts[-3]
        archive = archives.get(dataset)
        files = data.setdefault(dataset, {archive["source"]: archive["sha256"]} if archive else {})
        files[path] = _files.digest(path, "sha256")
    for dataset, path in groups.items():
        data[dataset][path] = _files.digest(path, "sha256")
    return data


def code() -> str:
    """Return the version of the library, and the commit if its source tree is under git."""
    version = f"sampled-metrics {sampled_metrics.__version__}"
    source = Path(sampled_metrics.__file__)
    if _git(source.parent, "ls-files", "--error-unmatch", source.name) is None:
        return version
    changed = " with changes" if _git(source.parent, "status", "--porcelain", "--untracked-files=no", ":/") else ""
    return f"{version}, commit {_git(source.parent, 'rev-parse', 'HEAD')}{changed}"


def _git(folder: Path, *arguments: str) -> str | None:
    """Return the output of git; None if it fails, or is not installed."""
    try:
        process = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return process.stdout.strip()


def software() -> dict[str, str]:
    """Return the versions of Python, of libraries, and of the BLAS."""
    versions = {"python": platform.python_version()}
    for name in _SOFTWARE:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    blas = sorted({f"{pool['internal_api']} {pool['version']}" for pool in pools})
    return versions | {"blas": ", ".join(blas) or "not known"}
