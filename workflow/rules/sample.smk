# Needs: a rank table. Makes: the estimates of every estimator in every repetition of the sampled evaluation, their
# exact expectations, and the condition numbers of the estimators' fits.


rule sample:
    input:
        ranks=RANKS,
    output:
        estimates="<results>/{dataset}/estimates/{recommender}.csv.gz",
        expected="<results>/{dataset}/expected/{recommender}.csv",
        conditions="<results>/{dataset}/conditions/{recommender}.csv",
    log:
        "<results>/logs/{dataset}/sample-{recommender}.log",
    benchmark:
        "<results>/benchmarks/{dataset}/sample-{recommender}.tsv"
    params:
        **{key: config[key] for key in ("sampling", "estimators", "metrics", "seed")},
        code=code("sample"),
        assume_replacement=DESIGN["assume_replacement"],
    script:
        "../../scripts/sample.py"
