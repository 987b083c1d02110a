# Needs: the rank tables of a dataset's recommenders. Makes: what samples prove, by their size.


rule proof:
    input:
        ranks=each_recommender(RANKS),
    output:
        **result("{dataset}", "proof", "{dataset}", svg="What a sample of m negatives proves"),
        pairs="results/{dataset}/proof-pairs.csv",
    log:
        "results/logs/{dataset}/proof.log",
    benchmark:
        "results/benchmarks/{dataset}/proof.tsv"
    conda:
        ENVIRONMENT
    params:
        code=code("proof.py"),
        recommenders=list(config["recommenders"]),
        replacement=config["sampling"]["replacement"],
        figure=config["figures"]["proof"],
    script:
        "../../scripts/proof.py"
