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
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
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
from sampled_metrics.core.data.ids import as_text, column_of
from sampled_metrics.errors import ConfigError, DataError, Remark
from sampled_metrics.file_io import path_text, require_writable
from sampled_metrics.ranking.inputs import PairsLike, read_inputs
from sampled_metrics.ranking.labels import Ids
from sampled_metrics.ranking.split import Split
from sampled_metrics.running import terminal_status
from sampled_metrics.stages.candidate_order import CandidateOrder
from sampled_metrics.stages.counting import Design, StageCounts
from sampled_metrics.stages.files import require_ending
from sampled_metrics.stages.journal import Journal, refuse_other_run
from sampled_metrics.stages.scoring import Ranker, Score, Scorer, WithIds
from sampled_metrics.stages.stopping import (
    boundaries,
    digest_of_users,
    last_boundary,
    numbers_of_users,
    stops,
)
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
    the users who are not beaten goes on. All recommenders go on with the same users. `evaluate` and
    `compare` weight these users, so that the mean is that of all users.

    The candidates of a user with several held-out items are scored once for all of them.

    Args:
        score: a function score(users, items) -> (batch,): from (batch,) users and (batch,) items to
            the (batch,) scores of these pairs, higher is better. A batch has the pairs of many
            users. Users and items are indices, or ids if there are `user_ids` and `item_ids`, or
            labels in their place. Or a `Ranker` of such a function, which also says its name, how
            many pairs it takes in a call, and how many calls at a time. Scores of -inf rank last
            and tie with each other.
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
            higher first, of which a Series may have ids of all items as its index; or a function
            that takes a user (an index or an id), is called once for each, and returns such
            numbers. Any order is valid, and a good one needs fewer scores. Ties are in the order of
            the items.
        users: a part of the users, as in `rank`. `StagedRanks.concat` joins parts.
        user_ids: as in `rank`.
        item_ids: as in `rank`.
        seed: the seed of the users' random numbers. Recommenders are compared with the same seed, k
            and depth.
        file: the .npz file that the ranks are written to. A file needs a `Ranker` with a name. Each
            answer is kept at once in a journal in the same folder, whose name ends in .journal. A
            run that was stopped goes on from there if it is called again, and the scores of the
            journal are not asked for again. If the file is there, it is read. If it has a smaller
            depth, the run goes on from it, as if it had been of this depth from the start, and
            replaces it at the end. If it has a larger depth, or None, the ranks are those of this
            depth, column by column, nothing is scored, and the file does not change. A warning says
            what the run goes on from, with the name of the ranker and the date of its first score.
            A file or a journal of a ranker with another name is refused; only the name
            distinguishes rankers.

    Returns:
        The ranks, a `StagedRanks` with one row for each held-out item, in the order of the ids of
        the users. `plan` says from a pilot how many scores they take.

    Raises:
        DataError: as in `rank`; a score is NaN or +inf, or the function does not return a number
            for each pair; `file` belongs to another run or ranker, is damaged, or another process
            writes it.
        ConfigError: an option is out of range, `file` has another ending, or its ranker has no
            name.
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
    if name and ranker.name is None:
        raise ConfigError(
            "file: give a Ranker with a name (--ranker), such as the model and its date; "
            "a run goes on only from a file of the same name"
        )

    inputs = read_inputs(None, training, held_out, users, user_ids, item_ids)
    design = Design(int(k), depth, int(seed))
    prepared = Prepared.from_split(inputs.split, inputs.ids, inputs.users, order, design)

    run = _Run(ranker, prepared, design, name, users is None)
    try:
        return run.ranks()
    except KeyboardInterrupt as interruption:  # where it met the run says nothing
        raise interruption.with_traceback(None) from None


@dataclass(frozen=True)
class Prepared:
    """Training, held-out items and an order of candidates, read and checked for several rankers.

    Attributes:
        split: the split of all users.
        ids: the ids of users and items.
        users: (users,) ascending indices of the users who are ranked, all with held-out items.
        order: the order of the candidates.
    """

    split: Split
    ids: tuple[Ids, Ids]
    users: Ints
    order: CandidateOrder

    @classmethod
    def from_split(
        cls,
        split: Split,
        ids: tuple[Ids, Ids],
        users: Ints,
        order: Any = "popularity",
        design: Design | None = None,
    ) -> Prepared:
        """Leave out users without held-out items, and check the order of `staged_ranks`.

        The design says how many candidates of each user may be scored; all without it.

        Raises:
            DataError: the order is wrong, no user has a held-out item, or the types of ids of users
                have no common order.
        """
        chosen = users[np.diff(split.held_out.indptr)[users] > 0]
        if not len(chosen):
            raise DataError("held_out: none of the users has a held-out item")
        try:
            np.sort(split.user_ids)
        except TypeError:
            raise DataError("user_ids must be all text, or all numbers") from None
        lengths = np.full(len(chosen), split.shape.items)
        if design is not None:
            names = split.user_ids[chosen].tolist()
            uniform, _ = numbers_of_users(names, design.seed)
            steps = boundaries(int(split.candidates.max()))
            first_row = np.searchsorted(split.user, chosen)
            last = last_boundary(steps, split.candidates[first_row])
            stop = stops(uniform, design.depth, steps, last)
            lengths = np.append(steps, split.shape.items)[stop]
        return cls(split, ids, chosen, CandidateOrder(order, split, ids, chosen, lengths))

    @cached_property
    def digests(self) -> dict[str, str]:
        """The digests of the split, the users and the order."""
        return digests_of_split(self.split, self.users) | self.order.digests

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
        return counts.ranks(self.digests | {"ranker": ranker.name or ""})

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
        counts.score(unfinished, until, self.order.places(self.users[unfinished]), show)


