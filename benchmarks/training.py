"""Simulate trainings, and what a validator says of them.

    python benchmarks/training.py level [--runs 400] [--public 100]
    python benchmarks/training.py power [--runs 100]
    python benchmarks/training.py contenders [--runs 200]
    python benchmarks/training.py stopping [--runs 200]
    python benchmarks/training.py best [--runs 200]
    python benchmarks/training.py memory

A training has 50 epochs. A user's rank in epoch k is ⌈n u^γ⌉ of n = 1000, where γ belongs to the
epoch and u is uniform, so that Recall@10 is (10 / n)^(1/γ). The u of a user is Φ of a normal
process with a correlation from epoch to epoch (AR(1); 0 is a new draw each time). The number of
epochs is known, or not. docs/coverage.md and docs/how-to/validate.md have the tables.
"""

import argparse
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

import sampled_metrics as sm
from sampled_metrics.core.evaluation.values import UserValues
from sampled_metrics.validation.kept import KeptValues
from sampled_metrics.validation.standing import Answer, EpochStanding, Spending

Floats = NDArray[np.float64]

EPOCHS = 50
CANDIDATES = 1000
CUTOFF = 10
ALPHA = 0.05
LABELS = ("recall@1", "recall@10", "ndcg@10", "auc")
MEMORIES = (0.0, 0.5, 0.9, 0.99)
USERS = (50, 200, 1000)
TWO_PERCENT = 0.02 ** (np.log(CANDIDATES / CUTOFF) / np.log(CANDIDATES))
"""Recall@10 of the law whose Recall@1 is 2 %."""


def shapes() -> dict[str, Floats]:
    """Return (epochs,) Recall@10 of trainings, by name."""
    epoch = np.arange(EPOCHS)
    share = epoch / (EPOCHS - 1)
    peak = 20
    return {
        ".077 rising to .292": 0.077 + (0.292 - 0.077) * share,
        ".08 to .25, saturating": 0.25 - (0.25 - 0.08) * np.exp(-epoch / 8),
        "rises to .25, then overfits to .18": np.interp(
            epoch, [0, peak, EPOCHS - 1], [0.08, 0.25, 0.18]
        ),
        "fast, then flat at .25": 0.25 - (0.25 - 0.08) * np.exp(-epoch / 2),
        "equal models": np.full(EPOCHS, 0.2),
    }


def ranks_by_epoch(
    recall: Floats, users: int, memory: float, rng: np.random.Generator
) -> Iterator[NDArray[Any]]:
    """Yield the (users,) ranks of each epoch, from 1, by (epochs,) values of Recall@10."""
    powers = np.log(CUTOFF / CANDIDATES) / np.log(recall)
    noise = rng.normal(size=users)
    for power in powers:
        yield np.maximum(np.ceil(CANDIDATES * ndtr(noise) ** power), 1).astype(np.int64)
        noise = memory * noise + np.sqrt(1 - memory**2) * rng.normal(size=users)


@cache
def values_by_rank(labels: tuple[str, ...]) -> Floats:
    """Return the (metrics, candidates) values of ranks from 1."""
    ranks = np.arange(1, CANDIDATES + 1)
    return np.array([sm.metric(label).of_rank(ranks, CANDIDATES) for label in labels])


def values_by_epoch(
    recall: Floats, users: int, memory: float, labels: tuple[str, ...], rng: np.random.Generator
) -> Iterator[UserValues]:
    """Yield the values of metrics of users in each epoch, as `values_of` has them."""
    limits = np.tile((0.0, 1.0), (len(labels), 1))
    bounds = np.stack((limits, limits), axis=1)
    for ranks in ranks_by_epoch(recall, users, memory, rng):
        low = values_by_rank(labels)[:, ranks - 1]
        yield UserValues(low, low, True, bounds, limits, low.mean(axis=1))


