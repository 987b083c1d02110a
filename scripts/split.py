"""Parse a dataset, binarize it, and hold out one event of every user."""

import hashlib
from pathlib import Path
from typing import Any

from sampled_metrics import _files
from sampled_metrics.data import download, formats
from sampled_metrics.data.events import binarize
from sampled_metrics.data.filters import k_core
from sampled_metrics.data.reading import read_events
from sampled_metrics.data.split import split_events
from sampled_metrics.workflow.jobs import run
from sampled_metrics.workflow.seeds import stream


def main(snakemake: Any) -> None:
    """Write the split, and facts about the dataset."""
    archive, dataset, name = Path(snakemake.input.archive), snakemake.params.dataset, snakemake.wildcards.dataset
    download.verify(archive, md5=dataset["md5"], sha256=dataset["sha256"])
    with archive.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    if not dataset["path"] and not dataset["md5"] and not dataset["sha256"]:
        download.verify_as_first_seen(archive, sha256, Path("data", name, "first-seen.sha256"))
    member = dataset["member"] or (None if dataset["path"] else download.member(dataset["urls"]))
    chunks = read_events(archive, formats.get(dataset["format"]), member=member, options=dataset["options"])
    events = k_core(binarize(chunks, dataset["min_rating"]), dataset["core"])
    rng = stream(snakemake.params.seed, name, "split")
    split = split_events(events, snakemake.params.split["strategy"], snakemake.params.split["ties"], rng)
    split.write(snakemake.output.split)
    _files.write_json(
        snakemake.output.facts,
        {
            "users": len(split.user_ids),
            "items": len(split.item_ids),
            "events": len(events),
            "training_events": split.training.nnz,
            "users_left_out_with_a_single_event": len(events.user_ids) - len(split.user_ids),
            "mean_candidates": float(split.candidates.mean()),
            "source": archive.name,
            "sha256": sha256,
        },
    )


if __name__ == "__main__":
    run(main, snakemake, about=f"dataset {snakemake.wildcards.dataset}: ")
