"""Put one factor model through other tools and print what each says: the numbers of docs/same-model.md.

Each tool that is installed ranks the candidates by the model's scores itself; one that is missing is left out. The
model and its split are those of this project, for example as `make reproduce` leaves them.

    python benchmarks/same_model.py --split results/ml-1m/split.npz --model results/ml-1m/models/X.npz
"""

import argparse
import contextlib
import importlib.metadata
import importlib.util
import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, csr_matrix, vstack

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from sampled_metrics.data.split import Split, read_split  # noqa: E402
from sampled_metrics.metrics import metric  # noqa: E402
from sampled_metrics.ranking import rank_held_out  # noqa: E402
from sampled_metrics.recommenders.models import FactorModel, read_model  # noqa: E402

K = 10
BLOCK = 500  # users whose whole lists are in memory at a time


@dataclass(frozen=True)
class Case:
    """A factor model and what it is evaluated on.

    Attributes:
        split: training, and one held-out item of each user.
        model: its scores are products of factors.
    """

    split: Split
    model: FactorModel

    @property
    def items(self) -> int:
        """All items, those of training included."""
        return self.split.training.shape[1]

    @property
    def training(self) -> csr_matrix:
        """Training as the tools want it."""
        return _as_tools_want(self.split.training)

    @property
    def test(self) -> csr_matrix:
        """The held-out items, (users, items)."""
        users = len(self.split.held_out)
        pairs = (np.ones(users), self.split.held_out, np.arange(users + 1))
        return _as_tools_want(csr_array(pairs, shape=self.split.training.shape))

    def all_equal(self) -> "Case":
        """The same events, with all scores equal."""
        ones = FactorModel(np.ones_like(self.model.user_factors), np.ones_like(self.model.item_factors))
        return replace(self, model=ones)

    def backwards(self) -> "Case":
        """The same events and scores, with the items numbered from the last to the first."""
        training = csr_array(self.split.training[:, ::-1])
        training.sort_indices()
        held_out = self.items - 1 - self.split.held_out
        split = Split(training, held_out, self.split.user_ids, self.split.item_ids[::-1])
        return Case(split, FactorModel(self.model.user_factors, self.model.item_factors[::-1].copy()))


def _as_tools_want(pairs: csr_array) -> csr_matrix:
    matrix = csr_matrix(pairs)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return matrix


Numbers = Iterator[tuple[str, float]]
"""What a tool says: the name of the number, as its user asks for it, and the mean over users."""


def ours(case: Case) -> Numbers:
    """This library: ties are worth their mean."""
    table = rank_held_out(case.model, case.split)
    for label in (f"recall@{K}", f"ndcg@{K}", f"ap@{K}", "ndcg", "ap", "auc"):
        yield label, float(table.values(metric(label)).mean())


def implicit(case: Case) -> Numbers:
    """implicit.evaluation.ranking_metrics_at_k, with its default K and with all items."""
    from implicit.cpu.als import AlternatingLeastSquares
    from implicit.evaluation import ranking_metrics_at_k

    model = AlternatingLeastSquares(factors=case.model.user_factors.shape[1], num_threads=1, dtype=np.float64)
    model.user_factors, model.item_factors = case.model.user_factors, case.model.item_factors
    for at, k in ((str(K), K), ("all", case.items)):
        found = ranking_metrics_at_k(model, case.training, case.test, K=k, show_progress=False)
        for name in ("precision", "ndcg", "map", "auc"):
            yield f"{name}, K={at}", found[name]


def lenskit(case: Case) -> Numbers:
    """lenskit.metrics, on the lists that ItemList.top_n orders."""
    from lenskit.data import ItemList, ItemListCollection
    from lenskit.metrics import NDCG, LogRankWeight, Recall, RecipRank, RunAnalysis

    measures = {
        f"Recall({K})": Recall(K),
        f"NDCG({K})": NDCG(K),
        f"NDCG({K}, weight=LogRankWeight(offset=1))": NDCG(K, weight=LogRankWeight(offset=1)),
        f"RecipRank({K})": RecipRank(K),
        "RecipRank()": RecipRank(),
    }
    tables = []
    training, held_out = case.split.training, case.split.held_out
    for first in range(0, len(held_out), BLOCK):
        lists, truth = ItemListCollection(["user_id"]), ItemListCollection(["user_id"])
        scores = case.model.scores(training, slice(first, first + BLOCK), slice(None))
        for user, row in enumerate(scores, start=first):
            had = training.indices[training.indptr[user] : training.indptr[user + 1]]
            candidates = np.delete(np.arange(case.items), had)
            lists.add(ItemList(item_ids=candidates, scores=row[candidates]).top_n(), user_id=user)
            truth.add(ItemList(item_ids=[held_out[user]]), user_id=user)
        analysis = RunAnalysis()
        for name, measure in measures.items():
            analysis.add_metric(measure, name)
        tables.append(analysis.measure(lists, truth).list_metrics())
    yield from pd.concat(tables)[list(measures)].mean().items()


