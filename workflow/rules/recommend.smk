# Needs: a dataset's split. Makes: a trained model of each recommender.


rule train:
    input:
        split=SPLIT,
        facts=FACTS,
    output:
        model=MODEL,
        versions="<results>/{dataset}/models/{recommender}.json",
    log:
        "<results>/logs/{dataset}/train-{recommender}.log",
    benchmark:
        "<results>/benchmarks/{dataset}/train-{recommender}.tsv"
    threads: threads_of_training
    resources:
        mem_mb=memory_of_model,
    params:
        code=training_code("train"),
        code_of_class=lambda wildcards: code_of_class(type(TRAINERS[wildcards.recommender])),
        path=lambda wildcards: path_of(TRAINERS[wildcards.recommender]),
        parameters=lambda wildcards: parameters_of(config["recommenders"][wildcards.recommender]),
        seed=seed_of,
    script:
        "../../scripts/train.py"
