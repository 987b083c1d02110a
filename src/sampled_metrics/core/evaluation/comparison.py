"""The result of `compare`: a table of pairs, which also knows the recommenders and their groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics.core.evaluation import wording
from sampled_metrics.core.evaluation.result import NumberForm, Result, as_latex
from sampled_metrics.core.evaluation.standings import Standings, letter
from sampled_metrics.core.evaluation.values import UserValues
from sampled_metrics.core.evaluation.verdict import Verdict, verdict_of_row
from sampled_metrics.core.evaluation.words.captions import (
    differences_in_brackets,
    letters_and_brackets,
)
from sampled_metrics.core.findings import grouped
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.ranks.groups import ALL
from sampled_metrics.errors import DataError, printable


@dataclass(frozen=True)
class ValuesOfUsers:
    """The values of the users of all recommenders.

    Attributes:
        ids: (users,) the users.
        metrics: their labels.
        values: by recommender.
    """

    ids: NDArray[Any]
    metrics: Sequence[str]
    values: Mapping[str, UserValues]

    def table(self) -> pd.DataFrame:
        """Return a row for each recommender and user.

        Raises:
            DataError: a user has no value of a metric.
        """
        if not all(values.one_value for values in self.values.values()):
            raise DataError(
                "by_user: strict bounds have no value of a user; compare by an estimator that "
                'has one, such as estimator="bv-0.1"'
            )
        tables = list[pd.DataFrame]()
        for name, values in self.values.items():
            by_metric = dict(zip(self.metrics, values.low, strict=True))
            tables.append(pd.DataFrame({"recommender": name, "user": self.ids, **by_metric}))
        return pd.concat(tables, ignore_index=True)


class Comparison(Result):
    """A table of pairs of recommenders, with findings."""

    _metadata = [*Result._metadata, "values_of_users"]  # noqa: RUF012  # pandas requires this

    values_of_users: ValuesOfUsers | None = None

    @property
    def _constructor(self) -> Callable[..., Comparison]:
        return Comparison

    @classmethod
    def from_verdicts(
        cls, verdicts: Sequence[Verdict], findings: Sequence[Any], setting: Setting
    ) -> Comparison:
        """Return the table of verdicts, without the columns in which they have nothing to say."""
        table = pd.DataFrame([verdict.row() for verdict in verdicts])
        idle = []
        if not any(verdict.group for verdict in verdicts):
            idle.append("group")
        if not any(verdict.of for verdict in verdicts):
            idle.append("of")
        if setting.margin is None:
            idle += ["relative", "higher_a", "higher_b", "size"]
        if len(setting.names) == 2:
            idle += ["a", "b"]
        if any(finding.kind == "best-pairs" for finding in findings):
            idle.append("p_value")
        return cls(table.drop(columns=idle)).found(findings, setting)

    @property
    def verdicts(self) -> list[Verdict]:
        """Return the verdicts on all pairs by all users.

        Of several seeds, they are those of new runs, if there are any.

        They are those of the rows, or of all rows if a column that tells them apart has been left
        out.
        """
        verdicts = self._verdicts_of_rows()
        if verdicts is None:
            verdicts = [finding for finding in self.findings if isinstance(finding, Verdict)]
        main_question = verdicts[0].of if verdicts else ""
        return [
            verdict for verdict in verdicts if not verdict.group and verdict.of == main_question
        ]

    def _verdicts_of_rows(self) -> list[Verdict] | None:
        """Return the verdicts of the rows; None if a row does not say which one it is."""
        rows = self.to_dict("records")
        if "metric" not in self or len({self._key(row) for row in rows}) < len(rows):
            return None
        verdicts = [verdict_of_row(row, self.findings, self.setting.names) for row in rows]
        known = [verdict for verdict in verdicts if verdict is not None]
        # a metric that is not defined has no verdict
        rows_without = [row for row, verdict in zip(rows, verdicts, strict=True) if verdict is None]
        are_undefined = all(np.isnan(row.get("difference", 0.0)) for row in rows_without)
        return known if are_undefined else None

    @staticmethod
    def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(row.get(name) for name in ("group", "of", "metric", "a", "b"))

    @property
    def by_user(self) -> pd.DataFrame:
        """Return the values of all users that are compared, for a test or a figure of your own.

        Returns:
            A row for each recommender and user, with the columns recommender, user (a number from 1
            if the ranks have no users) and one for each metric. The mean over the users is the
            value of the metric. Users are in the same order for all recommenders. A user with
            several rows has the mean over them, and several seeds have the mean over the seeds. Of
            sampled ranks, the values are those whose mean is the estimate, as are those of staged
            ranks; they are no metrics of a single user.

        Raises:
            DataError: strict bounds have no value of a user.

        Examples:
            >>> import sampled_metrics as sm
            >>> ranks = {"old": [5, 80, 3, 200], "new": [2, 40, 1, 90]}
            >>> result = sm.compare(sm.exact_ranks(ranks, candidates=1000), metrics="recall@10")
            >>> by_user = result.by_user
            >>> by_user[by_user["recommender"] == "new"]["recall@10"].tolist()
            [1.0, 0.0, 1.0, 0.0]
        """
        if self.values_of_users is None:
            raise DataError("by_user: only the result of compare has the values of users")
        return self.values_of_users.table()

    @property
    def by_metric(self) -> dict[str, Standings]:
        """Return the standings by the metrics that this table has, and that are defined."""
        verdicts = grouped(self.verdicts, lambda verdict: verdict.metric)
        labels = [label for label in dict.fromkeys(self["metric"]) if label in verdicts]
        return {label: Standings.from_verdicts(verdicts[label]) for label in labels}

    def standings(self) -> Result:
        """Return a row for each recommender and metric, best first.

        The columns are metric, recommender, value and group.

        Recommenders that have a letter in common in the column group cannot be told apart (a
        compact letter display).
        """
        rows = [
            (label, *standing)
            for label, standings in self.by_metric.items()
            for standing in standings.rows
        ]
        return Result(rows, columns=["metric", "recommender", "value", "group"])

    @property
    def _comments(self) -> tuple[str, ...]:
        if not self.by_metric or len(self.setting.names) > 2:
            return self.remarks
        return (*self.remarks, differences_in_brackets(self.setting, by_group="group" in self))

    @property
    def _has_latex_values(self) -> bool:
        """Whether the LaTeX table has values with intervals.

        It has none if no metric is defined, or a column that told rows apart has been left out.
        """
        return bool(self._verdicts_of_rows())

    def _latex_table(self, form: NumberForm) -> str:
        """Return the recommenders by metric, best first by the first metric.

        If there are groups, they are by group, too. Below them are the differences of the pairs
        that the best one is in, with their intervals. More than two have letters: those of a value
        are of the recommenders that it is shown to be better than, as in the tables of ranx. The
        caption says so.
        """
        verdicts = self._verdicts_of_rows()
        if not verdicts:
            return super()._latex_table(form)
        defined = {verdict.metric for verdict in verdicts}
        labels = [label for label in dict.fromkeys(self["metric"]) if label in defined]
        is_pair = len(self.setting.names) == 2

        rows = list[_LatexRow]()
        for group, question in self._parts():
            verdicts_of_part = [
                verdict
                for verdict in verdicts
                if (verdict.group or ALL) == group and verdict.of == question
            ]
            part = _LatexPart(group, question, verdicts_of_part, labels, is_pair, form)
            rows += part.rows_of_recommenders()
            rows += part.rows_of_differences()

        columns = ["Group", "Of", "#", "", *map(form.head, labels)]
        idle = [name.capitalize() for name in ("group", "of") if name not in self]
        if is_pair:
            idle.append("#")
        cells = pd.DataFrame([row.cells for row in rows], columns=columns).map(printable)
        superscripts = pd.DataFrame([row.superscripts for row in rows], columns=columns)
        caption = ""
        if not is_pair:
            notes = [letters_and_brackets(self.setting, by_group="group" in self)]
            if len(labels) > 1:
                notes += wording.on_several_metrics(self.findings, self.setting)
            caption = " ".join(notes)
        return as_latex(cells.drop(columns=idle), superscripts.drop(columns=idle), caption)

    def _parts(self) -> list[tuple[str, str]]:
        """Return the groups and the questions that the rows are of."""
        groups = list(dict.fromkeys(self["group"])) if "group" in self else [ALL]
        questions = list(dict.fromkeys(self["of"])) if "of" in self else [""]
        return list(product(groups, questions))


class _LatexRow(NamedTuple):
    """A row of a LaTeX table: the text of its cells, and the letters above them."""

    cells: list[str]
    superscripts: list[str]


@dataclass(frozen=True)
class _LatexPart:
    """The rows of a LaTeX table on a group and a question.

    Attributes:
        group: the group, or "all".
        question: new runs or these runs; empty without several seeds.
        verdicts: those on the group and the question.
        metrics: the labels of the columns.
        is_pair: whether two recommenders are compared.
        form: how numbers are written.
    """

    group: str
    question: str
    verdicts: Sequence[Verdict]
    metrics: Sequence[str]
    is_pair: bool
    form: NumberForm

    @cached_property
    def standings(self) -> list[Standings]:
        """The standings by each metric."""
        verdicts = grouped(self.verdicts, lambda verdict: verdict.metric)
        return [Standings.from_verdicts(verdicts.get(label, [])) for label in self.metrics]

    @cached_property
    def names(self) -> list[str]:
        """The recommenders, best first by the first metric that has any."""
        for standings in self.standings:
            if standings.rows:
                return [standing.name for standing in standings.rows]
        return []

    def rows_of_recommenders(self) -> list[_LatexRow]:
        """Return the values of each recommender, with the letters of those that it beats."""
        letters = {name: letter(place) for place, name in enumerate(self.names)}
        rows = list[_LatexRow]()
        for name in self.names:
            cells = [self.group, self.question, letters[name], name]
            superscripts = [""] * len(cells)
            for standings in self.standings:
                values = {standing.name: standing.value for standing in standings.rows}
                text = self.form.number(values[name]) if name in values else "-"
                best = self.form.best([""] * len(values), values.values()).get("")
                cells.append(f"**{text}**" if text == best else text)
                beaten = standings.beaten_by(name)
                letters_of_beaten = [letters[loser] for loser in self.names if loser in beaten]
                superscripts.append("" if self.is_pair else "".join(letters_of_beaten))
            rows.append(_LatexRow(cells, superscripts))
        return rows

    def rows_of_differences(self) -> list[_LatexRow]:
        """Return the differences between the best recommender and each of the others."""
        rows = list[_LatexRow]()
        if not self.names:
            return rows
        best = self.names[0]
        verdicts = {(verdict.a, verdict.b, verdict.metric): verdict for verdict in self.verdicts}
        pairs = dict.fromkeys((a, b) for a, b, _ in verdicts if best in (a, b))
        for a, b in pairs:
            is_turned = b == best and not self.is_pair  # of many, all differences are from the best
            difference = f"{a} - {b}" if is_turned else f"{b} - {a}"
            cells = [self.group, self.question, "", difference]
            for label in self.metrics:
                verdict = verdicts.get((a, b, label))
                if verdict is not None and is_turned:
                    verdict = verdict.turned()
                cells.append(_difference(verdict, self.form))
            rows.append(_LatexRow(cells, [""] * len(cells)))
        return rows


def _difference(verdict: Verdict | None, form: NumberForm) -> str:
    """Return the difference of a pair with its interval if there is one."""
    if verdict is None:
        return "-"
    interval = f"{form.number(verdict.low, '+')}, {form.number(verdict.high, '+')}"
    return f"{form.number(verdict.difference, '+')} [{interval if verdict.has_interval else '-'}]"
