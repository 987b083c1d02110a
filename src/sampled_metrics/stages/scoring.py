"""A function that scores pairs of users and items, and how it is called.

`Ranker` is the function with its options. `Scorer` asks it for scores: it looks them up in the
journal, divides the others among calls, and checks and keeps the answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor, wait
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from sampled_metrics.checks import MOST, Floats, Ints, require_whole, shown
from sampled_metrics.core.data.labels import has_labels
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranking.inputs import as_scores, exits_as_errors, refuse_awaitable, takes
from sampled_metrics.ranking.split import Split
from sampled_metrics.stages.executors import DaemonThreads, InCaller
from sampled_metrics.stages.journal import Journal, ScoredPairs

Score = Callable[[NDArray[Any], NDArray[Any]], ArrayLike]
"""Function from (batch,) users and (batch,) items to (batch,) scores, higher first."""

_VECTORIZED = "np.vectorize(function, otypes=[float])"
_SHAPE = "score(users, items) -> (batch,)"
_ADVICE = (
    f"{_SHAPE} takes arrays of users and items; for a function of a single pair, write "
    f"{_VECTORIZED}"
)

_CALLS_OF_A_THREAD = 4
"""Calls that a thread makes before the answers of all threads are counted.

With fewer, threads wait longer for the slowest one.
"""


@dataclass(frozen=True)
class Ranker:
    """A function of scores for `staged_ranks`, with its name and how it is called.

    Args:
        score: a function score(users, items) -> (batch,): from (batch,) users and (batch,) items to
            the (batch,) scores of these pairs, higher is better. Users and items are indices, or
            ids if there are `user_ids` and `item_ids`. A batch has the pairs of many users. A
            function ``ask`` of a single pair is written ``np.vectorize(ask, otypes=[float])``.
            Scores of -inf rank last and tie with each other.
        name: the name of what gives the scores, such as a model and its date. A run with a file
            needs it: what was scored under another name is refused, and nothing else is compared.
        pairs_per_call: the largest number of pairs in a call.
        concurrency: the largest number of calls at a time, in threads. The pairs that wait are
            divided evenly among them.

    Raises:
        ConfigError: the score is not a function of two arguments, or an option is out of range.

    Examples:
        >>> import numpy as np
        >>> import sampled_metrics as sm
        >>> scores = np.array([[0.9, 0.5, 0.4, 0.1, 0.3], [0.1, 0.2, 0.3, 0.4, 0.6]])
        >>> ranker = sm.Ranker(lambda users, items: scores[users, items], name="a table of mine",
        ...     concurrency=4)
        >>> sm.staged_ranks(ranker, np.zeros((2, 5)), [1, 2], k=2, depth=None).above.tolist()
        [1, 2]
    """

    score: Score
    _: KW_ONLY
    name: str | None = None
    pairs_per_call: int = 1024
    concurrency: int = 1

    def __post_init__(self) -> None:
        if not callable(self.score) or not takes(self.score, 2):
            raise ConfigError(f"score must be a function {_SHAPE}, not {shown(self.score)}")
        if isinstance(self.score, np.vectorize) and self.score.otypes is None:
            raise ConfigError(
                "score: np.vectorize gives all scores the type of the first one; write "
                f"{_VECTORIZED}"
            )
        if self.name is not None and not (isinstance(self.name, str) and self.name.strip()):
            raise ConfigError(f"name of a ranker must be text, not {shown(self.name)}")
        require_whole(1, MOST, pairs_per_call=self.pairs_per_call, concurrency=self.concurrency)

    def executor(self) -> Executor:
        """Return what runs the calls: threads, or the caller's thread for one call at a time."""
        return DaemonThreads(self.concurrency) if self.concurrency > 1 else InCaller()


class Request(NamedTuple):
    """Pairs to score.

    Attributes:
        users: (pairs,) indices of users.
        items: (pairs,) indices of items.
        tag: comes back with the scores, to whoever made the request.
    """

    users: Ints
    items: Ints
    tag: Any


class WithIds(NamedTuple):
    """Whether a function of scores takes ids of users, and of items, in place of their indices."""

    users: bool
    items: bool


