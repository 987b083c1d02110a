"""Change one thing in the numeric code at a time, and see whether the tests notice it.

python tests/mutants.py                         fifty changes, chosen at random
python tests/mutants.py --number 20 --seed 1    twenty other ones

A change is a sign (+ for -, * for /), an end of a range (< for <=, min for max) or an index (one
more). The tests of the folder that has the name of the package are run on a copy of the library.
The same seed chooses the same changes as long as the source is the same.
"""

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "src/sampled_metrics"
TESTS = {
    "core/estimators": "core/estimators",
    "core/inference": "core/inference",
    "core/sampling": "core/sampling",
    "core/metrics.py": "core/test_metric.py",
    "papers/known_means.py": "papers",
    "ranking": "ranking",
    "stages": "stages",
}
"""Numeric code → its tests."""
WITHOUT_NUMBERS = ("__init__.py", "command.py", "words.py")
SECONDS = 900
"""A change that makes the tests run for longer is noticed."""
OTHER_OPERATOR: dict[type, Callable[[], ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}
OTHER_NAME = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
}


class Mutant(NamedTuple):
    """A changed file: its path, its tests, the line, the line before and after, and the source."""

    path: Path
    tests: str
    line: int
    before: str
    after: str
    source: str


def changed(node):
    """Yield functions that change a node in place, each in another way."""
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in OTHER_OPERATOR:
            yield lambda: node.ops.__setitem__(0, OTHER_OPERATOR[type(operator)]())
        case ast.BinOp(op=operator) if type(operator) in OTHER_OPERATOR:
            yield lambda: setattr(node, "op", OTHER_OPERATOR[type(operator)]())
        case ast.Attribute(attr=name) if name in OTHER_NAME:
            yield lambda: setattr(node, "attr", OTHER_NAME[name])
        case ast.Call(func=ast.Name(id=name)) if name in OTHER_NAME:
            yield lambda: setattr(node.func, "id", OTHER_NAME[name])
        case ast.Subscript(slice=ast.Constant(value=int(index))):
            yield lambda: setattr(node.slice, "value", index + 1)
        case ast.Slice(lower=ast.Constant(value=int(index))):
            yield lambda: setattr(node.lower, "value", index + 1)


def is_of_types(node):
    """Return whether a subscript is a type, such as dict[str, int] or tuple[0]."""
    return isinstance(node, ast.Subscript) and ast.unparse(node.value)[:1].isupper()


def sites(tree):
    """Return all changes of a module."""
    return [change for node in ast.walk(tree) if not is_of_types(node) for change in changed(node)]


def files():
    """Yield the files with numeric code, and their tests."""
    for name, tests in TESTS.items():
        path = LIBRARY / name
        for file in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            if file.name not in WITHOUT_NUMBERS:
                yield file, tests


def mutant(path, tests, index):
    """Return a change of a file by its index."""
    tree = ast.parse(path.read_bytes())
    before = ast.unparse(tree).splitlines()
    sites(tree)[index]()
    source = ast.unparse(tree)
    after = source.splitlines()
    line = next(line for line, text in enumerate(after) if text != before[line])
    return Mutant(path, tests, line + 1, before[line].strip(), after[line].strip(), source)


def chosen(number, seed):
    """Return changes chosen at random."""
    places = [
        (path, tests, index)
        for path, tests in files()
        for index in range(len(sites(ast.parse(path.read_bytes()))))
    ]
    return [mutant(*place) for place in sorted(random.Random(seed).sample(places, number))]


def run_on(change):
    """Return the first test that fails on a copy of the library with a change; "" if none does."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "src", f"{folder}/src", ignore=shutil.ignore_patterns("__pycache__"))
        (Path(folder) / change.path.relative_to(ROOT)).write_text(change.source, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
        command += ["-o", f"pythonpath={folder}/src tests", f"tests/{change.tests}"]
        environment = os.environ | {"PYTHONPATH": f"{folder}/src"}
        try:
            ran = subprocess.run(
                command,
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "the time"
    if ran.returncode == 0:
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", ran.stdout, re.MULTILINE)
    return failed[1] if failed else f"exit {ran.returncode}"


def main():
    """Print each change and whether it was noticed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--number", type=int, default=50, help="how many changes")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    options = parser.parse_args()
    outcomes = Counter[str]()
    for change in chosen(options.number, options.seed):
        failed = run_on(change)
        outcome = "killed" if failed else "SURVIVED"
        outcomes[outcome] += 1
        place = f"{change.path.relative_to(LIBRARY)}:{change.line}"
        print(f"{outcome:9}{place}  {change.before}  →  {change.after}  {failed}", flush=True)
    print(", ".join(f"{count} {outcome.lower()}" for outcome, count in sorted(outcomes.items())))


if __name__ == "__main__":
    main()
