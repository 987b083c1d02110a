# Needs: the ranks, tables and figures of all datasets, and the comparison with the paper. Makes: one page for readers
# who open nothing else, and what the results were made from.

FIGURES_OF_SUMMARY = {
    "budget": "What a number of scores buys",
    "figure-6": "Figure 6: by sample size",
}
TABLES_OF_SUMMARY = ["table-3", "table-4", "sample-intervals", "sample-verdicts"]
if config["figures"]["budget"]:
    BUDGET_FIGURES = expand(rules.budget.output.svg, dataset=WITH_BUDGET)
    BUDGET_TABLES = expand(rules.budget.output.csv, dataset=WITH_BUDGET)
    BUDGET_VERSIONS = expand(rules.budget.output.versions, dataset=WITH_BUDGET)
else:
    BUDGET_FIGURES = []
    BUDGET_TABLES = []
    BUDGET_VERSIONS = []

# the versions that each job used, in the order of the stages
NAMES = {"dataset": config["study"], "recommender": list(config["recommenders"])}
USED_VERSIONS = [
    *expand(rules.split.output.versions, dataset=[name for name in TRAINED if TRAINED[name]]),
    *(
        path
        for name, trained in TRAINED.items()
        for path in expand(rules.train.output.versions, dataset=name, recommender=trained)
    ),
    *expand(VERSIONS_OF_RANKS, **NAMES),
    *expand(rules.sample.output.versions, **NAMES),
    *expand(rules.sample_tables.output.versions, dataset=config["study"]),
    *expand(rules.tables.output.versions, dataset=config["study"]),
    *expand(rules.figures.output.versions, dataset=config["study"]),
    *BUDGET_VERSIONS,
]
if config["toy"]:
    USED_VERSIONS.append(rules.toy.output.versions)

# the comparisons with the paper: the running example comes first
COMPARISONS = [*(["toy"] if reference.covers_toy(config) else []), *COMPARED]
FIGURES_6 = (
    []
    if config["figures"]["figure-6"] is None
    else expand(rules.figures.output.figure_6_svg, dataset=config["study"])
)


rule summary:
    input:
        ranks=expand(RANKS, dataset=config["study"], recommender=list(config["recommenders"])),
        facts=expand(FACTS, dataset=[dataset for dataset, trained in TRAINED.items() if trained]),
        table_3=expand(rules.tables.output.table_3_csv, dataset=config["study"]),
        table_4=expand(rules.tables.output.table_4_csv, dataset=config["study"]),
        sample_intervals=expand(
            rules.sample_tables.output.sample_intervals_csv, dataset=config["study"]
        ),
        sample_verdicts=expand(
            rules.sample_tables.output.sample_verdicts_csv, dataset=config["study"]
        ),
        figures=[
            *BUDGET_FIGURES,
            *FIGURES_6,
        ],
        budgets=BUDGET_TABLES,
        fidelity=expand("<results>/{folder}/fidelity.csv", folder=COMPARISONS),
        claims=expand("<results>/{folder}/claims.csv", folder=COMPARISONS),
        versions=USED_VERSIONS,
        captions=[
            own(f"workflow/report/{name}.rst")
            for name in (*TABLES_OF_SUMMARY, *FIGURES_OF_SUMMARY)
        ],
    output:
        # a parenthesis comes before the other categories of the report
        page=in_report("<results>/summary.html", "Summary", "(start here)"),
        provenance="<results>/provenance.json",
    log:
        "<results>/logs/summary.log",
    benchmark:
        "<results>/benchmarks/summary.tsv"
    params:
        code=code("summary"),
        config=lambda wildcards, threads: config,
        stated=without_places(config),
        trained=TRAINED,
        kinds=[summary_of(trainer) for trainer in TRAINERS.values()],
        titles=FIGURES_OF_SUMMARY,
    script:
        "../../scripts/summary.py"
