"""Ranks of models of RecBole."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sampled_metrics.adapters._among_negatives import among_negatives
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.core.ranks.sampled import SampledRanks
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranking.rank import rank


def ranks(model: Any, test_data: Any) -> ExactRanks:
    """Rank each user's test item among all items that RecBole ranks.

    RecBole leaves out the padding and the items of training and validation, but for sequential
    models only the padding. The scores of a model on a GPU are counted there, as in
    `sampled_metrics.ranking.rank.rank`.

    Args:
        model: a trained model, general or sequential.
        test_data: the test data of `data_preparation`, with `mode: full` and one test item of each
            user, as with `split: {LS: valid_and_test}`.

    Raises:
        DataError: the evaluation is sampled, or a user has several test items; as in
            `sampled_metrics.ranking.rank`.
    """
    from recbole.utils.case_study import full_sort_scores

    hint = "; sampled_ranks takes a sampled evaluation"
    users, held_out, hidden = _split(test_data, "test_data", hint)
    ids = test_data.dataset.id2token(test_data.dataset.uid_field, users)

    def scores(block: slice) -> Any:
        return full_sort_scores(users[block], model, test_data, model.device)[:, 1:]

    return rank(scores, hidden, held_out, user_ids=ids)


def exact_validation(
    trainer: Any,
    *,
    epochs: int | None = None,
    state: Mapping[str, Any] | None = None,
    confidence_level: float = 0.95,
) -> None:
    """Let a trainer choose its epoch with exact metrics of the validation data.

    Exact metrics replace RecBole's own evaluation of the validation data. The metrics come from the
    trainer's config, and equal RecBole's mode full unless scores tie: RecBole orders ties by the
    number of the item, and here they count as if they were broken at random. `trainer.fit` stops
    early and keeps the best epoch as before, and `trainer.evaluate` of test data does not change.
    Scores are computed for many users at a time, whatever `eval_batch_size` is.

    After the first validation, `trainer.validator` is a `sampled_metrics.validator`, whose history
    has the metrics with intervals and says which epochs are better than the best before. A new
    history begins with other validation data. A second `fit` of the trainer trains on, and its
    epochs continue the numbers of the first.

    Args:
        trainer: a trainer of a general or a sequential model, before `fit`, whose validation data
            have `mode: full` and one item of each user, as with `split: {LS: valid_and_test}`.
        epochs: the largest number of validations, if it is known, as in
            `sampled_metrics.validator`.
        state: what `trainer.validator.state_dict()` returned before a restart, to go on from its
            epochs together with `trainer.resume_checkpoint`. The state must belong to the first
            validation data and have no epoch after the checkpoint.
        confidence_level: as in `sampled_metrics.validator`.

    Raises:
        ConfigError: the config has a metric other than Recall, MRR, NDCG, Hit, Precision, MAP and
            GAUC.
        DataError: on validation, if it is sampled, a user has several items, or the state is
            damaged, belongs to other data or has epochs after the checkpoint.

    Examples:
        >>> from sampled_metrics import adapters
        >>> adapters.recbole.exact_validation(trainer)  # doctest: +SKIP
    """
    from sampled_metrics.validation.validator import validator

    config = trainer.config
    labels = _labels(config)
    known_data: list[Any] = []
    states = [] if state is None else [state]
    trained_epochs: list[_TrainedEpoch] = []
    train_epoch = trainer._train_epoch

    def counted_epoch(train_data: Any, epoch_idx: int, *arguments: Any, **options: Any) -> Any:
        number = epoch_idx + 1
        if trained_epochs and epoch_idx <= trained_epochs[-1].index:  # fit was called again
            number = trained_epochs[-1].number + 1
        elif trained_epochs:
            number = trained_epochs[-1].number + epoch_idx - trained_epochs[-1].index
        trained_epochs[:] = [_TrainedEpoch(epoch_idx, number)]
        return train_epoch(train_data, epoch_idx, *arguments, **options)

    def valid_epoch(valid_data: Any, show_progress: bool = False) -> tuple[float, dict[str, float]]:
        if known_data != [valid_data]:
            users, held_out, hidden = _split(valid_data, "valid_data")
            ids = valid_data.dataset.id2token(valid_data.dataset.uid_field, users)
            trainer.validator = validator(
                hidden,
                held_out,
                metrics=list(dict.fromkeys(labels.values())),
                epochs=epochs,
                user_ids=ids,
                confidence_level=confidence_level,
            )
            for state_before in states:
                trainer.validator.load_state_dict(state_before)
                _require_later(trained_epochs, state_before)
            states.clear()
            known_data[:] = [valid_data]
        step = trained_epochs[-1].number if trained_epochs else None
        epoch = trainer.validator(_scores(trainer, valid_data), step=step)
        exact = epoch.result.set_index("metric")["value"]
        decimals = config["metric_decimal_place"]
        values = {label: round(float(exact[ours]), decimals) for label, ours in labels.items()}
        return values[trainer.valid_metric], values

    trainer._train_epoch = counted_epoch
    trainer._valid_epoch = valid_epoch


def _labels(config: Any) -> dict[str, str]:
    """Return the metrics of a config: RecBole's label → the label here."""
    labels = dict[str, str]()
    for metric in config["metrics"]:
        name = str(metric).lower()
        if name not in _OF_RECBOLE:
            known = ", ".join(_OF_RECBOLE)
            raise ConfigError(
                f"metrics: {name} is not a metric of ranks; exact validation takes {known}"
            )
        names = ["gauc"] if name == "gauc" else [f"{name}@{k}" for k in config["topk"]]
        labels |= {label: label.replace(name, _OF_RECBOLE[name]) for label in names}
    return labels


