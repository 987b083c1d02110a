"""The result of `compare`: a table of pairs, which also knows the recommenders and their groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics.core.evaluation.latex import LatexValue
from sampled_metrics.core.evaluation.result import Result
from sampled_metrics.core.evaluation.standings import Standings
from sampled_metrics.core.evaluation.values import UserValues
from sampled_metrics.core.evaluation.verdict import Verdict, verdict_of_row
from sampled_metrics.core.evaluation.wording import assumed
from sampled_metrics.core.evaluation.words.captions import letters, over_runs
from sampled_metrics.core.findings import grouped
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.ranks.groups import ALL
from sampled_metrics.errors import DataError


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
        are_numbers = self.ids.dtype.kind in "iu"
        tables = list[pd.DataFrame]()
        for name, values in self.values.items():
            by_metric = dict(zip(self.metrics, values.low, strict=True))
            table = pd.DataFrame({"recommender": name, "user": self.ids, **by_metric})
            if are_numbers:  # those of rows without ids are in a random order
                table = table.sort_values("user")
            tables.append(table)
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
        """Return the table of verdicts, with the columns in which they have something to say."""
        are_best_alone = any(finding.kind == "best-pairs" for finding in findings)
        reasons = {
            "groups": any(verdict.group for verdict in verdicts),
            "seeds": any(verdict.inference for verdict in verdicts),
            "margin": setting.margin is not None,
            "names": len(setting.names) > 2,
            "p_values": not are_best_alone,
        }
        columns = Verdict.columns([reason for reason, holds in reasons.items() if holds])
        table = pd.DataFrame([verdict.row() for verdict in verdicts])
        return cls(table[columns]).found(findings, setting)

    @property
    def verdicts(self) -> list[Verdict]:
        """Return the verdicts on all pairs by all users.

        Verdicts of several seeds are on new runs, if there are any. If a column that distinguishes
        the rows has been left out, the verdicts are those of the whole table.
        """
        verdicts = self._verdicts_of_rows()
        if verdicts is None:
            verdicts = [finding for finding in self.findings if isinstance(finding, Verdict)]
        main_question = verdicts[0].inference if verdicts else ""
        return [
            verdict
            for verdict in verdicts
            if not verdict.group and verdict.inference == main_question
        ]

    def _verdicts_of_rows(self) -> list[Verdict] | None:
        """Return the verdicts of the rows; None if a row does not say which one it is."""
        if "metric" not in self:
            return None
        rows = self.to_dict("records")
        verdicts = [verdict_of_row(row, self.findings, self.setting.names) for row in rows]
        known = [verdict for verdict in verdicts if verdict is not None]
        if len(set(known)) < len(known):
            return None
        # a metric that is not defined has no verdict
        rows_without = [row for row, verdict in zip(rows, verdicts, strict=True) if verdict is None]
        are_undefined = all(np.isnan(row.get("difference", 0.0)) for row in rows_without)
        return known if are_undefined else None

    @property
    def by_user(self) -> pd.DataFrame:
        """Return the values of all users that are compared, for a test or a figure of your own.

        Returns:
            A row for each recommender and user, with the columns recommender, user (a number from 1
            if the ranks have no users) and one for each metric. The mean over the users is the
            value of the metric. Users are in the same order for all recommenders. A user with
            several rows has the mean over them, and several seeds have the mean over the seeds. For
            sampled and staged ranks, the mean of the values is the estimate; they are no metrics of
            a single user.

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

        Recommenders that share a letter in the column group are undecided (a compact letter
        display).
        """
        rows = [
            (label, *standing)
            for label, standings in self.by_metric.items()
            for standing in standings.rows
        ]
        return Result(rows, columns=["metric", "recommender", "value", "group"])

    @property
    def _latex_heads(self) -> list[str]:
        return ["group", "recommender"] if "group" in self else ["recommender"]

    @property
    def _latex_note(self) -> str:
        convention = letters(self.setting, by_group="group" in self)
        runs = over_runs(self["inference"]) if "inference" in self else ""
        assumptions = assumed(self.findings, self.setting)
        return " ".join(filter(None, [self._latex_parameters, convention, runs, *assumptions]))

    def _latex_values(self) -> list[LatexValue]:
        """Return the values of each group, with the letters of its standings.

        Nothing is returned if no metric is defined, or a column that distinguishes rows is missing.
        """
        verdicts = self._verdicts_of_rows()
        if not verdicts:
            return []
        main_inference = verdicts[0].inference
        verdicts = [verdict for verdict in verdicts if verdict.inference == main_inference]
        values = list[LatexValue]()
        for group, in_group in grouped(verdicts, lambda verdict: verdict.group or ALL).items():
            for label, on_metric in grouped(in_group, lambda verdict: verdict.metric).items():
                for standing in Standings.from_verdicts(on_metric).rows:
                    labels = (group, standing.name) if "group" in self else (standing.name,)
                    value = LatexValue(labels, label, (group,), standing.value)
                    values.append(value._replace(letters=standing.letters))
        return values
