"""Settings of Sphinx, for the site that `make docs` builds."""

import re
import runpy
import sys
import tomllib
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst.states import Inliner
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))
filled = runpy.run_path(str(ROOT / "docs/reference.py"))["filled"]

project = "sampled-metrics"
release = version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "version"
]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "paper"]
default_role = "code"
nitpicky = True
# no links to the documentation of other projects
nitpick_ignore_regex = [(r"py:.*", r"(?!sampled_metrics).*")]
myst_heading_anchors = 3
myst_enable_extensions = ["html_image"]  # the figure of README, which has a width
add_module_names = False
napoleon_attr_annotations = False
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autodoc_preserve_defaults = True
autodoc_typehints = "none"  # docstrings state shapes and types

html_theme = "furo"
# 100 columns fit beside the menu
html_theme_options = {"light_css_variables": {"code-font-size": "0.72rem"}}
html_title = project
html_copy_source = False
html_show_sphinx = html_show_copyright = False


def with_lists(app: Sphinx, page: str, content: list[str]) -> None:
    """Fill the lists of names and commands."""
    content[0] = filled(content[0])


def with_readme(app: Sphinx, page: str, content: list[str]) -> None:
    """Begin the site with README.md, whose links start from the root of the repository."""
    if page == "index":
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        readme = re.sub(r"\]\((?!\w+:)", "](../", readme).replace("](../docs/", "](")
        readme = readme.replace('src="docs/', 'src="')
        # not on the site
        readme = re.sub(r"\[([^]]*)\]\(\.\./(?:published/evidence/)?[A-Z]+\.md\)", r"\1", readme)
        content[0] = content[0].replace("<!-- README.md -->", readme)


def escape(
    app: Sphinx, what: str, name: str, documented: Any, options: Any, lines: list[str]
) -> None:
    """Escape |R|, which is not a substitution, initials, which are no list, and words before a
    colon, no types.
    """
    for number, line in enumerate(lines):
        lines[number] = re.sub(r"^( *[A-Z])\. ", r"\1\. ", line.replace("|", r"\|"))
        if number == 0 and what in ("property", "data"):
            lines[number] = lines[number].replace(": ", " – ", 1)
        elif number and lines[number - 1].strip() in ("Returns:", "Yields:"):
            lines[number] = re.sub(r"^( *)", r"\1: ", lines[number])


def standalone(inliner: Inliner, match: re.Match[str], line: int) -> list[nodes.Node]:
    """Show a label such as recall@10 as code: docutils takes it for the address of a mail."""
    return (
        [nodes.literal("", match["whole"])]
        if match["email"]
        else _standalone_uri(inliner, match, line)
    )


_standalone_uri = Inliner.standalone_uri
Inliner.standalone_uri = standalone


def setup(app: Sphinx) -> None:
    """Connect the functions above, before napoleon (whose priority is 500)."""
    app.connect("source-read", with_lists)
    app.connect("source-read", with_readme)
    app.connect("autodoc-process-docstring", escape, priority=400)
