"""The examples of docs/adapters.md with tools that have no adapter run, and print what the page shows.

Those of docs/how-to/validate.md run, too.
"""

import contextlib
import io
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "adapters.md"
EXAMPLE = re.compile(r"^```py\n(.*?)^```\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("title", "tool"), [("torchmetrics", "torchmetrics")])
def test_examples_print_what_the_page_shows(title, tool):
    if find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed")
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]
    examples, namespace = EXAMPLE.findall(section), {}
    assert examples
    for code, shown in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(PAGE), "exec"), namespace)
        assert printed.getvalue() == shown


@pytest.mark.filterwarnings("ignore")  # the tools' own
@pytest.mark.parametrize(
    ("title", "tool"), [("A model of PyTorch", "torch"), ("Lightning", "lightning"), ("Keras", "keras")]
)
def test_loops_that_validate(title, tool):
    if find_spec(tool) is None or find_spec("torch") is None:
        pytest.skip(f"{tool} is not installed")
    page = PAGE.parent / "how-to" / "validate.md"
    section = page.read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]
    [code] = re.findall(r"^```py\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    namespace = {"__name__": "of_page"}
    exec(compile(code, str(page), "exec"), namespace)
    history = namespace["validate"].history
    assert len(history) > 1
    assert history["metric"].eq("ndcg@100").all()
    assert history["value"].between(0, 1, inclusive="neither").all()
