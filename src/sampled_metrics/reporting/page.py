"""Pages of html, which are made by templates."""

import base64
import re
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import pandas as pd

from sampled_metrics.errors import ConfigError
from sampled_metrics.reporting.tables import laid_out


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
        width = f"{float(points[1]) / 72:.2f}in" if points else "100%"
        return cls(f"data:image/svg+xml;base64,{data}", width)


def render(template: str, package: str = "sampled_metrics.reporting", **data: Any) -> str:
    """Return a page, which fetches nothing.

    Args:
        template: the name of a file of the folder templates of a package, which may extend the
            templates of this package.
        package: the package.
        **data: what it shows; all text is escaped.

    Raises:
        ConfigError: jinja2 is not installed.
    """
    return str(_templates(package).get_template(template).render(**data))


def notebook_table(
    table: pd.DataFrame, cautions: Sequence[str], remarks: Sequence[str]
) -> str | None:
    """Return a table of text as a notebook shows it, with sentences.

    Without jinja2, the result is None, and the notebook shows text.

    Args:
        table: the table.
        cautions: sentences above it.
        remarks: sentences below it.
    """
    if find_spec("jinja2") is None:
        return None
    return render("result.html", cautions=cautions, table=laid_out(table), remarks=remarks)


@cache
def _templates(package: str) -> Any:
    try:
        from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise ConfigError("html pages need jinja2; pip install 'sampled-metrics[plots]'") from None
    return Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("sampled_metrics.reporting")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
