"""Take packages of the library away, one after the other, and run the tests of what is left.

python tests/rooms.py                     each package beside the core, and the study
python tests/rooms.py lists planning      these
python tests/rooms.py lists --tests tests/cli tests/whole   with some of the tests
python tests/rooms.py --core-alone        all of them at once, with the tests of core and base

In a copy of the project, the folder of a package is deleted with its tests and its entry in
`_registry.py`, and so are the packages that import it when they are loaded. The other tests must
pass, those of the command and of the whole library too: `taken_away` skips the ones that use what
is missing. With the core alone, the command goes, too."""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from sampled_metrics import _registry

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = "sampled_metrics"
STUDY = "sampled_metrics_study"
PACKAGES = sorted(
    path.parent.name
    for path in (ROOT / "src" / LIBRARY).glob("*/__init__.py")
    if path.parent.name != "core"
)
OF_THE_PROJECT = (
    "benchmarks",
    "browser",
    "docs",
    "faults",
    "packaging",
    "slurm",
    "whole/test_sentences.py",
)
"""Tests that need all of the project."""
OPTIONAL = ("command", "figure", "budget")
"""Modules that only an entry of a registry or of a config loads."""


def module_of(package):
    """Return the dotted name of a package."""
    return package if package == STUDY else f"{LIBRARY}.{package}"


def folder_of(package):
    """Return the folder of a package."""
    return ROOT / "src" / module_of(package).replace(".", "/")


def without(packages):
    """Return what goes when packages are taken away: they, and what is not loaded without them."""
    gone = packages
    while above := {name for name in {*PACKAGES, STUDY} - gone if is_loaded_with(name, gone)}:
        gone = gone | above
    return gone


def is_loaded_with(package, gone):
    """Return whether a package imports one of others as soon as it is loaded, and not only in a
    function, its command or its figure.
    """
    paths = [path for path in folder_of(package).rglob("*.py") if path.stem not in OPTIONAL]
    return any(has_import(ast.parse(path.read_bytes()).body, gone) for path in paths)


def has_import(nodes, packages):
    """Return whether there is an import from packages among the nodes of a syntax tree."""
    names = [
        f"{node.module}.{alias.name}."
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    starts = tuple(f"{module_of(package)}." for package in packages)
    return any(name.startswith(starts) for name in names)


def of_entries(packages):
    """Yield the paths of the optional modules that import what is taken away, and of the script
    that runs one.
    """
    for path in (ROOT / "src").rglob("*.py"):
        if path.stem in OPTIONAL and has_import(ast.walk(ast.parse(path.read_bytes())), packages):
            yield str(path.relative_to(ROOT))
            yield f"scripts/{path.stem}.py"


def copy_without(packages, folder):
    """Copy the project to a folder, without packages, their tests and their entries, and without
    the tests of the whole project.
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
        shutil.rmtree(folder / folder_of(package).relative_to(ROOT))
        shutil.rmtree(folder / "tests" / ("study" if package == STUDY else package))
    for name in of_entries(packages):
        (folder / name).unlink(missing_ok=True)
    for name in OF_THE_PROJECT:
        path = folder / "tests" / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in (folder / "tests").rglob("test_*_with_*.py"):
        if path.stem.rpartition("_with_")[2] in packages:
            path.unlink()
    for name, change in (("_registry", without_entries), ("__init__", without_imports)):
        path = folder / "src" / LIBRARY / f"{name}.py"
        path.write_text(change(path.read_text(encoding="utf-8"), packages), encoding="utf-8")
    (folder / "tests/taken_away.json").write_text(json.dumps(missing(packages)), encoding="utf-8")


def missing(packages):
    """Return the modules, the public names and the commands that a copy without packages lacks."""
    entries = [_registry.PACKAGES[name] for name in sorted(packages) if name in _registry.PACKAGES]
    return {
        "packages": [module_of(package) for package in sorted(packages)],
        "names": [name for entry in entries for names in entry.names.values() for name in names],
        "commands": [command.split(":")[1] for entry in entries for command in entry.commands],
    }


def without_imports(text, packages):
    """Return the module of public names without those of packages."""
    lines = text.splitlines(keepends=True)
    starts = tuple(f"    from {module_of(package)}." for package in packages)
    return "".join(line for line in lines if not line.startswith(starts))


def without_entries(text, packages):
    """Return the registry without the entries of packages, and without all commands if the program
    is gone.
    """
    for package in packages:
        text = without_block(text, f'    "{package}": Package(')
    return without_block(text, "        commands=(") if "cli" in packages else text


def without_block(text, start):
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


def passes(packages, tests):
    """Take packages away in a copy, and run tests; say how it went."""
    gone = without(packages)
    print(f"without {', '.join(sorted(gone))}:", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_without(gone, folder)
        environment = os.environ | {"PYTHONPATH": str(folder / "src")}
        command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "worksteal"]
        command += [name for name in tests if (folder / name).exists()]
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


def main():
    """Return 0 if all tests pass without each package."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "packages", nargs="*", choices=[[], *PACKAGES, STUDY], help="those to take away"
    )
    parser.add_argument("--tests", nargs="+", default=["tests"], help="the tests that are run")
    parser.add_argument("--core-alone", action="store_true", help="take all away at once")
    options = parser.parse_args()
    if options.core_alone:
        cases = [{*PACKAGES, STUDY}]
        options.tests = ["tests/core", "tests/base"]
    else:
        cases = [{package} for package in options.packages or (*PACKAGES, STUDY)]
    results = [passes(case, options.tests) for case in cases]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
