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
    params:
        code=code("studied.py"),
        recommenders=list(config["recommenders"]),
    script:
        "../../scripts/studied.py"


for number, title, layout in [
    (3, "metrics", {"repetitions": config["sampling"]["repetitions"]}),
    (4, "order", {}),
]:

    rule:
        name:
            f"table_{number}"
        input:
            ranks=each_recommender(RANKS),
            estimates=each_recommender("results/{dataset}/estimates/{recommender}.csv.gz"),
            expected=each_recommender("results/{dataset}/expected/{recommender}.csv"),
        output:
            **result("{dataset}", f"table-{number}", "{dataset}", html=f"Table {number}: {title}"),
        log:
            f"results/logs/{{dataset}}/table-{number}.log",
        benchmark:
            f"results/benchmarks/{{dataset}}/table-{number}.tsv"
        params:
            code=code("study_table.py"),
            table=number,
            recommenders=list(config["recommenders"]),
            layout=layout,
        script:
            "../../scripts/study_table.py"
