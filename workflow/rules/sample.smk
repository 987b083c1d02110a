# Needs: a rank table. Makes: what every estimator says in every repetition of the sampled evaluation, and what it says on
# average, without a draw, with the condition numbers of the estimators' fits.


rule sample:
    input:
        ranks="results/{dataset}/ranks/{recommender}.csv.gz",
        code=code("sample.py"),
    output:
        estimates="results/{dataset}/estimates/{recommender}.csv.gz",
    log:
        "results/logs/{dataset}/sample-{recommender}.log",
    benchmark:
        "results/benchmarks/{dataset}/sample-{recommender}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=memory(per_mb=500),
        runtime=minutes(per_mb=20),
    params:
        seed=config["seed"],
        sampling=config["sampling"],
        estimators=config["estimators"],
        metrics=config["metrics"],
        assume_replacement=ASSUME_REPLACEMENT,
    script:
        "../../scripts/sample.py"


rule exact_moments:
    input:
        ranks="results/{dataset}/ranks/{recommender}.csv.gz",
        code=code("exact_moments.py"),
    output:
        expected="results/{dataset}/expected/{recommender}.csv",
        conditions="results/{dataset}/conditions/{recommender}.csv",
    log:
        "results/logs/{dataset}/exact-moments-{recommender}.log",
    benchmark:
        "results/benchmarks/{dataset}/exact-moments-{recommender}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=memory(per_mb=500),
        runtime=minutes(per_mb=20),
    params:
        sampling=config["sampling"],
        estimators=config["estimators"],
        metrics=config["metrics"],
        assume_replacement=ASSUME_REPLACEMENT,
    script:
        "../../scripts/exact_moments.py"
