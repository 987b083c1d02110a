"""Whether the users of a split have as many other candidates as negatives are drawn for them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sampled_metrics.checks import require_candidates
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.split import Split


def require_negatives(split: Split, dataset: str, config: Mapping[str, Any]) -> None:
    """Refuse more negatives than a user has other candidates.

    Args:
        split: the split of the dataset.
        dataset: its name.
        config: the whole config of the study.

    Raises:
        DataError: `sampling.negatives`, or each of the sizes of Figure 6, is too large.
    """
    sampling = config["sampling"]
    try:
        require_candidates(
            split.candidates,
            int(np.max(sampling["negatives"])),
            sampling["replacement"],
            split.user_ids[split.user],
        )
    except DataError as error:
        raise DataError(f"sampling.negatives, dataset {dataset}: {error}") from None
    figure_6 = config["figures"]["figure-6"]
    sizes = (figure_6 and figure_6["negatives"]) or []
    fewest = int(split.candidates.min()) - 1
    if sizes and min(sizes) > fewest and not sampling["replacement"]:
        raise DataError(
            f"figures.figure-6.negatives, dataset {dataset}: each is above {fewest}, the fewest "
            "negatives of a user"
        )
