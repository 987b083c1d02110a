# Needs: a dataset's split and a trained model. Makes: the rank table, all that later stages need of either.


rule rank:
    input:
        split="results/{dataset}/split.npz",
        model="results/{dataset}/models/{recommender}.npz",
        code=code("rank.py"),
    output:
        ranks="results/{dataset}/ranks/{recommender}.csv.gz",
    log:
        "results/logs/{dataset}/rank-{recommender}.log",
    benchmark:
        "results/benchmarks/{dataset}/rank-{recommender}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    script:
        "../../scripts/rank.py"