def answers(values: Iterator[UserValues], metric: int, spending: Spending) -> list[Answer]:
    """Return what is said of each epoch of a training, by one metric."""
    standing = EpochStanding()
    epoch_answers = list[Answer]()
    for number, epoch_values in enumerate(values, start=1):
        rate = spending.of_pair(number) if number > 1 else 0.0
        answer = standing.answer(number, epoch_values.of_metric(metric), rate)
        epoch_answers.append(answer)
        standing = answer.standing
    return epoch_answers


def public_answers(
    recall: Floats, users: int, memory: float, label: str, seed: int, known: bool
) -> list[str]:
    """Return the same by the public call, with scores that give these ranks."""
    rng = np.random.default_rng(seed)
    training = np.zeros((users, CANDIDATES))
    held_out = np.zeros(users, dtype=np.int64)
    validate = sm.validator(training, held_out, metrics=label, epochs=EPOCHS if known else None)
    scores = np.empty((users, CANDIDATES))
    scores[:, 1:] = -np.arange(1, CANDIDATES, dtype=np.float64)
    verdicts = []
    for ranks in ranks_by_epoch(recall, users, memory, rng):
        scores[:, 0] = 0.5 - ranks
        verdicts.append(validate(scores).better)
    return verdicts


def seeds(cell: str, runs: int) -> list[int]:
    """Return the seeds of the runs of a cell, by its name."""
    return np.random.SeedSequence(list(cell.encode())).generate_state(runs).tolist()


def level_of_run(users: int, memory: float, seed: int) -> dict[tuple[str, bool], bool]:
    """Return whether a training of equal models has a false answer, by metric and by whether K is
    known.
    """
    recall = np.full(EPOCHS, TWO_PERCENT)
    epochs = list(values_by_epoch(recall, users, memory, LABELS, np.random.default_rng(seed)))
    is_false = {}
    for (index, label), known in product(enumerate(LABELS), (True, False)):
        spending = Spending(ALPHA, EPOCHS if known else None)
        verdicts = {answer.better for answer in answers(iter(epochs), index, spending)}
        is_false[label, known] = bool(verdicts & {"yes", "no"})
    return is_false


def in_parallel(work: Callable[[int], Any], numbers: list[int]) -> list[Any]:
    """Return the results of runs by their seeds."""
    with ProcessPoolExecutor(2) as pool:
        return list(pool.map(work, numbers, chunksize=10))


def level(runs: int, public: int) -> None:
    """Print the share of trainings of equal models with any false answer."""
    rows = []
    for users, memory in product(USERS, MEMORIES):
        work = partial(level_of_run, users, memory)
        outcomes = in_parallel(work, seeds(f"level {users} {memory}", runs))
        for label, known in outcomes[0]:
            share = np.mean([outcome[label, known] for outcome in outcomes])
            rows.append((users, memory, label, "known" if known else "unknown", share))
        new_rows = pd.DataFrame(rows[-2 * len(LABELS) :])
        print(new_rows.to_string(header=False, index=False), flush=True)
    table = pd.DataFrame(rows, columns=["users", "memory", "metric", "K", "false"])
    shares = table.pivot_table(index=["K", "metric"], columns=["users", "memory"], values="false")
    print(shares.to_string())
    print(
        f"largest of {len(table)} cells of {runs} runs: {table['false'].max():.4f}, mean "
        f"{table['false'].mean():.4f}"
    )
    for label, known in product(("recall@10", "ndcg@10"), (True, False)) if public else ():
        recall = np.full(EPOCHS, TWO_PERCENT)
        work = partial(public_answers, recall, 200, 0.9, label, known=known)
        verdicts_by_run = in_parallel(work, seeds(f"public {label}", public))
        share = np.mean([bool({"yes", "no"} & set(verdicts)) for verdicts in verdicts_by_run])
        print(
            f"public call, 200 users, AR .9, {label}, K {'known' if known else 'unknown'}: "
            f"{share:.4f} of {public}"
        )


def power_of_run(recall: Floats, users: int, label: str, known: bool, seed: int) -> tuple[int, int]:
    """Return the numbers of "yes" and "no" in a training."""
    values = values_by_epoch(recall, users, 0.9, (label,), np.random.default_rng(seed))
    spending = Spending(ALPHA, EPOCHS if known else None)
    verdicts = [answer.better for answer in answers(values, 0, spending)]
    return verdicts.count("yes"), verdicts.count("no")


