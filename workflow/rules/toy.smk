# Needs: nothing but the config. Makes: the running example of sections 3 to 5, Tables 1 and 2 and Figures 1-4.

TOY, FIGURES = config["toy"], config["figures"]
SHARED = {key: TOY[key] for key in ("candidates", "metrics")}
CORRECTED = {key: FIGURES["figure-4"][key] for key in ("negatives", "estimators")}
CORRECTED |= {"candidates": TOY["candidates"], "metric_label": FIGURES["figure-4"]["metric"]}
TOY_RESULTS = {
    "table-1": {"html": "Table 1: exact"},
    "table-2": {"html": "Table 2: sampled"},
    "figure-1": {"svg": "Figure 1: metrics by rank"},
    "figure-2": {"svg": "Figure 2: by sample size"},
    "figure-3": {"svg": "Figure 3: by true rank"},
    "figure-4": {"svg": "Figure 4: corrected"},
}


rule toy:
    output:
        **results("toy", TOY_RESULTS, "running example"),
    log:
        "results/logs/toy/toy.log",
    benchmark:
        "results/benchmarks/toy/toy.tsv"
    params:
        code=code("toy.py"),
        toy=TOY,
        figures={
            1: SHARED | FIGURES["figure-1"],
            2: SHARED | FIGURES["figure-2"] | {"ranks": TOY["ranks"]},
            3: SHARED | FIGURES["figure-3"],
            4: CORRECTED,
        },
        seed=config["seed"],
    script:
        "../../scripts/toy.py"
