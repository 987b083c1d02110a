# Needs: the rank tables of a dataset's recommenders, or the config of the running example. Makes: their figures, which
# are entries of src/sampled_metrics_study/entries.py.


rule figures:
    input:
        ranks=for_recommenders(RANKS),
    output:
        figure_5_csv="<results>/{dataset}/figure-5.csv",
        figure_5_svg=in_report("<results>/{dataset}/figure-5.svg", "Figure 5: ranks"),
        figure_5_png="<results>/{dataset}/figure-5.png",
        figure_6_csv="<results>/{dataset}/figure-6.csv",
        figure_6_svg=in_report("<results>/{dataset}/figure-6.svg", "Figure 6: by sample size"),
        figure_6_png="<results>/{dataset}/figure-6.png",
        versions="<results>/{dataset}/figures.json",
    log:
        "<results>/logs/{dataset}/figures.log",
    benchmark:
        "<results>/benchmarks/{dataset}/figures.tsv"
    params:
        code=code("figures"),
        place="dataset",
        subject=lambda wildcards: wildcards.dataset,
        recommenders=list(config["recommenders"]),
        arguments=arguments(FIGURES["dataset"], config),
    script:
        "../../scripts/figures.py"


if config["toy"]:

    rule toy_figures:
        output:
            figure_1_csv="<results>/toy/figure-1.csv",
            figure_1_svg=in_report("<results>/toy/figure-1.svg", "Figure 1: metrics by rank", TOY),
            figure_1_png="<results>/toy/figure-1.png",
            figure_2_csv="<results>/toy/figure-2.csv",
            figure_2_svg=in_report("<results>/toy/figure-2.svg", "Figure 2: by sample size", TOY),
            figure_2_png="<results>/toy/figure-2.png",
            figure_3_csv="<results>/toy/figure-3.csv",
            figure_3_svg=in_report("<results>/toy/figure-3.svg", "Figure 3: by true rank", TOY),
            figure_3_png="<results>/toy/figure-3.png",
            figure_4_csv="<results>/toy/figure-4.csv",
            figure_4_svg=in_report("<results>/toy/figure-4.svg", "Figure 4: corrected", TOY),
            figure_4_png="<results>/toy/figure-4.png",
            versions="<results>/toy/figures.json",
        log:
            "<results>/logs/toy/figures.log",
        benchmark:
            "<results>/benchmarks/toy/figures.tsv"
        params:
            code=code("figures"),
            place="toy",
            subject="the running example",
            arguments=arguments(FIGURES["toy"], config),
        script:
            "../../scripts/figures.py"
