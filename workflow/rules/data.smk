# Needs: a dataset's archive, from the network or the user's own copy. Makes: the split, and facts about the dataset.
# The user's own files are ancient, and parameters have their fingerprints: other content runs again, another time does
# not. Snakemake would not run again for a function of the input.
from sampled_metrics.data import archives as download

DOWNLOADS = {
    name: f"data/{name}/{download.file_name(config['datasets'][name]['urls'][0])}"
    for name in config["study"]
    if config["datasets"][name]["urls"] and not config["datasets"][name]["path"]
}
FIRST_SEEN = [  # the datasets whose download no checksum of the config protects
    name for name in DOWNLOADS if not config["datasets"][name]["md5"] and not config["datasets"][name]["sha256"]
]
IS_RANDOM = config["split"]["strategy"] == "random-event" or config["split"]["ties"] == "random"


localrules:
    download,
    first_seen,


rule download:
    output:
        archive="data/{dataset}/{file}",
    log:
        "results/logs/{dataset}/download-{file}.log",
    benchmark:
        "results/benchmarks/{dataset}/download-{file}.tsv"
    wildcard_constraints:
        dataset=dataset_of(path.removeprefix("data/") for path in DOWNLOADS.values()),
    conda:
        ENVIRONMENT
    params:
        urls=lambda wildcards: config["datasets"][wildcards.dataset]["urls"],
    script:
        "../../scripts/download.py"


rule first_seen:
    input:
        archive=lambda wildcards: DOWNLOADS[wildcards.dataset],
    output:
        # snakemake removes outputs before a job, but not those that it updates
        record=update("data/{dataset}/first-seen.sha256"),
    log:
        "results/logs/{dataset}/first-seen.log",
    benchmark:
        "results/benchmarks/{dataset}/first-seen.tsv"
    conda:
        ENVIRONMENT
    script:
        "../../scripts/first_seen.py"


# The split verifies the archive, too. Only this rule runs again after a change of the checksums.
rule verify:
    input:
        archive=archive_of,
    output:
        verified="results/{dataset}/archive.json",
    log:
        "results/logs/{dataset}/verify.log",
    benchmark:
        "results/benchmarks/{dataset}/verify.tsv"
    conda:
        ENVIRONMENT
    params:
        code=code("verify.py"),
        md5=lambda wildcards: config["datasets"][wildcards.dataset]["md5"],
        sha256=lambda wildcards: config["datasets"][wildcards.dataset]["sha256"],
        fingerprints=lambda wildcards: [fingerprint(path) for path in own_files(wildcards)[:1]],
    script:
        "../../scripts/verify.py"


rule split:
    input:
        archive=archive_of,
        beside=lambda wildcards: own_files(wildcards)[1:],
        first_seen=lambda wildcards: (
            f"data/{wildcards.dataset}/first-seen.sha256" if wildcards.dataset in FIRST_SEEN else []
        ),
    output:
        split="results/{dataset}/split.npz",
        facts="results/{dataset}/dataset.json",
    log:
        "results/logs/{dataset}/split.log",
    benchmark:
        "results/benchmarks/{dataset}/split.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt * reading_request(input.archive),
    params:
        code=code("split.py"),
        dataset=split_entry,
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
    wildcard_constraints:
        ending="csv|parquet",
    conda:
        ENVIRONMENT
    params:
        code=code("split_tables.py"),
    script:
        "../../scripts/split_tables.py"
