# Needs: a rank table. Makes: the estimates of every estimator in every repetition of the sampled evaluation, their
# exact expectations, and the condition numbers of the estimators' fits.


rule sample:
    input:
        ranks=RANKS,
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
        **per_mb(memory=500, minutes=20),
    params:
        **EVALUATION,
        seed=config["seed"],
    script:
        "../../scripts/sample.py"


rule exact_moments:
    input:
        ranks=RANKS,
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
        **per_mb(memory=500, minutes=20),
    params:
        **EVALUATION,
    script:
        "../../scripts/exact_moments.py"
