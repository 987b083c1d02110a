# From the archive of a dataset to the figures and tables of Krichene and Rendle (KDD 2020).
# `snakemake --cores 2` makes everything that config.yaml describes.
from snakemake.utils import min_version

min_version("9.8")


configfile: f"{workflow.basedir}/datasets.yaml"
configfile: f"{workflow.basedir}/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/recommend.smk"
include: "workflow/rules/rank.smk"
include: "workflow/rules/sample.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/estimator_study.smk"
include: "workflow/rules/toy.smk"
include: "workflow/rules/fidelity.smk"


onstart:
    remove_leftovers()


rule all:
    default_target: True
    input:
        all_results(),
