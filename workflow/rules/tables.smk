# Needs: the rank tables and the samples of a dataset's recommenders. Makes: the estimates of every estimator in every
# repetition with their exact moments, and the tables, which are entries of src/sampled_metrics_study/entries.py. Where the
# study covers the paper's, it compares the tables, Figure 6 and the ranks with the printed numbers and claims, too.
TABLE_FILES = dict(
    estimates=for_recommenders("<results>/{dataset}/estimates/{recommender}.csv.gz"),
    expected=for_recommenders("<results>/{dataset}/expected/{recommender}.csv"),
    conditions=for_recommenders("<results>/{dataset}/conditions/{recommender}.csv"),
    studied_csv="<results>/{dataset}/studied.csv",
    studied_md="<results>/{dataset}/studied.md",
    studied_html=in_report("<results>/{dataset}/studied.html", "What was studied"),
    table_3_csv="<results>/{dataset}/table-3.csv",
    table_3_md="<results>/{dataset}/table-3.md",
    table_3_tex="<results>/{dataset}/table-3.tex",
    table_3_html=in_report("<results>/{dataset}/table-3.html", "Table 3: metrics"),
    table_4_csv="<results>/{dataset}/table-4.csv",
    table_4_md="<results>/{dataset}/table-4.md",
    table_4_tex="<results>/{dataset}/table-4.tex",
    table_4_html=in_report("<results>/{dataset}/table-4.html", "Table 4: order"),
    versions="<results>/{dataset}/tables.json",
)


rule tables:
    input:
        facts=lambda wildcards: FACTS if TRAINED[wildcards.dataset] else [],
        ranks=for_recommenders(RANKS),
        samples=for_recommenders(rules.sample.output.samples),
    output:
        **TABLE_FILES,
    log:
        "<results>/logs/{dataset}/tables.log",
    benchmark:
        "<results>/benchmarks/{dataset}/tables.tsv"
    params:
        **{key: config[key] for key in ("estimators", "metrics")},
        sampling={key: config["sampling"][key] for key in config["sampling"] if key != "verdicts"},
        code=code("tables"),
        recommenders=list(config["recommenders"]),
        assume_replacement=DESIGN["assume_replacement"],
    script:
        "../../scripts/tables.py"


use rule tables as compared_tables with:
    input:
        facts=lambda wildcards: FACTS if TRAINED[wildcards.dataset] else [],
        ranks=for_recommenders(RANKS),
        samples=for_recommenders(rules.sample.output.samples),
        figure_6="<results>/{dataset}/figure-6.csv",
        seed_spread=own("docs/seed-spread.csv"),
    output:
        **TABLE_FILES,
        **files_of_comparison("{dataset}", "{dataset}"),
    wildcard_constraints:
        dataset=pattern_of(COMPARED),


ruleorder: compared_tables > tables
