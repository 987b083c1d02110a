"""Freeze the sentences of the library in one file, so that a diff shows each that changes.

python tests/frozen_sentences.py             writes tests/sentences.txt

A sentence is a text of three words or more in src/ that is not a docstring, with the expressions
of its braces. The file lists them by package, sorted.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
FROZEN = ROOT / "tests" / "sentences.txt"
WORDS = 3


def text_of(node):
    """Return a literal text, with the expressions of an f-string in braces."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(text_of(part) or "" for part in parts)
        case ast.FormattedValue(value=expression):
            # texts within expressions are unparsed differently by each version of Python
            has_text = any(isinstance(part, ast.Constant) for part in ast.walk(expression))
            return "{…}" if has_text else f"{{{ast.unparse(expression)}}}"
    return None


def sentences_of(tree):
    """Return the texts of three words or more, without docstrings and the parts of f-strings."""
    left_out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left_out.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            left_out.update(id(part) for part in node.values)
    texts = (
        text_of(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.expr) and id(node) not in left_out
    )
    lines = (" ".join(text.split()) for text in texts if text)
    return {line for line in lines if len(line.split()) >= WORDS}


def frozen():
    """Return the sentences of all packages of src as the file has them."""
    by_package: dict[str, set[str]] = {}
    for path in (ROOT / "src").rglob("*.py"):
        package = "/".join(path.relative_to(ROOT / "src").parts[:-1])
        by_package.setdefault(package, set()).update(sentences_of(ast.parse(path.read_bytes())))
    blocks = [
        "\n".join([f"# {package}", *sorted(sentences), ""])
        for package, sentences in sorted(by_package.items())
        if sentences
    ]
    return "\n".join(blocks)


if __name__ == "__main__":
    FROZEN.write_text(frozen(), encoding="utf-8")
