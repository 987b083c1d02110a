"""Check that code can be read: no packed assignments, and no names that say nothing.

python .ci/text.py                           what `make lint` checks
python .ci/text.py FILE OR FOLDER ...        these

A packed assignment is ``a, b = x, y``. A swap is none, and neither is the unpacking of what one
call returns. CONTRIBUTING.md says how the text is meant.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMED = (
    ".ci",
    "docs",
    "src/sampled_metrics/core/estimators",
    "src/sampled_metrics/core/evaluation",
    "src/sampled_metrics/lists",
    "src/sampled_metrics/papers",
    "src/sampled_metrics/planning",
    "src/sampled_metrics/stages",
    "src/sampled_metrics/validation",
    "tests/core/estimators",
    "tests/papers",
)
"""Folders without vague names.

The others follow: a folder is added here when its names are read.
"""

VAGUE = {"one", "given", "first", "found", "least", "other", "each", "there"}
"""Names that say nothing of what they are, beside those that begin with of_."""


def packed(tree: ast.AST) -> Iterator[int]:
    """Yield the lines of packed assignments."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                names = sorted(ast.unparse(target) for target in targets)
                if names != sorted(ast.unparse(value) for value in values):
                    yield node.lineno


def vague(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the lines and names of variables and parameters that say nothing of what they are."""
    fields = {
        id(statement.target)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
    }
    inherited = {
        id(argument)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("__")
        for argument in node.args.args
    }
    for node in ast.walk(tree):
        name = ""
        if isinstance(node, ast.arg) and id(node) not in inherited:
            name = node.arg
        elif (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and id(node) not in fields
        ):
            name = node.id
        if name in VAGUE or name.startswith("of_"):
            yield node.lineno, name


def main(arguments: list[str]) -> int:
    """Print what is found, and return 1 if there is any."""
    command = ["git", "ls-files", "--", *arguments]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    paths = [path for path in listed.stdout.splitlines() if path.endswith(".py")]
    messages = []
    for path in paths:
        tree = ast.parse((ROOT / path).read_bytes())
        messages += [f"{path}:{line}: packed assignment" for line in packed(tree)]
        if arguments or path.startswith(NAMED):
            messages += [
                f"{path}:{line}: {name} says nothing of what it is" for line, name in vague(tree)
            ]
    print("\n".join(messages), end="\n" if messages else "")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
