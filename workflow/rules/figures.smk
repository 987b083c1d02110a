# Needs: the rank tables of a dataset's recommenders. Makes: Figures 5 and 6.


rule figure_5:
    input:
        ranks=each_recommender("results/{dataset}/ranks/{recommender}.csv.gz"),
        code=code("figure_5.py"),
    output:
        csv="results/{dataset}/figure-5.csv",
        svg=report(
            "results/{dataset}/figure-5.svg",
            caption="../report/figure-5.rst",
            category="{dataset}",
            labels={"what": "Figure 5: ranks"},
        ),
        png="results/{dataset}/figure-5.png",
    log:
        "results/logs/{dataset}/figure-5.log",
    benchmark:
        "results/benchmarks/{dataset}/figure-5.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=memory(per_mb=200),
        runtime=minutes(per_mb=20),
    params:
        recommenders=list(config["recommenders"]),
        edges=config["figures"]["figure-5"]["edges"],
    script:
        "../../scripts/figure_5.py"


rule figure_6:
    input:
        ranks=each_recommender("results/{dataset}/ranks/{recommender}.csv.gz"),
        code=code("figure_6.py"),
    output:
        csv="results/{dataset}/figure-6.csv",
        svg=report(
            "results/{dataset}/figure-6.svg",
            caption="../report/figure-6.rst",
            category="{dataset}",
            labels={"what": "Figure 6: by sample size"},
        ),
        png="results/{dataset}/figure-6.png",
    log:
        "results/logs/{dataset}/figure-6.log",
    benchmark:
        "results/benchmarks/{dataset}/figure-6.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=memory(per_mb=500),
        runtime=minutes(per_mb=20),
    params:
        recommenders=list(config["recommenders"]),
        figure=config["figures"]["figure-6"],
        replacement=config["sampling"]["replacement"],
        assume_replacement=ASSUME_REPLACEMENT,
    script:
        "../../scripts/figure_6.py"
