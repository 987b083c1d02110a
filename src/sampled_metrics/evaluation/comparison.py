"""The result of `compare`: a table of pairs, which also knows the recommenders and their groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics.errors import printable
from sampled_metrics.evaluation.result import Result, as_latex
from sampled_metrics.evaluation.standings import Standings
from sampled_metrics.evaluation.verdict import Verdict, verdict_of_row
from sampled_metrics.findings import grouped
from sampled_metrics.inference.setting import Setting
from sampled_metrics.metrics.metric import metric_name
from sampled_metrics.ranks.groups import ALL


class Comparison(Result):
    """A table of pairs of recommenders, with findings."""

    @property
    def _constructor(self) -> Callable[..., Comparison]:
        return Comparison

    @classmethod
    def of_verdicts(cls, verdicts: Sequence[Verdict], findings: Sequence[Any], setting: Setting) -> Comparison:
        """Return the table of verdicts, without the columns in which they have nothing to say."""
        table = pd.DataFrame([verdict.row() for verdict in verdicts])
        idle = []
        if not any(verdict.group for verdict in verdicts):
            idle.append("group")
        if not any(verdict.of for verdict in verdicts):
            idle.append("of")
        if len(setting.names) == 2:
            idle += ["a", "b"]
        if any(finding.kind == "best-pairs" for finding in findings):
            idle.append("p_value")
        return cls(table.drop(columns=idle)).found(findings, setting)

    @property
    def verdicts(self) -> list[Verdict]:
        """Return the verdicts on all pairs by all users; of several seeds those of new runs, if there are any.

        They are those of the rows, or of all rows if a column that tells them apart has been left out.
        """
        verdicts = self._of_rows()
        if verdicts is None:
            verdicts = [finding for finding in self.findings if isinstance(finding, Verdict)]
        return [verdict for verdict in verdicts if not verdict.group and verdict.of == verdicts[0].of]

    def _of_rows(self) -> list[Verdict] | None:
        """Return the verdicts of the rows; None if a row does not say which one it is."""
        rows = self.to_dict("records")
        if "metric" not in self or len({self._key(row) for row in rows}) < len(rows):
            return None
        verdicts = [verdict_of_row(row, self.findings, self.setting.names) for row in rows]
        defined = [verdict for verdict in verdicts if verdict is not None]
        missing = [row for row, verdict in zip(rows, verdicts, strict=True) if verdict is None]
        are_undefined = all(np.isnan(row.get("difference", 0.0)) for row in missing)
        return defined if are_undefined else None

    @staticmethod
    def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(row.get(name) for name in ("group", "of", "metric", "a", "b"))

    @property
    def by_metric(self) -> dict[str, Standings]:
        """Return the standings by the metrics that this table has, and that are defined."""
        verdicts = grouped(self.verdicts, lambda verdict: verdict.metric)
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
        verdicts = self._of_rows()
        if not verdicts:  # no metric is defined, or a column that tells rows apart has been left out
            return super()._latex_table()
        labels = [
            label for label in dict.fromkeys(self["metric"]) if any(verdict.metric == label for verdict in verdicts)
        ]
        rows = list[list[str]]()
        letters = list[list[str]]()
        for part in self._parts():
            for cells, superscripts in self._latex_rows(verdicts, labels, *part):
                rows.append(cells)
                letters.append(superscripts)
        columns = ["Group", "Of", "", *map(metric_name, labels)]
        idle = [name.capitalize() for name in ("group", "of") if name not in self]
        cells, superscripts = (pd.DataFrame(texts, columns=columns).map(printable) for texts in (rows, letters))
        return as_latex(cells.drop(columns=idle), superscripts.drop(columns=idle))

    def _parts(self) -> list[tuple[str, str]]:
        """Return the groups, and of which runs, that the rows are of."""
        groups = list(dict.fromkeys(self["group"])) if "group" in self else [ALL]
        runs = list(dict.fromkeys(self["of"])) if "of" in self else [""]
        return [(group, of) for group in groups for of in runs]

    def _latex_rows(
        self, verdicts: Sequence[Verdict], labels: Sequence[str], group: str, of: str
    ) -> list[tuple[list[str], list[str]]]:
        """Return the cells and the superscripts of the rows of a group."""
        is_pair = len(self.setting.names) == 2
        verdicts = [verdict for verdict in verdicts if (verdict.group or ALL) == group and verdict.of == of]
        by_metric = {label: [verdict for verdict in verdicts if verdict.metric == label] for label in labels}
        standings = {label: Standings.from_verdicts(on_metric) for label, on_metric in by_metric.items()}
        names = next(([row.name for row in standing.rows] for standing in standings.values() if standing.rows), [])
        rows = []
        for name in names:
            places = [next((row for row in standing.rows if row.name == name), None) for standing in standings.values()]
            cells = [f"{row.value:.4f}" if row else "-" for row in places]
            superscripts = [row.letters if row and not is_pair else "" for row in places]
            rows.append(([group, of, name, *cells], ["", "", "", *superscripts]))
        pairs = dict.fromkeys((verdict.a, verdict.b) for verdict in verdicts if names[0] in (verdict.a, verdict.b))
        for a, b in pairs:
            is_turned = b == names[0] and not is_pair  # of many, all differences are from the best
            label = f"{a} - {b}" if is_turned else f"{b} - {a}"
            cells = []
            for on_metric in by_metric.values():
                verdict = next((verdict for verdict in on_metric if (verdict.a, verdict.b) == (a, b)), None)
                cells.append(_difference(verdict.turned() if verdict and is_turned else verdict))
            rows.append(([group, of, label, *cells], [""] * (3 + len(cells))))
        return rows


def _difference(verdict: Verdict | None) -> str:
    """Return the difference of a pair with its interval if there is one."""
    if verdict is None:
        return "-"
    interval = f"{verdict.low:+.4f}, {verdict.high:+.4f}" if verdict.has_interval else "-"
    return f"{verdict.difference:+.4f} [{interval}]"
