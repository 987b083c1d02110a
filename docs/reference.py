"""Make the reference from docstrings, the help of the commands, and the formats.

python docs/reference.py [PAGE ...]    # writes what docstrings say into the pages

A page names what it documents in marks, such as <!-- autofunction sampled_metrics.evaluate -->.
After a mark, the repository has a summary in Markdown, which this script writes. The site has the
whole docstring in its place.
"""

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator
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
MARK = re.compile(
    r"^<!-- auto(package|module|function|class|data) (\S+)((?: :[\w-]+:(?: [^:\n]+?)?)*) -->\n"
    r"(?:(?:(?!^<!-- auto).)*?^<!-- end -->\n)?",
    re.MULTILINE | re.DOTALL,
)
"""What a page documents: its kind and name, options of the directive, and what is written below."""
SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Examples|References):\n", re.MULTILINE)
DIRECTIVE = re.compile(
    rf"^\.\. auto(module|function|class|data):: ((?:{'|'.join(PACKAGES)})\.\S+)$", re.MULTILINE
)


def filled(page: str) -> str:
    """Return a page with directives and lists in place of its marks."""
    page = MARK.sub(directive, page)
    page = FINDINGS.sub(
        lambda mark: "".join(f"{line}\n" for line in rows_of_findings(mark[1])), page
    )
    start, *sections = page.split(NAMES)
    page = start + "".join(
        "".join(f"{line}\n" for line in names(section)) + section for section in sections
    )
    page = page.replace(EVENT_FORMATS, "".join(f"{line}\n" for line in rows_of_formats()))
    return page.replace(COMMANDS, "\n".join(helps()))


def directive(mark: re.Match[str]) -> str:
    """Return the directive of Sphinx for a mark."""
    kind, name, options, *_ = mark.groups()
    if kind == "package":
        return "\n".join(
            f"```{{eval-rst}}\n.. automodule:: {name}\n```\n" for name in modules(name)
        )
    lines = re.sub(r" (?=:[\w-]+:)", "\n   ", options)
    return f"```{{eval-rst}}\n.. auto{kind}:: {name}{lines}\n```\n"


def written(page: str) -> str:
    """Return a page with what docstrings say below its marks."""

    def with_summary(mark: re.Match[str]) -> str:
        kind, name, options, *_ = mark.groups()
        below = "\n".join(SUMMARIES[kind](name, options))
        below = re.sub(r"\n{3,}", "\n\n", f"{below}\n")
        return f"<!-- auto{kind} {name}{options} -->\n{below}<!-- end -->\n"

    return MARK.sub(with_summary, page)


def object_of(name: str) -> object:
    """Return a public object by its dotted name."""
    module, _, member = name.rpartition(".")
    return getattr(import_module(module), member)


def summary_of_callable(name: str, options: str) -> Iterator[str]:
    """Yield the lines on a function or a class: call, summary, parameters, returns, example."""
    documented_object = object_of(name)
    assert callable(documented_object)
    short_name = name.rpartition(".")[2]
    introduction, *sections = SECTION.split(inspect.getdoc(documented_object) or "")
    section = dict(zip(sections[::2], sections[1::2], strict=True))
    signature = inspect.signature(documented_object)
    yield f"### {short_name}\n"
    if not inspect.isclass(documented_object) or "Args" in section:
        yield f"`{call_of(short_name, signature)}`\n"
    yield f"{summary_of(introduction)}\n"
    for parameter, description in entries(section.get("Args", section.get("Attributes", ""))):
        annotation = getattr(signature.parameters.get(parameter), "annotation", "Any")
        kind = f" (`{annotation}`)" if isinstance(annotation, str) and annotation != "Any" else ""
        yield f"- `{parameter}`{kind}: {in_a_line(description)}"
    if inspect.isclass(documented_object):
        chosen = members_in(options, "members")
        for member, docstring in documented_members(documented_object):
            if not chosen or member in chosen:
                yield f"- `.{member}`: {summary_of(docstring)}"
    if "Returns" in section:
        yield f"\nReturns: {in_a_line(inspect.cleandoc(section['Returns']))}"
    example = re.search(r"^ *>>> .*?(?=\n\s*\n|\Z)", section.get("Examples", ""), re.M | re.S)
    if example:
        yield f"\n```pycon\n{inspect.cleandoc(example[0])}\n```"
    yield ""


