"""Which files of this library a script depends on: the workflow re-runs what an edit touches, and nothing else."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def library_files(script: Path) -> list[Path]:
    """Return the library's files that a script imports, directly or not, in sorted order.

    Imports for type checking alone do not count.
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
    return tuple(path for node in _running(tree) for name in _modules(node) for path in _files(name))


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below one, without what stands under `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            child = ast.Module(child.orelse, [])
        yield child
        yield from _running(child)


def _modules(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _files(module: str) -> Iterator[Path]:
    """Yield the files that importing a module of this library runs: its own, and its packages' __init__."""
    first, *parts = module.split(".")
    if first != PACKAGE.name:
        return
    for depth in range(len(parts) + 1):
        below = PACKAGE.joinpath(*parts[:depth])
        if (below / "__init__.py").is_file():
            yield below / "__init__.py"
        elif depth and below.with_suffix(".py").is_file():
            yield below.with_suffix(".py")
