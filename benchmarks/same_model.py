"""Put one factor model through other tools and print what each says: the numbers of docs/same-model.md.

Each tool that is installed ranks the candidates by the model's scores itself; one that is missing is left out. The
model and its split are those of this project, for example as `make reproduce` leaves them.

    python benchmarks/same_model.py --split results/ml-1m/split.npz --model results/ml-1m/models/X.npz
"""

import argparse
import importlib.metadata
import importlib.util
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "benchmarks")]

from factor_case import Case  # noqa: E402

from sampled_metrics.data.split import read_split  # noqa: E402
from sampled_metrics.metrics.held_out import metric  # noqa: E402
from sampled_metrics.ranking.ranking import rank_held_out  # noqa: E402
from sampled_metrics.recommenders.models import FactorModel, read_model  # noqa: E402

K = 10
BLOCK = 500  # users whose whole lists are in memory at a time


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
    """RecBole, Trainer.evaluate in mode full."""
    from recbole_evaluation import evaluations

    with evaluations(case) as evaluation:
        top = evaluation(["Recall", "NDCG", "MRR", "MAP", "GAUC"], [K])()
        whole = evaluation(["MRR"], [K, case.items])()
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
