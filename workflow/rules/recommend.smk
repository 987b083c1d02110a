# Needs: a dataset's split. Makes: a trained model of each recommender.


rule train:
    input:
        split="results/{dataset}/split.npz",
        facts="results/{dataset}/dataset.json",
    output:
        model="results/{dataset}/models/{recommender}.npz",
    log:
        "results/logs/{dataset}/train-{recommender}.log",
    benchmark:
        "results/benchmarks/{dataset}/train-{recommender}.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=train_memory,
    params:
        code=lambda wildcards: code("train.py", wildcards.recommender),
        entry=lambda wildcards: config["recommenders"][wildcards.recommender],
        seed=lambda wildcards: config["seed"] if TRAINERS[wildcards.recommender].is_random else 0,
        # not a function of the input: snakemake would not run again for one
        fingerprints=code_fingerprints,
    script:
        "../../scripts/train.py"
