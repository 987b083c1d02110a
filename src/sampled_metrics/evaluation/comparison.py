"""The result of `compare`: a table of pairs, which also knows the recommenders and their groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from sampled_metrics.errors import printable
from sampled_metrics.evaluation.result import Result
from sampled_metrics.evaluation.standings import Standings
from sampled_metrics.evaluation.wording import VERDICTS
from sampled_metrics.inference.findings import Finding, grouped
from sampled_metrics.metrics.metric import metric_name
from sampled_metrics.ranks.given import ALL
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
        if not self.by_metric:
            return self.remarks
        together = ", which hold together for the groups" if "group" in self else ""
        brackets = f"In brackets: {100 * self.setting.confidence_level:g} % intervals of the difference{together}."
        letters = "Recommenders that have a letter in common cannot be told apart."
        return (*self.remarks, brackets, *([letters] if len(self.setting.names) > 2 else []))

    def _latex_table(self) -> str:
        """Return the recommenders by metric, and by group if there are groups, best first by the first metric.

        Below them are the differences of the pairs that the best one is in, with their intervals. More than two have
        the letters of their standings.
        """
        labels, are_two = list(self.by_metric), len(self.setting.names) == 2
        if not labels:  # no metric is defined
            return super()._latex_table()
        verdicts = grouped((one for one in self.findings if one.kind in VERDICTS), lambda one: (one.group, one.metric))
        table, letters = [], []
        for group in dict.fromkeys(self["group"]) if "group" in self else [ALL]:
            pairs = [verdicts.get(("" if group == ALL else group, label), []) for label in labels]
            standings = [{row.name: row for row in Standings.from_verdicts(of_metric).rows} for of_metric in pairs]
            names = list(next(filter(None, standings), {}))
            for name in names:
                rows = [of_metric.get(name) for of_metric in standings]
                table.append([group, name, *(f"{row.value:.4f}" if row else "-" for row in rows)])
                letters.append(["", "", *(row.letters if row and not are_two else "" for row in rows)])
            differences = [{(one.values["a"], one.values["b"]): one.values for one in of_metric} for of_metric in pairs]
            for a, b in next(filter(None, differences), {}):
                if names[0] in (a, b):
                    turns = b == names[0] and not are_two  # of many, all differences are from the best
                    label = f"{a} - {b}" if turns else f"{b} - {a}"
                    cells = (_difference(of_metric.get((a, b)), turns) for of_metric in differences)
                    table.append([group, label, *cells])
                    letters.append(["" for _ in table[-1]])
        columns = ["Group", "", *map(metric_name, labels)]
        frames = [pd.DataFrame(rows, columns=columns).map(printable) for rows in (table, letters)]
        return as_latex(*(frame if "group" in self else frame.drop(columns="Group") for frame in frames))


def _difference(values: Mapping[str, Any] | None, turns: bool) -> str:
    """Return the difference of a pair, or that of the pair the other way round, with its interval if there is one."""
    if values is None:
        return "-"
    difference, low, high = (values[name] for name in ("difference", "low", "high"))
    if turns:
        difference, low, high = -difference, -high, -low
    interval = "-" if math.isnan(low) or math.isnan(high) else f"{low:+.4f}, {high:+.4f}"
    return f"{difference:+.4f} [{interval}]"