def rectools(case: Case) -> Numbers:
    """rectools.metrics.calc_metrics, on the lists of its ImplicitRanker."""
    from rectools.metrics import MAP, MRR, NDCG, PartialAUC, Recall, calc_metrics
    from rectools.models.rank import Distance, ImplicitRanker

    measures = {
        f"Recall({K})": Recall(K),
        f"NDCG({K})": NDCG(K),
        f"NDCG({K}, divide_by_achievable=True)": NDCG(K, divide_by_achievable=True),
        f"MAP({K})": MAP(K),
        "MAP(all)": MAP(case.items),
        f"MRR({K})": MRR(K),
        "MRR(all)": MRR(case.items),
        f"PartialAUC({K})": PartialAUC(K),
        "PartialAUC(all)": PartialAUC(case.items),
    }
    ranker = ImplicitRanker(Distance.DOT, case.model.user_factors, case.model.item_factors, num_threads=1)
    training, users = case.training, np.arange(len(case.split.held_out))
    total = dict.fromkeys(measures, 0.0)
    for first in range(0, len(users), BLOCK):
        block = users[first : first + BLOCK]
        ranked = ranker.rank(block, filter_pairs_csr=training[block])
        listed = pd.DataFrame({"user_id": np.asarray(ranked[0]), "item_id": np.asarray(ranked[1])})
        listed["rank"] = listed.groupby("user_id").cumcount() + 1
        truth = pd.DataFrame({"user_id": block, "item_id": case.split.held_out[block]})
        for name, value in calc_metrics(measures, listed, interactions=truth).items():
            total[name] += value * len(block)
    for name, value in total.items():
        yield name, value / len(users)


def cornac(case: Case) -> Numbers:
    """cornac.eval_methods.ranking_eval, with metrics asked for alone and together."""
    from cornac.eval_methods import BaseMethod, ranking_eval
    from cornac.metrics import AUC, MAP, MRR, NDCG, Recall
    from cornac.models import Recommender

    matrices = (case.training.tocoo(), case.test.tocoo())
    events = [list(zip(each.row.tolist(), each.col.tolist(), each.data.tolist(), strict=True)) for each in matrices]
    method = BaseMethod.from_splits(*events, exclude_unknowns=False, verbose=False)
    users, items = (np.array(list(ids)) for ids in (method.global_uid_map, method.global_iid_map))

    class Factors(Recommender):
        def score(self, user_idx: int, item_idx: int | None = None) -> np.ndarray:
            scores = case.model.scores(case.split.training, slice(users[user_idx], users[user_idx] + 1), slice(None))
            return scores[0][items]

    model = Factors("factors", trainable=False)
    model.fit(method.train_set)

    def asked(*measures: object) -> list[float]:
        return ranking_eval(model, measures, method.train_set, method.test_set, exclude_unknowns=False)[0]

    recall, ndcg, mrr, whole_ndcg, average_precision, auc = asked(Recall(K), NDCG(K), MRR(), NDCG(), MAP(), AUC())
    yield from ((f"Recall({K})", recall), (f"NDCG({K})", ndcg))
    mrr_alone, whole_ndcg_alone = asked(MRR(), NDCG())
    yield from (("NDCG() without a k", whole_ndcg_alone), (f"NDCG() beside Recall({K})", whole_ndcg))
    yield from (("MRR() without a k", mrr_alone), (f"MRR() beside Recall({K})", mrr))
    yield from (("MAP()", average_precision), ("AUC()", auc))


def recbole(case: Case) -> Numbers:
    """RecBole, Trainer.evaluate in mode full: each user's latest event is the test, on times made up to say so."""
    import torch
    from recbole.config import Config
    from recbole.data import create_dataset, data_preparation
    from recbole.model.abstract_recommender import GeneralRecommender
    from recbole.trainer import Trainer
    from recbole.utils import InputType, ModelType

    class Factors(GeneralRecommender):
        type, input_type = ModelType.GENERAL, InputType.PAIRWISE

        def __init__(self, config: Config, dataset: object) -> None:
            super().__init__(config, dataset)
            self.unused = torch.nn.Parameter(torch.zeros(1))  # the trainer wants something to train
            self.users = dataset.id2token("user_id", np.arange(1, dataset.user_num)).astype(int)
            self.items = dataset.id2token("item_id", np.arange(1, dataset.item_num)).astype(int)

        def full_sort_predict(self, interaction: dict[str, torch.Tensor]) -> torch.Tensor:
            users = self.users[interaction["user_id"].numpy() - 1]
            scores = case.model.user_factors[users] @ case.model.item_factors[self.items].T
            return torch.from_numpy(np.insert(scores, 0, 0.0, axis=1))  # item 0 is padding

    def evaluated(metrics: list[str], topk: list[int]) -> dict[str, float]:
        settings = {
            "data_path": str(Path.cwd()),
            "load_col": {"inter": ["user_id", "item_id", "timestamp"]},
            "eval_args": {"split": {"LS": "test_only"}, "group_by": "user", "order": "TO", "mode": "full"},
            "metrics": metrics,
            "topk": topk,
            "valid_metric": f"{metrics[0]}@{topk[0]}",
            "metric_decimal_place": 12,
            "state": "ERROR",
            "use_gpu": False,
            "train_neg_sample_args": None,
            "eval_batch_size": BLOCK * (case.items + 1),
        }
        config = Config(model=Factors, dataset="events", config_dict=settings)
        dataset = create_dataset(config)
        training, _, test = data_preparation(config, dataset)
        trainer = Trainer(config, Factors(config, training.dataset))
        return trainer.evaluate(test, load_best_model=False, show_progress=False)

    events = vstack([case.training, case.test * 2]).tocoo()
    users = len(case.split.held_out)
    columns = {"user_id:token": events.row % users, "item_id:token": events.col, "timestamp:float": events.data}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("events").mkdir()
        pd.DataFrame(columns).to_csv("events/events.inter", sep="\t", index=False)
        arguments, sys.argv = sys.argv, sys.argv[:1]  # it reads them
        try:
            top = evaluated(["Recall", "NDCG", "MRR", "MAP", "GAUC"], [K])
            whole = evaluated(["MRR"], [K, case.items])
        finally:
            sys.argv = arguments
    for name in ("recall", "ndcg", "mrr", "map"):
        yield f"{name}@{K}", float(top[f"{name}@{K}"])
    yield "mrr@all", float(whole[f"mrr@{case.items}"])
    yield f"mrr@{K}, topk [{K}, all]", float(whole[f"mrr@{K}"])
    yield "gauc", float(top["gauc"])