def power(runs: int) -> None:
    """Print how often a training is seen to improve, and to get worse."""
    rows = []
    for (name, recall), users, label in product(
        shapes().items(), (300, 1000), ("recall@10", "ndcg@10")
    ):
        for known in (True, False):
            work = partial(power_of_run, recall, users, label, known)
            counts = np.array(in_parallel(work, seeds(f"power {name} {users}", runs)))
            rows.append(
                {
                    "training": name,
                    "users": users,
                    "metric": label,
                    "K": "known" if known else "unknown",
                    "yes a run": counts[:, 0].mean(),
                    "any yes": (counts[:, 0] > 0).mean(),
                    "no a run": counts[:, 1].mean(),
                    "any no": (counts[:, 1] > 0).mean(),
                }
            )
    print(pd.DataFrame(rows).round(3).to_string(index=False))


def contenders_of_run(
    recall: Floats, users: int, memory: float, label: str, known: bool, seed: int
) -> list[float]:
    """Return whether the truly best epoch so far is a contender after each epoch, and how many
    there are at the end.
    """
    values = values_by_epoch(recall, users, memory, (label,), np.random.default_rng(seed))
    epoch_answers = answers(values, 0, Spending(ALPHA, EPOCHS if known else None))
    is_held = all(
        int(np.argmax(recall[:epoch])) + 1 in answer.standing.contenders
        for epoch, answer in enumerate(epoch_answers, start=1)
    )
    return [float(is_held), float(len(epoch_answers[-1].standing.contenders))]


def contenders(runs: int) -> None:
    """Print how often the truly best epoch so far is a contender after every epoch of a
    training.
    """
    print("training, users, memory, K: share of trainings; contenders at the end")
    for users, memory, known in product((1000, 200), (0.9, 0.0), (True, False)):
        for name, recall in shapes().items():
            work = partial(contenders_of_run, recall, users, memory, "ndcg@10", known)
            held = np.array(in_parallel(work, seeds(f"contenders {name} {users} {memory}", runs)))
            cell = f"{name}, {users}, {memory}, {'known' if known else 'unknown'}"
            print(f"{cell}: {held[:, 0].mean():.3f}; {held[:, 1].mean():.1f}", flush=True)


def stopped_by_value(patience: int, values: Floats, verdicts: list[str]) -> int:
    """Return the epoch, from 0, that is kept if training stops when the highest value is some
    epochs ago.
    """
    del verdicts
    best = 0
    for epoch in range(1, EPOCHS):
        best = epoch if values[epoch] > values[best] else best
        if epoch - best >= patience:
            break
    return best


def stopped_by_yes(patience: int, values: Floats, verdicts: list[str]) -> int:
    """Return the epoch with the highest value, if training stops when the last "yes" is some epochs
    ago.
    """
    last_yes = 0
    for epoch in range(1, EPOCHS):
        last_yes = epoch if verdicts[epoch] == "yes" else last_yes
        if epoch - last_yes >= patience:
            break
    return int(np.argmax(values[: epoch + 1]))


def stopping_of_run(recall: Floats, users: int, seed: int) -> list[float]:
    """Return the share of the best true value that the rules keep, in the order of the columns of
    `stopping`.
    """
    label = "ndcg@10"
    rng = np.random.default_rng(seed)
    epochs = list(values_by_epoch(recall, users, 0.9, (label,), rng))
    measured = np.array([values.point[0] for values in epochs])
    verdicts = [answer.better for answer in answers(iter(epochs), 0, Spending(ALPHA))]
    truth = true_ndcg(recall)
    return [
        float(truth[rule(patience, measured, verdicts)] / truth.max())
        for rule, patience in product((stopped_by_value, stopped_by_yes), (3, 5, 10))
    ]


