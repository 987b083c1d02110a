# Needs: the rank tables and the estimates of a dataset's recommenders. Makes: what was studied, and Tables 3 and 4.


rule studied:
    input:
        facts=lambda wildcards: f"results/{wildcards.dataset}/dataset.json" if TRAINED[wildcards.dataset] else [],
        ranks=each_recommender(RANKS),
    output:
        **result("{dataset}", "studied", "{dataset}", html="What was studied"),
    log:
        "results/logs/{dataset}/studied.log",
    benchmark:
        "results/benchmarks/{dataset}/studied.tsv"
    conda:
        ENVIRONMENT
    params:
        code=code("studied.py"),
        recommenders=list(config["recommenders"]),
    script:
        "../../scripts/studied.py"


rule tables:
    input:
        ranks=each_recommender(RANKS),
        estimates=each_recommender("results/{dataset}/estimates/{recommender}.csv.gz"),
        expected=each_recommender("results/{dataset}/expected/{recommender}.csv"),
    output:
        **results(
            "{dataset}", {"table-3": {"html": "Table 3: metrics"}, "table-4": {"html": "Table 4: order"}}, "{dataset}"
        ),
    log:
        "results/logs/{dataset}/tables.log",
    benchmark:
        "results/benchmarks/{dataset}/tables.tsv"
    conda:
        ENVIRONMENT
    params:
        code=code("study_tables.py"),
        recommenders=list(config["recommenders"]),
        repetitions=config["sampling"]["repetitions"],
    script:
        "../../scripts/study_tables.py"
