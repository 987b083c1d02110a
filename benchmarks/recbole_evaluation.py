"""The data on which tools are compared, and RecBole's own evaluation of them.

The held-out item of each user has the latest of two made-up times.
"""

import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, csr_matrix, vstack

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from sampled_metrics.data.split import Split
from sampled_metrics.recommenders.models import FactorModel

USERS = 500  # number of users whose scores are in memory at a time

Evaluation = Callable[[], dict[str, float]]


@dataclass(frozen=True)
class Case:
    """A factor model and the split on which it is evaluated.

    Attributes:
        split: training events, and one held-out item of each user.
        model: model whose scores are products of factors.
    """

    split: Split
    model: FactorModel

    @property
    def items(self) -> int:
        """The number of all items, those in training included."""
        return self.split.training.shape[1]

    @property
    def training(self) -> csr_matrix:
        """The (users, items) training events, with 32-bit indices."""
        return _with_32_bit_indices(self.split.training)

    @property
    def test(self) -> csr_matrix:
        """The (users, items) held-out items, with 32-bit indices."""
        users = self.split.held_out.nnz
        pairs = (np.ones(users), self.split.item, np.arange(users + 1))
        return _with_32_bit_indices(csr_array(pairs, shape=self.split.training.shape))


def _with_32_bit_indices(pairs: csr_array) -> csr_matrix:
    """Return pairs as a matrix with the indices that the other tools need."""
    matrix = csr_matrix(pairs)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return matrix


@contextlib.contextmanager
def evaluations(case: Case) -> Iterator[Callable[..., Evaluation]]:
    """Yield a function from metrics, cut-offs and mode (full, uni100) to a function that calls Trainer.evaluate.

    A user of RecBole repeats only that call. Data are read and split before it.
    """
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
            self.unused = torch.nn.Parameter(torch.zeros(1))  # the trainer needs a parameter
            users = dataset.id2token("user_id", np.arange(1, dataset.user_num)).astype(int)
            items = dataset.id2token("item_id", np.arange(1, dataset.item_num)).astype(int)
            self.users = torch.from_numpy(np.insert(case.model.user_factors[users], 0, 0.0, axis=0))  # 0 is padding
            self.items = torch.from_numpy(np.insert(case.model.item_factors[items], 0, 0.0, axis=0))

        def full_sort_predict(self, interaction: dict[str, torch.Tensor]) -> torch.Tensor:
            return self.users[interaction["user_id"]] @ self.items.T

        def predict(self, interaction: dict[str, torch.Tensor]) -> torch.Tensor:
            return (self.users[interaction["user_id"]] * self.items[interaction["item_id"]]).sum(axis=1).float()

    def evaluation(metrics: list[str], topk: list[int], mode: str = "full") -> Evaluation:
        settings = {
            "data_path": str(Path.cwd()),
            "load_col": {"inter": ["user_id", "item_id", "timestamp"]},
            "eval_args": {"split": {"LS": "test_only"}, "group_by": "user", "order": "TO", "mode": mode},
            "metrics": metrics,
            "topk": topk,
            "valid_metric": f"{metrics[0]}@{topk[0]}",
            "metric_decimal_place": 12,
            "state": "ERROR",
            "use_gpu": False,
            "train_neg_sample_args": None,
            "eval_batch_size": USERS * (case.items + 1),
        }
        config = Config(model=Factors, dataset="events", config_dict=settings)
        training, _, test = data_preparation(config, create_dataset(config))
        trainer = Trainer(config, Factors(config, training.dataset))
        return lambda: trainer.evaluate(test, load_best_model=False, show_progress=False)

    events = vstack([case.training, case.test * 2]).tocoo()
    users = case.split.held_out.nnz
    columns = {"user_id:token": events.row % users, "item_id:token": events.col, "timestamp:float": events.data}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("events").mkdir()
        pd.DataFrame(columns).to_csv("events/events.inter", sep="\t", index=False)
        arguments, sys.argv = sys.argv, sys.argv[:1]  # RecBole reads them
        try:
            yield evaluation
        finally:
            sys.argv = arguments
