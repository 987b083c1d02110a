# Needs: the rank tables of a dataset's recommenders. Makes: how far off every estimator is, and how often it orders the
# recommenders rightly, by sample size.


rule study_estimators:
    input:
        ranks="results/{dataset}/ranks/{recommender}.csv.gz",
        code=code("study_estimators.py"),
    output:
        study="results/{dataset}/estimator-study/{recommender}.csv",
    log:
        "results/logs/{dataset}/estimator-study-{recommender}.log",
    benchmark:
        "results/benchmarks/{dataset}/estimator-study-{recommender}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=memory(per_mb=5000),
        runtime=minutes(per_mb=60),
    params:
        seed=config["seed"],
        study=config["estimator_study"],
        metrics=config["metrics"],
        replacement=config["sampling"]["replacement"],
        assume_replacement=ASSUME_REPLACEMENT,
    script:
        "../../scripts/study_estimators.py"


rule estimator_study:
    input:
        ranks=each_recommender("results/{dataset}/ranks/{recommender}.csv.gz"),
        studies=each_recommender("results/{dataset}/estimator-study/{recommender}.csv"),
        code=code("estimator_study.py"),
    output:
        csv="results/{dataset}/estimator-study.csv",
        order="results/{dataset}/estimator-study-order.csv",
        md="results/{dataset}/estimator-study.md",
        html=report(
            "results/{dataset}/estimator-study.html",
            caption="../report/estimator-study.rst",
            category="{dataset}",
            labels={"what": "Estimator study: estimators"},
        ),
        svg=report(
            "results/{dataset}/estimator-study.svg",
            caption="../report/estimator-study.rst",
            category="{dataset}",
            labels={"what": "Estimator study: by sample size"},
        ),
        png="results/{dataset}/estimator-study.png",
    log:
        "results/logs/{dataset}/estimator-study.log",
    benchmark:
        "results/benchmarks/{dataset}/estimator-study.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=memory(per_mb=200),
        runtime=minutes(per_mb=20),
    params:
        recommenders=list(config["recommenders"]),
    script:
        "../../scripts/estimator_study.py"
