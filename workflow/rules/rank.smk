# Needs: a dataset's split and a trained model, or ranks that another tool computed. Makes: the rank table, the only
# input of later stages. On a cluster the users may be scattered over jobs; the gathered table is the same to the byte.

IMPORTED = [  # the table and the benchmark of each
    path for dataset, name in PRECOMPUTED for path in (f"{dataset}/ranks/{name}.csv.gz", f"{dataset}/rank-{name}.tsv")
]


scattergather:
    users=config["ranking"]["scatter"],


rule rank_part:
    input:
        split="results/{dataset}/split.npz",
        model="results/{dataset}/models/{recommender}.npz",
    output:
        part=temp("results/{dataset}/ranks/parts/{recommender}-{scatteritem}.npz"),
    log:
        "results/logs/{dataset}/rank-parts/{recommender}-{scatteritem}.log",
    benchmark:
        "results/benchmarks/{dataset}/rank-parts/{recommender}-{scatteritem}.tsv"
    conda:
        ENVIRONMENT
    threads: config["ranking"]["threads"]
    resources:
        mem_mb=lambda wildcards, attempt: attempt * (SNAKEMAKE + config["ranking"]["memory"]),
    params:
        code=code("rank.py"),
        precision=lambda wildcards: (
            config["ranking"]["precision"] if TRAINERS[wildcards.recommender].has_factors else "float64"
        ),
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
        wildcard_constraints:
            dataset=dataset_of(IMPORTED, others=True),
        conda:
            ENVIRONMENT
        params:
            code=code("gather_ranks.py"),
        script:
            "../../scripts/gather_ranks.py"


rule import_ranks:
    input:
        # ancient, with a fingerprint, as the user's own files in data.smk
        ranks=lambda wildcards: ancient(
            local(PRECOMPUTED[wildcards.dataset, wildcards.recommender].file(wildcards.dataset))
        ),
    output:
        ranks=RANKS,
    log:
        "results/logs/{dataset}/rank-{recommender}.log",
    benchmark:
        "results/benchmarks/{dataset}/rank-{recommender}.tsv"
    wildcard_constraints:
        dataset=dataset_of(IMPORTED),
    conda:
        ENVIRONMENT
    params:
        code=code("import_ranks.py"),
        fingerprints=lambda wildcards: [
            fingerprint(PRECOMPUTED[wildcards.dataset, wildcards.recommender].file(wildcards.dataset))
        ],
        candidates=lambda wildcards: PRECOMPUTED[wildcards.dataset, wildcards.recommender].candidates,
        exact=lambda wildcards: PRECOMPUTED[wildcards.dataset, wildcards.recommender].exact,
    script:
        "../../scripts/import_ranks.py"
