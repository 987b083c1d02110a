# Needs: nothing but the config. Makes: the running example of sections 3 to 5, Tables 1 and 2 and Figures 1-4.


rule table_1:
    input:
        code=code("toy_table.py"),
    output:
        csv="results/toy/table-1.csv",
        md="results/toy/table-1.md",
        tex="results/toy/table-1.tex",
        html=report(
            "results/toy/table-1.html",
            caption="../report/table-1.rst",
            category="running example",
            labels={"what": "Table 1: exact"},
        ),
    log:
        "results/logs/toy/table-1.log",
    benchmark:
        "results/benchmarks/toy/table-1.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=memory(),
        runtime=minutes(),
    params:
        table=1,
        toy=config["toy"],
        seed=None,  # nothing is drawn
    script:
        "../../scripts/toy_table.py"


use rule table_1 as table_2 with:
    output:
        csv="results/toy/table-2.csv",
        md="results/toy/table-2.md",
        tex="results/toy/table-2.tex",
        html=report(
            "results/toy/table-2.html",
            caption="../report/table-2.rst",
            category="running example",
            labels={"what": "Table 2: sampled"},
        ),
    log:
        "results/logs/toy/table-2.log",
    benchmark:
        "results/benchmarks/toy/table-2.tsv"
    params:
        table=2,
        toy=config["toy"],
        seed=config["seed"],


rule figure_1:
    input:
        code=code("toy_figure.py"),
    output:
        csv="results/toy/figure-1.csv",
        svg=report(
            "results/toy/figure-1.svg",
            caption="../report/figure-1.rst",
            category="running example",
            labels={"what": "Figure 1: metrics by rank"},
        ),
        png="results/toy/figure-1.png",
    log:
        "results/logs/toy/figure-1.log",
    benchmark:
        "results/benchmarks/toy/figure-1.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=memory(),
        runtime=minutes(),
    params:
        figure=1,
        arguments=dict(
            candidates=config["toy"]["candidates"],
            metrics=config["toy"]["metrics"],
            **config["figures"]["figure-1"],
        ),
    script:
        "../../scripts/toy_figure.py"


use rule figure_1 as figure_2 with:
    output:
        csv="results/toy/figure-2.csv",
        svg=report(
            "results/toy/figure-2.svg",
            caption="../report/figure-2.rst",
            category="running example",
            labels={"what": "Figure 2: by sample size"},
        ),
        png="results/toy/figure-2.png",
    log:
        "results/logs/toy/figure-2.log",
    benchmark:
        "results/benchmarks/toy/figure-2.tsv"
    params:
        figure=2,
        arguments=dict(
            ranks=config["toy"]["ranks"],
            candidates=config["toy"]["candidates"],
            metrics=config["toy"]["metrics"],
            **config["figures"]["figure-2"],
        ),


use rule figure_1 as figure_3 with:
    output:
        csv="results/toy/figure-3.csv",
        svg=report(
            "results/toy/figure-3.svg",
            caption="../report/figure-3.rst",
            category="running example",
            labels={"what": "Figure 3: by true rank"},
        ),
        png="results/toy/figure-3.png",
    log:
        "results/logs/toy/figure-3.log",
    benchmark:
        "results/benchmarks/toy/figure-3.tsv"
    params:
        figure=3,
        arguments=dict(
            candidates=config["toy"]["candidates"],
            metrics=config["toy"]["metrics"],
            **config["figures"]["figure-3"],
        ),


use rule figure_1 as figure_4 with:
    output:
        csv="results/toy/figure-4.csv",
        svg=report(
            "results/toy/figure-4.svg",
            caption="../report/figure-4.rst",
            category="running example",
            labels={"what": "Figure 4: corrected"},
        ),
        png="results/toy/figure-4.png",
    log:
        "results/logs/toy/figure-4.log",
    benchmark:
        "results/benchmarks/toy/figure-4.tsv"
    params:
        figure=4,
        arguments=dict(
            candidates=config["toy"]["candidates"],
            metric_label=config["figures"]["figure-4"]["metric"],
            negatives=config["figures"]["figure-4"]["negatives"],
            estimators=config["figures"]["figure-4"]["estimators"],
        ),
