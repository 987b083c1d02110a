# Needs: a dataset's split. Makes: a trained model of each recommender.
import json
import math

from sampled_metrics.data.split import Shape

COMMANDS = {name: recommender(entry) for name, entry in config["recommenders"].items() if entry["type"] == "command"}


def command_tables(wildcards):
    """The files of the split that a command reads."""
    names = COMMANDS[wildcards.recommender].tables if wildcards.recommender in COMMANDS else []
    return expand("results/{dataset}/split/{name}", dataset=wildcards.dataset, name=names)


def command_fingerprints(wildcards):
    """Fingerprints of the files among a command's arguments, such as its script."""
    arguments = COMMANDS[wildcards.recommender].arguments if wildcards.recommender in COMMANDS else []
    return [fingerprint(each) for each in arguments]


def train_memory(wildcards, input, attempt):
    """MB that a recommender asks a cluster for, by the size of the split, and 300 for snakemake beside the script."""
    try:
        facts = json.loads(Path(input.split).with_name("dataset.json").read_text(encoding="utf-8"))
    except FileNotFoundError as error:  # of one that names the input, snakemake concludes that it is yet to be made
        raise FileNotFoundError(error.errno, error.strerror, str(input.split)) from None
    chosen = recommender(config["recommenders"][wildcards.recommender])
    needed = chosen.training_memory(Shape(facts["users"], facts["items"], facts["training_events"]))
    return attempt * (300 + math.ceil(needed / 1e6))


rule train:
    input:
        split="results/{dataset}/split.npz",
        tables=command_tables,
    output:
        model="results/{dataset}/models/{recommender}.npz",
    log:
        "results/logs/{dataset}/train-{recommender}.log",
    benchmark:
        "results/benchmarks/{dataset}/train-{recommender}.tsv"
    resources:
        mem_mb=train_memory,
    params:
        code=code("train.py"),
        entry=lambda wildcards: config["recommenders"][wildcards.recommender],
        seed=config["seed"],
        # not a function of the input, for which snakemake would not run again
        fingerprints=command_fingerprints,
    script:
        "../../scripts/train.py"
