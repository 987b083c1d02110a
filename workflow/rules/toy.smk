# Needs: nothing but the config. Makes: the running example of sections 3 to 5, Tables 1 and 2 and Figures 1-4.

EXACT = {key: config["toy"][key] for key in ("candidates", "ranks", "metrics")}

for number, title, toy, seed in [(1, "exact", EXACT, None), (2, "sampled", config["toy"], config["seed"])]:

    rule:
        name:
            f"table_{number}"
        output:
            **result("toy", f"table-{number}", "running example", html=f"Table {number}: {title}"),
        log:
            f"results/logs/toy/table-{number}.log",
        benchmark:
            f"results/benchmarks/toy/table-{number}.tsv"
        params:
            code=code("toy_table.py"),
            table=number,
            toy=toy,
            seed=seed,
        script:
            "../../scripts/toy_table.py"


TOY, FIGURES = config["toy"], config["figures"]
SHARED = {key: TOY[key] for key in ("candidates", "metrics")}
CORRECTED = {key: FIGURES["figure-4"][key] for key in ("negatives", "estimators")}
CORRECTED |= {"candidates": TOY["candidates"], "metric_label": FIGURES["figure-4"]["metric"]}

for number, title, arguments in [
    (1, "metrics by rank", SHARED | FIGURES["figure-1"]),
    (2, "by sample size", SHARED | FIGURES["figure-2"] | {"ranks": TOY["ranks"]}),
    (3, "by true rank", SHARED | FIGURES["figure-3"]),
    (4, "corrected", CORRECTED),
]:

    rule:
        name:
            f"figure_{number}"
        output:
            **result("toy", f"figure-{number}", "running example", svg=f"Figure {number}: {title}"),
        log:
            f"results/logs/toy/figure-{number}.log",
        benchmark:
            f"results/benchmarks/toy/figure-{number}.tsv"
        params:
            code=code("toy_figure.py"),
            figure=number,
            arguments=arguments,
        script:
            "../../scripts/toy_figure.py"
