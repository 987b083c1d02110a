# Needs: the rank tables of a dataset's recommenders. Makes: the error of every estimator and the probability that it
# orders the recommenders correctly, by sample size.

TITLES = {"html": "Estimator study: estimators", "svg": "Estimator study: by sample size"}
STUDY = config["estimator_study"]


rule study_estimators:
    input:
        ranks=RANKS,
    output:
        study="results/{dataset}/estimator-study/{recommender}.csv",
    log:
        "results/logs/{dataset}/estimator-study-{recommender}.log",
    benchmark:
        "results/benchmarks/{dataset}/estimator-study-{recommender}.tsv"
    conda:
        ENVIRONMENT
    params:
        **DESIGN,
        code=code("study_estimators.py"),
        seed=config["seed"],
        study=STUDY,
        metrics=config["metrics"],
    script:
        "../../scripts/study_estimators.py"


rule estimator_study:
    input:
        ranks=each_recommender(RANKS),
        studies=each_recommender("results/{dataset}/estimator-study/{recommender}.csv"),
    output:
        **result("{dataset}", "estimator-study", "{dataset}", **TITLES),
        order="results/{dataset}/estimator-study-order.csv",
    log:
        "results/logs/{dataset}/estimator-study.log",
    benchmark:
        "results/benchmarks/{dataset}/estimator-study.tsv"
    conda:
        ENVIRONMENT
    params:
        code=code("estimator_study.py"),
        recommenders=list(config["recommenders"]),
    script:
        "../../scripts/estimator_study.py"
