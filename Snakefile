# From the archive of a dataset to the figures and tables of Krichene and Rendle (KDD 2020).
# `snakemake --cores 2` makes everything that config.yaml describes. Other workflows may import it as a module
# (docs/own-study.md).
import atexit
import os
import sys
import time

from snakemake.logging import logger
from snakemake.utils import min_version

min_version("9.8")


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/inputs.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/recommend.smk"
include: "workflow/rules/rank.smk"
include: "workflow/rules/sample.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/fidelity.smk"
include: "workflow/rules/summary.smk"
include: "workflow/rules/provenance.smk"


if config["toy"]:

    include: "workflow/rules/toy.smk"


if config["figures"]["budget"]:

    include: "workflow/rules/budget.smk"


if config["groups"] or any(map(group_files, config["study"])):

    include: "workflow/rules/groups.smk"


if config["estimator_study"]:

    include: "workflow/rules/estimator_study.smk"


from sampled_metrics._files import remove_leftovers
from sampled_metrics.study.workflow.jobs import failures

STARTED = time.time()


onstart:
    for folder in output_folders():
        if os.path.isdir(folder) and not os.access(folder, os.W_OK):
            sys.exit(
                f"error: {folder}: cannot be written: it is read-only (Read-only file system, or no permission)"
            )
    remove_leftovers(output_folders())
    # onerror says why a job failed; snakemake would add the command
    logger.addFilter(lambda record: "CalledProcessError" not in record.getMessage())


onerror:
    # at the very end, after snakemake's own lines
    atexit.register(print, *failures("results/logs", STARTED), sep="\n", file=sys.stderr)


rule all:
    default_target: True
    input:
        all_results(),
