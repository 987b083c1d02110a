# Needs: the rank tables of a dataset's recommenders. Makes: Figures 5 and 6.


rule figure_5:
    input:
        ranks=each_recommender(RANKS),
    output:
        **result("{dataset}", "figure-5", "{dataset}", svg="Figure 5: ranks"),
    log:
        "results/logs/{dataset}/figure-5.log",
    benchmark:
        "results/benchmarks/{dataset}/figure-5.tsv"
    conda:
        ENVIRONMENT
    params:
        code=code("figure_5.py"),
        recommenders=list(config["recommenders"]),
        edges=config["figures"]["figure-5"]["edges"],
    script:
        "../../scripts/figure_5.py"


rule figure_6:
    input:
        ranks=each_recommender(RANKS),
    output:
        **result("{dataset}", "figure-6", "{dataset}", svg="Figure 6: by sample size"),
    log:
        "results/logs/{dataset}/figure-6.log",
    benchmark:
        "results/benchmarks/{dataset}/figure-6.tsv"
    conda:
        ENVIRONMENT
    params:
        **DESIGN,
        code=code("figure_6.py"),
        recommenders=list(config["recommenders"]),
        figure=config["figures"]["figure-6"],
    script:
        "../../scripts/figure_6.py"
