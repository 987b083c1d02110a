# Needs: the rank tables. Makes: the samples of a repeated evaluation: how often x negatives are above the held-out item;
# and what these samples tell without the exact ranks, in tables that are entries of src/sampled_metrics_study/entries.py.


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


rule sample_tables:
    input:
        ranks=for_recommenders(RANKS),
    output:
        sample_intervals_csv="<results>/{dataset}/sample-intervals.csv",
        sample_intervals_md="<results>/{dataset}/sample-intervals.md",
        sample_intervals_html=in_report(
            "<results>/{dataset}/sample-intervals.html", "What one sample tells: intervals"
        ),
        sample_verdicts_csv="<results>/{dataset}/sample-verdicts.csv",
        sample_verdicts_md="<results>/{dataset}/sample-verdicts.md",
        sample_verdicts_html=in_report(
            "<results>/{dataset}/sample-verdicts.html", "What one sample tells: verdicts"
        ),
        versions="<results>/{dataset}/sample-tables.json",
    log:
        "<results>/logs/{dataset}/sample-tables.log",
    benchmark:
        "<results>/benchmarks/{dataset}/sample-tables.tsv"
    params:
        code=code("sample_tables"),
        sampling={
            key: config["sampling"][key]
            for key in ("negatives", "replacement", "repetitions", "verdicts")
        },
        metrics=config["metrics"],
        recommenders=list(config["recommenders"]),
        seed=config["seed"],
    script:
        "../../scripts/sample_tables.py"
