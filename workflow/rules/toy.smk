# Needs: nothing but the config. Makes: the running example of sections 3 to 5, Tables 1 and 2 and Figures 1-4.


rule toy_tables:
    output:
        table_1_csv="<results>/toy/table-1.csv",
        table_1_md="<results>/toy/table-1.md",
        table_1_tex="<results>/toy/table-1.tex",
        table_1_html=shown("<results>/toy/table-1.html", "Table 1: exact", "running example"),
        table_2_csv="<results>/toy/table-2.csv",
        table_2_md="<results>/toy/table-2.md",
        table_2_tex="<results>/toy/table-2.tex",
        table_2_html=shown("<results>/toy/table-2.html", "Table 2: sampled", "running example"),
    log:
        "<results>/logs/toy/tables.log",
    benchmark:
        "<results>/benchmarks/toy/tables.tsv"
    params:
        code=code("toy_tables"),
        toy=config["toy"],
        seed=config["seed"],
    script:
        "../../scripts/toy_tables.py"


rule toy_figures:
    output:
        csv=expand("<results>/toy/figure-{number}.csv", number=[1, 2, 3, 4]),
        figure_1=shown("<results>/toy/figure-1.svg", "Figure 1: metrics by rank", "running example"),
        figure_2=shown("<results>/toy/figure-2.svg", "Figure 2: by sample size", "running example"),
        figure_3=shown("<results>/toy/figure-3.svg", "Figure 3: by true rank", "running example"),
        figure_4=shown("<results>/toy/figure-4.svg", "Figure 4: corrected", "running example"),
        png=expand("<results>/toy/figure-{number}.png", number=[1, 2, 3, 4]),
    log:
        "<results>/logs/toy/figures.log",
    benchmark:
        "<results>/benchmarks/toy/figures.tsv"
    params:
        code=code("toy_figures"),
        toy={key: config["toy"][key] for key in ("candidates", "metrics", "ranks")},
        figures={key: config["figures"][key] for key in ("figure-1", "figure-2", "figure-3", "figure-4")},
    script:
        "../../scripts/toy_figures.py"


RESULTS += [*rules.toy_tables.output, *rules.toy_figures.output]
