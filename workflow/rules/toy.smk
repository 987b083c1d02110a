# Needs: nothing but the config. Makes: the running example of sections 3 to 5, Tables 1 and 2 and Figures 1-4.

TOY, FIGURES = config["toy"], config["figures"]
SHARED = {key: TOY[key] for key in ("candidates", "metrics")}
CORRECTED = {key: FIGURES["figure-4"][key] for key in ("negatives", "estimators")}
CORRECTED |= {"candidates": TOY["candidates"], "metric_label": FIGURES["figure-4"]["metric"]}


ARGUMENTS = {
    1: SHARED | FIGURES["figure-1"],
    2: SHARED | FIGURES["figure-2"] | {"ranks": TOY["ranks"]},
    3: SHARED | FIGURES["figure-3"],
    4: CORRECTED,
}


rule toy_tables:
    output:
        **results("toy", TOY_TABLES, "running example"),
    log:
        "results/logs/toy/tables.log",
    benchmark:
        "results/benchmarks/toy/tables.tsv"
    conda:
        ENVIRONMENT
    params:
        code=code("toy_tables.py"),
        toy=TOY,
        seed=config["seed"],
    script:
        "../../scripts/toy_tables.py"


for number, name in enumerate(TOY_FIGURES, start=1):

    rule:
        name:
            f"toy_figure_{number}"
        output:
            **result("toy", name, "running example", **TOY_FIGURES[name]),
        log:
            f"results/logs/toy/{name}.log",
        benchmark:
            f"results/benchmarks/toy/{name}.tsv"
        conda:
            ENVIRONMENT
        params:
            code=code("toy_figure.py"),
            number=number,
            arguments=ARGUMENTS[number],
        script:
            "../../scripts/toy_figure.py"


rule toy_fidelity:
    input:
        table_1="results/toy/table-1.csv",
        table_2="results/toy/table-2.csv",
        figure_2="results/toy/figure-2.csv",
        figure_3="results/toy/figure-3.csv",
        figure_4="results/toy/figure-4.csv",
    output:
        **results("toy", COMPARISONS, "comparison with the paper", {"of": "running example"}),
    log:
        "results/logs/toy/fidelity.log",
    benchmark:
        "results/benchmarks/toy/fidelity.tsv"
    conda:
        ENVIRONMENT
    params:
        code=code("toy_fidelity.py"),
        toy=TOY,
    script:
        "../../scripts/toy_fidelity.py"
