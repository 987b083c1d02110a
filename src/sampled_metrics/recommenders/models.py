"""Trained recommenders: what is stored of one, and how it scores blocks of users and items."""

import os
from dataclasses import dataclass
from typing import Protocol
from zipfile import BadZipFile

import numpy as np
from numpy.lib.npyio import NpzFile
from scipy.sparse import csr_array

from sampled_metrics import files
from sampled_metrics.arrays import Floats
from sampled_metrics.errors import DataError


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
        files.write_npz(path, kind=np.array("factors"), user_factors=self.user_factors, item_factors=self.item_factors)


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
            files.write_npz(
                path,
                kind=np.array("sparse similarity"),
                data=self.similarity.data,
                indices=self.similarity.indices,
                indptr=self.similarity.indptr,
            )
        else:
            files.write_npz(path, kind=np.array("similarity"), similarity=self.similarity)


def read_model(path: str | os.PathLike[str]) -> Model:
    """Read what a model's `write` wrote.

    Raises:
        DataError: the file is none of them.
    """
    with _npz(path) as arrays:
        kind = str(arrays["kind"]) if "kind" in arrays else None
        if kind == "factors":
            return FactorModel(arrays["user_factors"], arrays["item_factors"])
        if kind == "similarity":
            return SimilarityModel(arrays["similarity"])
        if kind == "sparse similarity":
            items = len(arrays["indptr"]) - 1
            stored = (arrays["data"], arrays["indices"], arrays["indptr"])
            return SimilarityModel(csr_array(stored, shape=(items, items)))
    raise DataError(f"{path}: is not a model of this project")


def _npz(path: str | os.PathLike[str]) -> NpzFile:
    try:
        arrays = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise DataError(f"{path}: is not a model of this project: {' '.join(str(error).split())}") from None
    if not isinstance(arrays, NpzFile):
        raise DataError(f"{path}: is not a model of this project")
    return arrays
