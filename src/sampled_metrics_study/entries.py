"""The figures and tables of a study.

A new one is two functions, for numbers and form, a caption, an entry here, and outputs of a rule.

The caption is workflow/report/NAME.rst. Keys of its own are in workflow/schemas/config.schema.yaml.
The files are outputs of the rules in workflow/rules/figures.smk, tables.smk and toy.smk.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from importlib import import_module
from typing import Any

from sampled_metrics import file_io
from sampled_metrics_study import table_files

_STUDY = "sampled_metrics_study"


@dataclass(frozen=True)
class Figure:
    """A figure of the running example, or of a dataset.

    Attributes:
        numbers: path of the function that returns its table. Of a dataset, the first argument is
            its ranks.
        draw: path of the function that draws the table, with a note.
        keys: argument of the first function → key of the config.
        note: path of the function of all arguments that returns the note. For a dataset, the note
            says what its ranks describe.
    """

    numbers: str
    draw: str
    keys: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    def write(self, name: str, output: Any, *ranks: Any, note: str = "", **arguments: Any) -> None:
        """Write the table of the figure, and the figure.

        Args:
            name: name of the figure.
            output: the outputs of the job.
            *ranks: those of a dataset.
            note: what is written below, if the entry has no note.
            **arguments: those of the functions, see `arguments`.
        """
        from sampled_metrics.reporting import drawing  # tables need no matplotlib

        if self.note:
            note = function(self.note)(**arguments)
        table = function(self.numbers)(*ranks, **arguments)
        csv, svg, png = (getattr(output, _key(name, kind)) for kind in ("csv", "svg", "png"))
        file_io.write_csv(csv, table)
        drawing.write(function(self.draw)(table, note), svg, png)


_TOY_KEYS = {"candidates": "toy.candidates", "metrics": "toy.metrics"}
_TOY_NOTE = "toy_figures.note"

TOY_FIGURES = {
    "figure-1": Figure(
        "toy_figures.figure_1",
        "toy_figures.draw_1",
        {**_TOY_KEYS, "zoom": "figures.figure-1.zoom"},
        _TOY_NOTE,
    ),
    "figure-2": Figure(
        "toy_figures.figure_2",
        "toy_figures.draw_2",
        {**_TOY_KEYS, "ranks": "toy.ranks", "negatives": "figures.figure-2.negatives"},
        _TOY_NOTE,
    ),
    "figure-3": Figure(
        "toy_figures.figure_3",
        "toy_figures.draw_3",
        {**_TOY_KEYS, "negatives": "figures.figure-3.negatives", "zoom": "figures.figure-3.zoom"},
        _TOY_NOTE,
    ),
    "figure-4": Figure(
        "toy_figures.figure_4",
        "toy_figures.draw_4",
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

DATASET_FIGURES = {
    "figure-5": Figure(
        "dataset_figures.figure_5",
        "dataset_figures.draw_5",
        {"edges": "figures.figure-5.edges"},
    ),
    "figure-6": Figure(
        "dataset_figures.figure_6",
        "dataset_figures.draw_6",
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


@dataclass(frozen=True)
class Table:
    """A table of the running example, or of a dataset.

    Attributes:
        heading: what stands above it; {subject} is the dataset.
        numbers: path of the function of `Inputs` that returns what the csv file has.
        layout: path of the function of these numbers and `Inputs` that returns sections of text.
        kinds: endings of its files.
    """

    heading: str
    numbers: str
    layout: str
    kinds: tuple[str, ...] = ("csv", "md", "tex", "html")

    def write(self, name: str, inputs: Any, output: Any, subject: str = "") -> None:
        """Write the table and its pages.

        Args:
            name: name of the table.
            inputs: what the tables are made from, `Inputs`.
            output: the outputs of the job.
            subject: the dataset.
        """
        csv, *pages = (getattr(output, _key(name, kind)) for kind in self.kinds)
        numbers = function(self.numbers)(inputs)
        file_io.write_csv(csv, numbers)
        sections = function(self.layout)(numbers, inputs)
        table_files.write(self.heading.format(subject=subject), sections, *pages)


TABLES = {
    "toy": {
        "table-1": Table(
            "Table 1. The running example, evaluated exactly (bold: the best recommender)",
            "toy.table_1",
            "toy.sections",
        ),
        "table-2": Table(
            "Table 2. The running example, evaluated on samples (mean ± standard deviation of a "
            "repetition; bold: the best recommender)",
            "toy.table_2",
            "toy.sections",
        ),
    },
    "dataset": {
        "studied": Table(
            "What was studied: {subject}",
            "tables.studied",
            "tables.studied_sections",
            ("csv", "md", "html"),
        ),
        "table-3": Table(
            "Table 3. Exact, sampled and corrected metrics in per cent (mean ± standard deviation "
            "of a repetition; bold: the best by the exact metric, and those that the exact ranks "
            "do not distinguish from it, compared by user at 95 %)",
            "dataset_tables.table_3",
            "dataset_tables.layout_3",
        ),
        "table-4": Table(
            "Table 4. Repetitions in which a pair is ordered as by the exact metric, in per cent "
            "(bold: the best estimator of a row, and those that the repetitions do not distinguish "
            "from it, at 95 %; nothing is bold where the exact ranks do not decide the order of "
            "the pair)",
            "dataset_tables.table_4",
            "dataset_tables.layout_4",
        ),
    },
    "samples": {
        "sample-intervals": Table(
            "What one sample tells: {subject}. Exact metrics and 95 % intervals from the first "
            "repetition, in per cent",
            "sample_tables.intervals",
            "sample_tables.intervals_layout",
            ("csv", "md", "html"),
        ),
        "sample-verdicts": Table(
            "What one sample tells: {subject}. Verdicts of compare on sampled ranks, in per cent "
            "of the repetitions",
            "sample_tables.verdicts",
            "sample_tables.verdicts_layout",
            ("csv", "md", "html"),
        ),
    },
}
"""All tables, by what they describe, and by name."""

FIGURES = {"toy": TOY_FIGURES, "dataset": DATASET_FIGURES}
"""All figures, by what they describe."""


def _key(name: str, kind: str) -> str:
    """Return the name of a file of a figure or table among the outputs of a job."""
    return f"{name}_{kind}".replace("-", "_")


def function(path: str) -> Any:
    """Return the function at a path below this package."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"{_STUDY}.{module}"), name)


def arguments(
    figures: Mapping[str, Figure], config: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return the arguments of the functions of figures that the config has, by figure."""
    arguments_of = {}
    for name, figure in figures.items():
        if config["figures"][name] is not None:
            arguments_of[name] = {key: _value(config, path) for key, path in figure.keys.items()}
    return arguments_of


def _value(config: Mapping[str, Any], key: str) -> Any:
    """Return the value of a key such as figures.figure-1.zoom."""
    return reduce(lambda part, name: part[name], key.split("."), config)
