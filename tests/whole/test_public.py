"""The public face of the library: what `import sampled_metrics as sm` gives is documented."""

import ast
import doctest
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import sampled_metrics as sm
from sampled_metrics.errors import DataError

FUNCTIONS = [
    name
    for name in sm.__all__
    if inspect.isfunction(getattr(sm, name)) or name in ("metric", "ExactRanks")
]


def test_all_names_exist_and_type_checkers_see_the_same():
    assert {name for name in dir(sm) if not name.startswith("__")} == set(sm.__all__) - {
        "__version__"
    }
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        sm.nothing  # noqa: B018
    statements = ast.parse(Path(sm.__file__).read_text(encoding="utf-8")).body
    [block] = [statement for statement in statements if isinstance(statement, ast.If)]
    imports = [statement for statement in block.body if isinstance(statement, ast.ImportFrom)]
    names = {alias.asname for statement in imports for alias in statement.names}
    assert {"__version__", *names} == set(sm.__all__)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_function_has_references_and_an_example_that_runs(name):
    function = getattr(sm, name)
    assert "References:" in function.__doc__
    [example] = doctest.DocTestFinder(recurse=False).find(inspect.unwrap(function), name, globs={})
    assert len(example.examples) > 1
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example).failed == 0


@pytest.mark.parametrize("name", ["evaluate", "correct", "compare", "expect", "plan"])
def test_arguments_after_the_data_are_keyword_only(name):
    parameters = inspect.signature(getattr(sm, name)).parameters.values()
    by_position = [
        parameter.name for parameter in parameters if parameter.kind is not parameter.KEYWORD_ONLY
    ]
    assert by_position == (["pilot"] if name == "plan" else ["ranks"])


@pytest.mark.parametrize(
    ("used", "modules"),
    [
        ("sm", {"pandas", "scipy"}),
        (
            "sm.evaluate, sm.correct, sm.compare",
            {"scipy.optimize", "scipy.stats", "scipy.interpolate"},
        ),
    ],
)
def test_an_import_loads_no_module_that_may_not_be_needed(used, modules):
    program = (
        f"import sys, sampled_metrics as sm; {used}; sys.exit(bool({modules} & sys.modules.keys()))"
    )
    source = Path(sm.__file__).parents[1]
    assert subprocess.run([sys.executable, "-c", program], cwd=source, check=False).returncode == 0


def test_an_error_is_a_value_error_of_one_line_that_moves_no_cursor_and_no_longer_than_a_screen():
    assert issubclass(sm.DataError, sm.SampledMetricsError)
    assert issubclass(sm.DataError, ValueError)
    assert (
        str(DataError("a\nb\r\x1b[2J\x00\u2028\u202e\udce9c"))
        == r"a\nb\r\x1b[2J\x00\u2028\u202e\udce9c"
    )
    text = str(DataError(f"file, line 3: {'x' * 100_000}, not y"))
    assert text.startswith("file, line 3: xxx")
    assert " … xxx" in text
    assert text.endswith("xxx, not y")
    assert len(text) < 2000
