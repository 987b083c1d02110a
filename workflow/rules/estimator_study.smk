# Needs: the rank tables of a dataset's recommenders. Makes: the error of every estimator, and how often it orders the
# recommenders correctly, by sample size. With sampling.strata also samples from strata, from the models' counts by stratum.

TITLES = {"html": "Estimator study: estimators", "svg": "Estimator study: by sample size"}
STRATA = config["sampling"]["strata"]
COUNTS = {"strata": "results/{dataset}/strata/{recommender}.csv.gz"} if STRATA else {}
STUDY = config["estimator_study"]
# minutes of the fits to samples from strata
FITS = math.ceil(STUDY["repetitions"] * sum(STUDY["negatives"]) / 200) if STRATA else 0


rule study_estimators:
    input:
        **COUNTS,
        ranks=RANKS,
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
        **per_mb(memory=5000, minutes=60, least=10 + FITS),
    params:
        **DESIGN,
        **({"shares": STRATA["shares"]} if STRATA else {}),
        seed=config["seed"],
        study=STUDY,
        metrics=config["metrics"],
    script:
        "../../scripts/study_estimators.py"


rule estimator_study:
    input:
        ranks=each_recommender(RANKS),
        studies=each_recommender("results/{dataset}/estimator-study/{recommender}.csv"),
        code=code("estimator_study.py"),
    output:
        **result("{dataset}", "estimator-study", "{dataset}", **TITLES),
        order="results/{dataset}/estimator-study-order.csv",
    log:
        "results/logs/{dataset}/estimator-study.log",
    benchmark:
        "results/benchmarks/{dataset}/estimator-study.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        **per_mb(memory=200, minutes=20),
    params:
        recommenders=list(config["recommenders"]),
    script:
        "../../scripts/estimator_study.py"


if STRATA:

    rule rank_strata:
        input:
            split="results/{dataset}/split.npz",
            model="results/{dataset}/models/{recommender}.npz",
            code=code("rank_strata.py"),
        output:
            **COUNTS,
        log:
            "results/logs/{dataset}/rank-strata-{recommender}.log",
        benchmark:
            "results/benchmarks/{dataset}/rank-strata-{recommender}.tsv"
        conda:
            "../../envs/environment.yaml"
        threads: 1
        resources:
            mem_mb=rank_memory,
            runtime=rank_minutes,
        params:
            precision=config["ranking"]["precision"],
            sizes=STRATA["sizes"],
        script:
            "../../scripts/rank_strata.py"

    rule error_at_equal_cost:
        input:
            studies=each_recommender("results/{dataset}/estimator-study/{recommender}.csv"),
            ranks=each_recommender(RANKS),
            code=code("error_at_equal_cost.py"),
        output:
            **result("{dataset}", "error-at-equal-cost", "{dataset}", svg="Error at equal cost: samples from strata"),
        log:
            "results/logs/{dataset}/error-at-equal-cost.log",
        benchmark:
            "results/benchmarks/{dataset}/error-at-equal-cost.tsv"
        conda:
            "../../envs/environment.yaml"
        threads: 1
        resources:
            **per_mb(memory=200, minutes=20),
        params:
            recommenders=list(config["recommenders"]),
        script:
            "../../scripts/error_at_equal_cost.py"
