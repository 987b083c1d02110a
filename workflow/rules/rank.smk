# Needs: a dataset's split and a trained model, or ranks that another tool computed. Makes: the rank table, which is all
# that later stages need. On a cluster the users may be scattered over jobs; the gathered table is the same to the byte.

IMPORTED = [RANKS.format(dataset=dataset, recommender=name) for dataset, name in PRECOMPUTED]


scattergather:
    users=config["ranking"]["scatter"],


rule rank_part:
    input:
        split="results/{dataset}/split.npz",
        model="results/{dataset}/models/{recommender}.npz",
        code=code("rank.py"),
    output:
        part=temp("results/{dataset}/ranks/parts/{recommender}-{scatteritem}.npz"),
    log:
        "results/logs/{dataset}/rank-{recommender}-{scatteritem}.log",
    benchmark:
        "results/benchmarks/{dataset}/rank-{recommender}-{scatteritem}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: config["ranking"]["threads"]
    resources:
        mem_mb=rank_memory,
        runtime=rank_minutes,
    params:
        precision=config["ranking"]["precision"],
    script:
        "../../scripts/rank.py"


if config["ranking"]["scatter"] == 1:

    use rule rank_part as rank with:
        output:
            ranks=RANKS,
        log:
            "results/logs/{dataset}/rank-{recommender}.log",
        benchmark:
            "results/benchmarks/{dataset}/rank-{recommender}.tsv"
        wildcard_constraints:
            dataset=dataset_of(IMPORTED, others=True),

else:

    rule rank:
        input:
            parts=gather.users("results/{{dataset}}/ranks/parts/{{recommender}}-{scatteritem}.npz"),
            code=code("gather_ranks.py"),
        output:
            ranks=RANKS,
        log:
            "results/logs/{dataset}/rank-{recommender}.log",
        benchmark:
            "results/benchmarks/{dataset}/rank-{recommender}.tsv"
        wildcard_constraints:
            dataset=dataset_of(IMPORTED, others=True),
        conda:
            "../../envs/environment.yaml"
        threads: 1
        resources:
            **per_mb(memory=3, minutes=1),
        script:
            "../../scripts/gather_ranks.py"


rule import_ranks:
    input:
        ranks=lambda wildcards: local(PRECOMPUTED[wildcards.dataset, wildcards.recommender].file(wildcards.dataset)),
        code=code("import_ranks.py"),
    output:
        ranks=RANKS,
    log:
        "results/logs/{dataset}/rank-{recommender}.log",
    benchmark:
        "results/benchmarks/{dataset}/rank-{recommender}.tsv"
    wildcard_constraints:
        dataset=dataset_of(IMPORTED),
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **per_mb(memory=200, minutes=1),
    params:
        # not a function of the input, for which snakemake would not run again
        fingerprints=lambda wildcards: [
            fingerprint(PRECOMPUTED[wildcards.dataset, wildcards.recommender].file(wildcards.dataset))
        ],
        candidates=lambda wildcards: PRECOMPUTED[wildcards.dataset, wildcards.recommender].candidates,
    script:
        "../../scripts/import_ranks.py"
