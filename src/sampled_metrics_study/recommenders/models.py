"""Trained recommenders, one class for each kind. A new kind is a class and an entry of `KINDS`."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_type_hints

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse

from sampled_metrics import file_io
from sampled_metrics.checks import Floats
from sampled_metrics.errors import DataError

if TYPE_CHECKING:
    from sampled_metrics.ranking.inputs import Factors, ScoreFunction
    from sampled_metrics.ranking.split import Split

Arrays = Mapping[str, NDArray[Any]]

_SINGLE = (bool, int, float, str)


@dataclass(frozen=True)
class Model(ABC):
    """A trained recommender.

    Attributes:
        kind: name of the kind in a model's file.
        tolerance: scores tie if they differ by no more than this fraction of the held-out item's; 0
            by default.
        are_sums: whether scores are sums, whose rounding separates ties. The tolerance is then
            `sampled_metrics.ranking.rank.TIE`.
    """

    kind: ClassVar[str]
    are_sums: ClassVar[bool] = False
    tolerance = 0.0

    @abstractmethod
    def scores(self, users: slice, training: csr_array) -> NDArray[Any]:
        """Return the scores of some users and all items, (some users, items).

        A higher score is better, and equal scores are a tie.

        Args:
            users: the users.
            training: (users, items) events of all users, on which the model was trained.
        """

    def scored(self, training: csr_array, precision: str) -> ScoreFunction | Factors:
        """Return the scores in a form that `rank_users` takes.

        The precision, float64 or float32, is that of factors.
        """
        return lambda users: self.scores(users, training)

    def arrays(self) -> Arrays:
        """Return the arrays that are stored, by name. The default is the fields of the class."""
        return {name: np.asarray(value) for name, value in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return a model made from the result of `arrays`.

        Fields of type bool, int, float or str are single values.
        """
        types = get_type_hints(cls)
        values: dict[str, Any] = {}
        for definition in fields(cls):
            name = definition.name
            values[name] = arrays[name].item() if types[name] in _SINGLE else arrays[name]
        return cls(**values)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the model as npz."""
        file_io.write_npz(path, kind=np.array(self.kind), **self.arrays())

    def check(self, split: Split, name: str) -> None:  # noqa: B027 - not abstract: some kinds have nothing to check
        """Raise an error if the model does not fit its split, or a number is not finite.

        The split is the one that the model was trained on.

        Raises:
            DataError: the message begins with the name, of the recommender or of the model's file.
        """


@dataclass(frozen=True)
class FactorModel(Model):
    """Scores are dot products of factors.

    Attributes:
        user_factors: (users, d).
        item_factors: (items, d).
    """

    kind: ClassVar[str] = "factors"
    user_factors: Floats
    item_factors: Floats

    def scores(self, users: slice, training: csr_array) -> Floats:
        """Return the scores of some users and all items, (some users, items)."""
        return np.asarray(self.user_factors[users] @ self.item_factors.T)

    def scored(self, training: csr_array, precision: str) -> Factors:
        """Return the factors, from which `rank_users` counts faster than from scores."""
        return self.user_factors, self.item_factors.astype(precision, copy=False)

    def check(self, split: Split, name: str) -> None:
        """Refuse factors that are not finite, or are not as many as the split's users and items."""
        users, items = split.training.shape
        for factors, kind, count in (
            (self.user_factors, "user", users),
            (self.item_factors, "item", items),
        ):
            if factors.ndim != 2 or len(factors) != count:
                raise DataError(f"{name}: has factors of shape {factors.shape} for {count} {kind}s")
            wrong = ~np.isfinite(factors).all(axis=1)
            if wrong.any():
                row = int(np.argmax(wrong)) + 1
                raise DataError(
                    f"{name}: the factors of {kind} {row} of {count} are not finite numbers"
                )
        if self.user_factors.shape[1] != self.item_factors.shape[1]:
            lengths = f"{self.user_factors.shape[1]} and {self.item_factors.shape[1]}"
            raise DataError(f"{name}: the factors of users and items differ in length, {lengths}")


@dataclass(frozen=True)
class RandomModel(Model):
    """Scores are independent and uniform on [0, 1), a function of key, user and item alone.

    Attributes:
        key: 0 … 2⁶⁴ - 1. Key and user select a stream of the counter-based generator Philox (Salmon
            et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011); an item's score is its
            number in that stream.
    """

    kind: ClassVar[str] = "random"
    key: int

    def scores(self, users: slice, training: csr_array) -> Floats:
        """Return the scores of some users and all items, (some users, items).

        A score does not depend on the other users.
        """
        all_users, items = training.shape
        block = range(all_users)[users]
        scores = np.empty((len(block), items))
        for row, user in zip(scores, block, strict=True):
            key = np.array([self.key, user], dtype=np.uint64)
            np.random.Generator(np.random.Philox(key=key)).random(out=row)
        return scores