class Scorer:
    """Asks a ranker for scores, and counts them.

    Args:
        ranker: the ranker.
        executor: what runs its calls.
        split: of the users and items.
        with_ids: whether the function takes ids.
        journal: where scores are kept, and known ones are looked up; None if they are not kept.

    Attributes:
        count: number of scores so far, those of the journal included.
    """

    def __init__(
        self,
        ranker: Ranker,
        executor: Executor,
        split: Split,
        with_ids: WithIds,
        journal: Journal | None,
    ) -> None:
        self._ranker = ranker
        self._executor = executor
        self._split = split
        self._with_ids = with_ids
        self._journal = journal
        self._known_pairs = pd.Index([], dtype=np.int64)
        self._known_scores = np.empty(0)
        if journal is not None:
            users, items, scores = journal.scores()
            # two processes may have scored a pair, if one of them was killed
            pairs, rows = np.unique(self._pair_numbers(users, items), return_index=True)
            self._known_pairs = pd.Index(pairs)
            self._known_scores = scores[rows]
        self.count = len(self._known_pairs)

    def run(
        self, next_request: Callable[[], Request | None], take: Callable[[Request, Floats], object]
    ) -> None:
        """Score what is asked for until nothing more is.

        Requests are scored together, as many as keep the threads busy.

        Args:
            next_request: returns pairs to score; None if there are none until an answer is there,
                or at the end.
            take: takes the (pairs,) scores of a request.

        Raises:
            DataError: as in `scores`.
        """
        concurrency = self._ranker.concurrency
        calls = 1 if concurrency == 1 else _CALLS_OF_A_THREAD * concurrency
        while True:
            requests: list[Request] = []
            wanted = calls * self._ranker.pairs_per_call
            while wanted > 0 and (request := next_request()) is not None:
                requests.append(request)
                wanted -= len(request.users)
            if not requests:
                return
            scores = self.scores(
                np.concatenate([request.users for request in requests]),
                np.concatenate([request.items for request in requests]),
            )
            start = 0
            for request in requests:
                end = start + len(request.users)
                take(request, scores[start:end])
                start = end

    def scores(self, users: Ints, items: Ints) -> Floats:
        """Return the scores of (pairs,) users and items, from the journal or from the ranker.

        After an error, the calls that run are waited for, and their answers are kept. After an
        interruption, the calls that run are left to themselves.

        Raises:
            DataError: a score is NaN or +inf, or the function does not return a number for each
                pair.
        """
        row = self._known_pairs.get_indexer(self._pair_numbers(users, items))
        scores = np.append(self._known_scores, np.nan)[row]
        unknown = np.flatnonzero(row < 0)
        if not len(unknown):
            return scores
        self.count += len(unknown)
        fewest = math.ceil(len(unknown) / self._ranker.pairs_per_call)
        calls = max(fewest, min(self._ranker.concurrency, len(unknown)))
        batches = np.array_split(unknown, calls)
        answers = []
        try:
            for batch in batches:
                answers.append(self._executor.submit(self._answer, users[batch], items[batch]))
            scores[unknown] = np.concatenate([answer.result() for answer in answers])
        except BaseException as error:
            for answer in answers:
                answer.cancel()
            if isinstance(error, Exception):
                wait(answers)
            raise
        return scores

    def _pair_numbers(self, users: Ints, items: Ints) -> Ints:
        """Return a whole number for each of (pairs,) pairs, which no other pair has."""
        return users * np.int64(self._split.shape.items) + items

    def _answer(self, users: Ints, items: Ints) -> Floats:
        """Return the (pairs,) scores of a call, which are checked, and kept in the journal.

        If the function exits, that is an error, as an interruption is not.

        Raises:
            DataError: the answer is not valid, or the function ends the process.
        """
        with exits_as_errors("the function of scores"):  # an answer may have code of its own
            try:
                answer = self._ranker.score(
                    self._split.user_ids[users] if self._with_ids.users else users,
                    self._split.item_ids[items] if self._with_ids.items else items,
                )
            except (AttributeError, LookupError, TypeError, ValueError) as error:
                if len(users) > 1:  # a function of a single pair may have got arrays
                    error.add_note(f"score failed on {len(users)} pairs; {_ADVICE}")
                raise
            scores = _as_scores_of_pairs(answer, len(users))
        is_invalid = np.isnan(scores) | (scores == math.inf)
        if is_invalid.any():
            pair = int(is_invalid.argmax())
            raise DataError(
                f"the score of user {shown(self._split.user_ids[users[pair]])} and item "
                f"{shown(self._split.item_ids[items[pair]])} is NaN or +inf"
            )
        if self._journal is not None:
            self._journal.add(ScoredPairs(users, items, scores))
        return scores


def _as_scores_of_pairs(answer: Any, pairs: int) -> Floats:
    refuse_awaitable(answer, "score")
    if isinstance(answer, pd.Series) and has_labels(answer):
        raise DataError(
            f"score returned a Series with labels, such as {shown(answer.index[0])}; {_SHAPE} "
            "returns an array in the order of the pairs, such as .to_numpy()"
        )
    is_single = np.isscalar(answer) or getattr(answer, "ndim", None) == 0
    if is_single and pairs == 1:  # a function of a single pair
        answer = [answer]
    elif is_single:
        raise DataError(f"score returned one value for {pairs} pairs; {_ADVICE}")
    numbers = as_scores(answer, f"must be numbers, {_SHAPE}")
    if numbers.shape != (pairs,):
        raise DataError(f"score returned the shape {numbers.shape} for {pairs} pairs; {_ADVICE}")
    scores: Floats = numbers.astype(np.float64) + 0.0  # no -0.0, which a journal does not keep
    return scores
