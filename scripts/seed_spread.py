"""Train recommender X from many random starts, and summarise how Tables 3 and 4 vary."""

from typing import Any

from sampled_metrics import _files
from sampled_metrics.data.split import read_split
from sampled_metrics.errors import ConfigError
from sampled_metrics.ranks.exact import read_rank_tables
from sampled_metrics.recommenders import recommender
from sampled_metrics.study.paper import fidelity
from sampled_metrics.study.paper.reference import RANDOM_RECOMMENDER
from sampled_metrics.study.repetitions import Evaluation, exact_moments, repeat
from sampled_metrics.study.tables import table_3, table_4
from sampled_metrics.study.workflow.jobs import progress_bar, run
from sampled_metrics.study.workflow.seeds import stream


def main(snakemake: Any) -> None:
    """Write the spread of every cell over random starts."""
    dataset, params = snakemake.wildcards.dataset, snakemake.params
    split = read_split(snakemake.input.split)
    ranks = read_rank_tables(params.recommenders, snakemake.input.ranks)
    evaluations = Evaluation.from_config(params.sampling, params.estimators, params.metrics, params.assume_replacement)
    if None not in evaluations:
        raise ConfigError("sampling.negatives: the spread over random starts needs one number, not a list")
    evaluation = evaluations[None]
    expected = {name: exact_moments(table, evaluation) for name, table in ranks.items()}
    runs = []
    for start in progress_bar("random starts")(range(params.starts)):
        # every recommender is sampled anew, as in a study of its own
        names = (params.seed, dataset, f"start {start}")
        model = recommender(params.entry).fit(split.training, stream(*names, RANDOM_RECOMMENDER, "train"))
        ranks[RANDOM_RECOMMENDER] = model.rank(split)
        expected[RANDOM_RECOMMENDER] = exact_moments(ranks[RANDOM_RECOMMENDER], evaluation)
        estimates = {name: repeat(table, evaluation, stream(*names, name, "sample")) for name, table in ranks.items()}
        runs.append((table_3(ranks, estimates, expected), table_4(ranks, estimates, expected)))
    _files.write_csv(snakemake.output.spread, fidelity.seed_spread(runs, RANDOM_RECOMMENDER))


if __name__ == "__main__":
    run(main, snakemake, "seed spread on {wildcards.dataset}")
