"""What a study was made from: code, software, data and configuration."""

import platform
import subprocess
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import scipy.linalg  # noqa: F401  # so that each job has loaded the BLAS of scipy
from threadpoolctl import threadpool_info

import sampled_metrics
from sampled_metrics import file_io

_SOFTWARE = ("numpy", "scipy", "pandas", "implicit", "matplotlib", "snakemake")


def code() -> str:
    """Return the version of the library, and the commit if its source tree is under git."""
    version = f"sampled-metrics {sampled_metrics.__version__}"
    source = Path(sampled_metrics.__file__)
    if _git(source.parent, "ls-files", "--error-unmatch", source.name) is None:
        return version
    commit = _git(source.parent, "rev-parse", "HEAD")
    changes = _git(source.parent, "status", "--porcelain", "--untracked-files=no", ":/")
    return f"{version}, commit {commit}{' with changes' if changes else ''}"


def _git(folder: Path, *arguments: str) -> str | None:
    """Return the output of git; None if it fails, or is not installed."""
    try:
        process = subprocess.run(
            ["git", "-C", folder, *arguments], capture_output=True, text=True, check=True
        )
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


def versions(job: str) -> dict[str, Any]:
    """Return what a job writes in addition to its output: its title, code and software."""
    return {"job": job, "code": code(), "software": software()}


def gathered(jobs: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the code and software of jobs as text, with the jobs where they differ.

    Args:
        jobs: results of `versions`.
    """
    texts: dict[str, str] = {}
    used = [{"Code": job["code"], **job["software"]} for job in jobs]
    for name in used[0]:
        titles: dict[str, list[str]] = {}
        for job, versions_of_job in zip(jobs, used, strict=True):
            titles.setdefault(versions_of_job.get(name, "not known"), []).append(job["job"])
        texts[name] = next(iter(titles))
        if len(titles) > 1:
            parts = [f"{version} ({', '.join(those)})" for version, those in titles.items()]
            texts[name] = "; ".join(parts)
    return texts


def checksums(
    ranks: Sequence[str], archives: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    """Return the SHA-256 of the archive and the rank tables of each dataset, by dataset and file.

    Args:
        ranks: the rank tables, files such as ``…/ml-1m/ranks/X.csv.gz``.
        archives: the source and the sha256 of the archive of each dataset that was split here.
    """
    data: dict[str, dict[str, str]] = {}
    for path in ranks:
        dataset = Path(path).parts[-3]
        archive = archives.get(dataset)
        files = data.setdefault(dataset, {archive["source"]: archive["sha256"]} if archive else {})
        files[path] = file_io.digest(path, "sha256")
    return data
