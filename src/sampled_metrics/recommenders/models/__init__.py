"""Trained recommenders, one class for each kind. A new kind is a file of this package and an entry of `KINDS`."""

import os

from sampled_metrics import _files
from sampled_metrics.errors import DataError
from sampled_metrics.recommenders.models.factors import FactorModel
from sampled_metrics.recommenders.models.model import Arrays, Model, part_of_users
from sampled_metrics.recommenders.models.random import RandomModel
from sampled_metrics.recommenders.models.ranks import RankModel
from sampled_metrics.recommenders.models.scores import ScoreModel
from sampled_metrics.recommenders.models.similarity import SimilarityModel, SparseSimilarityModel

__all__ = [
    "KINDS",
    "FactorModel",
    "Model",
    "RandomModel",
    "RankModel",
    "ScoreModel",
    "SimilarityModel",
    "SparseSimilarityModel",
    "part_of_users",
    "read_model",
    "stored_kind",
]

KINDS: dict[str, type[Model]] = {
    model.kind: model
    for model in (
        FactorModel,
        SimilarityModel,
        SparseSimilarityModel,
        RandomModel,
        ScoreModel,
        RankModel,
    )
}
"""The kinds of models, by the name in their files."""

_MODEL = "a model of this project"


def read_model(path: str | os.PathLike[str]) -> Model:
    """Read a model written by `Model.write`.

    Raises:
        DataError: the file is not a model, or is damaged.
    """
    arrays = _files.read_npz(path, _MODEL)
    kind = _kind(path, arrays)
    try:
        return kind.from_arrays(arrays)
    except KeyError as error:
        raise DataError(f"{path}: is not {_MODEL}: lacks {error.args[0]}") from None
    except (TypeError, ValueError) as error:  # arrays that form no sparse matrix, or not one number
        raise DataError(f"{path}: is not {_MODEL}, or is damaged: {error}") from None


def stored_kind(path: str | os.PathLike[str]) -> type[Model]:
    """Return the kind of a stored model, without reading its arrays.

    Raises:
        DataError: the file is not a model, or is damaged.
    """
    return _kind(path, _files.read_npz(path, _MODEL, only=("kind",)))


def _kind(path: str | os.PathLike[str], arrays: Arrays) -> type[Model]:
    name = str(arrays.get("kind"))
    if name not in KINDS:
        raise DataError(f"{path}: is not {_MODEL}")
    return KINDS[name]
