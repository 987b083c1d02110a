# Needs: config. Makes: nothing; it holds the functions that return the input of rules, and parameters that follow it.
import errno

from sampled_metrics.data.split import Shape
from sampled_metrics.errors import DataError
from sampled_metrics.recommenders import recommender, recommender_type
from sampled_metrics.study.workflow.fingerprint import class_files, fingerprint
from sampled_metrics.study.workflow.memory import SNAKEMAKE, reading_request, training_request
from sampled_metrics.study.workflow.stage_files import read_facts

TRAINERS = {name: recommender(entry) for name, entry in config["recommenders"].items()}


def own_files(wildcards):
    """The files of a dataset that are the user's own: none, the one at path, or this and the test file of its split."""
    dataset = config["datasets"][wildcards.dataset]
    if not dataset["path"]:
        return []
    return [ancient(local(path)) for path in (dataset["path"], dataset["test"]) if path]


def archive_of(wildcards):
    """The file with the events of a dataset: the user's own, or the download."""
    return own_files(wildcards)[0] if own_files(wildcards) else DOWNLOADS.get(wildcards.dataset)


def split_entry(wildcards):
    """The config of a dataset without the keys that do not change the split."""
    unused = {"ranks", "groups", "md5", "sha256"} | ({"urls"} if own_files(wildcards) else set())
    return {key: value for key, value in config["datasets"][wildcards.dataset].items() if key not in unused}


def code_fingerprints(wildcards):
    """Fingerprints of the user's own code, the files of a class."""
    entry = config["recommenders"][wildcards.recommender]
    return [*map(fingerprint, class_files(recommender_type(entry["type"])))]


def train_memory(wildcards, input, attempt):
    """The MB that a training job asks a cluster for, by the size of the split."""
    if not Path(
        input.facts
    ).exists():  # an error that names the input is for snakemake a sign that it is yet to be made
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(input.facts))
    try:
        facts = read_facts(input.facts)
    except DataError as error:  # snakemake would show where it was raised
        sys.exit(f"error: {error}")
    shape = Shape(facts["users"], facts["items"], facts["training_events"])
    return attempt * training_request(TRAINERS[wildcards.recommender], input.split, shape, config["ranking"]["memory"])


def jobs_of(dataset):
    """The jobs of a dataset, by the names of their benchmarks. Downloads are not among them: they are not repeated."""
    trained, names, parts = TRAINED[dataset], result_names()[dataset], config["ranking"]["scatter"]
    yield from ("studied", "tables")
    yield from (
        name
        for name in ("figure-5", "figure-6", "budget", "groups", "estimator-study", "fidelity", "choices")
        if name in names
    )
    if trained:
        yield from ("verify", "split")
    for name in config["recommenders"]:
        yield from (f"{job}-{name}" for job in ("rank", "sample", "exact-moments"))
        if config["estimator_study"]:
            yield f"estimator-study-{name}"
    for name in trained:
        yield f"train-{name}"
        yield from (f"rank-parts/{name}-{part}-of-{parts}" for part in range(1, parts + 1) if parts > 1)


def jobs_of_toy():
    """The jobs of the running example, by the names of their benchmarks."""
    names = result_names().get("toy", [])
    return [name for name in (*TOY_FIGURES, "fidelity") if name in names] + (["tables"] if names else [])
