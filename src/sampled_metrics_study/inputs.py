"""What the tables of a study are made from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics.core.ranks.exact import ExactRanks


@dataclass(frozen=True)
class Inputs:
    """What the tables of a dataset, or of the running example, are made from.

    Attributes:
        options: the config of the running example; of a dataset, its metrics and repetitions, or
            its metrics and sampling.
        stream: function from the names of a random stream to the stream, for the running example
            and for samples.
        ranks: exact ranks by recommender.
        estimates: results of `repetitions.estimates` by recommender.
        expected: results of `repetitions.exact_moments` by recommender.
        facts: dataset.json; nothing of ready-made ranks.
        exact: result of `decided.exact_findings` of the ranks.
    """

    options: Mapping[str, Any]
    stream: Callable[..., np.random.Generator] | None = None
    ranks: Mapping[str, ExactRanks] = field(default_factory=dict)
    estimates: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    expected: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    exact: Any = None
