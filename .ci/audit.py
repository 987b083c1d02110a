"""Ask whether a vulnerability is known of any package that the lock files name, by pip-audit.

pip-audit says "No known vulnerabilities found" of packages that it could ask nobody about, too.
This says how many it was told of, and fails where any was not: `make audit`. With --or-say it then
only says so: `make lint`, which works offline.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PIP_AUDIT = ROOT / ".venv/audit/bin/pip-audit"
OPTIONS = (
    "--disable-pip",
    "--no-deps",
    "--progress-spinner",
    "off",
    "--timeout",
    "10",
    "--format",
    "json",
)
SECONDS = 300


def asked(lock: Path) -> tuple[list[dict[str, Any]], str]:
    """Return what pip-audit found out of each package of a lock file, and why it did not if it did
    not.
    """
    command = [str(PIP_AUDIT), *OPTIONS, "--requirement", str(lock)]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        return json.loads(ran.stdout)["dependencies"], ""
    except OSError:
        return [], "pip-audit is not installed"
    except subprocess.TimeoutExpired:
        return [], f"no answer in {SECONDS} seconds"
    except (ValueError, KeyError):
        lines = ran.stderr.strip().splitlines()
        return [], lines[-1] if lines else "pip-audit says nothing"


def main(locks: list[Path], *, may_be_unasked: bool) -> int:
    """Audit lock files, say what came of it, and return the exit code."""
    known = []
    unasked = []
    audited = 0
    for lock in locks:
        packages, reason = asked(lock)
        skipped = [package for package in packages if "skip_reason" in package]
        audited += len(packages) - len(skipped)
        known += [
            (lock, package, vulnerability)
            for package in packages
            for vulnerability in package.get("vulns", [])
        ]
        if skipped:
            reason = (
                f"{len(skipped)} of {len(packages)} packages, such as: {skipped[0]['skip_reason']}"
            )
        if reason:
            unasked.append(f"not audited: {lock.relative_to(ROOT)}: {reason}")
    for lock, package, vulnerability in known:
        fixed = ", ".join(vulnerability.get("fix_versions", [])) or "none"
        what = f"{package['name']} {package['version']}: {vulnerability['id']}"
        print(f"{lock.relative_to(ROOT)}: {what} (fixed in: {fixed})")
    verdict = (
        f"{len(known)} known vulnerabilities"
        if audited
        else "nobody could be asked, so that nothing is known"
    )
    print(*unasked, f"audited: {audited} packages, {verdict}", sep="\n")
    return 1 if known or (unasked and not may_be_unasked) else 0


if __name__ == "__main__":
    # the lowest versions are old ones, which only tests install
    locks = [path for path in sorted((ROOT / "envs").glob("*.lock")) if path.stem != "lowest"]
    sys.exit(main(locks, may_be_unasked="--or-say" in sys.argv[1:]))
