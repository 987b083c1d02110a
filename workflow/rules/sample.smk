# Needs: a rank table. Makes: the samples of a repeated evaluation: how often x negatives are above the held-out item.


rule sample:
    input:
        ranks=RANKS,
    output:
        samples="<results>/{dataset}/samples/{recommender}.npz",
        versions="<results>/{dataset}/samples/{recommender}.json",
    log:
        "<results>/logs/{dataset}/sample-{recommender}.log",
    benchmark:
        "<results>/benchmarks/{dataset}/sample-{recommender}.tsv"
    params:
        code=code("sample"),
        sampling={
            key: config["sampling"][key] for key in ("negatives", "replacement", "repetitions")
        },
        tie_rules=tie_rules_of(config["sampling"]["readings"]),
        seed=config["seed"],
    script:
        "../../scripts/sample.py"
