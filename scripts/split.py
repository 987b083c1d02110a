"""Parse a dataset, binarize it, and hold some of its events out."""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from sampled_metrics import file_io
from sampled_metrics.errors import DataError
from sampled_metrics_study.data import archives, formats
from sampled_metrics_study.data.events import binarize, k_core
from sampled_metrics_study.data.formats import read_events
from sampled_metrics_study.data.negatives import require_negatives
from sampled_metrics_study.data.split import shared_last_times, split_events
from sampled_metrics_study.data.times import split_options
from sampled_metrics_study.jobs import memory_of_machine, run, stream


def main(snakemake: Any) -> None:
    """Write the split, and facts about the dataset."""
    params = snakemake.params
    archive = Path(snakemake.input.archive)
    dataset = params.dataset
    name = snakemake.wildcards.dataset
    digests = archives.verify(archive, **params.checksums, is_own=params.is_own)
    test = Path(snakemake.input.test[0]) if snakemake.input.test else None
    chunks = read_events(
        archive,
        formats.get(dataset["format"]),
        member=dataset["member"],
        options=dataset["options"],
        test=test,
    )
    events = binarize(chunks, dataset["min_rating"], dataset["repeated"], memory_of_machine())
    left_out = events.left_out
    all_events = len(events)
    all_users = len(events.user_ids)
    all_items = len(events.item_ids)
    events = k_core(events, dataset["core"])
    rng = stream(params.seed, name, "split")
    options = split_options(params.split, events.timestamps)
    is_by_time = events.held_out is None and options["strategy"] == "last-event"
    # before the split, which takes the most memory
    shared = shared_last_times(events, options["held_out"]) if is_by_time else 0
    split = split_events(events, **options, rng=rng)
    require_negatives(split.candidates, split.user_ids[split.user], name, params.sizes)
    split.write(snakemake.output.split)
    is_trained = np.bincount(split.training.indices, minlength=len(split.item_ids)) > 0
    if not is_trained[split.item].any():
        raise DataError(
            f"none of the {len(split.item)} held-out items has a training event, such as item "
            f"{split.item_ids[split.item[0]]}; in two files, the same item must have the same id"
        )
    facts = {
        "users": len(split.user_ids),
        "items": len(split.item_ids),
        "events": len(events),
        "training_events": split.training.nnz,
        "users_left_out_with_few_training_events": len(events.user_ids) - len(split.user_ids),
        "users_without_held_out_items": len(split.user_ids) - len(np.unique(split.user)),
        "users_whose_last_time_is_shared": shared,
        "events_in_file": all_events + sum(left_out.values()),
        **{f"events_left_out_{reason}": count for reason, count in left_out.items()},
        "events_left_out_by_core": all_events - len(events),
        "users_left_out_by_core": all_users - len(events.user_ids),
        "items_left_out_by_core": all_items - len(events.item_ids),
        "held_out_items": split.held_out.nnz,
        "held_out_items_without_training_events": int((~is_trained[split.item]).sum()),
        "mean_candidates": float(split.candidates.mean()),
        "source": archive.name,
        "sha256": digests["sha256"],
        "md5": digests["md5"],
    }
    file_io.write_json(snakemake.output.facts, facts)
    for fact, count in facts.items():
        logging.info("%s: %s", fact, count)


if __name__ == "__main__":
    run(main, snakemake, "split {wildcards.dataset}")
