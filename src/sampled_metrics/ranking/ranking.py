"""Ranking: where each held-out item stands among its user's candidates, in blocks of users and bounded memory."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics._validation import refuse_masked
from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.candidates import require_candidate, require_finite
from sampled_metrics.ranking.factors import FactorCounter
from sampled_metrics.ranking.memory import require
from sampled_metrics.ranking.rank_memory import BLOCK_BYTES, entries_of_block, least_memory, width_and_rows
from sampled_metrics.ranking.similarity import SimilarityCounter
from sampled_metrics.ranking.sparse import SparseCounter
from sampled_metrics.ranks.table import RankTable
from sampled_metrics.recommenders.cosine import Interactions
from sampled_metrics.recommenders.models import CosineModel, FactorModel, Model, SimilarityModel, stored

_SCORES = "scores must be numbers, a row of them for each user and an entry for each item"
_TRAINING = "training must be numbers, a row of them for each user and an entry for each item"

_WHOLE = 2.0**53
"""Below it float64 holds every whole number."""

Progress = Callable[[Iterable[int]], Iterable[int]]


class Counter(Protocol):
    """Counts, for blocks of users, the candidates that score above the held-out item, and those that tie with it.

    Attributes:
        blocks: (users,) indices by block, each user once. What is counted for a user may depend on who else is in the
            block, in the last digit of a score, so that the blocks are the same however the work is divided.
    """

    blocks: list[Ints]

    def count(self, users: Ints) -> tuple[Ints, Ints]:
        """Return above and tied, (users,) each, of the users of a block."""
        ...


def rank_held_out(
    model: Model,
    split: Split,
    progress: Progress = lambda blocks: blocks,
    *,
    precision: str = "float64",
    threads: int = 1,
    memory: int | None = None,
) -> RankTable:
    """Count, for each user, the candidates that score above the held-out item, and those that tie with it.

    A user's candidates are all items less the user's training items; the held-out item is one of them.

    Args:
        model: the trained recommender.
        split: what it was trained on, and what was held out.
        progress: wraps the range of blocks, for a progress bar.
        precision: float64 or float32, what the scores of factor models are rounded to.
        threads: how many blocks are counted at a time; the counts are the same whatever their number.
        memory: megabytes that may be resident, split and model among them; None for any amount. No count changes.

    Raises:
        ConfigError: the memory does not suffice; the message says what would.
        DataError: a candidate's score is not a finite number, or a held-out item is one of its user's training items.
    """
    return gather(split, [rank_part(model, split, progress, precision=precision, threads=threads, memory=memory)])


def rank_part(
    model: Model,
    split: Split,
    progress: Progress = lambda blocks: blocks,
    *,
    part: int = 1,
    parts: int = 1,
    precision: str = "float64",
    threads: int = 1,
    memory: int | None = None,
) -> tuple[Ints, Ints, Ints]:
    """Count for one of several parts of the users; arguments and errors as of `rank_held_out`.

    Args:
        model: the trained recommender.
        split: what it was trained on, and what was held out.
        progress: wraps the range of blocks, for a progress bar.
        part: which part, from 1.
        parts: of how many.
        precision: float64 or float32, what the scores of factor models are rounded to.
        threads: how many blocks are counted at a time.
        memory: megabytes that may be resident.

    Returns:
        (users of the part,) indices, above and tied.
    """
    about = stored(model), split.shape
    require(least_memory(*about, threads), memory, "ranking")
    events = split.training, split.held_out, split.user_ids
    counter: Counter | SimilarityCounter
    if isinstance(model, FactorModel):
        counter = FactorCounter(model.user_factors, model.item_factors, split.training, split.held_out, precision)
    elif isinstance(model, SimilarityModel) and isinstance(model.similarity, csr_array):
        counter = SparseCounter(model.similarity, *events, entries_of_block(*about, threads, memory))
    elif isinstance(model, SimilarityModel | CosineModel):
        counter = _similarity_counter(model, split, *width_and_rows(*about, threads, memory))
    else:
        items = slice(0, split.training.shape[1])
        counter = ScoreCounter(lambda users: model.scores(split.training, users, items), *events)
    count = len(counter.blocks)
    mine = counter.blocks[(part - 1) * count // parts : part * count // parts]
    users = np.concatenate([np.empty(0, dtype=np.int64), *mine])
    if isinstance(counter, SimilarityCounter):
        return users, *counter.count_all(users, threads, progress)
    return users, *_count(counter, mine, threads, progress)


def _similarity_counter(
    model: SimilarityModel | CosineModel, split: Split, width: int, rows: int, room: float
) -> SimilarityCounter:
    """Return a counter whose similarities are those that are stored, or are made of the events."""
    columns: Callable[[slice], Floats]
    if isinstance(model, CosineModel):
        columns = partial(model.weighting.columns, Interactions(split.training), rows=rows)
    else:
        similarity, room = model.similarity, 0.0  # a block of it is a copy, which is made as fast as kept

        def columns(items: slice) -> Floats:
            return np.ascontiguousarray(similarity[:, items], dtype=np.float64)

    return SimilarityCounter(columns, split.training, split.held_out, split.user_ids, width=width, room=room)


def gather(split: Split, parts: Iterable[tuple[Ints, Ints, Ints]]) -> RankTable:
    """Put the parts of a rank table together, in the order of the split's users.

    Raises:
        DataError: they are not all parts of it, or one is there twice.
    """
    users, above, tied = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.argsort(users, kind="stable")
    if not np.array_equal(users[order], np.arange(len(split.held_out))):
        raise DataError(f"the parts of the ranks have {len(users)} users, not each of the {len(split.held_out)} once")
    return RankTable(split.user_ids, split.candidates, above[order], tied[order])


def _count(counter: Counter, blocks: list[Ints], threads: int, progress: Progress) -> tuple[Ints, Ints]:
    """Return above and tied of the users of some blocks, one block after the other."""
    counted: list[tuple[Ints, Ints]] = []
    if threads == 1:
        counted = [counter.count(blocks[number]) for number in progress(range(len(blocks)))]
    else:
        with ThreadPoolExecutor(threads) as pool:
            waiting = [pool.submit(counter.count, block) for block in blocks]
            counted = [waiting[number].result() for number in progress(range(len(blocks)))]
    nothing = np.empty(0, dtype=np.int64)
    above, tied = zip((nothing, nothing), *counted, strict=True)
    return np.concatenate(above), np.concatenate(tied)


def rank_table_from_scores(
    scores: ArrayLike | Callable[[slice], ArrayLike],
    training: ArrayLike | csr_array,
    held_out: ArrayLike,
    *,
    user_ids: ArrayLike | None = None,
    progress: Progress = lambda blocks: blocks,
) -> RankTable:
    """Count, for each user, the candidates that score above the held-out item, and those that tie with it.

    For scores of any origin (docs/adapters.md). A user's candidates are all items less the user's training items; what
    the training items score does not matter. One item is held out per row: a user with several takes several rows, each
    with an id of its own. Scores are compared as the numbers that they are given as, without rounding.

    Args:
        scores: (users, items), higher is better and equal is a tie, or what returns a block of its rows, given which.
        training: (users, items) sparse or dense, not 0 where the user has the item in training.
        held_out: (users,) int, index of the item that was held out.
        user_ids: (users,) the user column of the table, each id once; 0, 1, … without it.
        progress: wraps the range of blocks, for a progress bar.

    Raises:
        DataError: shapes do not fit, a candidate's score is not a finite number or is one that would have to be
            rounded, an entry is masked, training holds what is no number, a held-out item is out of range or one of its
            user's training items, or an id is missing or there twice.
    """
    refuse_masked(training, "training")
    refuse_masked(held_out, "held_out")
    refuse_masked(user_ids, "user_ids")
    numbered = user_ids is None
    training = _pairs(training)
    users, items = training.shape
    held_out = np.asarray(held_out)
    user_ids = np.arange(users) if numbered else np.asarray(user_ids)
    if held_out.shape != (users,) or user_ids.shape != (users,):
        raise DataError(
            f"training has {users} users, held_out has shape {held_out.shape} and user_ids {user_ids.shape}; "
            "they need one entry per user"
        )
    _require_ids(user_ids)
    if users and held_out.dtype.kind not in "iu":
        raise DataError(f"held_out must hold indices of the {items} items, whole numbers, not {held_out.dtype}")
    if users and (held_out.min() < 0 or held_out.max() >= items):
        raise DataError(f"held_out must hold indices of the {items} items, 0 to {items - 1}")
    score_block = scores if callable(scores) else _array(scores).__getitem__
    counter = ScoreCounter(score_block, training, held_out.astype(np.int64), user_ids)
    above, tied = _count(counter, counter.blocks, 1, progress)
    return RankTable(user_ids, items - np.diff(training.indptr).astype(np.int64), above, tied, numbered=numbered)


class ScoreCounter:
    """Counts by whatever makes the scores of consecutive users and all items.

    Attributes:
        blocks: consecutive users by block.
    """

    def __init__(
        self,
        scores: Callable[[slice], ArrayLike],
        training: csr_array,
        held_out: Ints,
        user_ids: NDArray[np.generic],
    ) -> None:
        """Prepare blocks of at most BLOCK_BYTES of scores; arguments as of `rank_table_from_scores`."""
        self._scores, self._training, self._held_out, self._user_ids = scores, training, held_out, user_ids
        users, items = training.shape
        rows = max(1, BLOCK_BYTES // (8 * items))
        self.blocks = [np.arange(first, min(first + rows, users)) for first in range(0, users, rows)]

    def count(self, users: Ints) -> tuple[Ints, Ints]:
        """Return above and tied, (users,) each, of the users of a block."""
        block = slice(int(users[0]), int(users[-1]) + 1)
        scores = _array(self._scores(block))
        return _rank_block(scores, self._training[block], self._held_out[block], self._user_ids[block])


def _array(scores: Any) -> NDArray[Any]:
    """Return scores as an array of numbers of their own type, without a copy of one; Python's as float64 or integers.

    Raises:
        DataError: they are no numbers, or would be rounded.
    """
    refuse_masked(scores, "scores")
    try:
        found = np.asarray(scores)
        if found.dtype == object:
            found, scores = found.astype(np.float64), found
            _require_exact(found, scores)
        elif not hasattr(scores, "dtype") and found.dtype == np.float64 and (np.abs(found) >= _WHOLE).any():
            table = isinstance(scores, pd.DataFrame)  # of integers and floats together, like a list of both
            _require_exact(found, scores.to_numpy(object) if table else np.asarray(scores, dtype=object))
    except DataError:
        raise
    except (TypeError, ValueError, OverflowError):  # ValueError: rows differ in length
        raise DataError(_SCORES) from None
    if found.ndim == 0 or found.dtype.kind not in "biuf":
        raise DataError(_SCORES)
    return found


def _require_exact(rounded: Floats, scores: NDArray[np.object_]) -> None:
    wrong = (rounded != scores) & ~np.isnan(rounded)
    if wrong.any():
        raise DataError(f"{_SCORES}; {scores[wrong][0]!r:.80} is none that float64 holds without rounding it")


def _pairs(training: ArrayLike | csr_array) -> csr_array:
    """Return training with each of its pairs stored once; an array of the caller's is not changed."""
    try:
        pairs = csr_array(training)
    except (TypeError, ValueError):
        raise DataError(_TRAINING) from None
    if pairs.ndim != 2 or pairs.dtype.kind not in "biuf":
        raise DataError(_TRAINING)
    if not np.isfinite(pairs.data).all():
        raise DataError(f"{_TRAINING}; some are not finite")
    if not pairs.has_canonical_format or not pairs.data.all():
        pairs = pairs.copy()
        pairs.sum_duplicates()
        pairs.eliminate_zeros()
    return pairs


