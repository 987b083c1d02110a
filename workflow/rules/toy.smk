# Needs: nothing but the config. Makes: the running example of sections 3 to 5, Tables 1 and 2.


rule toy_tables:
    output:
        table_1_csv="<results>/toy/table-1.csv",
        table_1_md="<results>/toy/table-1.md",
        table_1_tex="<results>/toy/table-1.tex",
        table_1_html=shown("<results>/toy/table-1.html", "Table 1: exact", "running example"),
        table_2_csv="<results>/toy/table-2.csv",
        table_2_md="<results>/toy/table-2.md",
        table_2_tex="<results>/toy/table-2.tex",
        table_2_html=shown("<results>/toy/table-2.html", "Table 2: sampled", "running example"),
    log:
        "<results>/logs/toy/tables.log",
    benchmark:
        "<results>/benchmarks/toy/tables.tsv"
    params:
        code=code("toy_tables"),
        toy=config["toy"],
        seed=config["seed"],
    script:
        "../../scripts/toy_tables.py"


RESULTS += rules.toy_tables.output
