# Needs: a rank table. Makes: the estimates of every estimator in every repetition of the sampled evaluation, their
# exact expectations, and the condition numbers of the estimators' fits.


rule sample:
    input:
        ranks=RANKS,
    output:
        estimates="results/{dataset}/estimates/{recommender}.csv.gz",
    log:
        "results/logs/{dataset}/sample-{recommender}.log",
    benchmark:
        "results/benchmarks/{dataset}/sample-{recommender}.tsv"
    conda:
        ENVIRONMENT
    params:
        **EVALUATION,
        code=code("sample.py"),
        seed=config["seed"],
    script:
        "../../scripts/sample.py"


rule exact_moments:
    input:
        ranks=RANKS,
    output:
        expected="results/{dataset}/expected/{recommender}.csv",
        conditions="results/{dataset}/conditions/{recommender}.csv",
    log:
        "results/logs/{dataset}/exact-moments-{recommender}.log",
    benchmark:
        "results/benchmarks/{dataset}/exact-moments-{recommender}.tsv"
    conda:
        ENVIRONMENT
    params:
        **EVALUATION | {"sampling": config["sampling"] | {"repetitions": None}},  # nothing is repeated
        code=code("exact_moments.py"),
    script:
        "../../scripts/exact_moments.py"
