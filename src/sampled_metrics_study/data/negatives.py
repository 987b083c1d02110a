"""Whether the users of a split have as many other candidates as negatives are drawn for them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampled_metrics.checks import Ints, require_candidates
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranking.split import Split
from sampled_metrics_study.data import formats
from sampled_metrics_study.data.events import EventChunk, binarize, k_core
from sampled_metrics_study.data.split import split_events
from sampled_metrics_study.data.times import split_options

_LARGEST_FILE = 2**25  # bytes
_MOST_EVENTS = 2_000_000


def require_negatives(
    candidates: Ints, users: NDArray[Any], dataset: str, config: Mapping[str, Any]
) -> None:
    """Refuse more negatives than a user has other candidates.

    Args:
        candidates: (events,) the candidates of each held-out item of a dataset.
        users: (events,) their users.
        dataset: the name of the dataset.
        config: the whole config of the study.

    Raises:
        ConfigError: `sampling.negatives`, or each of the sizes of Figure 6, is too large.
    """
    for key, m in _needed(config).items():
        try:
            require_candidates(candidates, m, config["sampling"]["replacement"], users)
        except DataError as error:
            raise ConfigError(f"{key}, dataset {dataset}: {error}") from None


def split_at_hand(dataset: str, config: Mapping[str, Any]) -> Split | None:
    """Return the split of a dataset whose file may have too few items, or None.

    None is returned without a file, for a file that is too large to read here, for enough items,
    and for negatives with replacement. For an invalid file it is None, too: the job that reads it
    says what is wrong.
    """
    entry = config["datasets"][dataset]
    if not entry["path"] or config["sampling"]["replacement"]:
        return None
    try:
        if Path(entry["path"]).stat().st_size > _LARGEST_FILE:
            return None
        form = formats.get(entry["format"])
        if formats.is_packed_parquet(Path(entry["path"]), form, member=entry["member"]):
            return None
        chunks: list[EventChunk] = []
        count = 0
        for chunk in formats.read_events(
            Path(entry["path"]),
            form,
            member=entry["member"],
            options=entry["options"],
            test=Path(entry["test"]) if entry["test"] else None,
        ):
            # a user with half of the items is rare; the split tells of it
            if not chunks and max(_needed(config).values()) <= len(np.unique(chunk.items)) / 2:
                return None
            chunks.append(chunk)
            count += len(chunk.users)
            if count > _MOST_EVENTS:
                return None
        events = k_core(binarize(chunks, entry["min_rating"], entry["repeated"]), entry["core"])
        # which events are held out at random changes no number of candidates
        options = split_options(config["split"], events.timestamps)
        return split_events(events, **options, rng=np.random.default_rng(0))
    except (ConfigError, DataError, OSError):
        return None


def _needed(config: Mapping[str, Any]) -> dict[str, int]:
    """Return the m that each user needs candidates for, by the key that states it.

    Figure 6 leaves out sizes that are too large, but not all of them.
    """
    figure_6 = config["figures"]["figure-6"] or {"negatives": None}
    return {
        "sampling.negatives": int(np.max(config["sampling"]["negatives"])),
        "figures.figure-6.negatives": min(figure_6["negatives"] or [0]),
    }
