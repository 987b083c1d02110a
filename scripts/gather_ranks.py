"""Put the parts of a rank table together."""

import numpy as np

from sampled_metrics.data.split import read_split
from sampled_metrics.jobs import job
from sampled_metrics.ranking import gather

if __name__ == "__main__":
    with job(snakemake.log[0]):
        parts = []
        for path in snakemake.input.parts:
            with np.load(path, allow_pickle=False) as arrays:
                parts.append((arrays["users"], arrays["above"], arrays["tied"]))
        gather(read_split(snakemake.input.split), parts).write(snakemake.output.ranks)
