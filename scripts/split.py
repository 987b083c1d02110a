"""Parse a dataset, binarize it, and hold the last event of every user out."""

import hashlib
from pathlib import Path

from sampled_metrics import files
from sampled_metrics.data import formats
from sampled_metrics.data.archives import open_member
from sampled_metrics.data.events import binarize
from sampled_metrics.data.sources import verify
from sampled_metrics.data.split import hold_last_out
from sampled_metrics.jobs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        archive, dataset = Path(snakemake.input.archive), snakemake.params.dataset
        verify(archive, md5=dataset["md5"], sha256=dataset["sha256"])
        form = formats.get(dataset["format"])
        with open_member(archive, form.member) as stream:
            events = binarize(form.parse(stream, stream.name), dataset["min_rating"])
        split = hold_last_out(events, snakemake.params.split["ties"])
        split.write(snakemake.output.split)
        files.write_json(
            snakemake.output.facts,
            {
                "users": len(split.user_ids),
                "items": len(split.item_ids),
                "events": len(events),
                "training_events": split.training.nnz,
                "users_left_out_with_a_single_event": len(events.user_ids) - len(split.user_ids),
                "mean_candidates": float(split.candidates.mean()),
                "source": archive.name,
                "sha256": hashlib.sha256(archive.read_bytes()).hexdigest(),
            },
        )
