# Needs: the rank tables and the estimates of a dataset's recommenders. Makes: Tables 3 and 4.


rule table_3:
    input:
        ranks=each_recommender("results/{dataset}/ranks/{recommender}.csv.gz"),
        estimates=each_recommender("results/{dataset}/estimates/{recommender}.csv.gz"),
        expected=each_recommender("results/{dataset}/expected/{recommender}.csv"),
        code=code("study_table.py"),
    output:
        csv="results/{dataset}/table-3.csv",
        md="results/{dataset}/table-3.md",
        tex="results/{dataset}/table-3.tex",
        html=report(
            "results/{dataset}/table-3.html",
            caption="../report/table-3.rst",
            category="{dataset}",
            labels={"what": "Table 3: metrics"},
        ),
    log:
        "results/logs/{dataset}/table-3.log",
    benchmark:
        "results/benchmarks/{dataset}/table-3.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=memory(per_mb=200),
        runtime=minutes(per_mb=20),
    params:
        table=3,
        recommenders=list(config["recommenders"]),
        layout=dict(repetitions=config["sampling"]["repetitions"]),
    script:
        "../../scripts/study_table.py"


use rule table_3 as table_4 with:
    output:
        csv="results/{dataset}/table-4.csv",
        md="results/{dataset}/table-4.md",
        tex="results/{dataset}/table-4.tex",
        html=report(
            "results/{dataset}/table-4.html",
            caption="../report/table-4.rst",
            category="{dataset}",
            labels={"what": "Table 4: order"},
        ),
    log:
        "results/logs/{dataset}/table-4.log",
    benchmark:
        "results/benchmarks/{dataset}/table-4.tsv"
    params:
        table=4,
        recommenders=list(config["recommenders"]),
        layout={},
