"""The result of `compare`: a table of pairs, which also knows the recommenders and their groups."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from sampled_metrics.evaluation.result import Result
from sampled_metrics.evaluation.standings import Standings
from sampled_metrics.evaluation.wording import VERDICTS
from sampled_metrics.inference.findings import Finding, grouped
from sampled_metrics.metrics.metric import metric_name
from sampled_metrics.rendering.tables import as_latex


class Comparison(Result):
    """A table of pairs of recommenders, with findings."""

    @property
    def _constructor(self) -> Callable[..., Comparison]:
        return Comparison

    @property
    def verdicts(self) -> list[Finding]:
        """Return the verdicts on all pairs by all users."""
        return [finding for finding in self.findings if finding.kind in VERDICTS and not finding.group]

    @property
    def by_metric(self) -> dict[str, Standings]:
        """Return the standings by the metrics that this table has, and that are defined."""
        verdicts = grouped(self.verdicts, lambda one: one.metric)
        labels = [label for label in dict.fromkeys(self["metric"]) if label in verdicts]
        return {label: Standings.from_verdicts(verdicts[label]) for label in labels}

    def standings(self) -> Result:
        """Return a row for each recommender and metric, best first: metric, recommender, value, group.

        Recommenders that have a letter in common in the column group cannot be told apart (a compact letter display).
        """
        rows = [(label, *row) for label, standings in self.by_metric.items() for row in standings.rows]
        return Result(rows, columns=["metric", "recommender", "value", "group"])

    @property
    def _comments(self) -> tuple[str, ...]:
        letters = ["Recommenders that have a letter in common cannot be told apart."] if self.by_metric else []
        return (*self.remarks, *letters)

    def _latex_table(self) -> str:
        """Return the recommenders by metric, in the order of the first one, with the letters of their groups."""
        by_metric = {label: standings.rows for label, standings in self.by_metric.items()}
        if not by_metric:  # no metric is defined
            return super()._latex_table()
        names = [row.name for row in next(iter(by_metric.values()))]
        cells, letters = pd.DataFrame({"": names}), pd.DataFrame({"": ["" for _ in names]})
        for label, rows in by_metric.items():
            of_name = {row.name: row for row in rows}
            cells[metric_name(label)] = [f"{of_name[name].value:.4f}" for name in names]
            letters[metric_name(label)] = [of_name[name].letters for name in names]
        return as_latex(cells, letters)
