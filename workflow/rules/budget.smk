# Needs: the split, the models and the rank tables of a dataset's recommenders. Makes: what a number of scores buys.

BUDGET = config["figures"]["budget"]


def pair_of(dataset):
    """The recommenders whose comparison is planned: those of the config, or the first and the last that are trained."""
    trained = TRAINED[dataset]
    stated = [name for name in BUDGET["pair"] if name in trained]
    return tuple(stated if len(stated) == 2 else (trained[0], trained[-1])) if len(trained) > 1 else None


rule budget:
    input:
        split="results/{dataset}/split.npz",
        models=lambda wildcards: [
            f"results/{wildcards.dataset}/models/{name}.npz" for name in TRAINED[wildcards.dataset]
        ],
        ranks=lambda wildcards: [
            RANKS.format(dataset=wildcards.dataset, recommender=name) for name in TRAINED[wildcards.dataset]
        ],
    output:
        **result(
            "{dataset}",
            "budget",
            "{dataset}",
            html="What a number of scores buys: table",
            svg="What a number of scores buys",
        ),
        pair="results/{dataset}/budget-pair.csv",
    log:
        "results/logs/{dataset}/budget.log",
    benchmark:
        "results/benchmarks/{dataset}/budget.tsv"
    params:
        code=code("budget.py"),
        recommenders=lambda wildcards: TRAINED[wildcards.dataset],
        pair=lambda wildcards: pair_of(wildcards.dataset),
        replacement=config["sampling"]["replacement"],
        figure=BUDGET,
    script:
        "../../scripts/budget.py"
