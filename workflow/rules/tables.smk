# Needs: the rank tables and the estimates of a dataset's recommenders. Makes: what was studied, and Tables 3 and 4.


rule tables:
    input:
        facts=lambda wildcards: FACTS if TRAINED[wildcards.dataset] else [],
        ranks=of_each(RANKS),
        estimates=of_each(rules.sample.output.estimates),
        expected=of_each(rules.sample.output.expected),
    output:
        studied_csv="<results>/{dataset}/studied.csv",
        studied_md="<results>/{dataset}/studied.md",
        studied_html=shown("<results>/{dataset}/studied.html", "What was studied"),
        table_3_csv="<results>/{dataset}/table-3.csv",
        table_3_md="<results>/{dataset}/table-3.md",
        table_3_tex="<results>/{dataset}/table-3.tex",
        table_3_html=shown("<results>/{dataset}/table-3.html", "Table 3: metrics"),
        table_4_csv="<results>/{dataset}/table-4.csv",
        table_4_md="<results>/{dataset}/table-4.md",
        table_4_tex="<results>/{dataset}/table-4.tex",
        table_4_html=shown("<results>/{dataset}/table-4.html", "Table 4: order"),
    log:
        "<results>/logs/{dataset}/tables.log",
    benchmark:
        "<results>/benchmarks/{dataset}/tables.tsv"
    params:
        code=code("tables"),
        recommenders=list(config["recommenders"]),
        repetitions=config["sampling"]["repetitions"],
        metrics=config["metrics"],
    script:
        "../../scripts/tables.py"


RESULTS += expand(rules.tables.output, dataset=config["study"])
