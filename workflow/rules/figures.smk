# Needs: the rank tables of a dataset's recommenders. Makes: Figures 5 and 6.


rule figures:
    input:
        ranks=of_each(RANKS),
    output:
        figure_5_csv="<results>/{dataset}/figure-5.csv",
        figure_5_svg=shown("<results>/{dataset}/figure-5.svg", "Figure 5: ranks"),
        figure_5_png="<results>/{dataset}/figure-5.png",
        figure_6_csv="<results>/{dataset}/figure-6.csv",
        figure_6_svg=shown("<results>/{dataset}/figure-6.svg", "Figure 6: by sample size"),
        figure_6_png="<results>/{dataset}/figure-6.png",
    log:
        "<results>/logs/{dataset}/figures.log",
    benchmark:
        "<results>/benchmarks/{dataset}/figures.tsv"
    params:
        **DESIGN,
        code=code("figures"),
        recommenders=list(config["recommenders"]),
        figure_5=config["figures"]["figure-5"],
        figure_6=config["figures"]["figure-6"],
    script:
        "../../scripts/figures.py"


RESULTS += expand(rules.figures.output, dataset=config["study"])
