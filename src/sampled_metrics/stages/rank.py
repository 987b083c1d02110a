"""The function `staged_ranks`, and its runs.

The candidates of a user are scored in an order until k of them are above the held-out item. A
share of the users goes on from each boundary (`sampled_metrics.stages.table`). Batches of a user
end at boundaries, so that the results do not depend on the size of batches and calls, nor on the
order of the answers.

`staged_ranks` reads its arguments into `Prepared` data, and runs them through `StageCounts`. With a
file, `_Run` reads what is there, and goes on from it.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from sampled_metrics.checks import (
    MOST,
    MOST_SEED,
    Ints,
    is_real,
    is_whole,
    require_whole,
    shown,
)
from sampled_metrics.errors import ConfigError, DataError, Remark
from sampled_metrics.file_io import path_text, require_writable
from sampled_metrics.ranking.inputs import PairsLike, read_inputs, table_of_pairs
from sampled_metrics.ranking.labels import Ids
from sampled_metrics.ranking.split import Split
from sampled_metrics.running import terminal_status
from sampled_metrics.stages.candidate_order import CandidateOrder
from sampled_metrics.stages.counting import Design, StageCounts
from sampled_metrics.stages.files import require_ending, require_ids
from sampled_metrics.stages.journal import Journal, ScoredPairs, refuse_other_run
from sampled_metrics.stages.scoring import Ranker, Score, Scorer, WithIds
from sampled_metrics.stages.stopping import digest_of_users
from sampled_metrics.stages.table import StagedRanks


def staged_ranks(
    score: Score | Ranker,
    training: PairsLike,
    held_out: Any,
    *,
    k: int = 10,
    depth: float | None = 100,
    order: Any = "popularity",
    users: slice | ArrayLike | None = None,
    user_ids: ArrayLike | None = None,
    item_ids: ArrayLike | None = None,
    seed: int = 0,
    file: str | os.PathLike[str] | None = None,
) -> StagedRanks:
    """Rank held-out items by few scores for each user, for unbiased metrics of the first k ranks.

    The held-out item of a user is scored, and then the candidates in an order. As soon as k
    candidates score higher, the rank is above k, and the metric is 0. From the boundaries 10, 30,
    100, 300, … candidates on, below half of them, only a share min(1, (depth / boundary)^(3/4)) of
    the users who are not beaten goes on. They are the same users for all recommenders. `evaluate`
    and `compare` weight these users, so that the mean is that of all users.

    The candidates of a user with several held-out items are scored once for all of them.

    Args:
        score: a function from (pairs,) users and (pairs,) items to (pairs,) scores, higher is
            better; or a `Ranker` of such a function, which also says its name, how many pairs it
            takes in a call, and how many calls at a time. Users and items are indices, or ids if
            there are `user_ids` and `item_ids`, or labels in their place. It is called with the
            pairs of many users. A Series is aligned if it has both as its index. Scores of -inf
            rank last and tie with each other.
        training: as in `rank`.
        held_out: as in `rank`.
        k: the largest cut-off of the metrics.
        depth: number of candidates from which on only a share of the users goes on; None lets all
            go on, for exact metrics. Users take about as many scores or somewhat more on average:
            some are beaten before, and others are completed. Metrics have no bias if the depth does
            not depend on them, so it is chosen before the first score. If few users are to be
            completed, a warning says after the first stage how many, from what does not depend on
            the users' numbers, so that a larger depth may be chosen by it.
        order: "popularity", the number of users who have the item in training; or (items,) numbers,
            higher first, of which a Series may have ids of all items as its index; or a function of
            a user, an index or an id, that returns such numbers. Any order is right, and a good one
            needs fewer scores. Ties are in the order of the items.
        users: a part of the users, as in `rank`. `StagedRanks.concat` joins parts.
        user_ids: as in `rank`.
        item_ids: as in `rank`.
        seed: of the users' numbers. Recommenders are compared with the same seed, k and depth.
        file: the file that the ranks are written to, .parquet with pyarrow, or .sqlite. Each answer
            is kept at once in a journal beside it, whose name ends in .journal. A run that was
            stopped goes on from there if it is called again, and the scores of the journal are not
            asked for again. If the file is there, it is read, and a warning says so. If it has a
            smaller depth, the run goes on from it, as if it had been of this depth from the start,
            and replaces it at the end. If it has a larger depth, or None, the ranks are those of
            this depth, column by column, nothing is scored, and the file stays as it is, as its
            scores were paid for. A file or a journal of another ranker is refused: up to 32 of its
            pairs are scored again if the ranker has no name.

    Returns:
        The ranks, a `StagedRanks` with one row for each held-out item, in the order of the ids of
        the users. `plan` says from a pilot how many scores they take.

    Raises:
        DataError: as in `rank`; a score is NaN or +inf, or the function does not return a number
            for each pair; `file` is of another run or ranker, was changed after it was written, or
            another process writes it.
        ConfigError: an option is out of range, or `file` has another ending, or needs pyarrow.
        WriteError: `file` cannot be written.

    Examples:
        The held-out items of two users among five items. Two candidates are above that of the
        second user:

        >>> import numpy as np
        >>> import sampled_metrics as sm
        >>> scores = np.array([[0.9, 0.5, 0.4, 0.1, 0.3], [0.1, 0.2, 0.3, 0.4, 0.6]])
        >>> training = [[1, 0, 0, 0, 0], [1, 0, 0, 0, 0]]
        >>> ranks = sm.staged_ranks(lambda users, items: scores[users, items], training, [1, 2],
        ...     k=2, depth=None)
        >>> print(ranks.above, ranks.complete, ranks.is_beaten)
        [0 2] [ True False] [False  True]
        >>> sm.evaluate(ranks, metrics="recall@2")["value"].tolist()
        [0.5]

    References:
        X. He et al., Fast Matrix Factorization for Online Recommendation with Implicit Feedback,
        SIGIR 2016: its code stops at k larger scores.
    """
    ranker = score if isinstance(score, Ranker) else Ranker(score)
    require_whole(1, MOST, k=k)
    require_whole(0, MOST_SEED, seed=seed)
    if depth is not None:
        require_depth(depth)
        depth = int(depth) if is_whole(depth) else float(depth)  # files take no numbers of numpy
    name = "" if file is None else path_text(file)

    inputs = read_inputs(None, training, held_out, users, user_ids, item_ids)
    split = inputs.split
    prepared = Prepared.from_split(split, inputs.ids, inputs.users, order)
    require_ids(name or None, split.user_ids[prepared.users], split.item_ids)

    run = _Run(ranker, prepared, Design(int(k), depth, int(seed)), name, users is None)
    try:
        return run.ranks()
    except KeyboardInterrupt as interruption:  # where it met the run says nothing
        raise interruption.with_traceback(None) from None


@dataclass(frozen=True)
class Prepared:
    """Training, held-out items and an order of the candidates that were read and checked.

    They serve any number of rankers.

    Attributes:
        split: of all users.
        ids: of users and items.
        users: (users,) ascending indices of the users who are ranked, all with held-out items.
        order: of the candidates.
    """

    split: Split
    ids: tuple[Ids, Ids]
    users: Ints
    order: CandidateOrder

    @classmethod
    def from_split(
        cls, split: Split, ids: tuple[Ids, Ids], users: Ints, order: Any = "popularity"
    ) -> Prepared:
        """Leave out users without held-out items, and check the order of `staged_ranks`.

        Raises:
            DataError: the order is wrong, or no user has a held-out item.
        """
        chosen = users[np.diff(split.held_out.indptr)[users] > 0]
        if not len(chosen):
            raise DataError("held_out: none of the users has a held-out item")
        return cls(split, ids, chosen, CandidateOrder(order, split, *ids))

    @cached_property
    def digests(self) -> dict[str, str]:
        """The digests of the split, the users and the order."""
        return digests_of_split(self.split, self.users) | {"order": self.order.name}

    @property
    def with_ids(self) -> WithIds:
        """Whether a function of scores is called with ids, of users and of items."""
        users, items = self.ids
        return WithIds(users.is_given, items.is_given)

    def ranks(self, ranker: Ranker, k: int, depth: float, seed: int = 0) -> StagedRanks:
        """Return the ranks by a ranker, without a file; parameters as in `staged_ranks`."""
        with ranker.executor() as executor, terminal_status() as show:
            scorer = Scorer(ranker, executor, self.split, self.with_ids, None)
            counts = self.counts(scorer, ranker, Design(k, depth, seed))
            counts.begin()
            for until in counts.parts:
                self.complete(counts, until, show)
        return counts.ranks(self.digests | {"ranker": ranker.label})

    def counts(self, scorer: Scorer, ranker: Ranker, design: Design) -> StageCounts:
        """Return the counts before the first score."""
        return StageCounts(scorer, self.split, self.users, design, ranker.pairs_per_call)

    def complete(self, counts: StageCounts, until: int, show: Callable[[str], None]) -> None:
        """Score what the users need up to a boundary.

        Args:
            counts: the counts of the users.
            until: the index of the boundary.
            show: shows how far the run is.
        """
        unfinished = counts.unfinished(until)
        start = 0
        for block, items_at in self.order.blocks(self.users[unfinished]):
            counts.score(unfinished[start : start + len(block)], until, items_at, show)
            start += len(block)


@dataclass(frozen=True)
class _Run:
    """A call of `staged_ranks`, whose arguments are read and checked.

    Attributes:
        ranker: the ranker.
        prepared: the data.
        design: k, depth and seed.
        file: name of the file; empty if there is none.
        is_of_all_users: whether the call is of all users. An outlook on few completed users is
            said of all users alone.
    """

    ranker: Ranker
    prepared: Prepared
    design: Design
    file: str
    is_of_all_users: bool

    @cached_property
    def digests(self) -> dict[str, str]:
        return self.prepared.digests | {"ranker": self.ranker.label}

    @property
    def identity(self) -> dict[str, Any]:
        """What tells a run from others, whatever its depth is."""
        return {"k": self.design.k, "seed": self.design.seed} | self.digests

    def ranks(self) -> StagedRanks:
        """Return the ranks from the file, or compute them with a journal and write the file."""
        if not self.file:
            return self._computed(None, None)
        require_ending(self.file)
        path = Path(self.file).absolute()  # a function of scores may change the working folder
        # of a name that is too long, os.path.exists says False, and Path.exists raises
        earlier = self._read() if os.path.exists(path) else None
        if earlier is not None and earlier.depth == self.design.depth:
            return earlier
        require_writable(self.file)
        with Journal(f"{self.file}.journal", self.identity) as journal:
            # another process may have written the file before this one had the journal
            if path.exists() and (earlier is None or StagedRanks.read(path).depth != earlier.depth):
                earlier = self._read()
            if earlier is not None and earlier.depth == self.design.depth:
                return earlier
            with _fate_of_scores_noted(journal):
                table = self._computed(journal, earlier)
            # by the name that was given, for messages, if it still leads to the file
            table.write(self.file if Path(self.file).absolute() == path else path)
            return table

    def _computed(self, journal: Journal | None, earlier: StagedRanks | None) -> StagedRanks:
        """Return the ranks, from the first score on, or from earlier ranks of a smaller depth."""
        prepared = self.prepared
        with self.ranker.executor() as executor, terminal_status() as show:
            scorer = Scorer(self.ranker, executor, prepared.split, prepared.with_ids, journal)
            counts = prepared.counts(scorer, self.ranker, self.design)
            if earlier is None:
                counts.begin()
            else:
                counts.go_on_from(self.file, earlier, *self._indices(earlier))
            for until in counts.parts:
                prepared.complete(counts, until, show)
                is_first_stage = until < len(counts.boundaries)  # the last part ends after all
                outlook = counts.outlook if is_first_stage and self.is_of_all_users else ""
                if outlook:
                    warnings.warn(outlook, Remark, stacklevel=4)
        return counts.ranks(self.digests)

    def _read(self) -> StagedRanks:
        """Return the ranks of the file: of the depth of the run, or of a smaller one.

        A warning says what the file has. Of a file of a larger depth, those of the run are a part.

        Raises:
            DataError: the file is of another run or ranker, or damaged.
        """
        table = StagedRanks.read(self.file)
        refuse_other_run(self.file, table.run, self.identity)
        split = self.prepared.split
        with self.ranker.executor() as executor:
            scorer = Scorer(self.ranker, executor, split, self.prepared.with_ids, None)
            known = ScoredPairs(*self._indices(table), table.score)
            scorer.require_same_scores(self.file, known)
        depth = self.design.depth
        warnings.warn(f"{self.file} {self._remark(table.depth)}", Remark, stacklevel=4)
        is_kept = table.depth == depth or _is_deeper(depth, table.depth)
        return table if is_kept else table.at_depth(depth)

    def _remark(self, file_depth: float | None) -> str:
        """Return what is said of a file of a depth: whether the run goes on from it."""
        depth = self.design.depth
        if _is_deeper(depth, file_depth):
            return f"has {_depth_text(file_depth)}; the run goes on from it to {_depth_text(depth)}"
        exception = ""
        if not self.ranker.name:
            exception = ", but for some pairs again, which have the same scores"
        if file_depth == depth:
            return f"is complete; nothing was scored{exception}"
        return (
            f"has {_depth_text(file_depth)}, of which {_depth_text(depth)} is a part; it stays as "
            f"it is, and nothing was scored{exception}"
        )

    def _indices(self, table: StagedRanks) -> tuple[Ints, Ints]:
        """Return the (rows,) indices of the users and items of a table."""
        ids = pd.DataFrame({"user": table.user, "item": table.item})
        pairs = table_of_pairs(ids, self.file)
        users, items = self.prepared.ids
        return users.positions(pairs), items.positions(pairs)


def _is_deeper(depth: float | None, file_depth: float | None) -> bool:
    """Return whether a depth needs more scores than that of a file; None is all candidates."""
    return file_depth is not None and (depth is None or depth > file_depth)


def _depth_text(depth: float | None) -> str:
    return "all candidates" if depth is None else f"depth {depth:g}"


@contextmanager
def _fate_of_scores_noted(journal: Journal) -> Iterator[None]:
    """Add to an error where the scores are that were paid for."""
    try:
        yield
    except BaseException as error:  # an interruption, too
        if not journal.is_in_place:
            error.add_note(
                f"{journal.name} was removed during the run, and what was scored is lost"
            )
        elif not journal.is_empty:
            error.add_note(
                f"what was scored is in {journal.name}, and the same call goes on from there"
            )
        raise


def require_depth(depth: Any) -> None:
    """Raise ConfigError unless a depth is a number in its range."""
    if not (is_real(depth) and (1 <= depth <= MOST or depth == np.inf)):
        raise ConfigError(f"depth must be a number from 1 to 2^53, or None, not {shown(depth)}")


def digests_of_split(split: Split, users: Ints) -> dict[str, str]:
    """Return digests of training, held-out items and ranked users, and the number of all users."""
    ids = [np.array(names, dtype=str).tobytes() for names in (split.user_ids, split.item_ids)]

    def digest(*arrays: NDArray[Any]) -> str:
        content = hashlib.blake2b(digest_size=16)
        numbers = [array.astype("<i8").tobytes() for array in arrays]
        for part in (*ids, *numbers):
            content.update(len(part).to_bytes(8, "little") + part)
        return content.hexdigest()

    return {
        "training": digest(split.training.indptr, split.training.indices),
        "held_out": digest(split.held_out.indptr, split.held_out.indices),
        "users": digest_of_users(split.user_ids[users]),
        "users_in_all": str(np.count_nonzero(np.diff(split.held_out.indptr))),
    }