def _require_ids(user_ids: NDArray[np.generic]) -> None:
    """Refuse ids of which one is missing, or there twice."""
    ids = pd.Series(user_ids)
    missing, twice = ids.isna(), ids.duplicated()
    if missing.any():
        raise DataError(f"user_ids: entry {int(np.argmax(missing)) + 1} is missing")
    if twice.any():
        raise DataError(f"user_ids: {ids[twice].iloc[0]} is there twice; each row needs an id of its own")


def _rank_block(
    scores: NDArray[Any], training: csr_array, held_out: Ints, user_ids: NDArray[np.generic]
) -> tuple[Ints, Ints]:
    """Return above and tied of a block of users, (users,) each; what training items score is not looked at."""
    if scores.shape != training.shape:
        raise DataError(f"scores of a block of users have shape {scores.shape}, not {training.shape} (users, items)")
    rows = np.arange(len(scores))
    candidate = np.ones(scores.shape, dtype=bool)
    candidate[np.repeat(rows, np.diff(training.indptr)), training.indices] = False
    require_finite((candidate & ~np.isfinite(scores)).any(axis=1), user_ids)
    require_candidate(~candidate[rows, held_out], user_ids)
    of_held_out = scores[rows, held_out][:, np.newaxis]
    return (candidate & (scores > of_held_out)).sum(axis=1), (candidate & (scores == of_held_out)).sum(axis=1) - 1
