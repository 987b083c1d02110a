# Needs: every job of the study. Makes: provenance.json, which says what the results were made from, and in what time.


rule provenance:
    input:
        ranks=expand(RANKS, dataset=config["study"], recommender=list(config["recommenders"])),
        archives=[f"results/{dataset}/archive.json" for dataset, trained in TRAINED.items() if trained],
        users=ancient(list(map(local, groups_of_study().values()))),
        benchmarks=[
            "results/benchmarks/summary.tsv",
            *(f"results/benchmarks/toy/{job}.tsv" for job in jobs_of_toy()),
            *(f"results/benchmarks/{dataset}/{job}.tsv" for dataset in config["study"] for job in jobs_of(dataset)),
        ],
    output:
        provenance="results/provenance.json",
    log:
        "results/logs/provenance.log",
    benchmark:
        "results/benchmarks/provenance.tsv"
    conda:
        ENVIRONMENT
    params:
        code=code("provenance.py"),
        config=config,
        grouped=list(groups_of_study()),
    script:
        "../../scripts/provenance.py"
