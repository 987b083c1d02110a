"""The ranks of an epoch: of items that were read and checked once, for the scores of each call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from sampled_metrics.checks import Ints
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.errors import ConfigError
from sampled_metrics.ranking.inputs import readable_scores, source_of_scores
from sampled_metrics.ranking.labels import Ids
from sampled_metrics.ranking.rank import rank_users
from sampled_metrics.ranking.split import Split
from sampled_metrics.stages.rank import Prepared, digests_of_split
from sampled_metrics.stages.scoring import Ranker
from sampled_metrics.stages.table import StagedRanks

_PAIRS_PER_CALL = 1024


class Ranking(Protocol):
    """How a model is ranked in each epoch."""

    @property
    def task(self) -> dict[str, Any]:
        """What a saved state has to fit to, such as digests of the held-out items."""

    def ranks(self, scores: Any) -> Any:
        """Return the ranks, or lists, of an epoch."""


@dataclass(frozen=True)
class AllCandidates:
    """Ranks among all candidates.

    Attributes:
        split: training and held-out items.
        ids: of users and items.
        users: (users,) indices of the users who have held-out items.
        batch_size: as in `rank`.
    """

    split: Split
    ids: tuple[Ids, Ids]
    users: Ints
    batch_size: int | None

    @property
    def task(self) -> dict[str, Any]:
        """Digests of training and held-out items."""
        return _task(self.split, self.users, None)

    def ranks(self, scores: Any) -> ExactRanks:
        """Return the ranks by the scores of `rank`."""
        source = source_of_scores(scores, self.batch_size)
        readable = readable_scores(source, self.ids)
        return rank_users(readable, self.split, self.users, batch_size=self.batch_size)


@dataclass(frozen=True)
class Stages:
    """Staged ranks.

    Attributes:
        prepared: training and held-out items, and the order of the candidates.
        k: the largest cut-off.
        depth: as in `staged_ranks`.
        batch_size: the largest number of pairs in a call.
    """

    prepared: Prepared
    k: int
    depth: float
    batch_size: int | None

    def __post_init__(self) -> None:
        """Compute the digests, which are kept, so that no call does."""
        assert self.prepared.digests

    @property
    def task(self) -> dict[str, Any]:
        """Digests of training and held-out items, and the depth."""
        return _task(self.prepared.split, self.prepared.users, self.depth)

    def ranks(self, scores: Any) -> StagedRanks:
        """Return the ranks by a function of pairs, or a `Ranker`."""
        if isinstance(scores, Ranker) and self.batch_size is not None:
            raise ConfigError("batch_size: a Ranker has pairs_per_call; leave it out")
        ranker = scores
        if not isinstance(ranker, Ranker):
            ranker = Ranker(
                scores,
                name="the model of an epoch",
                pairs_per_call=self.batch_size or _PAIRS_PER_CALL,
            )
        return self.prepared.ranks(ranker, self.k, self.depth)


def _task(split: Split, users: Ints, depth: float | None) -> dict[str, Any]:
    digests = digests_of_split(split, users)
    return {"training": digests["training"], "held_out": digests["held_out"], "depth": depth}
