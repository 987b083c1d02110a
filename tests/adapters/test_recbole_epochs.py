"""The numbers of epochs in a trainer of RecBole.

The trainer here has RecBole's calls, and needs no RecBole.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

import sampled_metrics as sm
from sampled_metrics import adapters

USERS = 50
ITEMS = 30


class Trainer:
    """A trainer whose fit numbers the epochs from `start_epoch` on, as RecBole's does."""

    config = {"metrics": ["NDCG"], "topk": [10], "metric_decimal_place": 4}  # noqa: RUF012
    valid_metric = "ndcg@10"
    start_epoch = 0

    def _train_epoch(self, train_data, epoch_idx):
        return 0.0

    def fit(self, valid_data, epochs=3):
        for index in range(self.start_epoch, epochs):
            self._train_epoch(None, index)
            self._valid_epoch(valid_data)


def data_with(first_item):
    dataset = SimpleNamespace(uid_field="user", id2token=lambda field, users: users.astype(str))
    return SimpleNamespace(dataset=dataset, held_out=(np.arange(USERS) + first_item) % ITEMS)


@pytest.fixture(autouse=True)
def _without_recbole(monkeypatch):
    scores = np.random.default_rng(1).normal(size=(USERS, ITEMS))
    nothing = csr_array((USERS, ITEMS))
    module = adapters.recbole
    monkeypatch.setattr(
        module, "_split", lambda data, *_: (np.arange(USERS), data.held_out, nothing)
    )
    monkeypatch.setattr(module, "_scores", lambda *_: lambda block: scores[block])


def resumed(trainer, start_epoch):
    again = Trainer()
    again.start_epoch = start_epoch
    adapters.recbole.exact_validation(again, state=trainer.validator.state_dict())
    return again


@pytest.fixture
def trainer():
    trainer = Trainer()
    adapters.recbole.exact_validation(trainer)
    return trainer


def test_a_second_fit_counts_on(trainer):
    data = data_with(0)
    trainer.fit(data)
    trainer.fit(data)
    assert trainer.validator.history["epoch"].tolist() == [1, 2, 3, 4, 5, 6]


def test_a_state_is_for_the_first_validation_data(trainer):
    data = data_with(0)
    trainer.fit(data)
    again = resumed(trainer, 3)
    again.fit(data, epochs=4)
    assert again.validator.history["epoch"].tolist() == [1, 2, 3, 4]
    again.start_epoch = 4
    again.fit(data_with(1), epochs=5)
    assert again.validator.history["epoch"].tolist() == [5]


def test_a_state_of_later_epochs_than_the_checkpoint_is_refused(trainer):
    data = data_with(0)
    trainer.fit(data)
    with pytest.raises(sm.DataError, match="state: has epochs up to 3, and epoch 2 was trained"):
        resumed(trainer, 1).fit(data)
