# Needs: the rank tables of a dataset's recommenders. Makes: how far off every estimator is, and how often it orders the
# recommenders rightly, by sample size.


rule compare:
    input:
        ranks="results/{dataset}/ranks/{recommender}.csv.gz",
        code=code("compare.py"),
    output:
        comparison="results/{dataset}/comparison/{recommender}.csv",
    log:
        "results/logs/{dataset}/compare-{recommender}.log",
    benchmark:
        "results/benchmarks/{dataset}/compare-{recommender}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=memory(per_mb=5000),
        runtime=minutes(per_mb=60),
    params:
        seed=config["seed"],
        comparison=config["comparison"],
        metrics=config["metrics"],
        replacement=config["sampling"]["replacement"],
        assume_replacement=negatives_are_replaced(config["estimator_model"]),
    script:
        "../../scripts/compare.py"


rule comparison:
    input:
        ranks=each_recommender("results/{dataset}/ranks/{recommender}.csv.gz"),
        comparisons=each_recommender("results/{dataset}/comparison/{recommender}.csv"),
        code=code("comparison.py"),
    output:
        csv="results/{dataset}/comparison.csv",
        order="results/{dataset}/comparison-order.csv",
        md="results/{dataset}/comparison.md",
        html=report(
            "results/{dataset}/comparison.html",
            caption="../report/comparison.rst",
            category="{dataset}",
            labels={"what": "Comparison: estimators"},
        ),
        svg=report(
            "results/{dataset}/comparison.svg",
            caption="../report/comparison.rst",
            category="{dataset}",
            labels={"what": "Comparison: by sample size"},
        ),
        png="results/{dataset}/comparison.png",
    log:
        "results/logs/{dataset}/comparison.log",
    benchmark:
        "results/benchmarks/{dataset}/comparison.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=memory(per_mb=200),
        runtime=minutes(per_mb=20),
    params:
        recommenders=list(config["recommenders"]),
    script:
        "../../scripts/comparison.py"
