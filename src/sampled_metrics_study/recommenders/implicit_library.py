"""The recommenders of the library `implicit`, by name and with its own options.

The library is Frederickson's; version 0.7.3 was checked.

| model | what it is |
|---|---|
| als | alternating least squares (Hu, Koren and Volinsky, ICDM 2008) |
| bpr | Bayesian personalized ranking (Rendle et al., UAI 2009) |
| lmf | logistic matrix factorization (Johnson, NIPS workshop 2014) |
| cosine, tfidf, bm25 | the K items most similar by cosine, of TF-IDF weights, or by BM25 |

Options are those of implicit's constructors, with its defaults. Training uses one thread, a seed
from the study's stream, and implicit's single precision. The same entry gives the same bytes. The
biases of bpr and lmf are columns of their factors, so their scores are dot products too.
"""

import inspect
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.running import on_one_thread
from sampled_metrics_study.recommenders.models import FactorModel, Model, SparseSimilarityModel
from sampled_metrics_study.recommenders.recommender import Recommender, parameter

CONSTRUCTORS = {
    "als": ("implicit.als", "AlternatingLeastSquares"),
    "bpr": ("implicit.bpr", "BayesianPersonalizedRanking"),
    "lmf": ("implicit.lmf", "LogisticMatrixFactorization"),
    "cosine": ("implicit.nearest_neighbours", "CosineRecommender"),
    "tfidf": ("implicit.nearest_neighbours", "TFIDFRecommender"),
    "bm25": ("implicit.nearest_neighbours", "BM25Recommender"),
}
"""Module and name of each model's constructor, imported at its use as implicit is slow to import.
"""

_NEIGHBOURS = ("cosine", "tfidf", "bm25")
"""Models of nearest neighbours, which have similarities, and whose training draws nothing."""

FIXED = ("num_threads", "random_state", "use_gpu", "dtype")
"""Options that are fixed, because other values give results that vary between runs or machines."""

_VALUES: dict[type, tuple[str, Callable[[Any], bool]]] = {
    bool: ("true or false", lambda value: isinstance(value, bool)),
    # counts such as factors and K; K = 0 causes a segmentation fault in implicit
    int: ("a whole number, 1 or more", lambda value: type(value) is int and value >= 1),
    float: (
        "a finite number, 0 or more",
        lambda value: type(value) in (int, float) and 0 <= value < math.inf,
    ),
}
"""Allowed values of an option, by the type of implicit's default."""


def constructor(model: str) -> Callable[..., Any]:
    """Import implicit's constructor of a model."""
    module, name = CONSTRUCTORS[model]
    return cast(Callable[..., Any], getattr(import_module(module), name))


@dataclass(frozen=True)
class ImplicitLibrary(Recommender):
    """A model of the library `implicit`."""

    model: str = parameter("which of implicit's models", default="als", enum=list(CONSTRUCTORS))
    options: Mapping[str, Any] = parameter(
        "arguments of implicit's constructor of that model, such as factors or K; implicit's "
        "defaults for the others",
        default={},
        type="object",
    )

    def __post_init__(self) -> None:
        """Refuse unknown options, and options whose results are not reproducible."""
        object.__setattr__(self, "is_random", self.model not in _NEIGHBOURS)
        object.__setattr__(self, "has_factors", self.model not in _NEIGHBOURS)
        parameters = inspect.signature(constructor(self.model)).parameters
        allowed = [name for name in parameters if name not in FIXED]
        for name, value in self.options.items():
            if name in FIXED:
                raise ConfigError(
                    f"options: {name} is fixed, so that a study gives the same bytes wherever it "
                    "runs"
                )
            if name not in allowed:
                raise ConfigError(
                    f"options: unknown option {name!r} of implicit's {self.model}; it may be "
                    f"{', '.join(allowed)}"
                )
            values, allows = _VALUES.get(type(parameters[name].default), ("", lambda _: True))
            if not allows(value):
                raise ConfigError(f"options.{name}: must be {values}, not {value!r}")

    def fit(self, training: csr_array, rng: np.random.Generator) -> Model:
        """Train on (users, items) events, with a seed drawn from rng.

        Raises:
            DataError: implicit fails.
        """
        trained = self._trained(training, int(rng.integers(2**31)))
        if not hasattr(trained, "similarity"):
            return FactorModel(
                trained.user_factors.astype(np.float64), trained.item_factors.astype(np.float64)
            )
        # row i: what item i adds to scores
        return SparseSimilarityModel(csr_array(trained.similarity))

    @on_one_thread
    def _trained(self, training: csr_array, seed: int) -> Any:
        from implicit.recommender_base import ModelFitError
        from implicit.utils import ParameterWarning

        make = constructor(self.model)
        parameters = inspect.signature(make).parameters
        fixed = {"num_threads": 1, "random_state": seed, "use_gpu": False}
        fixed = {name: value for name, value in fixed.items() if name in parameters}
        events = csr_matrix(training, dtype=np.float32, copy=True)  # implicit may sort it in place
        with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
            # about formats that implicit converts itself
            warnings.simplefilter("ignore", ParameterWarning)
            try:
                trained = make(**self.options, **fixed)
                trained.fit(events, show_progress=False)
            except (ModelFitError, ValueError) as error:
                raise DataError(
                    f"implicit's {self.model} cannot be trained: {' '.join(str(error).split())}"
                ) from None
        return trained
