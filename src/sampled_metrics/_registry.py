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

    Modules are named below `sampled_metrics`, and an object by its module and its name, as in
    "core.ranks.exact:ExactRanks".

    Attributes:
        names: the public names of `sampled_metrics`, by module.
        tables: kinds of tables.
        words: modules with a table of kinds of findings (`KINDS`), by its title in the reference.
        layouts: modules that lay out figures of results (`LAYOUTS`).
        figure: the function that draws a result.
        latex: the function that writes a table as LaTeX.
        page: the function that shows a table in a notebook.
        commands: commands of the program.
    """

    names: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    tables: tuple[str, ...] = ()
    words: Mapping[str, str] = MappingProxyType({})
    layouts: tuple[str, ...] = ()
    figure: str = ""
    latex: str = ""
    page: str = ""
    commands: tuple[str, ...] = ()


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
            "core.estimators": ("estimator",),
            "core.evaluation.compare": ("compare",),
            "core.evaluation.correct": ("correct",),
            "core.evaluation.evaluate": ("evaluate",),
            "core.evaluation.expect": ("expect",),
            "core.metrics": ("metric",),
            "core.ranks.exact": ("ExactRanks", "exact_ranks"),
            "core.ranks.saved": ("read_ranks",),
            "core.ranks.sampled": ("SampledRanks", "sampled_ranks"),
        },
        tables=("core.ranks.exact:ExactRanks", "core.ranks.sampled:SampledRanks"),
        commands=(
            "cli.commands:evaluate",
            "cli.commands:correct",
            "cli.commands:compare",
            "cli.commands:expect",
        ),
    ),
    "lists": Package(
        names={"lists.ranked_lists": ("RankedLists", "ranked_lists")},
        words={"Ranked lists": "lists.words"},
        tables=("lists.ranked_lists:RankedLists",),
    ),
    "ranking": Package(
        names={
            "ranking.negatives": ("rank_among_negatives",),
            "ranking.rank": ("rank",),
            "ranking.scores": ("ranks_of_scores",),
        },
        words={"Scores and negatives": "ranking.words"},
        commands=("ranking.command:rank",),
    ),
    "stages": Package(
        names={
            "stages.scoring": ("Ranker",),
            "stages.rank": ("staged_ranks",),
            "stages.table": ("StagedRanks",),
        },
        tables=("stages.table:StagedRanks",),
        commands=("stages.command:stages", "stages.command:concat"),
    ),
    "planning": Package(
        names={"planning.plan": ("plan",)},
        words={"Plans": "planning.words"},
        layouts=("planning.figure",),
        commands=("planning.command:plan",),
    ),
    "papers": Package(
        names={"papers.published": ("published",)},
        words={"Published numbers": "papers.words"},
        commands=("papers.command:published",),
    ),
    "validation": Package(
        names={"validation.validator": ("validator",)},
        words={"Epochs of a training": "validation.words"},
    ),
    "reporting": Package(
        names={"reporting.report": ("report",)},
        layouts=("reporting.plots",),
        figure="reporting.plots:show",
        latex="reporting.tables:as_latex",
        page="reporting.page:notebook_table",
        commands=("reporting.command:report",),
    ),
}
"""What each package registers."""


def has_package(name: str) -> bool:
    """Return whether a package is there."""
    return name in PACKAGES


def public_names() -> dict[str, str]:
    """Return the module of each public name."""
    return {
        name: module
        for package in PACKAGES.values()
        for module, names in package.names.items()
        for name in names
    }


def kinds_of_tables() -> list[Any]:
    """Return the classes of all kinds of tables."""
    return [load(table) for package in PACKAGES.values() for table in package.tables]


def kinds_of_findings() -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield the title of each table of findings in the reference, and the kinds in it."""
    for package in PACKAGES.values():
        for title, module in package.words.items():
            yield title, _module(module).KINDS


def layouts() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the columns of a result, and the function that lays out its figure."""
    for package in PACKAGES.values():
        for module in package.layouts:
            yield from _module(module).LAYOUTS.items()


def commands() -> list[Any]:
    """Return the commands of the program."""
    return [load(command) for package in PACKAGES.values() for command in package.commands]


def renderer(form: str) -> Any:
    """Return the function that renders a table as figure, latex or page; None if there is none."""
    for package in PACKAGES.values():
        if reference := getattr(package, form):
            return load(reference)
    return None


def words() -> Any:
    """Return the module that words findings."""
    return _module("core.evaluation.wording")


def load(reference: str) -> Any:
    """Return an object by its module and its name."""
    module, _, name = reference.partition(":")
    return getattr(_module(module), name)


def _module(name: str) -> Any:
    return import_module(f"sampled_metrics.{name}")
