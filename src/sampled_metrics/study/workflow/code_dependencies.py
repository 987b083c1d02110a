"""The library files that a script depends on. The workflow runs a script again if one of them changes."""

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path

PACKAGE = Path(__file__).parents[2]
TEMPLATES = PACKAGE / "rendering/templates"


def digest(script: Path, modules: Iterable[str] = ()) -> str:
    """Return a digest of the code of a script and of the library files that it imports.

    It changes if the syntax tree of one of them does. Comments and layout do not count.

    Args:
        script: the file.
        modules: dotted names of modules that the script imports by name only, such as those of its recommenders.
    """
    content = hashlib.sha256(_digest(script).encode())
    for path in library_files(script, modules):
        content.update(f"{path.relative_to(PACKAGE)} {_digest(path)}".encode())
    return content.hexdigest()


def library_files(script: Path, modules: Iterable[str] = ()) -> list[Path]:
    """Return the library's files that a script imports, directly or indirectly, sorted; parameters as in `digest`.

    Imports under `if TYPE_CHECKING` do not count, nor do those of `_repr_html_`, which only notebooks call. The dotted
    path of a class as text counts, as in the registry of estimators, and so does the name of a template.
    """
    files: set[Path] = set()
    pending = [*_imported(script), *chain.from_iterable(map(_files, modules))]
    while pending:
        path = pending.pop()
        if path not in files:
            files.add(path)
            pending.extend(_imported(path))
    return sorted(files)


@cache
def _digest(source: Path) -> str:
    if source.suffix != ".py":
        return hashlib.sha256(source.read_bytes()).hexdigest()
    tree = ast.dump(ast.parse(source.read_text(encoding="utf-8")))
    return hashlib.sha256(tree.encode()).hexdigest()


@cache
def _imported(source: Path) -> frozenset[Path]:
    code = source.read_text(encoding="utf-8")
    templates = frozenset(TEMPLATES / name for name in re.findall(r'"([\w-]+\.(?:html|css))"', code))
    templates = frozenset(filter(Path.is_file, templates))
    if source.suffix != ".py":
        return templates
    names = {name for statement in _statements(ast.parse(code)) for name in _modules(statement)}
    names.update(re.findall(rf'"({PACKAGE.name}\.[\w.]+)"', code))
    return templates.union(*map(_files, names))


def _statements(block: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements of a block and of its inner blocks; expressions hold no imports."""
    for part in ("body", "orelse", "handlers", "finalbody", "cases"):
        if part == "body" and isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            continue
        if isinstance(block, ast.FunctionDef) and block.name == "_repr_html_":
            continue
        for statement in getattr(block, part, ()):
            yield statement
            yield from _statements(statement)


def _modules(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def _files(module: str) -> frozenset[Path]:
    """Return the files that an import of a library module runs: its own, and the `__init__` of its packages."""
    first, *parts = module.split(".")
    if first != PACKAGE.name:
        return frozenset()
    below = PACKAGE.joinpath(*parts)
    own = {path for path in (below / "__init__.py", below.with_suffix(".py")) if path.is_file()}
    return _files(module.rpartition(".")[0]) | own if parts else frozenset(own)
