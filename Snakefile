# From the archive of a dataset to the figures and tables of Krichene and Rendle (KDD 2020).
# `snakemake --cores 2` makes everything that config.yaml describes. Other workflows may import it as a module
# (docs/own-study.md).
import os

from snakemake.utils import min_version

min_version("9.19")


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/recommend.smk"
include: "workflow/rules/rank.smk"
include: "workflow/rules/sample.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/toy.smk"


if config["figures"]["budget"]:

    include: "workflow/rules/budget.smk"


include: "workflow/rules/summary.smk"


from sampled_metrics.file_io import remove_leftovers


onstart:
    for folder in written_folders():
        if not os.access(folder, os.W_OK):
            raise WorkflowError(
                f"error: {folder}: cannot be written: Read-only file system, or no permission"
            )
    remove_leftovers(written_folders())


# all that a run makes
RESULTS = [
    *expand(rules.verify.output, dataset=[name for name in config["study"] if TRAINED[name]]),
    *expand(rules.tables.output, dataset=config["study"], recommender=list(config["recommenders"])),
    *expand(rules.sample_tables.output, dataset=config["study"]),
    *expand(rules.figures.output, dataset=config["study"]),
    *expand(rules.compared_tables.output, dataset=COMPARED),
    *rules.summary.output,
]
if config["toy"]:
    RESULTS += rules.toy.output
if config["figures"]["budget"]:
    RESULTS += expand(rules.budget.output, dataset=WITH_BUDGET)


rule all:
    default_target: True
    input:
        RESULTS,
