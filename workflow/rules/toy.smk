# Needs: nothing but the config. Makes: the running example of sections 3 to 5, Tables 1 and 2 and Figures 1-4.

for number, title, seed in [(1, "exact", None), (2, "sampled", config["seed"])]:  # nothing of Table 1 is drawn

    rule:
        name:
            f"table_{number}"
        input:
            code=code("toy_table.py"),
        output:
            **result("toy", f"table-{number}", "running example", html=f"Table {number}: {title}"),
        log:
            f"results/logs/toy/table-{number}.log",
        benchmark:
            f"results/benchmarks/toy/table-{number}.tsv"
        conda:
            "../../envs/environment.yaml"
        threads: 1
        resources:
            **per_mb(),
        params:
            table=number,
            toy=config["toy"],
            seed=seed,
        script:
            "../../scripts/toy_table.py"


SHARED = {key: config["toy"][key] for key in ("candidates", "metrics")}
FIGURE_4 = config["figures"]["figure-4"]

for number, title, arguments in [
    (1, "metrics by rank", SHARED | config["figures"]["figure-1"]),
    (2, "by sample size", {"ranks": config["toy"]["ranks"]} | SHARED | config["figures"]["figure-2"]),
    (3, "by true rank", SHARED | config["figures"]["figure-3"]),
    (
        4,
        "corrected",
        {
            "candidates": config["toy"]["candidates"],
            "metric_label": FIGURE_4["metric"],
            "negatives": FIGURE_4["negatives"],
            "estimators": FIGURE_4["estimators"],
        },
    ),
]:

    rule:
        name:
            f"figure_{number}"
        input:
            code=code("toy_figure.py"),
        output:
            **result("toy", f"figure-{number}", "running example", svg=f"Figure {number}: {title}"),
        log:
            f"results/logs/toy/figure-{number}.log",
        benchmark:
            f"results/benchmarks/toy/figure-{number}.tsv"
        conda:
            "../../envs/environment.yaml"
        threads: 1
        resources:
            **per_mb(),
        params:
            figure=number,
            arguments=arguments,
        script:
            "../../scripts/toy_figure.py"
