# Needs: the config of the running example. Makes: its tables and figures, which are entries of
# src/sampled_metrics_study/entries.py, and their comparison with the paper.
TOY = "running example"  # a category of the report
TOY_FILES = dict(
    table_1_csv="<results>/toy/table-1.csv",
    table_1_md="<results>/toy/table-1.md",
    table_1_tex="<results>/toy/table-1.tex",
    table_1_html=in_report("<results>/toy/table-1.html", "Table 1: exact", TOY),
    table_2_csv="<results>/toy/table-2.csv",
    table_2_md="<results>/toy/table-2.md",
    table_2_tex="<results>/toy/table-2.tex",
    table_2_html=in_report("<results>/toy/table-2.html", "Table 2: sampled", TOY),
    versions="<results>/toy/toy.json",
    **files_of_figure("toy/figure-1", "Figure 1: metrics by rank", TOY),
    **files_of_figure("toy/figure-2", "Figure 2: by sample size", TOY),
    **files_of_figure("toy/figure-3", "Figure 3: by true rank", TOY),
    **files_of_figure("toy/figure-4", "Figure 4: corrected", TOY),
)
if reference.covers_toy(config):
    TOY_FILES |= files_of_comparison("toy", "running example")


if config["toy"]:

    rule toy:
        output:
            **TOY_FILES,
        log:
            "<results>/logs/toy/toy.log",
        benchmark:
            "<results>/benchmarks/toy/toy.tsv"
        # it waits for nothing, and is the longest job of a small study
        priority: 1
        params:
            code=code("toy"),
            toy=config["toy"],
            arguments=arguments(FIGURES["toy"], config),
            seed=config["seed"],
        script:
            "../../scripts/toy.py"