def recometrics(case: Case) -> Numbers:
    """recometrics.calc_reco_metrics, with its default of breaking ties with noise and without."""
    from recometrics import calc_reco_metrics

    for noise in (True, False):
        found = calc_reco_metrics(
            case.training,
            case.test,
            case.model.user_factors,
            case.model.item_factors,
            k=K,
            all_metrics=True,
            break_ties_with_noise=noise,
            nthreads=1,
        ).mean()
        for name in (f"R@{K}", f"NDCG@{K}", f"AP@{K}", f"RR@{K}", "ROC_AUC", "PR_AUC"):
            yield (name if noise else f"{name}, break_ties_with_noise=False"), float(found[name])


TOOLS: dict[str, Callable[[Case], Numbers]] = {
    "sampled-metrics": ours,
    "implicit": implicit,
    "lenskit": lenskit,
    "rectools": rectools,
    "cornac": cornac,
    "recbole": recbole,
    "recometrics": recometrics,
}
"""By name of the package."""


def installed(tool: str) -> bool:
    """Whether a tool can be run here; this library can."""
    return TOOLS[tool] is ours or importlib.util.find_spec(tool) is not None


def version(tool: str) -> str:
    """Version of the package that brings a tool along: RecTools has implicit from pm-implicit."""
    if TOOLS[tool] is ours:
        return ""
    return importlib.metadata.version(importlib.metadata.packages_distributions()[tool][0])


@dataclass(frozen=True)
class Row:
    """A number that a tool printed.

    Attributes:
        tool: its package.
        version: the package's.
        number: the name that its user asks by.
        model: its value for the model.
        equal: its value with all scores equal.
        backwards: the same after the items were numbered from the last to the first.
    """

    tool: str
    version: str
    number: str
    model: float
    equal: float
    backwards: float


def rows(tool: str, case: Case) -> Iterator[Row]:
    """Run a tool on the model, and on ties in both orders of the items."""
    equal = case.all_equal()
    found, tied, tied_backwards = (dict(TOOLS[tool](each)) for each in (case, equal, equal.backwards()))
    for name, value in found.items():
        yield Row(tool, version(tool), name, float(value), float(tied[name]), float(tied_backwards[name]))


def main() -> None:
    """Run the tools and print a line a number."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", type=Path, default=ROOT / "results/ml-1m/split.npz")
    parser.add_argument("--model", type=Path, default=ROOT / "results/ml-1m/models/X.npz", help="a factor model")
    parser.add_argument(
        "--tool", action="append", choices=TOOLS, help="may be repeated; default: all that are installed"
    )
    parser.add_argument("--format", choices=("markdown", "json"), default="markdown")
    given = parser.parse_args()
    model = read_model(given.model)
    if not isinstance(model, FactorModel):
        parser.error(f"{given.model} is no factor model")
    case = Case(read_split(given.split), model)
    if given.format == "markdown":
        print(
            "| tool | version | number | model | all equal | all equal, items backwards |",
            "|---|---|---|---|---|---|",
            sep="\n",
        )
    for tool in given.tool or filter(installed, TOOLS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the tools' own
            for row in rows(tool, case):
                if given.format == "json":
                    print(json.dumps(asdict(row)), flush=True)
                else:
                    values = " | ".join(f"{value:.4f}" for value in (row.model, row.equal, row.backwards))
                    print(f"| {row.tool} | {row.version} | {row.number} | {values} |", flush=True)


if __name__ == "__main__":
    main()