def true_ndcg(recall: Floats) -> Floats:
    """Return the NDCG@10 of laws of ranks, by their Recall@10."""
    exponents = np.log(recall) / np.log(CUTOFF / CANDIDATES)
    rank = np.arange(CUTOFF + 1)
    at_most = (rank / CANDIDATES) ** exponents[:, np.newaxis]
    gains = 1 / np.log2(1 + rank[1:])
    return np.asarray(np.diff(at_most, axis=1) @ gains)


def stopping(runs: int) -> None:
    """Print the share of the best true value that rules for stopping keep."""
    rows = []
    for (name, recall), users in product(list(shapes().items())[:-1], (300, 1000, 6000)):
        work = partial(stopping_of_run, recall, users)
        kept = np.array(in_parallel(work, seeds(f"stopping {name} {users}", runs)))
        rows.append((name, users, *100 * kept.mean(axis=0)))
    rules = [f"{rule} {patience}" for rule, patience in product(("value", "yes"), (3, 5, 10))]
    table = pd.DataFrame(rows, columns=["training", "users", *rules])
    print(table.round(1).to_string(index=False))


def best_of_run(users: int, recall: float, memory: float, seed: int) -> list[float]:
    """Return the value of the epoch that is kept, as a multiple of the true one, and which
    intervals miss the true one, in the order of the columns of `best`.

    The training stops ten epochs after the highest value.
    """
    rng = np.random.default_rng(seed)
    laws = np.full(EPOCHS, recall)
    epochs = list(values_by_epoch(laws, users, memory, ("recall@10",), rng))
    measured = np.array([values.point[0] for values in epochs])
    kept = stopped_by_value(10, measured, [])
    rates = [ALPHA]
    rates += [Spending(ALPHA, known).of_interval(kept + 1) for known in (EPOCHS, None)]
    misses = []
    for rate in rates:
        ends = epochs[kept].interval(rate)
        misses.append(float(not ends.low[0] <= recall <= ends.high[0]))
    return [measured[kept] / recall, *misses]


def best(runs: int) -> None:
    """Print how far too high the value of the epoch that is kept is, and how often its intervals
    miss, of equal models.
    """
    rows = []
    for recall, memory, users in product((0.02, 0.2), (0.0, 0.9), (100, 1000, 6040)):
        work = partial(best_of_run, users, recall, memory)
        runs_of_cell = np.array(in_parallel(work, seeds(f"best {users} {recall} {memory}", runs)))
        excess = 100 * (runs_of_cell[:, 0].mean() - 1)
        misses = 100 * runs_of_cell[:, 1:].mean(axis=0)
        rows.append((recall, memory, users, excess, *misses))
    columns = ["recall", "correlation", "users", "too high", "one epoch", "K known", "K unknown"]
    table = pd.DataFrame(rows, columns=columns)
    print(table.round(dict.fromkeys(columns[3:], 1)).to_string(index=False))


def memory() -> None:
    """Print the memory of the values of an epoch of 200,000 users that is kept."""
    labels = ("recall@10", "ndcg@10", "mrr", "auc")
    recall = np.array([0.2])
    [values] = values_by_epoch(recall, 200_000, 0.0, labels, np.random.default_rng(1))
    for index, label in enumerate(labels):
        kept = KeptValues.from_values(values.of_metric(index))
        print(
            f"{label}: {kept.nbytes / 2**20:.2f} MiB of {values.low[index].nbytes / 2**20:.2f} MiB"
        )


def main() -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = ["level", "power", "contenders", "stopping", "best", "memory"]
    parser.add_argument("command", choices=commands)
    parser.add_argument("--runs", type=int, default=None, help="trainings of each cell")
    parser.add_argument(
        "--public", type=int, default=100, help="trainings of equal models by the public call"
    )
    options = parser.parse_args()
    if options.command == "level":
        level(options.runs or 400, options.public)
    elif options.command == "power":
        power(options.runs or 100)
    elif options.command == "contenders":
        contenders(options.runs or 200)
    elif options.command == "stopping":
        stopping(options.runs or 200)
    elif options.command == "best":
        best(options.runs or 200)
    else:
        memory()


if __name__ == "__main__":
    main()