def summary_of_data(name: str, options: str) -> Iterator[str]:
    """Yield the line on a value of a module."""
    module, _, member = name.rpartition(".")
    yield f"- `{member}`: {dict(documented(file_of(module)))[member]}"


def summary_of_module(name: str, options: str) -> Iterator[str]:
    """Yield the lines on a module: its summary, and those of its functions and classes."""
    [(_, summary), *members] = documented(file_of(name))
    yield f"- `{name.removeprefix(f'{PACKAGES[0]}.')}`: {summary}"
    excluded = members_in(options, "exclude-members")
    yield from (
        f"  - `{member}`: {summary}"
        for member, summary in members
        if not member.isupper() and member not in excluded
    )


def summary_of_package(name: str, options: str) -> Iterator[str]:
    """Yield the lines on the modules of a package."""
    for module in modules(name):
        yield from summary_of_module(module, options)


def members_in(options: str, option: str) -> list[str]:
    """Return the names of members that an option of a directive lists."""
    listed = re.search(rf" :{option}: ([^:]*)", options)
    return re.findall(r"\w+", listed[1]) if listed else []


SUMMARIES: dict[str, Callable[[str, str], Iterator[str]]] = {
    "function": summary_of_callable,
    "class": summary_of_callable,
    "data": summary_of_data,
    "module": summary_of_module,
    "package": summary_of_package,
}


def call_of(name: str, signature: inspect.Signature) -> str:
    """Return a call with the parameters and their defaults, without types."""
    parameters = []
    for parameter in signature.parameters.values():
        default = parameter.default
        if callable(default) and default is not parameter.empty:
            default = Name(default.__name__)
        parameters.append(parameter.replace(annotation=parameter.empty, default=default))
    return f"{name}{signature.replace(parameters=parameters, return_annotation=str)}".rpartition(
        " -> "
    )[0]


class Name(str):
    """A text that is shown without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def entries(section: str) -> Iterator[tuple[str, str]]:
    """Yield the names and descriptions of a section of parameters or attributes."""
    text = inspect.cleandoc(section)
    parts = re.split(r"^([\w*]+): ", text, flags=re.MULTILINE)
    yield from zip(parts[1::2], parts[2::2], strict=True)


def in_a_line(description: str) -> str:
    """Return the first sentence of a description, or that of each item of its list."""
    introduction, *items = re.split(r"\n\s*- ", description)
    summaries = [summary_of(item).rstrip(".;") for item in items]
    return f"{summary_of(introduction)} {'; '.join(summaries)}".strip()


def documented_members(documented_class: type) -> Iterator[tuple[str, str]]:
    """Yield the public methods and properties of a class with their docstrings."""
    for member, value in vars(documented_class).items():
        function = value.fget if isinstance(value, property) else value
        function = getattr(function, "func", function)  # of a cached property
        docstring = inspect.getdoc(function)
        is_member = inspect.isroutine(function) or isinstance(value, property)
        if not member.startswith("_") and is_member and docstring:
            yield member, docstring


def modules(package: str) -> Iterator[str]:
    """Yield the name of each module of a package."""
    for path in sorted((ROOT / "src" / package.replace(".", "/")).glob("[!_]*.py")):
        yield f"{package}.{path.stem}"


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
    yield "| `format` | file | published as | times |"
    yield "|---|---|---|---|"
    for name, form in FORMATS.items():
        times = form.timestamp_format or "numbers"
        yield f"| `{name}` | {form.file} | {form.published_as} | {times} |"


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


def pages_with_marks() -> list[Path]:
    """Return the pages that name what they document."""
    paths = sorted((ROOT / "docs").rglob("*.md"))
    return [path for path in paths if MARK.search(path.read_text(encoding="utf-8"))]


if __name__ == "__main__":
    for page_path in [Path(path) for path in sys.argv[1:]] or pages_with_marks():
        page_text = page_path.read_text(encoding="utf-8")
        page_path.write_text(written(page_text), encoding="utf-8")