@dataclass(frozen=True)
class _TrainedEpoch:
    """The last epoch that was trained.

    Attributes:
        index: RecBole's number of it, which begins anew with each fit.
        number: its number in all fits.
    """

    index: int
    number: int


def _require_later(trained_epochs: list[_TrainedEpoch], state: Mapping[str, Any]) -> None:
    """Refuse a checkpoint that is older than the state.

    The contenders at the time of the checkpoint are no longer known.
    """
    last = int(state["rows"][-1]["epoch"]) if state["rows"] else 0
    if trained_epochs and trained_epochs[-1].number <= last:
        number = trained_epochs[-1].number
        raise DataError(
            f"state: has epochs up to {last}, and epoch {number} was trained; give the state of "
            "its checkpoint"
        )


_OF_RECBOLE = {name: name for name in ("recall", "mrr", "ndcg", "hit", "precision")} | {
    "map": "ap",
    "gauc": "auc",
}
"""The labels here of metrics of RecBole, which are equal for one held-out item."""


def _scores(trainer: Any, data: Any) -> Callable[[slice], Any]:
    """Return the function that scores the users of `_split` with the trainer's model."""
    import torch

    trainer.model.eval()
    trainer.tot_item_num = data.dataset.item_num
    trainer.item_tensor = data.dataset.get_item_feature().to(trainer.device)

    def scores(block: slice) -> Any:
        index = np.arange(block.start, block.stop)
        users = data.collate_fn(index)[0] if data.is_sequential else data.user_df[index]
        with torch.no_grad():
            return trainer._full_sort_batch_eval((users, None, None, None))[1][:, 1:]

    return scores


def _split(data: Any, name: str, hint: str = "") -> tuple[NDArray[Any], NDArray[Any], csr_array]:
    """Return the users, their held-out items, and the (users, items) that are not ranked.

    Items are numbered from 0, without the padding.
    """
    from recbole.data.dataloader import FullSortEvalDataLoader

    if not isinstance(data, FullSortEvalDataLoader):
        raise DataError(f"{name}: is not of mode full{hint}")
    dataset = data.dataset
    if data.is_sequential:
        users = dataset.inter_feat[dataset.uid_field].numpy()
        held_out = dataset.inter_feat[dataset.iid_field].numpy()
        columns = [np.empty(0, dtype=np.int64)] * len(users)
    else:
        users = data.uid_list.numpy()
        columns = [items.numpy() - 1 for items in data.uid2history_item[users]]
        if (data.uid2items_num[users] != 1).any():
            raise DataError(f"{name}: a user has several held-out items; expected one of each user")
        held_out = np.concatenate(list(data.uid2positive_item[users]))
    ends = np.cumsum([0, *map(len, columns)])
    shape = (len(users), dataset.item_num - 1)
    hidden = csr_array((np.ones(ends[-1]), np.concatenate(columns), ends), shape=shape)
    return users, held_out - 1, hidden


def sampled_ranks(model: Any, test_data: Any, *, seed: int = 0) -> SampledRanks:
    """Rank each user's test item among the negatives that RecBole samples.

    RecBole draws with replacement and then ranks each item once. So the negatives are the distinct
    ones: their number differs by user, and `correct` takes them as drawn without replacement. Ties
    are broken at random; RecBole itself breaks them by the number of the item. The sampler of
    RecBole draws from numpy's global random numbers, anew on each call.

    Args:
        model: a trained model, general or sequential.
        test_data: the test data of `data_preparation`, with `mode: uni100` or the like and one test
            item of each user.
        seed: of the random order of ties.

    Returns:
        The ranks, for `correct`.

    Raises:
        DataError: the evaluation is not sampled, not uniformly, or a user has several test items.
    """
    import torch
    from recbole.sampler import RepeatableSampler

    no_sample = {"distribution": "none"}
    distribution = getattr(test_data, "neg_sample_args", no_sample)["distribution"]
    if distribution != "uniform":
        raise DataError(
            "test_data: needs a mode such as uni100, with negatives drawn uniformly, "
            f"not {distribution!r}"
        )
    dataset = test_data.dataset
    sampler = test_data._sampler
    model.train(False)
    fields = {
        "user": dataset.uid_field,
        "item": dataset.iid_field,
        "held_out": test_data.label_field,
    }
    parts = []
    for interaction, *_ in test_data:
        with torch.no_grad():
            scores = model.predict(interaction.to(model.device)).cpu().numpy()
        columns = {name: interaction[field].cpu().numpy() for name, field in fields.items()}
        parts.append(pd.DataFrame(columns | {"score": scores}))
    pairs = pd.concat(parts).drop_duplicates(["user", "item"])
    users, row = np.unique(pairs["user"], return_inverse=True)
    if isinstance(sampler, RepeatableSampler):
        # of sequential models; it may draw the user's own items
        candidates = np.full(len(users), dataset.item_num - 1)
    else:
        candidates = dataset.item_num - np.array([len(used) for used in sampler.used_ids[users]])
    held_out = pairs["held_out"].to_numpy() == 1
    ids = dataset.id2token(dataset.uid_field, users)
    return among_negatives(row, held_out, pairs["score"].to_numpy(), ids, candidates, seed)
