"""Check that code can be read: no packed assignments, and no names that say nothing.

python .ci/text.py                           what `make lint` checks
python .ci/text.py FILE OR FOLDER ...        these

A packed assignment is ``a, b = x, y``. A swap is none, and neither is the unpacking of what one
call returns. CONTRIBUTING.md says how the text is meant.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
VAGUE = {"one", "given", "first", "found", "least", "other", "each", "there"}
"""Names that say nothing of what they are, beside those that begin with of_."""


PACKED = "packed assignment"
VAGUE_NAME = "{} says nothing of what it is"
ENDINGS = (".py", ".smk", "Snakefile", ".md")
BLOCK = re.compile(r"^```(?:python|py)\n(.*?)^```", re.MULTILINE | re.DOTALL)


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


RULE = re.compile(
    r"""^\s*(?P<names>\w+(?:,\s\w+)*)\s=\s(?P<values>.+)  # an assignment, or a keyword of a rule
    |\bfor\s(?P<loop>\w+(?:,\s\w+)*)\sin\b
    |\bdef\s\w+\((?P<parameters>.*)\):""",
    re.VERBOSE,
)


def in_rules(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of rules, which are not Python alone, with a message of what is wrong."""
    for number, line in enumerate(text.splitlines(), 1):
        for match in RULE.finditer(line):
            names = ",".join(filter(None, (match["names"], match["loop"], match["parameters"])))
            for name in re.findall(r"\w+", names):
                if name in VAGUE or name.startswith("of_"):
                    yield number, VAGUE_NAME.format(name)
            if "," in (match["names"] or "") and re.fullmatch(r"[^()]*,[^()]*", match["values"]):
                yield number, PACKED


def in_python(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of Python with a message of what is wrong."""
    tree = ast.parse(text)
    yield from ((line, PACKED) for line in packed(tree))
    yield from ((line, VAGUE_NAME.format(name)) for line, name in vague(tree))


def in_page(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of the examples of a page with a message of what is wrong.

    An example that is not Python alone is one of rules.
    """
    for block in BLOCK.finditer(text):
        before = text.count("\n", 0, block.start(1))
        try:
            messages = list(in_python(block[1]))
        except SyntaxError:
            messages = list(in_rules(block[1]))
        yield from ((before + line, message) for line, message in messages)


def main(arguments: list[str]) -> int:
    """Print what is found, and return 1 if there is any."""
    command = ["git", "ls-files", "--", *arguments]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    messages = []
    for path in listed.stdout.splitlines():
        text = (ROOT / path).read_text(encoding="utf-8") if path.endswith(ENDINGS) else ""
        readers = {".py": in_python, ".md": in_page}
        read = readers.get(Path(path).suffix, in_rules)
        messages += [f"{path}:{line}: {message}" for line, message in read(text)]
    print("\n".join(messages), end="\n" if messages else "")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
