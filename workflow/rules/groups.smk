# Needs: the rank tables of a dataset; for thirds of the held-out items its split; the user's own file of groups.
# Makes: metrics by group.


rule groups:
    input:
        split=lambda wildcards: [f"results/{wildcards.dataset}/split.npz"] if has_thirds(wildcards.dataset) else [],
        users=lambda wildcards: ancient(list(map(local, group_files(wildcards.dataset)))),
        sources=lambda wildcards: ancient(list(map(local, grouped_sources(wildcards.dataset)))),
        ranks=lambda wildcards: [
            RANKS.format(dataset=wildcards.dataset, recommender=name) for name in grouped_names(wildcards.dataset)
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
        fingerprints=lambda wildcards: list(map(fingerprint, group_files(wildcards.dataset))),
        recommenders=lambda wildcards: grouped_names(wildcards.dataset),
        trained=lambda wildcards: TRAINED[wildcards.dataset],
        groups=config["groups"],
        metrics=config["metrics"],
    script:
        "../../scripts/groups.py"