@dataclass(frozen=True)
class _Run:
    """A call of `staged_ranks`, whose arguments are read and checked.

    Attributes:
        ranker: the ranker.
        prepared: the data.
        design: k, depth and seed.
        file: name of the file; empty if there is none.
        is_of_all_users: whether the call ranks all users. An outlook on few completed users is said
            of all users alone.
    """

    ranker: Ranker
    prepared: Prepared
    design: Design
    file: str
    is_of_all_users: bool

    @cached_property
    def digests(self) -> dict[str, str]:
        return self.prepared.digests | {"ranker": self.ranker.name or ""}

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
        earlier = self._read(path)
        if earlier is None or self._is_deeper_than(earlier):
            require_writable(self.file)
            journal_path = path.with_name(f"{path.name}.journal")
            begun = date.today().isoformat() if earlier is None else earlier.begun
            with Journal(journal_path, f"{self.file}.journal", self.identity, begun) as journal:
                earlier = self._read(path)  # another process may have written it until now
                if earlier is None or self._is_deeper_than(earlier):
                    ranks = replace(self._computed(journal, earlier), begun=journal.begun)
                    ranks.write(path)
                    return ranks
        self._remark(f"reads {self.file}, and scores nothing", earlier.begun, stacklevel=4)
        return (
            earlier if earlier.depth == self.design.depth else earlier.at_depth(self.design.depth)
        )

    def _read(self, path: Path) -> StagedRanks | None:
        """Return the ranks of the file, of any depth; None if there is no file.

        Raises:
            DataError: the file belongs to another run or ranker, or is damaged.
        """
        if not os.path.exists(path):  # Path.exists raises for a name that is too long
            return None
        table = StagedRanks.read(path)
        refuse_other_run(self.file, table.run, self.identity)
        return table

    def _is_deeper_than(self, earlier: StagedRanks) -> bool:
        """Return whether the run needs more scores than earlier ranks; None is all candidates."""
        depth = self.design.depth
        return earlier.depth is not None and (depth is None or depth > earlier.depth)

    def _computed(self, journal: Journal | None, earlier: StagedRanks | None) -> StagedRanks:
        """Return the ranks, from the first score on, or from earlier ranks of a smaller depth."""
        prepared = self.prepared
        with self.ranker.executor() as executor, terminal_status() as show:
            scorer = Scorer(self.ranker, executor, prepared.split, prepared.with_ids, journal)
            counts = prepared.counts(scorer, self.ranker, self.design)
            if journal is not None and (earlier is not None or scorer.count):
                source = journal.name if earlier is None else self.file
                self._remark(f"goes on from {source}", journal.begun, stacklevel=5)
            if earlier is None:
                counts.begin()
            else:
                users, items = (
                    ids.text.get_indexer(as_text(column_of(names)))
                    for ids, names in zip(prepared.ids, (earlier.user, earlier.item), strict=True)
                )
                counts.go_on_from(self.file, earlier, users, items)
            for until in counts.parts:
                prepared.complete(counts, until, show)
                is_first_stage = until < len(counts.boundaries)  # the last part ends after all
                outlook = counts.outlook if is_first_stage and self.is_of_all_users else ""
                if outlook:
                    warnings.warn(outlook, Remark, stacklevel=4)
        return counts.ranks(self.digests)

    def _remark(self, what: str, begun: str, stacklevel: int) -> None:
        """Say what the run goes on from, and whose scores these are."""
        text = f"{what}: ranker {self.ranker.name}, begun {begun}"
        warnings.warn(text, Remark, stacklevel=stacklevel)


def require_depth(depth: Any) -> None:
    """Raise ConfigError unless a depth is a number in its range."""
    if not (is_real(depth) and (1 <= depth <= MOST or depth == np.inf)):
        raise ConfigError(f"depth must be a number from 1 to 2^53, or None, not {shown(depth)}")


def digests_of_split(split: Split, users: Ints) -> dict[str, str]:
    """Return digests of training, held-out items and ranked users, and the number of all users."""
    ids = [np.array(names, dtype=str).tobytes() for names in (split.user_ids, split.item_ids)]

    def digest(*arrays: NDArray[Any]) -> str:
        content = hashlib.blake2b(digest_size=16)
        arrays_as_bytes = [array.astype("<i8").tobytes() for array in arrays]
        for chunk in (*ids, *arrays_as_bytes):
            content.update(len(chunk).to_bytes(8, "little") + chunk)
        return content.hexdigest()

    return {
        "training": digest(split.training.indptr, split.training.indices),
        "held_out": digest(split.held_out.indptr, split.held_out.indices),
        "users": digest_of_users(split.user_ids[users]),
        "users_in_all": str(np.count_nonzero(np.diff(split.held_out.indptr))),
    }
