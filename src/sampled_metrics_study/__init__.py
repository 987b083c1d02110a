"""The study: a Snakemake workflow from the archive of a dataset to the paper's tables and figures.

The package has the download and the split of data, recommenders, the config, the tables and
figures, the comparison with the paper, and the summary. The rules are in `workflow/`, and the
scripts that they run in `scripts/`.

The study uses the library, `sampled_metrics`, as any other program would, and needs what the extra
`workflow` installs.

Begin with `entries.py`, which lists the figures and tables, and `config.py`. `data/` and
`recommenders/` are what comes before the ranks, `repetitions.py` draws samples of them, and
`tables.py`, `fidelity.py` and `claims.py` are what comes after.
"""
