"""Ranks of held-out items that were completed for a known share of the users only.

The candidates of a user are scored in some order, up to boundaries D_0 = 0 < D_1 < … < D_B. A user
is beaten once k candidates score higher than the held-out item: the metric is 0 then, and nothing
more is scored. From D_b on, a user who is not beaten goes on only if the user's number v is below
P_b. The numbers are uniform, and known before any score.

Let M_b(j) be a prediction of the metric f from the number j of candidates above at D_b, which is 0
for users who are beaten, and let M_{B+1} = f. Then

    φ = M_0 + Σ_b 1[not beaten at D_b and v < P_b] / P_b (M_{b+1} - M_b).

The mean of φ is that of f, whatever the predictions are, if they do not depend on the user. The
predictions come from the other folds of the users: means of the known f, weighted by the inverse of
the share that went as far.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics.checks import Floats, Ints, shown
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.ranks.table import OutcomeValues, Ranked, span
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranking.inputs import on_all_tied
from sampled_metrics.stages import files as staged_files
from sampled_metrics.stages.stopping import (
    digest_of_users,
    last_boundary,
    shares,
    stops,
    sum_of_digests,
)

if TYPE_CHECKING:
    from sampled_metrics.core.metrics import Metric


_COLUMNS = ("user", "item", "score", "candidates", "scored", "above", "tied", "uniform", "fold")


@dataclass(frozen=True, repr=False)
class StagedRanks(Ranked):
    """Ranks of held-out items, completed for a known share of the users.

    There is one row for each held-out item.

    Attributes:
        user: (rows,) the user of each held-out item.
        item: (rows,) the held-out items.
        score: (rows,) their scores.
        candidates: (rows,) n: the number of items to rank, including the held-out item.
        k: the number of candidates that score higher when a held-out item is beaten.
        depth: about how many candidates of each user are scored; None is all that are needed.
        seed: of the users' numbers and folds.
        boundaries: (boundaries,) ascending numbers of candidates, 0 first. A row has those below n
            / 2, and 0.
        above_at: (rows, boundaries) numbers of candidates above, up to k, among the first ones up
            to each boundary; -1 where a row did not get there.
        tied_at: (rows, boundaries) numbers of candidates that score the same, among the first ones
            up to each boundary; 0 if the item is beaten by then, -1 where a row did not get there.
        above: (rows,) candidates that score higher, among those that were scored; k if the item is
            beaten.
        tied: (rows,) other candidates that score the same, among those that were scored; 0 if the
            item is beaten.
        complete: (rows,) whether all candidates were scored, and the item is not beaten.
        uniform: (rows,) the users' numbers v, uniform from 0 to 1.
        fold: (rows,) the folds of the users.
        scored: (rows,) how many scores were used: that of the held-out item, and those of the
            candidates, in the first row of the user if there are several.
        digests: by name, digests of the training and held-out items of all users, of the users who
            were ranked, of the order of the candidates, and of the orders of users if they are
            those of a function; the name of the ranker; and the number of all users with held-out
            items.
        begun: the date of the first score, if the ranks were written to a file.
    """

    user: NDArray[np.generic]
    item: NDArray[np.generic]
    score: Floats
    candidates: Ints
    k: int
    depth: float | None
    seed: int
    boundaries: Ints
    above_at: Ints
    tied_at: Ints
    above: Ints
    tied: Ints
    complete: NDArray[np.bool_]
    uniform: Floats
    fold: Ints
    scored: Ints
    digests: Mapping[str, str]
    begun: str = ""
    source: str = ""

    groups: ClassVar[None] = None  # type: ignore[misc]  # a mapping from users gives them
    per_row: ClassVar[tuple[str, ...]] = (*_COLUMNS, "above_at", "tied_at", "complete")
    kind: ClassVar[str] = "staged ranks"
    title: ClassVar[str] = "Staged ranks of {names}"
    reader: ClassVar[str] = "staged_ranks"
    taken_by: ClassVar[tuple[str, ...]] = ("evaluate", "compare", "plan", "report")
    compared_with: ClassVar[tuple[str, ...]] = ("exact ranks",)
    has_values_of_users: ClassVar[bool] = False

    @property
    def _among(self) -> str:
        return f"{self.scores_per_user:,.0f} scores for each of {span(self.candidates)} candidates"

    def completion(self) -> dict[str, Any]:
        """Return how many users were completed, of how many, and by how many scores, by name."""
        return {
            "completed": self.completed_users,
            "users": len(np.unique(self.user_numbers)),
            "rows": len(self),
            "scores": self.scores_per_user,
            "least_candidates": int(self.candidates.min()),
            "most_candidates": int(self.candidates.max()),
            "k": self.k,
            "is_without_hits": bool(self.is_beaten.all()),
        }

    @property
    def findings(self) -> tuple[Finding, ...]:  # type: ignore[override]
        """Return a finding on completed items that tie with all of their candidates."""
        return on_all_tied(self.candidates, self.above, self.tied)

    @property
    def scores_per_user(self) -> float:
        """Return how many scores were used for each user, on average."""
        return float(self.scored.sum() / len(np.unique(self.user_numbers)))

    @property
    def is_beaten(self) -> NDArray[np.bool_]:
        """Return whether k candidates score higher, (rows,)."""
        return self.above >= self.k

    @property
    def is_all_known(self) -> bool:
        """Return whether every item is beaten or complete."""
        return bool((self.is_beaten | self.complete).all())

    @property
    def _last(self) -> Ints:
        """The (rows,) indices of the last boundary of each row."""
        return last_boundary(self.boundaries, self.candidates)

    @property
    def completed_users(self) -> int:
        """Return the number of users with an item that is not beaten and was completed."""
        return len(np.unique(self.user_numbers[self.complete]))

    @property
    def default_metrics(self) -> tuple[str, ...]:  # type: ignore[override]
        """Return the labels of the metrics that are computed if none are given."""
        return tuple(f"{name}@{self.k}" for name in ("recall", "ndcg", "mrr"))

    @property
    def _numbers(self) -> dict[str, Ints]:
        return {"n": self.candidates, "scores": self.scored}

    @property
    def facts(self) -> dict[str, str]:
        """Return the numbers of rows, users, candidates, scores and completed users."""
        scores = f"{self.scores_per_user:,.0f} for each user"
        return super().facts | {"Scores": scores, "Completed users": str(self.completed_users)}

    def check_metrics(self, metrics: Mapping[str, Metric]) -> None:
        """Raise ConfigError if a metric has no cut-off, or one above k.

        The ranks above k are not known.
        """
        for metric in metrics.values():
            if metric.cutoff is None:
                fault = "has no cut-off"
            elif metric.cutoff > self.k:
                fault = f"has a cut-off above k = {self.k}"
            else:
                continue
            raise ConfigError(
                f"{metric.label} {fault}: of staged ranks, only metrics of the first {self.k} "
                "ranks are known"
            )

    @property
    def outcomes(self) -> Ints:
        """Return the (rows, 2 + boundaries) counts above, tied, and above at the boundaries."""
        return np.column_stack((self.above, self.tied, self.above_at))

    def outcome_values(self, metrics: Sequence[Metric]) -> OutcomeValues:
        """Return the φ of each row, which is an outcome of its own."""
        phi, bounds = zip(*map(self._phi, metrics), strict=True)
        lowest, highest = np.transpose(bounds)
        largest = np.array([metric.largest for metric in metrics])
        return OutcomeValues(np.stack(phi), np.arange(len(self)), lowest, highest, largest)

    @property
    def design(self) -> dict[str, Any]:
        """Return k, depth and seed, which decide who goes on; nothing if all go on.

        Exact ranks have none of them.
        """
        return {} if (self._share == 1).all() else self._options

    @property
    def _options(self) -> dict[str, Any]:
        return {"k": self.k, "depth": self.depth, "seed": self.seed}

    def _phi(self, metric: Metric) -> tuple[Floats, tuple[float, float]]:
        """Return the (rows,) φ of a metric, and the smallest and the largest that there may be."""
        f = np.zeros(len(self))
        done = self.complete
        f[done] = metric.over_ties(self.above[done], self.tied[done], self.candidates[done])
        last_entered = np.maximum(self._entered.sum(axis=1) - 1, 0)
        weights = (self.is_beaten | done) / self._share[last_entered]
        largest = float(metric.of_rank(1, 2))
        phi = np.empty(len(f))
        bounds = []
        for fold in np.unique(self.fold):
            is_in_fold = self.fold == fold
            predictions = self._predictions(f, weights * ~is_in_fold)  # from the other folds
            phi[is_in_fold] = self._phi_of(np.flatnonzero(is_in_fold), predictions, f)
            bounds.append(_bounds(predictions, self._share, largest))
        return phi, (min(low for low, _ in bounds), max(high for _, high in bounds))

    @cached_property
    def _share(self) -> Floats:
        return shares(self.depth, self.boundaries)

    @cached_property
    def _entered(self) -> NDArray[np.bool_]:
        """Whether a row goes on from each boundary, (rows, boundaries)."""
        reached = (self.above_at >= 0) & (self.above_at < self.k)
        return reached & (self.uniform[:, np.newaxis] < self._share)

    def _predictions(self, f: Floats, weights: Floats) -> Floats:
        """Return the (boundaries, k + 1) predictions M_b(j), 0 at j = k, from rows with weights."""
        predictions = np.zeros((len(self.boundaries), self.k + 1))
        for index in range(len(self.boundaries)):
            counts = self.above_at[:, index]
            rows = np.flatnonzero((counts >= 0) & (counts < self.k) & (weights > 0))
            if not len(rows):
                continue
            above = counts[rows]
            weight = weights[rows]
            total = np.bincount(above, weight, self.k)
            sums = np.bincount(above, weight * f[rows], self.k)
            means = sums / np.where(total > 0, total, 1.0)
            mean_of_all = sums.sum() / total.sum()  # for counts that no row has
            predictions[index, : self.k] = np.where(total > 0, means, mean_of_all)
        return predictions

    def _phi_of(self, rows: Ints, predictions: Floats, f: Floats) -> Floats:
        last = self._last[rows]
        phi = np.full(len(rows), predictions[0, 0])
        for index in range(len(self.boundaries)):
            before = predictions[index, np.maximum(self.above_at[rows, index], 0)]
            after = f[rows]
            if index + 1 < len(self.boundaries):
                at_next = np.clip(self.above_at[rows, index + 1], 0, self.k)
                after = np.where(index == last, after, predictions[index + 1, at_next])
            phi += np.where(self._entered[rows, index], (after - before) / self._share[index], 0.0)
        return phi

    @property
    def run(self) -> dict[str, Any]:
        """Return what tells a run from others: k, depth, seed and the digests."""
        return self._options | dict(self.digests)

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a DataFrame.

        There is a column for each attribute, and two for the counts at each boundary. The column
        `outcome` says whether a row is beaten, complete or open. The column `above_30` has the
        candidates above among the first 30, and `tied_30` those that score the same.
        """
        outcome = np.where(self.is_beaten, "beaten", np.where(self.complete, "complete", "open"))
        columns = {name: getattr(self, name) for name in _COLUMNS}
        above = {
            f"above_{boundary}": self.above_at[:, index]
            for index, boundary in enumerate(self.boundaries)
        }
        tied = {
            f"tied_{boundary}": self.tied_at[:, index]
            for index, boundary in enumerate(self.boundaries)
        }
        return pd.DataFrame(columns | {"outcome": outcome} | above | tied)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the ranks to an npz file, which `read` and `read_ranks` read.

        Ids that are no numbers are written as text. For other programs, write `to_frame()`.

        Raises:
            ConfigError: the name of the file does not end in .npz.
            WriteError: the file cannot be written.
        """
        columns = {name: getattr(self, name) for name in (*self.per_row, "boundaries")}
        run = self._options | {"digests": dict(self.digests), "begun": self.begun}
        staged_files.write(path, columns, run)

    @classmethod
    def recognises(cls, path: str) -> bool:
        """Return whether a file says that it holds staged ranks."""
        return staged_files.is_staged(path)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> StagedRanks:
        """Read ranks that `write`, or `staged_ranks` with a file, has written.

        Raises:
            ConfigError: the name of the file does not end in .npz.
            DataError: the file cannot be read, has no staged ranks, or is damaged.
        """
        columns, run = staged_files.read(path, (*cls.per_row, "boundaries"))
        return cls(**columns, **run)

    def redrawn(
        self, rows: Ints, user: Ints, uniform: Floats, fold: Ints, depth: float | None
    ) -> StagedRanks:
        """Return the ranks that users would have by a depth.

        All ranks of this table are known, as by depth None.

        Args:
            rows: (n,) rows of this table; one may be drawn several times.
            user: (n,) numbers of the users who have them, from 0, those of a user side by side.
            uniform: (users,) their numbers v.
            fold: (users,) their folds.
            depth: as in `staged_ranks`.

        Raises:
            DataError: some ranks are not known.
        """
        if not self.is_all_known:
            raise DataError(
                "only ranks with depth=None, which are all known, give the ranks of another depth"
            )
        return self._redrawn(rows, user, uniform, fold, depth, user)

    def _redrawn(
        self,
        rows: Ints,
        user: Ints,
        uniform: Floats,
        fold: Ints,
        depth: float | None,
        names: NDArray[np.generic],
    ) -> StagedRanks:
        """As `redrawn`, with the (n,) names of the users.

        The ranks have what the depth needs.
        """
        # where each row stops: the number of the boundaries if nowhere
        last = self._last[rows]
        stop = stops(uniform[user], depth, self.boundaries, last)
        stages = np.arange(len(self.boundaries))
        is_stopped = stop < len(stages)

        # the counts up to there
        is_reached = stages <= stop[:, np.newaxis]
        above_at = np.where(is_reached, self.above_at[rows], -1)
        tied_at = np.where(is_reached, self.tied_at[rows], -1)
        stop_boundary = np.minimum(stop, last)
        above_at_stop = self.above_at[rows, stop_boundary]
        tied_at_stop = self.tied_at[rows, stop_boundary]

        # what is known then
        is_beaten = (above_at == self.k).any(axis=1) | (self.is_beaten[rows] & ~is_stopped)
        is_open = ~is_beaten & is_stopped
        user_is_open = np.bincount(user, is_open, len(uniform)) > 0
        is_first_row = np.append(True, user[1:] != user[:-1])
        scored_at_stop = np.where(is_first_row, 1 + self.boundaries[stop_boundary], 1)
        return replace(
            self,
            user=names,
            item=self.item[rows],
            score=self.score[rows],
            candidates=self.candidates[rows],
            depth=depth,
            above_at=above_at,
            tied_at=tied_at,
            above=np.where(is_beaten, self.k, np.where(is_open, above_at_stop, self.above[rows])),
            tied=np.where(is_beaten, 0, np.where(is_open, tied_at_stop, self.tied[rows])),
            complete=~is_beaten & ~is_open,
            uniform=uniform[user],
            fold=fold[user],
            scored=np.where(user_is_open[user], scored_at_stop, self.scored[rows]),
        )

    def at_depth(self, depth: float | None) -> StagedRanks:
        """Return the ranks of the same run with a smaller depth.

        No new scores are needed. A user who continues with a smaller depth also continues with a
        larger one, because the users' numbers v are the same.

        Args:
            depth: as in `staged_ranks`, at most the depth of these ranks.

        Raises:
            DataError: the depth is larger.

        Examples:
            >>> import numpy as np
            >>> import sampled_metrics as sm
            >>> scores, training = np.random.default_rng(1).random((200, 80)), np.zeros((200, 80))
            >>> def score(users, items):
            ...     return scores[users, items]
            >>> ranks = sm.staged_ranks(score, training, [3] * 200, k=5, depth=None)
            >>> smaller = ranks.at_depth(10)
            >>> smaller.scored.tolist() == sm.staged_ranks(score, training, [3] * 200, k=5,
            ...     depth=10).scored.tolist()
            True
            >>> ranks.completed_users, smaller.completed_users
            (11, 6)
        """
        if self.depth is not None and (depth is None or depth > self.depth):
            wanted = "None" if depth is None else f"{depth:g}"
            raise DataError(
                f"ranks of depth {self.depth:g} do not have the scores of depth {wanted}"
            )
        _, first_row = np.unique(self.user_numbers, return_index=True)
        return self._redrawn(
            np.arange(len(self)),
            self.user_numbers,
            self.uniform[first_row],
            self.fold[first_row],
            depth,
            self.user,
        )

    @classmethod
    def concat(cls, parts: Sequence[StagedRanks]) -> StagedRanks:
        """Join the ranks of parts of the users, in any order, to those of all users.

        Every column and digest is the same as in a run of all users, so that `staged_ranks` goes on
        from a file of them.

        Args:
            parts: staged ranks of distinct users, of one ranker, with the same k, depth, seed,
                order, training items and held-out items. Together they have all users with held-out
                items.

        Raises:
            DataError: there are none, a user is in two of them or in none, or they differ.

        Examples:
            >>> import numpy as np
            >>> import sampled_metrics as sm
            >>> scores, training = np.random.default_rng(1).random((4, 9)), np.zeros((4, 9))
            >>> parts = [
            ...     sm.staged_ranks(lambda users, items: scores[users, items], training, [1, 2, 3,
            ...     4], users=users)
            ...     for users in (slice(0, 2), slice(2, 4))
            ... ]
            >>> sm.StagedRanks.concat(parts).user.tolist()
            [0, 1, 2, 3]
        """
        if (
            not isinstance(parts, Sequence)
            or not parts
            or not all(isinstance(part, StagedRanks) for part in parts)
        ):
            raise DataError("concat takes the staged ranks of one part of the users or more")
        _require_one_run(parts)
        users = pd.Series(np.concatenate([np.unique(part.user) for part in parts]))
        if users.duplicated().any():
            raise DataError(f"user {shown(users[users.duplicated()].iloc[0])} is in two parts")
        expected = parts[0].digests.get("users_in_all", str(len(users)))
        if str(len(users)) != expected:
            raise DataError(f"the parts have {len(users)} of {expected} users; a part is missing")
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in cls.per_row
        }
        digests = {
            **parts[0].digests,
            "users": digest_of_users(columns["user"]),
            "orders": sum_of_digests(part.digests["orders"] for part in parts),
        }
        begun = min(part.begun for part in parts)
        return replace(parts[0], **columns, digests=digests, begun=begun).by_id()

    def by_id(self) -> StagedRanks:
        """Return the rows in the order of the ids of the users.

        A run and its joined parts are the same in this order.
        """
        order = np.argsort(self.user, kind="stable")
        return replace(self, **{name: getattr(self, name)[order] for name in self.per_row})


def _require_one_run(parts: Sequence[StagedRanks]) -> None:
    """Raise DataError unless parts belong to one run; the message says what differs."""
    for number, part in enumerate(parts[1:], 2):
        for what, value in part.run.items():
            if what not in ("users", "orders") and value != parts[0].run[what]:
                raise DataError(
                    f"part {number} has another {what} than part 1; parts must belong to one run"
                )
        if not np.array_equal(part.boundaries, parts[0].boundaries):
            raise DataError(
                f"part {number} has other boundaries than part 1; parts must belong to one run"
            )


def _bounds(predictions: Floats, share: Floats, largest: float) -> tuple[float, float]:
    """Return the smallest and the largest φ that a row may have.

    φ is (1 - 1 / P_0) M_0 + Σ_b (1 / P_{b-1} - 1 / P_b) M_b + M / P of the last stage, where M is
    the last prediction, or f. The coefficients of the sum are not positive.

    Args:
        predictions: (boundaries, k + 1) predictions M_b(j).
        share: (boundaries,) shares P_b.
        largest: the largest f.
    """
    low = np.minimum(predictions[:, :-1].min(axis=1), 0.0)
    high = predictions[:, :-1].max(axis=1)
    falls = np.append(0.0, 1 / share[:-1] - 1 / share[1:])  # P_0 is 1
    smallest_sums = np.cumsum(falls * high)
    largest_sums = np.cumsum(falls * low)
    # a row may stop at boundary b with M_b, after it went on from b - 1, or be complete after the
    # last one
    stopped = [
        largest_sums[index - 1] + high[index] / share[index - 1] for index in range(1, len(share))
    ]
    completed = largest_sums[-1] + largest / share[-1]
    return float(smallest_sums.min()), float(max([*stopped, completed, high[0]]))
