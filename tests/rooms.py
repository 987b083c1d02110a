"""Take packages of the library away, one after the other, and run the tests of what is left.

python tests/rooms.py                     each package beside the core, and the study
python tests/rooms.py lists planning      these
python tests/rooms.py --core-alone        all of them at once

In a copy of the project, the folder of a package is deleted with its tests and its entry in
`_registry.py`, and so are the packages that import it, and the program, which has the commands of
all. The other tests must pass."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = "sampled_metrics"
STUDY = "sampled_metrics_study"
PACKAGES = sorted(
    path.parent.name
    for path in (ROOT / "src" / LIBRARY).glob("*/__init__.py")
    if path.parent.name != "core"
)
OF_ALL = ("benchmarks", "browser", "docs", "faults", "packaging", "slurm", "whole")
"""Folders of tests that need all of the project."""


def module_of(package: str) -> str:
    """Return the dotted name of a package."""
    return package if package == STUDY else f"{LIBRARY}.{package}"


def without(packages: set[str]) -> set[str]:
    """Return what goes when packages are taken away: they, what imports them, and the program,
    which has all.
    """
    graph = grimp.build_graph(LIBRARY, STUDY, exclude_type_checking_imports=True, cache_dir=None)
    gone = packages | ({"cli"} if packages - {STUDY} else set())
    while above := {
        name
        for name in {*PACKAGES, STUDY} - gone
        if any(imports(graph, name, removed) for removed in gone)
    }:
        gone = gone | above
    return gone


def imports(graph: grimp.ImportGraph, package: str, imported: str) -> bool:
    """Return whether a package imports another one, but for its command and its figure, which
    nothing else loads.
    """
    chains = graph.find_shortest_chains(module_of(package), module_of(imported), as_packages=True)
    optional = (f"{module_of(package)}.command", f"{module_of(package)}.figure")
    return any(len(chain) == 2 and chain[0] not in optional for chain in chains)


def copy_without(packages: set[str], folder: Path) -> None:
    """Copy the project to a folder, without packages, their tests and their entries, and without
    the tests of all.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    for package in packages:
        shutil.rmtree(folder / "src" / module_of(package).replace(".", "/"))
        shutil.rmtree(folder / "tests" / ("study" if package == STUDY else package))
    for name in OF_ALL:
        shutil.rmtree(folder / "tests" / name)
    for path in (folder / "tests").rglob("test_*_with_*.py"):
        if path.stem.rpartition("_with_")[2] in packages:
            path.unlink()
    registry = folder / "src" / LIBRARY / "_registry.py"
    registry.write_text(
        without_entries(registry.read_text(encoding="utf-8"), packages), encoding="utf-8"
    )


def without_entries(text: str, packages: set[str]) -> str:
    """Return the registry without the entries of packages, and without all commands if the program
    is gone.
    """
    for package in packages:
        text = without_block(text, f'    "{package}": Package(')
    return without_block(text, "        commands=(") if "cli" in packages else text


def without_block(text: str, start: str) -> str:
    """Return a text without a line by its start, the deeper lines below it, and the bracket that
    ends them.
    """
    indent = re.match(" *", start)[0]  # type: ignore[index]
    return re.sub(
        rf"^{re.escape(start)}.*\n(?:{indent} .*\n)*(?:{indent}\).*\n)?",
        "",
        text,
        flags=re.MULTILINE,
    )


def passes(packages: set[str]) -> bool:
    """Take packages away in a copy, and run the tests; say how it went."""
    gone = without(packages)
    print(f"without {', '.join(sorted(gone))}:", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_without(gone, folder)
        environment = os.environ | {"PYTHONPATH": str(folder / "src")}
        command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "worksteal", "tests"]
        ran = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
    lines = ran.stdout.splitlines()
    if ran.returncode:
        print(
            *[line for line in lines if line.startswith(("FAILED", "ERROR", "E  "))],
            ran.stderr,
            sep="\n",
        )
    print(f"  {lines[-1]}", flush=True)
    return ran.returncode == 0


def main() -> int:
    """Return 0 if all tests pass without each package."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "packages", nargs="*", choices=[[], *PACKAGES, STUDY], help="those to take away"
    )
    parser.add_argument("--core-alone", action="store_true", help="take all away at once")
    options = parser.parse_args()
    if options.core_alone:
        cases = [{*PACKAGES, STUDY}]
    else:
        cases = [{package} for package in options.packages or (*PACKAGES, STUDY)]
    results = [passes(case) for case in cases]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
