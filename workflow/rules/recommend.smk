# Needs: a dataset's split. Makes: a trained model of each recommender.


rule train:
    input:
        split=SPLIT,
    output:
        model=MODEL,
    log:
        "<results>/logs/{dataset}/train-{recommender}.log",
    benchmark:
        "<results>/benchmarks/{dataset}/train-{recommender}.tsv"
    params:
        code=code("train", "recommenders"),
        own_code=own_code,
        entry=lambda wildcards: config["recommenders"][wildcards.recommender],
        seed=lambda wildcards: config["seed"] if TRAINERS[wildcards.recommender].is_random else 0,
    script:
        "../../scripts/train.py"
