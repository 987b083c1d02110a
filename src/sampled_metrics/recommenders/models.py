"""Trained recommenders: what is stored of one, and how it scores blocks of users and items."""

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics import _files
from sampled_metrics._arrays import Floats
from sampled_metrics.errors import DataError
from sampled_metrics.recommenders.cosine import Interactions, Weighting, rows_at_once


class Model(Protocol):
    """A trained recommender."""

    def scores(self, training: csr_array, users: slice, items: slice) -> Floats:
        """Return the scores of a block, (users, items): higher is better, equal is a tie.

        Args:
            training: (users, items) the events that the model was trained on.
            users: which users.
            items: which items.
        """
        ...

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the model as npz."""
        ...


class Stored(NamedTuple):
    """What is known of a model without reading it.

    Attributes:
        kind: key of `KINDS`, or nothing of a model that is not of this project.
        size: bytes of its arrays.
    """

    kind: str
    size: int


@dataclass(frozen=True)
class FactorModel:
    """Scores are dot products of factors.

    Attributes:
        user_factors: (users, d).
        item_factors: (items, d).
    """

    user_factors: Floats
    item_factors: Floats

    def scores(self, training: csr_array, users: slice, items: slice) -> Floats:
        """Return the scores of a block, (users, items)."""
        return np.asarray(self.user_factors[users] @ self.item_factors[items].T)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the factors."""
        _files.write_npz(path, kind=np.array("factors"), user_factors=self.user_factors, item_factors=self.item_factors)


@dataclass(frozen=True)
class SimilarityModel:
    """An item's score is the sum of its similarities to the user's training items.

    Attributes:
        similarity: (items of the user, items scored), dense or sparse.
    """

    similarity: Floats | csr_array

    def scores(self, training: csr_array, users: slice, items: slice) -> Floats:
        """Return the scores of a block, (users, items)."""
        block = training[users] @ self.similarity[:, items]
        return np.asarray(block.toarray() if isinstance(block, csr_array) else block)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the similarity, sparse or dense as it is."""
        if isinstance(self.similarity, csr_array):
            _files.write_npz(
                path,
                kind=np.array("sparse similarity"),
                data=self.similarity.data,
                indices=self.similarity.indices,
                indptr=self.similarity.indptr,
            )
        else:
            _files.write_npz(path, kind=np.array("similarity"), similarity=self.similarity)


@dataclass(frozen=True)
class CosineModel:
    """An item's score is the sum of its weighted cosines to the user's training items, which are made when needed.

    Attributes:
        weighting: what is made of the cosines.
    """

    weighting: Weighting

    def scores(self, training: csr_array, users: slice, items: slice) -> Floats:
        """Return the scores of a block, (users, items)."""
        every = training.shape[1]
        chosen = slice(*items.indices(every)[:2])
        similar = self.weighting.columns(Interactions(training), chosen, rows_at_once(every))
        return np.asarray(training[users] @ similar)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the weighting."""
        _files.write_npz(
            path,
            kind=np.array("cosine"),
            exponent=np.array(float(self.weighting.exponent)),
            keep_self=np.array(self.weighting.keep_self),
            row_norm=np.array(self.weighting.row_norm),
            denominator=np.array(self.weighting.denominator),
        )


@dataclass(frozen=True)
class RandomModel:
    """Scores are independent and uniform on [0, 1), a function of key, user and item alone; none is stored.

    Attributes:
        key: 0 … 2⁶⁴ - 1. Key and user select a stream of the counter-based generator Philox (Salmon et al., Parallel
            Random Numbers: As Easy as 1, 2, 3, SC 2011); an item's score is its number in that stream.
    """

    key: int

    def scores(self, training: csr_array, users: slice, items: slice) -> Floats:
        """Return the scores of a block, (users, items), the same whichever block is asked for."""
        every_user, every_item = training.shape
        block = range(every_user)[users]
        scores = np.empty((len(block), every_item))
        for row, user in zip(scores, block, strict=True):
            key = np.array([self.key, user], dtype=np.uint64)
            np.random.Generator(np.random.Philox(key=key)).random(out=row)
        return scores[:, items]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the key."""
        _files.write_npz(path, kind=np.array("random"), key=np.array(self.key, dtype=np.uint64))


def _sparse_similarity(arrays: Mapping[str, np.ndarray]) -> SimilarityModel:
    items = len(arrays["indptr"]) - 1
    stored = (arrays["data"], arrays["indices"], arrays["indptr"])
    return SimilarityModel(csr_array(stored, shape=(items, items)))


def _cosine(arrays: Mapping[str, np.ndarray]) -> CosineModel:
    return CosineModel(
        Weighting(
            float(arrays["exponent"]),
            bool(arrays["keep_self"]),
            str(arrays["row_norm"]),
            bool(arrays["denominator"]),
        )
    )


KINDS: dict[str, Callable[[Mapping[str, np.ndarray]], Model]] = {
    "factors": lambda arrays: FactorModel(arrays["user_factors"], arrays["item_factors"]),
    "similarity": lambda arrays: SimilarityModel(arrays["similarity"]),
    "sparse similarity": _sparse_similarity,
    "cosine": _cosine,
    "random": lambda arrays: RandomModel(int(arrays["key"])),
}
"""How each kind of model is made of the arrays that its `write` wrote."""


MODEL = "a model of this project"
"""What a file of one is called in messages."""


def read_model(path: str | os.PathLike[str]) -> Model:
    """Read what a model's `write` wrote.

    Raises:
        DataError: the file is none of them.
    """
    arrays = _files.read_npz(path, MODEL)
    kind = str(arrays["kind"]) if "kind" in arrays else None
    try:
        if kind in KINDS:
            return KINDS[kind](arrays)
    except KeyError as error:
        raise DataError(f"{path}: is not {MODEL}: lacks {error.args[0]}") from None
    except ValueError as error:  # of what a sparse matrix is made of
        raise DataError(f"{path}: is not {MODEL}, or is damaged: {error}") from None
    raise DataError(f"{path}: is not {MODEL}")


def stored(model: Model) -> Stored:
    """Return a model's kind and size."""
    if isinstance(model, FactorModel):
        return Stored("factors", model.user_factors.nbytes + model.item_factors.nbytes)
    if isinstance(model, SimilarityModel) and isinstance(model.similarity, csr_array):
        matrix = model.similarity
        return Stored("sparse similarity", matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)
    if isinstance(model, SimilarityModel):
        return Stored("similarity", model.similarity.nbytes)
    return Stored("cosine" if isinstance(model, CosineModel) else "", 0)


def read_stored(path: str | os.PathLike[str]) -> Stored:
    """Read kind and size of what a model's `write` wrote, and nothing else; errors as of `read_model`."""
    arrays = _files.read_npz(path, MODEL, only=("kind",))
    kind = str(arrays["kind"]) if "kind" in arrays else ""
    if kind not in KINDS:
        raise DataError(f"{path}: is not {MODEL}")
    headers = _files.npz_headers(path)
    large = [name for name, (shape, _) in headers.items() if shape]
    return Stored(kind, sum(math.prod(headers[name][0]) * headers[name][1].itemsize for name in large))
