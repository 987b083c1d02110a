"""What the packages of the library register. The core finds it here, and imports none of them.

A package that is taken away takes its entry along. Everything is imported when it is first used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple


class Package(NamedTuple):
    """What a package adds.

    Modules are named below `sampled_metrics`, and an object by its module and its name, as in "ranks.exact:ExactRanks".

    Attributes:
        names: the public names of `sampled_metrics`, by module.
        tables: kinds of tables.
        layouts: modules that lay out figures of results (`LAYOUTS`).
        figure: the function that draws a result.
        latex: the function that writes a table as LaTeX.
        page: the function that shows a table in a notebook.
    """

    names: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    tables: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ()
    figure: str = ""
    latex: str = ""
    page: str = ""


PACKAGES: dict[str, Package] = {
    "core": Package(
        names={
            "errors": (
                "ConfigError",
                "DataError",
                "DownloadError",
                "NumericError",
                "SampledMetricsError",
                "WriteError",
            ),
            "estimators": ("estimator",),
            "evaluation.compare": ("compare",),
            "evaluation.correct": ("correct",),
            "evaluation.evaluate": ("evaluate",),
            "evaluation.expect": ("expect",),
            "metrics.metric": ("metric",),
            "ranks.exact": ("ExactRanks", "exact_ranks"),
            "ranks.saved": ("read_ranks",),
            "ranks.sampled": ("SampledRanks", "sampled_ranks"),
        },
        tables=("ranks.exact:ExactRanks", "ranks.sampled:SampledRanks"),
    ),
    "lists": Package(
        names={"ranks.judged_lists": ("RankedLists", "ranked_lists")},
        tables=("ranks.judged_lists:RankedLists",),
    ),
    "ranking": Package(names={"ranking.negatives": ("rank_among_negatives",), "ranking.rank": ("rank",)}),
    "stages": Package(
        names={
            "ranking.scoring": ("Ranker",),
            "ranking.stages": ("staged_ranks",),
            "ranks.staged": ("StagedRanks",),
        },
        tables=("ranks.staged:StagedRanks",),
    ),
    "plan": Package(
        names={"evaluation.plan": ("plan",)},
        layouts=("evaluation.plan_figure",),
    ),
    "published": Package(
        names={"evaluation.published": ("published",)},
    ),
    "validation": Package(names={"validation.validator": ("validator",)}),
    "reporting": Package(
        names={"reporting.report": ("report",)},
        layouts=("evaluation.plots",),
        figure="evaluation.plots:show",
        latex="rendering.tables:as_latex",
        page="rendering.page:notebook_table",
    ),
}
"""What each package registers."""


def public_names() -> dict[str, str]:
    """Return the module of each public name."""
    return {name: module for package in PACKAGES.values() for module, names in package.names.items() for name in names}


def kinds_of_tables() -> list[Any]:
    """Return the classes of all kinds of tables."""
    return [load(table) for package in PACKAGES.values() for table in package.tables]


def layouts() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the columns of a result, and the function that lays out its figure."""
    for package in PACKAGES.values():
        for module in package.layouts:
            yield from _module(module).LAYOUTS.items()


def renderer(form: str) -> Any:
    """Return the function that renders a table as figure, latex or page; None if no package does."""
    references = [getattr(package, form) for package in PACKAGES.values()]
    found = [reference for reference in references if reference]
    return load(found[0]) if found else None


def words() -> Any:
    """Return the module that words findings."""
    return _module("evaluation.wording")


def load(reference: str) -> Any:
    """Return an object by its module and its name."""
    module, _, name = reference.partition(":")
    return getattr(_module(module), name)


def _module(name: str) -> Any:
    return import_module(f"sampled_metrics.{name}")
