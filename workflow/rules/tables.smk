# Needs: the rank tables and the samples of a dataset's recommenders, or the config of the running example. Makes: the
# estimates of every estimator in every repetition with their exact moments, and the tables, which are entries of
# src/sampled_metrics_study/entries.py.


rule tables:
    input:
        facts=lambda wildcards: FACTS if TRAINED[wildcards.dataset] else [],
        ranks=for_recommenders(RANKS),
        samples=for_recommenders(rules.sample.output.samples),
    output:
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
    log:
        "<results>/logs/{dataset}/tables.log",
    benchmark:
        "<results>/benchmarks/{dataset}/tables.tsv"
    params:
        **{key: config[key] for key in ("sampling", "estimators", "metrics")},
        code=code("tables"),
        place="dataset",
        subject=lambda wildcards: wildcards.dataset,
        recommenders=list(config["recommenders"]),
        assume_replacement=DESIGN["assume_replacement"],
    script:
        "../../scripts/tables.py"


if config["toy"]:

    rule toy_tables:
        output:
            table_1_csv="<results>/toy/table-1.csv",
            table_1_md="<results>/toy/table-1.md",
            table_1_tex="<results>/toy/table-1.tex",
            table_1_html=in_report("<results>/toy/table-1.html", "Table 1: exact", TOY),
            table_2_csv="<results>/toy/table-2.csv",
            table_2_md="<results>/toy/table-2.md",
            table_2_tex="<results>/toy/table-2.tex",
            table_2_html=in_report("<results>/toy/table-2.html", "Table 2: sampled", TOY),
            versions="<results>/toy/tables.json",
        log:
            "<results>/logs/toy/tables.log",
        benchmark:
            "<results>/benchmarks/toy/tables.tsv"
        params:
            code=code("tables"),
            place="toy",
            subject="the running example",
            options=config["toy"],
            seed=config["seed"],
        script:
            "../../scripts/tables.py"
