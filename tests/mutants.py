"""Change one thing in the source at a time, and count how often the tests notice it.

python tests/mutants.py 100 --seed 1     # 100 random changes; prints each, and the share that is found in each package
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {
    "estimators": ["estimators", "inference", "evaluation"],
    "sampling": ["sampling", "estimators", "evaluation"],
    "metrics": ["metrics", "evaluation"],
    "inference": ["inference", "evaluation"],
    "evaluation": ["evaluation"],
    "ranking": ["ranking", "recommenders"],
}
"""Package of the library → the folders of tests that are run for a change in it."""
OTHER = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And},
}
TIMEOUT = 1800
"""Seconds after which a change counts as found, as it makes the tests hang."""


def changes(tree: ast.AST) -> list[ast.AST]:
    """Return the nodes that can be changed: operators, and numbers and truth values outside of docstrings."""
    return [
        node
        for node in ast.walk(tree)
        if (isinstance(node, ast.Compare) and type(node.ops[0]) in OTHER)
        or (isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in OTHER)
        or (isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float))
    ]


def change(node: ast.AST) -> None:
    """Replace an operator by another one, a truth value by its opposite, or a number by one more."""
    if isinstance(node, ast.Compare):
        node.ops[0] = OTHER[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp | ast.BoolOp):
        node.op = OTHER[type(node.op)]()
    elif isinstance(node, ast.Constant):
        node.value = (not node.value) if isinstance(node.value, bool) else node.value + 1


def is_found(path: Path, source: str, package: str) -> bool:
    """Run the tests of a package on a copy of the library with another source of one file."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "src", f"{folder}/src", ignore=shutil.ignore_patterns("__pycache__"))
        (Path(folder) / path.relative_to(ROOT)).write_text(source, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
        command += ["-o", f"pythonpath={folder}/src tests", *(f"tests/{each}" for each in PACKAGES[package])]
        environment = os.environ | {"PYTHONPATH": f"{folder}/src", "OMP_NUM_THREADS": "1"}
        try:
            ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            return True
    return ran.returncode != 0


def main() -> None:
    """Make as many changes as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("number", type=int)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rng, made, found = random.Random(asked.seed), Counter[str](), Counter[str]()
    files = {
        path: package for package in PACKAGES for path in sorted((ROOT / "src/sampled_metrics" / package).rglob("*.py"))
    }
    places = [(path, at) for path in files for at in range(len(changes(ast.parse(path.read_text(encoding="utf-8")))))]
    for path, at in rng.sample(places, asked.number):
        tree, package = ast.parse(path.read_text(encoding="utf-8")), files[path]
        node = changes(tree)[at]
        before = ast.unparse(node)
        change(node)
        noticed = is_found(path, ast.unparse(tree), package)
        made[package] += 1
        found[package] += noticed
        place = f"{path.relative_to(ROOT / 'src/sampled_metrics')}:{getattr(node, 'lineno', '?')}"
        print(f"{'found' if noticed else 'NOT FOUND'}  {place}  {before} → {ast.unparse(node)}", flush=True)
    for package, number in made.items():
        print(f"{package}: {found[package]} of {number} found")
    print(f"all: {sum(found.values())} of {asked.number} found")


if __name__ == "__main__":
    main()
