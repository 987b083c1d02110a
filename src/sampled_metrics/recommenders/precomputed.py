"""A recommender that lives elsewhere: nothing is trained, its ranks are read from a file."""

from dataclasses import dataclass

from sampled_metrics.recommenders.parameters import parameter


@dataclass(frozen=True)
class PrecomputedRanks:
    """Ranks of the held-out items, as another tool computed them (`sampled_metrics.ranks.table.read_ranks`)."""

    path: str = parameter(
        "a csv file, or .csv.gz, with the columns candidates, above and tied, or candidates and rank, and optionally "
        "user; {dataset} in the path stands for the name of the dataset",
        type="string",
        minLength=1,
    )
    candidates: int | None = parameter(
        "n, the candidates of every event, for a file without that column",
        default=None,
        type=["integer", "null"],
        minimum=1,
    )

    def file(self, dataset: str) -> str:
        """Return the file that holds the ranks on a dataset."""
        return self.path.replace("{dataset}", dataset)
