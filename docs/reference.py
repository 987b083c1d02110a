"""What the site shows beside docstrings: names with their summaries, the help of the commands, and
the formats.
"""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click

from sampled_metrics.cli.options import NAME
from sampled_metrics.cli.program import cli
from sampled_metrics.core.evaluation.kinds import tables_of_kinds
from sampled_metrics_study.data.formats import FORMATS

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("sampled_metrics", "sampled_metrics_study")
NAMES = "<!-- names -->\n"
COMMANDS = "<!-- commands -->\n"
EVENT_FORMATS = "<!-- formats -->\n"
FINDINGS = re.compile(r"^<!-- findings: (.+) -->\n", re.MULTILINE)
MODULES = re.compile(r"^<!-- modules of ([\w.]+) -->\n", re.MULTILINE)
DIRECTIVE = re.compile(
    rf"^\.\. auto(module|function|class|data):: ((?:{'|'.join(PACKAGES)})\.\S+)$", re.MULTILINE
)


def filled(page: str) -> str:
    """Return a page with lists in place of its marks: modules, names, commands, formats and
    findings.
    """
    page = FINDINGS.sub(
        lambda mark: "".join(f"{line}\n" for line in rows_of_findings(mark[1])), page
    )
    page = MODULES.sub(lambda mark: "\n".join(modules(mark[1])), page)
    start, *sections = page.split(NAMES)
    page = start + "".join(
        "".join(f"{line}\n" for line in names(section)) + section for section in sections
    )
    page = page.replace(EVENT_FORMATS, "".join(f"{line}\n" for line in rows_of_formats()))
    return page.replace(COMMANDS, "\n".join(helps()))


def modules(package: str) -> Iterator[str]:
    """Yield the documentation of each module of a package."""
    for path in sorted((ROOT / "src" / package.replace(".", "/")).glob("[!_]*.py")):
        yield f"```{{eval-rst}}\n.. automodule:: {package}.{path.stem}\n```\n"


def names(section: str) -> Iterator[str]:
    """Yield what a section documents as a list with summaries: each module, and below it its
    functions and classes.
    """
    for kind, name in DIRECTIVE.findall(section):
        link = f"- {{py:obj}}`{name.removeprefix(f'{PACKAGES[0]}.')} <{name}>`"
        if kind == "module":
            [(_, summary), *members] = documented(file_of(name))
            yield f"{link}: {summary}"
            yield from (
                f"  - `{member}`: {summary}" for member, summary in members if not member.isupper()
            )
        else:
            module, _, member = name.rpartition(".")
            path = file_of(getattr(getattr(import_module(module), member), "__module__", module))
            yield f"{link}: {dict(documented(path))[member]}"


def rows_of_findings(title: str) -> Iterator[str]:
    """Yield the kinds of findings of a section as the lines of a table."""
    yield "| kind | rank | when | what to do | values |"
    yield "|---|---|---|---|---|"
    for kind in dict(tables_of_kinds())[title]:
        yield f"| `{kind.name}` | {kind.rank} | {kind.when} | {kind.action} | {kind.values} |"


def rows_of_formats() -> Iterator[str]:
    """Yield the formats of events as the lines of a table."""
    yield "| `format` | file | published as | ids | times |"
    yield "|---|---|---|---|---|"
    for name, form in FORMATS.items():
        ids = "numbers" if form.has_number_ids else "text"
        times = form.timestamp_format or "numbers"
        yield f"| `{name}` | {form.file} | {form.published_as} | {ids} | {times} |"


def helps() -> Iterator[str]:
    """Yield the help of the program and of each of its commands, each as a section."""
    program = click.Context(cli, info_name=NAME, terminal_width=96, **cli.context_settings)
    yield f"```text\n{cli.get_help(program)}\n```\n"
    for name, command in cli.commands.items():
        context = click.Context(command, info_name=name, parent=program, terminal_width=96)
        yield f"## {name}\n\n```text\n{command.get_help(context)}\n```\n"


def file_of(module: str) -> Path:
    """Return the file of a module of the library."""
    path = ROOT / "src" / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def documented(path: Path) -> Iterator[tuple[str, str]]:
    """Yield what a file documents, and the summary: first the file, as '', then its functions,
    classes and data.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield "", summary_of(ast.get_docstring(tree))
    for statement, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        name = None
        docstring = None
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            name = statement.name
            docstring = ast.get_docstring(statement)
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
