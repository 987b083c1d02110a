"""The checks of `make lint` that are our own: of packed assignments, of names and of sizes."""

import ast
import runpy

import pytest
from docs_blocks import ROOT

TEXT = runpy.run_path(str(ROOT / ".ci/text.py"))
SIZES = runpy.run_path(str(ROOT / ".ci/sizes.py"))

PACKED = {
    "two values": ("a, b = 1, 2", [1]),
    "an attribute": ("x = 0\nself.a, b = x, 1", [2]),
    "a swap": ("a, b = b, a", []),
    "a swap of elements": ("x[0], x[1] = x[1], x[0]", []),
    "what a call returns": ("a, b = divmod(7, 2)", []),
    "one value": ("a = 1, 2", []),
}


@pytest.mark.parametrize(("code", "lines"), PACKED.values(), ids=PACKED)
def test_packed_assignments_are_those_of_several_values(code, lines):
    assert list(TEXT["packed"](ast.parse(code))) == lines


VAGUE = {
    "a variable": ("found = 1", [(1, "found")]),
    "of a comprehension": ("[one for one in range(3)]", [(1, "one")]),
    "a parameter": ("def share(of_users):\n    pass", [(1, "of_users")]),
    "a loop": ("for each in range(3):\n    pass", [(1, "each")]),
    "a function": ("def of_rank(rank):\n    pass", []),
    "a field of a class": ("class Kind:\n    of_groups: bool = True", []),
    "what is read": ("print(first)", []),
    "a parameter of a method that Python or pandas calls": (
        "class Table:\n    def __finalize__(self, other):\n        pass",
        [],
    ),
    "a noun": ("finding = 1", []),
}


@pytest.mark.parametrize(("code", "names"), VAGUE.values(), ids=VAGUE)
def test_vague_names_are_those_of_variables_and_parameters(code, names):
    assert list(TEXT["vague"](ast.parse(code))) == names


RULES = {
    "a variable": ("first = config", [(1, "first")]),
    "a loop": ("    [one for one in names]", [(1, "one")]),
    "a parameter": ("def files(of_dataset, name):", [(1, "of_dataset")]),
    "several values": ("data, results = 'a', 'b'", [(1, "packed")]),
    "what a call returns": ("data, results = map(str, names)", []),
    "a section of a rule": ("rule rank:\n    input:\n        split=SPLIT,", []),
    "a noun": ("names = config", []),
}


@pytest.mark.parametrize(("code", "words"), RULES.values(), ids=RULES)
def test_rules_are_read_line_by_line(code, words):
    messages = list(TEXT["in_rules"](code))
    assert [(line, message.split()[0]) for line, message in messages] == words


def test_examples_of_a_page_are_read_as_python():
    page = (
        "# Title\n\nfirst = here\n\n```python\nnames = 1\nfirst = 2\n```\n```text\none = 1\n```\n"
    )
    assert list(TEXT["in_page"](page)) == [(7, "first says nothing of what it is")]


def test_sizes_are_nodes_of_modules_and_lines_of_templates(tmp_path):
    """A module, an assignment, a name that is stored, and a number."""
    (tmp_path / "a.py").write_text("# a comment\nx = 1\n")
    (tmp_path / "a.html").write_text("<p>\n</p>\n")
    assert SIZES["nodes"](tmp_path / "a.py") == 5  # and the context of the name
    assert SIZES["nodes"](tmp_path / "a.html") == 2
    assert set(SIZES["sizes"]()) == set(SIZES["SIZES"])
