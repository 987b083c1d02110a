# Needs: a dataset's split and a trained model, or ranks that another tool computed. Makes: the rank table, the only
# input of later stages. On a cluster, --set-scatter users=4 divides the users over jobs; the table is the same to the byte.


scattergather:
    users=1,


PARTS_OF_USERS = len(gather.users("{scatteritem}"))


rule rank:
    input:
        split=SPLIT,
        facts=FACTS,
        model=MODEL,
    output:
        ranks=RANKS,
        versions=VERSIONS_OF_RANKS,
    log:
        "<results>/logs/{dataset}/rank-{recommender}.log",
    benchmark:
        "<results>/benchmarks/{dataset}/rank-{recommender}.tsv"
    resources:
        mem_mb=memory_of_model,
    params:
        code=training_code("rank"),
        precision=precision_of,
    script:
        "../../scripts/rank.py"


if PARTS_OF_USERS > 1:

    use rule rank as rank_part with:
        output:
            part=temp("<results>/{dataset}/ranks/parts/{recommender}-{scatteritem}.npz"),
        log:
            "<results>/logs/{dataset}/rank-parts/{recommender}-{scatteritem}.log",
        benchmark:
            "<results>/benchmarks/{dataset}/rank-parts/{recommender}-{scatteritem}.tsv"

    rule gather_ranks:
        input:
            parts=gather.users(
                "<results>/{{dataset}}/ranks/parts/{{recommender}}-{scatteritem}.npz"
            ),
        output:
            ranks=RANKS,
            versions=VERSIONS_OF_RANKS,
        log:
            "<results>/logs/{dataset}/gather-ranks-{recommender}.log",
        benchmark:
            "<results>/benchmarks/{dataset}/gather-ranks-{recommender}.tsv"
        params:
            # those of the rule rank, so that another number of parts ranks nothing again
            code=training_code("rank"),
            precision=precision_of,
        script:
            "../../scripts/gather_ranks.py"

    ruleorder: gather_ranks > rank


if IMPORTED:

    rule import_ranks:
        input:
            ranks=lambda wildcards: ancient(local(imported_file(wildcards))),
        output:
            ranks="<results>/{table}.csv.gz",
            versions="<results>/{table}.json",
        log:
            "<results>/logs/{table}.log",
        benchmark:
            "<results>/benchmarks/{table}.tsv"
        wildcard_constraints:
            table=pattern_of(IMPORTED),
        params:
            code=training_code("import_ranks"),
            # runs the rule again, as the time of an ancient file does not; a function of the input
            # would not, either
            content=lambda wildcards: content(imported_file(wildcards)),
            reading=lambda wildcards: PRECOMPUTED[IMPORTED[wildcards.table]].reading,
            name=imported_name,
        script:
            "../../scripts/import_ranks.py"

    ruleorder: import_ranks > rank

    if PARTS_OF_USERS > 1:

        ruleorder: import_ranks > gather_ranks
