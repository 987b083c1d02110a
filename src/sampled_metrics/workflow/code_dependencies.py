"""Find the library files that a script depends on. The workflow re-runs a script if they change."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def library_files(script: Path) -> list[Path]:
    """Return the library's files that a script imports, directly or indirectly, sorted.

    Imports under `if TYPE_CHECKING` do not count.
    """
    found: set[Path] = set()
    pending = list(_imported(script))
    while pending:
        path = pending.pop()
        if path not in found:
            found.add(path)
            pending.extend(_imported(path))
    return sorted(found)


@cache
def _imported(source: Path) -> tuple[Path, ...]:
    tree = ast.parse(source.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    return tuple(path for node in ast.walk(tree) for name in _modules(node) for path in _files(name))


def _modules(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _files(module: str) -> Iterator[Path]:
    """Yield the files that an import of a library module runs: its own, and the `__init__` of its packages."""
    first, *parts = module.split(".")
    if first != PACKAGE.name:
        return
    for depth in range(len(parts) + 1):
        below = PACKAGE.joinpath(*parts[:depth])
        if (below / "__init__.py").is_file():
            yield below / "__init__.py"
        elif depth and below.with_suffix(".py").is_file():
            yield below.with_suffix(".py")
