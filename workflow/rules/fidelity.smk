# Needs: our tables and figures. Makes: the comparison with the paper's printed numbers and claims; with `choices`, what
# other choices reproduce; if requested by name, the spread over the random starts of recommender X.


rule fidelity:
    input:
        ranks=each_recommender(RANKS),
        table_3="results/{dataset}/table-3.csv",
        table_4="results/{dataset}/table-4.csv",
        figure_6="results/{dataset}/figure-6.csv",
        seed_spread=own("docs/seed-spread.csv"),
    output:
        **results("{dataset}", COMPARISONS, "comparison with the paper", {"of": "{dataset}"}),
    log:
        "results/logs/{dataset}/fidelity.log",
    benchmark:
        "results/benchmarks/{dataset}/fidelity.tsv"
    conda:
        ENVIRONMENT
    params:
        code=code("fidelity.py"),
        recommenders=list(config["recommenders"]),
    script:
        "../../scripts/fidelity.py"


rule choices:
    input:
        split="results/{dataset}/split.npz",
        ranks=expand(RANKS, recommender=reference.RECOMMENDERS, allow_missing=True),
        seed_spread=own("docs/seed-spread.csv"),
    output:
        choices="results/{dataset}/choices.csv",
    log:
        "results/logs/{dataset}/choices.log",
    benchmark:
        "results/benchmarks/{dataset}/choices.tsv"
    conda:
        ENVIRONMENT
    params:
        **EVALUATION,
        code=code("choices.py", *({*reference.RECOMMENDERS} & {*config["recommenders"]})),
        entries={name: config["recommenders"].get(name) for name in reference.RECOMMENDERS},
        precision=config["ranking"]["precision"],
        seed=config["seed"],
    script:
        "../../scripts/choices.py"


rule seed_spread:
    input:
        split="results/{dataset}/split.npz",
        ranks=each_recommender(RANKS),
    output:
        spread="results/{dataset}/seed-spread.csv",
    log:
        "results/logs/{dataset}/seed-spread.log",
    benchmark:
        "results/benchmarks/{dataset}/seed-spread.tsv"
    conda:
        ENVIRONMENT
    params:
        **EVALUATION,
        code=code("seed_spread.py", *({reference.RANDOM_RECOMMENDER} & set(config["recommenders"]))),
        recommenders=list(config["recommenders"]),
        entry=config["recommenders"].get(reference.RANDOM_RECOMMENDER),
        seed=config["seed"],
        starts=config["seed_spread"]["starts"],
    script:
        "../../scripts/seed_spread.py"
