# Needs: a dataset's archive, from the network or the user's own copy. Makes: the split, and facts about the dataset.


localrules:
    download,


rule download:
    output:
        archive="<data>/{archive}",
    log:
        "<results>/logs/download/{archive}.log",
    benchmark:
        "<results>/benchmarks/download/{archive}.tsv"
    wildcard_constraints:
        archive=pattern_of(DOWNLOADS),
    retries: 2
    params:
        urls=lambda wildcards: config["datasets"][DOWNLOADS[wildcards.archive]]["urls"],
        checksums=checksums,
    script:
        "../../scripts/download.py"


# The split verifies the archive, too. Only this rule runs again after a change of the checksums.
rule verify:
    input:
        archive=archive_of,
    output:
        verified="<results>/{dataset}/archive.json",
    log:
        "<results>/logs/{dataset}/verify.log",
    benchmark:
        "<results>/benchmarks/{dataset}/verify.tsv"
    params:
        code=training_code("verify"),
        checksums=lambda wildcards: checksums(wildcards, 1),
        content=lambda wildcards: [content(path) for path in own_files(wildcards)[:1]],
        is_own=lambda wildcards, threads: bool(own_files(wildcards)),
    script:
        "../../scripts/verify.py"


rule split:
    input:
        archive=archive_of,
        test=lambda wildcards: own_files(wildcards)[1:],
    output:
        split=SPLIT,
        facts=FACTS,
        versions="<results>/{dataset}/split.json",
    log:
        "<results>/logs/{dataset}/split.log",
    benchmark:
        "<results>/benchmarks/{dataset}/split.tsv"
    resources:
        mem_mb=memory_of_split,
    params:
        code=training_code("split"),
        dataset=split_entry,
        content=lambda wildcards: [content(path) for path in own_files(wildcards)],
        split=config["split"],
        seed=(
            config["seed"]
            if config["split"]["strategy"] == "random-event" or config["split"]["ties"] == "random"
            else 0
        ),
        checksums=checksums,
        is_own=lambda wildcards, threads: bool(own_files(wildcards)),
        # the rules sample and figures refuse another m themselves
        sizes=lambda wildcards, threads: {key: config[key] for key in ("sampling", "figures")},
    script:
        "../../scripts/split.py"


rule split_tables:
    input:
        split=SPLIT,
    output:
        tables=expand(
            "<results>/{{dataset}}/split/{name}.{{ending}}",
            name=["train", "held_out", "users", "items"],
        ),
    log:
        "<results>/logs/{dataset}/split-tables-{ending}.log",
    benchmark:
        "<results>/benchmarks/{dataset}/split-tables-{ending}.tsv"
    wildcard_constraints:
        ending="csv|parquet",
    params:
        code=training_code("split_tables"),
    script:
        "../../scripts/split_tables.py"
