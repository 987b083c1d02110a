"""What results were made from: the code, the data, the configuration, versions of software, and times."""

import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_info

import sampled_metrics

_SOFTWARE = ("numpy", "scipy", "pandas", "implicit", "matplotlib", "snakemake")


def provenance(config: Mapping[str, Any], data: Mapping[str, Mapping[str, str]], benchmarks: Path) -> dict[str, Any]:
    """Return what results were made from.

    Args:
        config: the configuration, complete.
        data: checksums by dataset and file.
        benchmarks: the folder of Snakemake's benchmarks, which have the seconds of each job.
    """
    seconds = {
        path.relative_to(benchmarks).with_suffix("").as_posix(): float(pd.read_csv(path, sep="\t")["s"].iloc[-1])
        for path in sorted(benchmarks.rglob("*.tsv"))
    }
    return {
        "code": code(),
        "software": software(),
        "data": data,
        "seed": config["seed"],
        "config": config,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": seconds,
    }


def code() -> str:
    """Return the version of the library, and the commit of its source tree, if it is one of git."""
    found = f"sampled-metrics {sampled_metrics.__version__}"
    source = Path(sampled_metrics.__file__)
    if _git(source.parent, "ls-files", "--error-unmatch", source.name) is None:
        return found
    changed = " with changes" if _git(source.parent, "status", "--porcelain", "--untracked-files=no", ":/") else ""
    return f"{found}, commit {_git(source.parent, 'rev-parse', 'HEAD')}{changed}"


def _git(folder: Path, *arguments: str) -> str | None:
    """Return what git says; None if it fails, or is not installed."""
    try:
        ran = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return ran.stdout.strip()


def software() -> dict[str, str]:
    """Return the versions of Python, of libraries, and of the library of linear algebra."""
    found = {"python": platform.python_version()}
    for name in _SOFTWARE:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    blas = {f"{each['internal_api']} {each['version']}" for each in threadpool_info() if each["user_api"] == "blas"}
    return found | {"blas": ", ".join(sorted(blas)) or "not known"}
