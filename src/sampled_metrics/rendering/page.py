"""Pages of html, which are made by the templates beside this file, and files of tables."""

import base64
import os
import re
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from sampled_metrics import _files
from sampled_metrics.errors import ConfigError
from sampled_metrics.rendering.tables import Section, as_latex, as_markdown, laid_out


class Image(NamedTuple):
    """A figure in its own size, but not wider than the page.

    Attributes:
        source: its content, as the address of an image.
        width: its width, as a length of a style.
    """

    source: str
    width: str

    @classmethod
    def from_svg(cls, svg: str) -> "Image":
        """Return the image of an svg."""
        points = re.search(r'<svg[^>]* width="([\d.]+)pt"', svg)
        data = base64.b64encode(svg.encode()).decode()
        return cls(f"data:image/svg+xml;base64,{data}", f"{float(points[1]) / 72:.2f}in" if points else "100%")


def render(template: str, **data: Any) -> str:
    """Return a page, which fetches nothing.

    Args:
        template: the name of a file of the folder templates.
        **data: what it shows; all text is escaped.

    Raises:
        ConfigError: jinja2 is not installed.
    """
    return str(_templates().get_template(template).render(**data))


def notebook_table(table: pd.DataFrame, cautions: Sequence[str], remarks: Sequence[str]) -> str | None:
    """Return a table of text as a notebook shows it, with sentences; None, for text in its place, without jinja2.

    Args:
        table: the table.
        cautions: sentences above it.
        remarks: sentences below it.
    """
    if find_spec("jinja2") is None:
        return None
    return render("result.html", cautions=cautions, table=laid_out(table), remarks=remarks)


@cache
def _templates() -> Any:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise ConfigError("html pages need jinja2; pip install 'sampled-metrics[plots]'") from None
    return Environment(
        loader=PackageLoader("sampled_metrics.rendering"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def write(title: str, sections: Sequence[Section], *paths: str | os.PathLike[str]) -> None:
    """Write tables in the formats given by the paths' endings: .md, .tex or .html."""
    for path in map(Path, paths):
        if path.suffix == ".tex":
            _files.write_text(path, _latex(title, sections, f"tab:{path.parent.name}-{path.stem}"))
        else:
            _files.write_text(path, {".md": _markdown, ".html": _html}[path.suffix](title, sections))


def _markdown(title: str, sections: Sequence[Section]) -> str:
    parts = [f"**{title}**"]
    for heading, table in sections:
        parts += [heading, as_markdown(table)] if heading else [as_markdown(table)]
    return "\n\n".join(parts)


_BOX = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
"""Shrinks a table that is wider than the text."""


def _latex(title: str, sections: Sequence[Section], label: str) -> str:
    parts = ["% needs \\usepackage{booktabs, graphicx}"]
    title = re.sub(r"^Table \d+\. ", "", title)  # LaTeX numbers its tables
    for number, (heading, table) in enumerate(sections, 1):
        caption = f"{title}. {heading}." if heading else f"{title}."
        name = label if number == 1 else f"{label}-{number}"
        caption = caption.replace("±", r"$\pm$").replace("γ", r"$\gamma$")
        lines = rf"\caption{{{caption}}}", rf"\label{{{name}}}", _BOX, as_latex(table) + "}"
        parts.append("\n".join([r"\begin{table}", r"\centering", *lines, r"\end{table}", ""]))
    return "\n".join(parts)


def _html(title: str, sections: Sequence[Section]) -> str:
    laid = [{"heading": heading, "table": laid_out(table)} for heading, table in sections]
    return render("tables.html", title=title, sections=laid)
