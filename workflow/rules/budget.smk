# Needs: the split, the models and the rank tables of a dataset's recommenders. Makes: what a number of scores buys.


def for_trained(path):
    """The path for every recommender that is trained on a dataset."""
    return lambda wildcards: expand(
        path, dataset=wildcards.dataset, recommender=TRAINED[wildcards.dataset]
    )


def pair_of(wildcards):
    """The recommenders whose comparison is planned: those of the config, or the first and the last that are trained."""
    trained = TRAINED[wildcards.dataset]
    if len(trained) < 2:
        return None
    stated = [name for name in config["figures"]["budget"]["pair"] if name in trained]
    return tuple(stated) if len(stated) == 2 else (trained[0], trained[-1])


rule budget:
    input:
        split=SPLIT,
        models=for_trained(MODEL),
        ranks=for_trained(RANKS),
    output:
        csv="<results>/{dataset}/budget.csv",
        pair="<results>/{dataset}/budget-pair.csv",
        md="<results>/{dataset}/budget.md",
        html=in_report("<results>/{dataset}/budget.html", "What a number of scores buys: table"),
        svg=in_report("<results>/{dataset}/budget.svg", "What a number of scores buys"),
        png="<results>/{dataset}/budget.png",
        versions="<results>/{dataset}/budget.json",
    log:
        "<results>/logs/{dataset}/budget.log",
    benchmark:
        "<results>/benchmarks/{dataset}/budget.tsv"
    params:
        code=code("budget"),
        recommenders=lambda wildcards: TRAINED[wildcards.dataset],
        pair=pair_of,
        replacement=config["sampling"]["replacement"],
        figure=config["figures"]["budget"],
    script:
        "../../scripts/budget.py"


WITH_BUDGET = [dataset for dataset in config["study"] if TRAINED[dataset]]
