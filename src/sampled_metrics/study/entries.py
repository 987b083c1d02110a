"""The figures of a study. A new one is a function of its numbers, one that draws them, a caption, and an entry here.

The caption is workflow/report/NAME.rst. Keys of its own are in workflow/schemas/config.schema.yaml.
A job depends on the functions of its own figures.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from importlib import import_module
from typing import Any

_LIBRARY = "sampled_metrics"


@dataclass(frozen=True)
class Figure:
    """A figure of the running example, or of a dataset.

    Attributes:
        title: its name in the report.
        numbers: path of the function that returns its table. Of a dataset, the first argument is its ranks.
        draw: path of the function that draws the table, with a note.
        keys: argument of the first function → key of the config.
        note: path of the function of all arguments that returns the note. Of a dataset, the note
            says what its ranks are of.
    """

    title: str
    numbers: str
    draw: str
    keys: Mapping[str, str] = field(default_factory=dict)
    note: str = ""


_OF_TOY = {"candidates": "toy.candidates", "metrics": "toy.metrics"}
_TOY_NOTE = "study.toy_figures.note"

OF_TOY = {
    "figure-1": Figure(
        "Figure 1: metrics by rank",
        "study.toy_figures.figure_1",
        "study.toy_figures.draw_1",
        {**_OF_TOY, "zoom": "figures.figure-1.zoom"},
        _TOY_NOTE,
    ),
    "figure-2": Figure(
        "Figure 2: by sample size",
        "study.toy_figures.figure_2",
        "study.toy_figures.draw_2",
        {**_OF_TOY, "ranks": "toy.ranks", "negatives": "figures.figure-2.negatives"},
        _TOY_NOTE,
    ),
    "figure-3": Figure(
        "Figure 3: by true rank",
        "study.toy_figures.figure_3",
        "study.toy_figures.draw_3",
        {**_OF_TOY, "negatives": "figures.figure-3.negatives", "zoom": "figures.figure-3.zoom"},
        _TOY_NOTE,
    ),
    "figure-4": Figure(
        "Figure 4: corrected",
        "study.toy_figures.figure_4",
        "study.toy_figures.draw_4",
        {
            "candidates": "toy.candidates",
            "metric_label": "figures.figure-4.metric",
            "negatives": "figures.figure-4.negatives",
            "estimators": "figures.figure-4.estimators",
        },
        _TOY_NOTE,
    ),
}
"""The figures of the running example, by name."""

OF_DATASET = {
    "figure-5": Figure(
        "Figure 5: ranks",
        "study.dataset_figures.figure_5",
        "reporting.rank_histogram.draw",
        {"edges": "figures.figure-5.edges"},
    ),
    "figure-6": Figure(
        "Figure 6: by sample size",
        "study.dataset_figures.figure_6",
        "reporting.sample_sizes.draw",
        {
            "metric": "figures.figure-6.metric",
            "estimators": "figures.figure-6.estimators",
            "negatives": "figures.figure-6.negatives",
            "replacement": "sampling.replacement",
            "model": "estimator_model",
        },
    ),
}
"""The figures of a dataset, by name."""


FIGURES = {"toy": OF_TOY, "dataset": OF_DATASET}
"""All figures, by what they are of."""


def function(path: str) -> Any:
    """Return the function at a path below the library."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"{_LIBRARY}.{module}"), name)


def paths(figures: Mapping[str, Figure]) -> list[str]:
    """Return the dotted paths of the functions of some figures."""
    names = {path for figure in figures.values() for path in (figure.numbers, figure.draw, figure.note) if path}
    return [f"{_LIBRARY}.{name}" for name in sorted(names)]


def arguments(figures: Mapping[str, Figure], config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the arguments of the functions of figures that the config has, by figure."""
    return {
        name: {argument: _value(config, key) for argument, key in figure.keys.items()}
        for name, figure in figures.items()
    }


def _value(config: Mapping[str, Any], key: str) -> Any:
    """Return the value of a key such as figures.figure-1.zoom."""
    return reduce(lambda part, name: part[name], key.split("."), config)
