# Needs: our tables and figures. Makes: the comparison with the paper's printed numbers and claims.


rule fidelity:
    input:
        ranks=of_each(RANKS),
        table_3=rules.tables.output.table_3_csv,
        table_4=rules.tables.output.table_4_csv,
        figure_6=rules.figures.output.figure_6_csv,
        seed_spread=own("docs/seed-spread.csv"),
    output:
        fidelity_csv="<results>/{dataset}/fidelity.csv",
        fidelity_md="<results>/{dataset}/fidelity.md",
        fidelity_html=shown(
            "<results>/{dataset}/fidelity.html",
            "printed numbers",
            "comparison with the paper",
            of="{dataset}",
        ),
        claims_csv="<results>/{dataset}/claims.csv",
        claims_md="<results>/{dataset}/claims.md",
        claims_html=shown(
            "<results>/{dataset}/claims.html",
            "claims in words",
            "comparison with the paper",
            of="{dataset}",
        ),
    log:
        "<results>/logs/{dataset}/fidelity.log",
    benchmark:
        "<results>/benchmarks/{dataset}/fidelity.tsv"
    params:
        code=code("fidelity"),
        recommenders=list(config["recommenders"]),
    script:
        "../../scripts/fidelity.py"


COMPARISONS = [expand(rules.fidelity.output, dataset=dataset) for dataset in COMPARED]


if reference.covers_toy(config):

    rule toy_fidelity:
        input:
            **{
                name: rules.toy_figures.output[f"{name}_csv"]
                for name in ("figure_2", "figure_3", "figure_4")
            },
            table_1=rules.toy_tables.output.table_1_csv,
            table_2=rules.toy_tables.output.table_2_csv,
        output:
            fidelity_csv="<results>/toy/fidelity.csv",
            fidelity_md="<results>/toy/fidelity.md",
            fidelity_html=shown(
                "<results>/toy/fidelity.html",
                "printed numbers",
                "comparison with the paper",
                of="running example",
            ),
            claims_csv="<results>/toy/claims.csv",
            claims_md="<results>/toy/claims.md",
            claims_html=shown(
                "<results>/toy/claims.html",
                "claims in words",
                "comparison with the paper",
                of="running example",
            ),
        log:
            "<results>/logs/toy/fidelity.log",
        benchmark:
            "<results>/benchmarks/toy/fidelity.tsv"
        params:
            code=code("toy_fidelity"),
            toy=config["toy"],
        script:
            "../../scripts/toy_fidelity.py"

    COMPARISONS = [list(rules.toy_fidelity.output), *COMPARISONS]


RESULTS += [file for files in COMPARISONS for file in files]
