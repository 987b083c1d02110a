"""File systems of a test's own: mounted for one command and what it starts, and gone with them."""

import shutil
import subprocess
from collections.abc import Sequence


def can_mount() -> bool:
    """Whether a file system may be mounted here, as root in a mount namespace may on Linux."""
    if not shutil.which("unshare") or not shutil.which("mount"):
        return False
    tried = ["unshare", "--mount", "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


def mounted(how: str, words: Sequence[str]) -> list[str]:
    """Return a command that runs another after mounts, seen by nobody else.

    Args:
        how: a line of shell.
        words: the other command.
    """
    return ["unshare", "--mount", "sh", "-c", f'set -e; {how}; exec "$@"', "sh", *words]
