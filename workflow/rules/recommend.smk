# Needs: a dataset's split. Makes: a trained model of each recommender.


rule train:
    input:
        split="results/{dataset}/split.npz",
        tables=command_tables,
        code=code("train.py"),
    output:
        model="results/{dataset}/models/{recommender}.npz",
    log:
        "results/logs/{dataset}/train-{recommender}.log",
    benchmark:
        "results/benchmarks/{dataset}/train-{recommender}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=train_memory,
        runtime=train_minutes,
    params:
        entry=lambda wildcards: config["recommenders"][wildcards.recommender],
        seed=config["seed"],
        # not a function of the input, for which snakemake would not run again
        fingerprints=command_fingerprints,
    script:
        "../../scripts/train.py"
