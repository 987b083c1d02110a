"""The recommenders of the library `implicit` (Frederickson; checked with 0.7.3), by name and with its own options.

| model | what it is |
|---|---|
| als | alternating least squares (Hu, Koren and Volinsky, ICDM 2008) |
| bpr | Bayesian personalized ranking (Rendle et al., UAI 2009) |
| lmf | logistic matrix factorization (Johnson, NIPS workshop 2014) |
| cosine, tfidf, bm25 | the K items most similar by cosine, by cosine of TF-IDF weights, by BM25 weights |

Options are those of implicit's constructors, with its defaults. Training takes one thread and its seed from the study's
stream, in implicit's single precision, so that the same entry gives the same bytes. The factors of bpr and lmf have the
biases among their columns, so a dot product is the whole score there too.
"""

import inspect
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.recommenders.models import FactorModel, Model, SimilarityModel
from sampled_metrics.recommenders.parameters import parameter

CONSTRUCTORS = {
    "als": ("implicit.als", "AlternatingLeastSquares"),
    "bpr": ("implicit.bpr", "BayesianPersonalizedRanking"),
    "lmf": ("implicit.lmf", "LogisticMatrixFactorization"),
    "cosine": ("implicit.nearest_neighbours", "CosineRecommender"),
    "tfidf": ("implicit.nearest_neighbours", "TFIDFRecommender"),
    "bm25": ("implicit.nearest_neighbours", "BM25Recommender"),
}
"""Module and name of each model's constructor; implicit is slow to import, and wanted for these models alone."""

FIXED = ("num_threads", "random_state", "use_gpu", "dtype")
"""Options that are not free, because other values give other bytes from run to run or machine to machine."""


class Kind(NamedTuple):
    """What values an option may have."""

    description: str
    allows: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


KINDS_OF_VALUES = {
    bool: Kind("true or false", lambda value: isinstance(value, bool)),
    # of counts such as factors and K: implicit ends in a segmentation fault with K = 0
    int: Kind("a whole number, 1 or more", lambda value: _is_number(value) and isinstance(value, int) and value >= 1),
    float: Kind("a finite number, 0 or more", lambda value: _is_number(value) and value >= 0),
}
"""What an option may be, by the type of implicit's default."""


def constructor(model: str) -> Callable[..., Any]:
    """Return implicit's constructor of a model."""
    module, name = CONSTRUCTORS[model]
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


def check_options(model: str, options: Mapping[str, Any]) -> None:
    """Refuse what implicit's constructor does not take, and what would not give the same bytes again.

    Raises:
        ConfigError: an option is fixed, unknown, or of the wrong kind.
    """
    defaults = {name: each.default for name, each in inspect.signature(constructor(model)).parameters.items()}
    allowed = [name for name in defaults if name not in FIXED]
    for name, value in options.items():
        if name in FIXED:
            raise ConfigError(f"options: {name} is fixed, so that a study gives the same bytes wherever it runs")
        if name not in allowed:
            raise ConfigError(f"options: unknown option {name!r} of implicit's {model}; it may be {', '.join(allowed)}")
        kind = KINDS_OF_VALUES.get(type(defaults[name]))
        if kind is not None and not kind.allows(value):
            raise ConfigError(f"options.{name}: must be {kind.description}, not {value!r}")


@dataclass(frozen=True)
class ImplicitLibrary:
    """A model of the library `implicit`."""

    model: str = parameter("which of implicit's models", enum=list(CONSTRUCTORS))
    options: Mapping[str, Any] = parameter(
        "arguments of implicit's constructor of that model, such as factors or K; its own defaults for the others",
        default={},
        type="object",
    )

    def __post_init__(self) -> None:
        if self.model not in CONSTRUCTORS:
            raise ConfigError(f"model: must be one of {', '.join(CONSTRUCTORS)}, not {self.model!r}")
        check_options(self.model, self.options)

    def fit(self, training: csr_array, rng: np.random.Generator) -> Model:
        """Train on (users, items) events, with a seed drawn from rng.

        Raises:
            DataError: implicit fails, or what it gives is not made of finite numbers.
        """
        trained = self._trained(training, int(rng.integers(2**31)))
        if not hasattr(trained, "similarity"):
            return FactorModel(trained.user_factors.astype(np.float64), trained.item_factors.astype(np.float64))
        similarity = csr_array(trained.similarity)  # row i: what an event with item i adds to the scores of the others
        if not np.isfinite(similarity.data).all():
            raise DataError(f"implicit's {self.model} gives similarities that are not finite numbers for these events")
        return SimilarityModel(similarity)

    def _trained(self, training: csr_array, seed: int) -> Any:
        """Return implicit's own trained model."""
        from implicit.recommender_base import ModelFitError
        from implicit.utils import ParameterWarning
        from threadpoolctl import threadpool_limits

        make = constructor(self.model)
        fixed = {"num_threads": 1, "random_state": seed, "use_gpu": False}
        takes = inspect.signature(make).parameters
        events = csr_matrix(training, dtype=np.float32, copy=True)  # implicit may sort it in place
        with threadpool_limits(1, "blas"), np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", ParameterWarning)  # about formats that implicit converts within itself
            try:
                trained = make(**self.options, **{name: value for name, value in fixed.items() if name in takes})
                trained.fit(events, show_progress=False)
            except (ModelFitError, ValueError) as error:
                raise DataError(f"implicit's {self.model} cannot be trained: {' '.join(str(error).split())}") from None
        return trained
