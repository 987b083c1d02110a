# Needs: the ranks, tables and figures of all datasets, and the comparison with the paper. Makes: one page for readers
# who open nothing else.

FIGURES_OF_SUMMARY = {
    "estimator-study": "Error and order of the estimators",
    "budget": "What a number of scores buys",
    "groups": "Metrics by group",
    "figure-6": "Figure 6: by sample size",
}
COMPARED_WITH_PAPER = [folder for folder, names in result_names().items() if "fidelity" in names]


rule summary:
    input:
        ranks=expand(RANKS, dataset=config["study"], recommender=list(config["recommenders"])),
        facts=[f"results/{dataset}/dataset.json" for dataset, trained in TRAINED.items() if trained],
        users=ancient(list(map(local, groups_of_study().values()))),
        table_3=expand("results/{dataset}/table-3.csv", dataset=config["study"]),
        table_4=expand("results/{dataset}/table-4.csv", dataset=config["study"]),
        figures=[
            f"results/{dataset}/{name}.svg"
            for dataset in config["study"]
            for name in FIGURES_OF_SUMMARY
            if name in result_names()[dataset]
        ],
        budgets=[f"results/{dataset}/budget.csv" for dataset in config["study"] if "budget" in result_names()[dataset]],
        groups=[
            f"results/{dataset}/groups-pairs.csv" for dataset in config["study"] if "groups" in result_names()[dataset]
        ],
        fidelity=expand("results/{folder}/fidelity.csv", folder=COMPARED_WITH_PAPER),
        claims=expand("results/{folder}/claims.csv", folder=COMPARED_WITH_PAPER),
        choices=[
            f"results/{dataset}/choices.csv" for dataset in config["study"] if "choices" in result_names()[dataset]
        ],
        captions=[own(f"workflow/report/{name}.rst") for name in ("table-3", "table-4", *FIGURES_OF_SUMMARY)],
    output:
        # a parenthesis comes before the other categories of the report
        page=report(
            "results/summary.html",
            caption="../report/summary.rst",
            category="(start here)",
            labels={"what": "Summary"},
        ),
    log:
        "results/logs/summary.log",
    benchmark:
        "results/benchmarks/summary.tsv"
    conda:
        ENVIRONMENT
    params:
        **EVALUATION,
        **{key: config[key] for key in ("seed", "split", "recommenders", "estimator_model")},
        code=code("summary.py", *config["recommenders"]),
        grouped=list(groups_of_study()),
        margin=config["margin"],
        titles=FIGURES_OF_SUMMARY,
        trained=TRAINED,
    script:
        "../../scripts/summary.py"
