# Needs: a dataset's archive, from the network or the user's own copy. Makes: the split, and facts about the dataset.
from sampled_metrics.data import download

DOWNLOADS = {
    name: f"data/{name}/{download.file_name(config['datasets'][name]['urls'][0])}"
    for name in config["study"]
    if config["datasets"][name]["urls"] and not config["datasets"][name]["path"]
}
IS_RANDOM = config["split"]["strategy"] == "random-event" or config["split"]["ties"] == "random"


localrules:
    download,


rule download:
    output:
        archive="data/{dataset}/{file}",
    log:
        "results/logs/{dataset}/download-{file}.log",
    benchmark:
        "results/benchmarks/{dataset}/download-{file}.tsv"
    conda:
        ENVIRONMENT
    wildcard_constraints:
        dataset=dataset_of(DOWNLOADS.values()),
    params:
        urls=lambda wildcards: config["datasets"][wildcards.dataset]["urls"],
        md5=lambda wildcards: config["datasets"][wildcards.dataset]["md5"],
        sha256=lambda wildcards: config["datasets"][wildcards.dataset]["sha256"],
    script:
        "../../scripts/download.py"


rule split:
    input:
        archive=lambda wildcards: (own_files(wildcards) or [DOWNLOADS.get(wildcards.dataset)])[0],
        beside=lambda wildcards: own_files(wildcards)[1:],
    output:
        split="results/{dataset}/split.npz",
        facts="results/{dataset}/dataset.json",
    log:
        "results/logs/{dataset}/split.log",
    benchmark:
        "results/benchmarks/{dataset}/split.tsv"
    conda:
        ENVIRONMENT
    params:
        code=code("split.py"),
        dataset=split_entry,
        # they change if another file, even an older one, takes the place of the user's own; snakemake would not run
        # again for a function of the input
        fingerprints=lambda wildcards: [fingerprint(path) for path in own_files(wildcards)],
        split=config["split"],
        seed=config["seed"] if IS_RANDOM else 0,
    script:
        "../../scripts/split.py"


rule split_tables:
    input:
        split="results/{dataset}/split.npz",
    output:
        tables=expand("results/{{dataset}}/split/{name}.{{ending}}", name=["train", "held_out", "users", "items"]),
    log:
        "results/logs/{dataset}/split-tables-{ending}.log",
    benchmark:
        "results/benchmarks/{dataset}/split-tables-{ending}.tsv"
    conda:
        ENVIRONMENT
    wildcard_constraints:
        ending="csv|parquet",
    params:
        code=code("split_tables.py"),
    script:
        "../../scripts/split_tables.py"
