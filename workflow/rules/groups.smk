# Needs: the split and the rank tables of a dataset's recommenders that are trained here. Makes: metrics by group.


rule groups:
    input:
        split="results/{dataset}/split.npz",
        ranks=lambda wildcards: [
            RANKS.format(dataset=wildcards.dataset, recommender=name) for name in TRAINED[wildcards.dataset]
        ],
    output:
        **result("{dataset}", "groups", "{dataset}", svg="Metrics by group"),
        pairs="results/{dataset}/groups-pairs.csv",
    log:
        "results/logs/{dataset}/groups.log",
    benchmark:
        "results/benchmarks/{dataset}/groups.tsv"
    params:
        code=code("groups.py"),
        recommenders=lambda wildcards: TRAINED[wildcards.dataset],
        groups=config["groups"],
        metrics=config["metrics"],
    script:
        "../../scripts/groups.py"
