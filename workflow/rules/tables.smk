# Needs: the rank tables and the estimates of a dataset's recommenders, or the config of the running example. Makes:
# their tables, which are entries of src/sampled_metrics_study/entries.py.


rule tables:
    input:
        facts=lambda wildcards: FACTS if TRAINED[wildcards.dataset] else [],
        ranks=for_recommenders(RANKS),
        estimates=for_recommenders(rules.sample.output.estimates),
        expected=for_recommenders(rules.sample.output.expected),
    output:
        **entry_files(TABLES["dataset"], "<results>/{dataset}", "{dataset}"),
    log:
        "<results>/logs/{dataset}/tables.log",
    benchmark:
        "<results>/benchmarks/{dataset}/tables.tsv"
    params:
        code=code("tables", *paths(TABLES["dataset"])),
        place="dataset",
        subject=lambda wildcards: wildcards.dataset,
        recommenders=list(config["recommenders"]),
        options={"repetitions": config["sampling"]["repetitions"], "metrics": config["metrics"]},
    script:
        "../../scripts/tables.py"


RESULTS += expand(rules.tables.output, dataset=config["study"])

if config["toy"]:

    rule toy_tables:
        output:
            **entry_files(TABLES["toy"], "<results>/toy", "running example"),
        log:
            "<results>/logs/toy/tables.log",
        benchmark:
            "<results>/benchmarks/toy/tables.tsv"
        params:
            code=code("tables", *paths(TABLES["toy"])),
            place="toy",
            subject="the running example",
            options=config["toy"],
            seed=config["seed"],
        script:
            "../../scripts/tables.py"

    RESULTS += rules.toy_tables.output