@dataclass(frozen=True)
class ScoreModel(Model):
    """Scores are stored, and compared in their own type.

    Attributes:
        matrix: (users, items).
        tolerance: as in `Model`; `sampled_metrics.ranking.rank.TIE` suits sums whose rounding would
            separate ties.
    """

    kind: ClassVar[str] = "scores"
    matrix: NDArray[Any]
    tolerance: float = 0.0

    def scores(self, users: slice, training: csr_array) -> NDArray[Any]:
        """Return the scores of some users and all items, (some users, items)."""
        return self.matrix[users]

    def check(self, split: Split, name: str) -> None:
        """Refuse scores of another shape, or scores of candidates that are NaN or +∞.

        A training item may have any score.
        """
        if self.matrix.shape != split.training.shape:
            raise DataError(
                f"{name}: has scores of shape {self.matrix.shape}, not {split.training.shape} "
                "(users, items)"
            )
        wrong = ~(self.matrix < np.inf)  # -inf ranks last
        wrong[split.training.nonzero()] = False
        if wrong.any():
            user, item = (int(indices[0]) for indices in wrong.nonzero())
            ids = f"item {split.item_ids[item]} for user {split.user_ids[user]}"
            raise DataError(f"{name}: the score of {ids} is NaN or +inf")


@dataclass(frozen=True)
class SimilarityModel(Model):
    """An item's score is the sum of its similarities to the user's training items.

    The sum is in the order of these items.

    Attributes:
        similarity: (items of the user, items scored); the subclass has a sparse one.
    """

    kind: ClassVar[str] = "similarity"
    are_sums: ClassVar[bool] = True
    similarity: Any

    def scores(self, users: slice, training: csr_array) -> Floats:
        """Return the scores of some users and all items, (some users, items)."""
        # by item: a row of similarities is used for all users who have the item while it is in the
        # cache
        return np.asarray(csc_array(training[users]) @ self.similarity)

    def check(self, split: Split, name: str) -> None:
        """Refuse similarities that are not finite, or not of all items of the split to all."""
        items = split.shape.items
        stored = self.similarity.data if issparse(self.similarity) else self.similarity
        if self.similarity.shape != (items, items):
            raise DataError(
                f"{name}: has similarities of shape {self.similarity.shape}, not "
                f"{(items, items)} (items)"
            )
        if not np.isfinite(stored).all():
            raise DataError(f"{name}: has similarities that are not finite numbers")


@dataclass(frozen=True)
class SparseSimilarityModel(SimilarityModel):
    """An item's score is the sum of its similarities to the user's training items, most of them 0.

    Attributes:
        similarity: (items of the user, items scored) sparse.
    """

    kind: ClassVar[str] = "sparse similarity"
    similarity: csr_array

    def scores(self, users: slice, training: csr_array) -> Floats:
        """Return the scores of some users and all items, (some users, items)."""
        return np.asarray((training[users] @ self.similarity).toarray())

    def arrays(self) -> Arrays:
        """Return the parts of the sparse matrix."""
        return {name: getattr(self.similarity, name) for name in ("data", "indices", "indptr")}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return a model made from the parts of the sparse matrix."""
        items = len(arrays["indptr"]) - 1
        similarity = csr_array(
            (arrays["data"], arrays["indices"], arrays["indptr"]), shape=(items, items)
        )
        similarity.check_format(full_check=True)
        return cls(similarity)


KINDS: dict[str, type[Model]] = {
    model.kind: model
    for model in (FactorModel, SimilarityModel, SparseSimilarityModel, RandomModel, ScoreModel)
}
"""The kinds of models, by the name in their files."""

_MODEL = "a model of this project"


def read_model(path: str | os.PathLike[str]) -> Model:
    """Read a model written by `Model.write`.

    Raises:
        DataError: the file is not a model, or is damaged.
    """
    arrays = file_io.read_npz(path, _MODEL)
    kind = str(arrays.get("kind"))
    if kind not in KINDS:
        raise DataError(f"{path}: is not {_MODEL}")
    try:
        return KINDS[kind].from_arrays(arrays)
    except KeyError as error:
        raise DataError(f"{path}: is not {_MODEL}: lacks {error.args[0]}") from None
    except (TypeError, ValueError) as error:  # arrays that form no sparse matrix, or not one number
        raise DataError(f"{path}: is not {_MODEL}, or is damaged: {error}") from None
