"""The result of `compare`: a table of pairs, which also knows the recommenders and their groups."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from sampled_metrics._validation import enumerated
from sampled_metrics.evaluation.result import Result
from sampled_metrics.inference.families import Pair, groups, pairs_of
from sampled_metrics.metrics.metric import metric_name
from sampled_metrics.rendering.tables import as_latex

_FEW = 3  # recommenders that a sentence names in place of "all others"


class Standing(NamedTuple):
    """A recommender by a metric; two that have a letter in common cannot be told apart."""

    name: str
    value: float
    letters: str


@dataclass(frozen=True)
class Standings:
    """The recommenders by a metric, best first, with the decided pairs and the groups that cannot be told apart.

    Attributes:
        rows: the recommenders.
        decided: the decided pairs, the better one first, as places in the rows.
        groups: the largest groups of which all pairs are undecided, as places in the rows.
    """

    rows: list[Standing]
    decided: list[Pair]
    groups: list[tuple[int, ...]]

    @classmethod
    def from_values(cls, names: Sequence[str], values: Sequence[float], decided: Sequence[Pair]) -> "Standings":
        """Return the standings of recommenders from their values and the decided pairs, the better one first."""
        order = sorted(range(len(names)), key=lambda number: -values[number])
        row_of = {number: row for row, number in enumerate(order)}
        wins = sorted((row_of[better], row_of[worse]) for better, worse in decided)
        undecided = [pair for pair in pairs_of(len(names)) if pair not in wins and pair[::-1] not in wins]
        alike = groups(undecided, range(len(names)))
        letters = [
            "".join(_letter(number) for number, group in enumerate(alike) if row in group) for row in range(len(names))
        ]
        rows = [Standing(names[number], values[number], letters[row]) for row, number in enumerate(order)]
        return cls(rows, wins, alike)

    @property
    def sentence(self) -> str:
        """Say who is better than whom, and then who cannot be told apart."""
        names = [standing.name for standing in self.rows]
        by_losers: dict[tuple[int, ...], list[int]] = {}
        for row in range(len(names)):
            if losers := tuple(worse for better, worse in self.decided if better == row):
                by_losers.setdefault(losers, []).append(row)
        sentences = []
        for losers, winners in by_losers.items():
            all_others = len(losers) > _FEW and len(losers) + len(winners) == len(names)
            than = "all others" if all_others else enumerated([names[row] for row in losers])
            verb = "is" if len(winners) == 1 else "are"
            sentences.append(f"{enumerated([names[row] for row in winners])} {verb} better than {than}.")
        alike = [enumerated([names[row] for row in group]) for group in self.groups if len(group) > 1]
        if alike:
            sentences.append(f"{', and '.join(alike)}{',' * (len(alike) > 1)} cannot be told apart.")
        return " ".join(sentences)


def _letter(number: int) -> str:
    return chr(ord("a") + number % 26) * (1 + number // 26)


class Comparison(Result):
    """A table of pairs of recommenders, with remarks."""

    _metadata = [*Result._metadata, "_standings"]  # noqa: RUF012  # pandas requires this

    _standings: Mapping[str, Standings] = {}  # by metric

    @property
    def _constructor(self) -> Callable[..., "Comparison"]:
        return Comparison

    def with_standings(self, standings: Mapping[str, Standings]) -> "Comparison":
        """Return the same table with other standings, by metric."""
        table = self.copy()
        table._standings = standings
        return table

    @property
    def by_metric(self) -> dict[str, Standings]:
        """Return the standings by the metrics that this table has."""
        return {label: standings for label, standings in self._standings.items() if label in set(self["metric"])}

    def standings(self) -> Result:
        """Return a row for each recommender and metric, best first: metric, recommender, value, group.

        Recommenders that have a letter in common in the column group cannot be told apart (a compact letter display).
        """
        rows = [(label, *row) for label, standings in self.by_metric.items() for row in standings.rows]
        return Result(rows, columns=["metric", "recommender", "value", "group"])

    def latex(self) -> str:
        r"""Return a LaTeX table of the recommenders by metric, with the letters of their groups; needs booktabs.

        The recommenders are in the order of the first metric. The remarks stand above it as comments.
        """
        by_metric = {label: standings.rows for label, standings in self.by_metric.items()}
        if not by_metric:  # no metric is defined
            return super().latex()
        names = [row.name for row in next(iter(by_metric.values()))]
        cells, letters = pd.DataFrame({"": names}), pd.DataFrame({"": ["" for _ in names]})
        for label, rows in by_metric.items():
            of_name = {row.name: row for row in rows}
            cells[metric_name(label)] = [f"{of_name[name].value:.4f}" for name in names]
            letters[metric_name(label)] = [of_name[name].letters for name in names]
        comments = [*self.remarks, "Recommenders that have a letter in common cannot be told apart."]
        return "\n".join([*(f"% {comment}" for comment in comments), as_latex(cells, letters)])
