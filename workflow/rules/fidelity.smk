# Needs: our tables and figures. Makes: the comparison with the paper's printed numbers and claims.


rule fidelity:
    input:
        ranks=for_recommenders(RANKS),
        table_3=rules.tables.output.table_3_csv,
        table_4=rules.tables.output.table_4_csv,
        figure_6=rules.figures.output.figure_6_csv,
        seed_spread=own("docs/seed-spread.csv"),
    output:
        fidelity_csv="<results>/{dataset}/fidelity.csv",
        fidelity_md="<results>/{dataset}/fidelity.md",
        fidelity_html=in_report(
            "<results>/{dataset}/fidelity.html",
            "printed numbers",
            "comparison with the paper",
            of="{dataset}",
        ),
        claims_csv="<results>/{dataset}/claims.csv",
        claims_md="<results>/{dataset}/claims.md",
        claims_html=in_report(
            "<results>/{dataset}/claims.html",
            "claims in words",
            "comparison with the paper",
            of="{dataset}",
        ),
        versions="<results>/{dataset}/fidelity.json",
    log:
        "<results>/logs/{dataset}/fidelity.log",
    benchmark:
        "<results>/benchmarks/{dataset}/fidelity.tsv"
    params:
        code=code("fidelity"),
        recommenders=list(config["recommenders"]),
    script:
        "../../scripts/fidelity.py"


PRINTED_NUMBERS = expand(rules.fidelity.output.fidelity_csv, dataset=COMPARED)
CLAIMS = expand(rules.fidelity.output.claims_csv, dataset=COMPARED)


COVERS_TOY = reference.covers_toy(config)
if COVERS_TOY:

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
            fidelity_html=in_report(
                "<results>/toy/fidelity.html",
                "printed numbers",
                "comparison with the paper",
                of="running example",
            ),
            claims_csv="<results>/toy/claims.csv",
            claims_md="<results>/toy/claims.md",
            claims_html=in_report(
                "<results>/toy/claims.html",
                "claims in words",
                "comparison with the paper",
                of="running example",
            ),
            versions="<results>/toy/fidelity.json",
        log:
            "<results>/logs/toy/fidelity.log",
        benchmark:
            "<results>/benchmarks/toy/fidelity.tsv"
        params:
            code=code("toy_fidelity"),
            toy=config["toy"],
        script:
            "../../scripts/toy_fidelity.py"

    # the running example comes first
    PRINTED_NUMBERS = [rules.toy_fidelity.output.fidelity_csv, *PRINTED_NUMBERS]
    CLAIMS = [rules.toy_fidelity.output.claims_csv, *CLAIMS]
