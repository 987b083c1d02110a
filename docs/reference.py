"""Write the lists at the top of the pages of docs/reference/: each name, its summary, and a link to its source.

The site has the docstrings in full below the lists, which code-hosting sites do not show.

python docs/reference.py
"""

import ast
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(path for path in (ROOT / "docs/reference").glob("*.md") if path.stem != "command")
PACKAGE = "sampled_metrics"
BLOCK = re.compile(r"(?<=<!-- begin names -->\n).*?(?=<!-- end -->)", re.DOTALL)
DIRECTIVE = re.compile(rf"^\.\. auto(module|function|class|data):: {PACKAGE}\.(\S+)$", re.MULTILINE)


def with_names(page: str) -> str:
    """Return a page with the list of the names that its directives document."""
    return BLOCK.sub(lambda block: "".join(f"{line}\n" for line in names(page)), page)


def names(page: str) -> Iterator[str]:
    """Yield the names with their summaries, as lines of a list: each module, and below it its functions and classes."""
    for kind, name in DIRECTIVE.findall(page):
        if kind == "module":
            path = file_of(f"{PACKAGE}.{name}")
            [(_, summary), *members] = documented(path)
            yield f"- {link(name, path)}: {summary}"
            yield from (f"  - `{member}`: {summary}" for member, summary in members if not member.isupper())
        else:
            module, _, member = f"{PACKAGE}.{name}".rpartition(".")
            path = file_of(getattr(getattr(import_module(module), member), "__module__", module))
            yield f"- {link(name, path)}: {dict(documented(path))[member]}"


def link(name: str, path: Path) -> str:
    """Return a link from a page to a file of the library."""
    return f"[`{name}`](../../{path.relative_to(ROOT).as_posix()})"


def file_of(module: str) -> Path:
    """Return the file of a module of the library."""
    path = ROOT / "src" / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def documented(path: Path) -> Iterator[tuple[str, str]]:
    """Yield what a file documents, and the summary: first the file, as '', then its functions, classes and data."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield "", summary_of(ast.get_docstring(tree))
    for statement, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        name, docstring = None, None
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            name, docstring = statement.name, ast.get_docstring(statement)
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            name = target.id if isinstance(target, ast.Name) else None
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                docstring = after.value.value
        if name and docstring and not name.startswith("_"):
            yield name, summary_of(docstring)


def summary_of(docstring: str | None) -> str:
    """Return the first sentence of a docstring's first paragraph."""
    paragraph = " ".join((docstring or "").split("\n\n")[0].split())
    return re.split(r"(?<=\.) (?=[A-Z])", paragraph)[0]


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "src"))
    for page in PAGES:
        page.write_text(with_names(page.read_text(encoding="utf-8")), encoding="utf-8")
