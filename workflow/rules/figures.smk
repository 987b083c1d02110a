# Needs: the rank tables of a dataset's recommenders. Makes: their figures, which are entries of
# src/sampled_metrics_study/entries.py.


rule figures:
    input:
        ranks=for_recommenders(RANKS),
    output:
        **files_of_figure("{dataset}/figure-5", "Figure 5: ranks"),
        **files_of_figure("{dataset}/figure-6", "Figure 6: by sample size"),
        versions="<results>/{dataset}/figures.json",
    log:
        "<results>/logs/{dataset}/figures.log",
    benchmark:
        "<results>/benchmarks/{dataset}/figures.tsv"
    params:
        code=code("figures"),
        recommenders=list(config["recommenders"]),
        arguments=arguments(FIGURES["dataset"], config),
    script:
        "../../scripts/figures.py"
