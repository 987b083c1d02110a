# Needs: a dataset's split and a trained model, or ranks that another tool computed. Makes: the rank table, the only
# input of later stages. On a cluster the users may be scattered over jobs; the gathered table is the same to the byte.

IMPORTED = [RANKS.format(dataset=dataset, recommender=name) for dataset, name in PRECOMPUTED]


scattergather:
    users=config["ranking"]["scatter"],


rule rank_part:
    input:
        split="results/{dataset}/split.npz",
        model="results/{dataset}/models/{recommender}.npz",
    output:
        part=temp("results/{dataset}/ranks/parts/{recommender}-{scatteritem}.npz"),
    log:
        "results/logs/{dataset}/rank-{recommender}-{scatteritem}.log",
    benchmark:
        "results/benchmarks/{dataset}/rank-{recommender}-{scatteritem}.tsv"
    conda:
        ENVIRONMENT
    threads: config["ranking"]["threads"]
    resources:
        # 300 for snakemake beside the script
        mem_mb=lambda wildcards, attempt: attempt * (300 + config["ranking"]["memory"]),
    params:
        code=code("rank.py"),
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
        output:
            ranks=RANKS,
        log:
            "results/logs/{dataset}/rank-{recommender}.log",
        benchmark:
            "results/benchmarks/{dataset}/rank-{recommender}.tsv"
        conda:
            ENVIRONMENT
        wildcard_constraints:
            dataset=dataset_of(IMPORTED, others=True),
        params:
            code=code("gather_ranks.py"),
        script:
            "../../scripts/gather_ranks.py"


rule import_ranks:
    input:
        ranks=lambda wildcards: local(PRECOMPUTED[wildcards.dataset, wildcards.recommender].file(wildcards.dataset)),
    output:
        ranks=RANKS,
    log:
        "results/logs/{dataset}/rank-{recommender}.log",
    benchmark:
        "results/benchmarks/{dataset}/rank-{recommender}.tsv"
    conda:
        ENVIRONMENT
    wildcard_constraints:
        dataset=dataset_of(IMPORTED),
    params:
        code=code("import_ranks.py"),
        # not a function of the input: snakemake would not run again for one
        fingerprints=lambda wildcards: [
            fingerprint(PRECOMPUTED[wildcards.dataset, wildcards.recommender].file(wildcards.dataset))
        ],
        candidates=lambda wildcards: PRECOMPUTED[wildcards.dataset, wildcards.recommender].candidates,
    script:
        "../../scripts/import_ranks.py"
