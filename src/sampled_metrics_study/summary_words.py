"""The words of the summary of a run: its answers, its data, and its comparison with the paper.

An answer is what `summary.answer` returns.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sampled_metrics.checks import counted, enumerated
from sampled_metrics.core.evaluation.phrases import better
from sampled_metrics.core.metrics import metric_name

FEW_PAIRS = 3
"""The most pairs of which each is named."""

MANY_WITHOUT_TRAINING = 0.1
"""The share of items or users without training events from which the page says so."""

STAND_INS = {
    "archive": (
        "The archive of {dataset} does not have the publisher's checksum. It has the paper's "
        "users and candidates, but it is another file, such as a stand-in."
    ),
    "ranks": (
        "The ranks of {dataset} are ready-made. Those in published/ are of a stand-in for the "
        "publisher's archive, with the same (user, item) pairs, the same order of each user's "
        "events and the same last events. Its ratings and earlier times are not real."
    ),
}
"""What is said of data that may be of a stand-in (`reference.stand_in`)."""


# --- the answer on a dataset ---


def verdict(answer: Mapping[str, Any]) -> str:
    """Say whether the sampled metric is the true one, or orders the decided pairs as it does."""
    name = answer["metric"]
    if answer["pairs"] is None:
        return (
            "The exact ranks of these recommenders are not of the same users, so no order is "
            "stated as true."
        )
    if len(answer["recommenders"]) < 2:
        return _of_single(answer)
    if not answer["pairs"]:
        return (
            f"Undecided: these users do not show which recommender is better by {name}, so no "
            "order is right or wrong."
        )
    if not answer["sampled"]:
        pairs = _joined(better(*pair) for pair in answer["pairs"])
        return (
            f"By the exact {name}, {pairs}. This run did not compute the uncorrected sampled "
            "metric."
        )
    wrong = [*answer["wrong"], *answer["alike"]]
    negatives = counted(answer["negatives"], "sampled negative")
    said = (
        f"{_outcome([answer])}. Among {negatives}, {name} orders {_right_of_all(answer)} decided "
        f"pairs correctly.{_by_exact(answer, wrong or answer['pairs'])}"
    )
    return said if answer["can_turn"] else f"{said} Sampling does not change {name} on average."


def _outcome(answers: Sequence[Mapping[str, Any]]) -> str:
    """Say whether samples order all decided pairs rightly."""
    turned = sum(answer["turned"] for answer in answers)
    if turned:
        return "No" if turned == len(answers) else "Not always"
    return "Only on average" if any(answer["unsteady"] for answer in answers) else "Yes"


def _right_of_all(answer: Mapping[str, Any]) -> str:
    """Return how many of the decided pairs are in the right order."""
    pairs = len(answer["pairs"])
    return f"{pairs - len(answer['wrong']) - len(answer['alike'])} of {pairs}"


def _of_single(answer: Mapping[str, Any]) -> str:
    """Return the exact and the sampled metric of a single recommender."""
    exact = (
        f"The exact {answer['metric']} of {answer['recommenders'][0]} is "
        f"{100 * answer['exact'][0]:.1f} %."
    )
    if not answer["sampled"]:
        return exact
    negatives = counted(answer["negatives"], "sampled negative")
    return f"{exact} Among {negatives} it seems to be {100 * answer['sampled'][0]:.1f} %."


def _with_value(answer: Mapping[str, Any], name: str) -> str:
    return f"{name} ({100 * answer['exact'][answer['recommenders'].index(name)]:.1f} %)"


def _by_exact(answer: Mapping[str, Any], pairs: Sequence[tuple[str, str]]) -> str:
    """Return a sentence with the exact values of a few pairs; nothing of many."""
    if len(pairs) > FEW_PAIRS:
        return ""
    values = (
        f"{_with_value(answer, winner)} is better than {_with_value(answer, loser)}"
        for winner, loser in pairs
    )
    return f" By the exact values, {_joined(values)}."


def _joined(clauses: Iterable[str]) -> str:
    """Return clauses as one: a, b, and c."""
    *clauses_before, last = clauses
    return f"{', '.join(clauses_before)}, and {last}" if clauses_before else last


def over_samples(answer: Mapping[str, Any]) -> str:
    """Say on which decided pairs samples differ, and how many comparisons come out wrong.

    The comparisons are those by all metrics.
    """
    sentences = []
    unsteady = answer["unsteady"]
    if unsteady:
        pairs = counted(len(unsteady), "decided pair")
        shares = (
            f"{winner} comes out better than {loser} in {100 * share:.0f} % of them"
            for winner, loser, share in unsteady
        )
        named = f": {_joined(shares)}" if len(unsteady) <= FEW_PAIRS else ""
        sentences.append(f"By {answer['metric']}, samples differ on {pairs}{named}.")
    if answer["decided_of_all"]:
        but = ""
        if unchanged := answer["unchanged"]:
            but = f" but {enumerated(unchanged)}, which sampling does not change on average"
        sentences.append(
            f"Most samples order {answer['wrong_of_all']} of {answer['decided_of_all']} decided "
            f"comparisons wrongly or not at all, over all metrics{but}."
        )
        if undecided := answer["undecided_of_all"]:
            comparisons = counted(undecided, "comparison")
            sentences.append(f"The exact ranks do not decide {comparisons}.")
    return " ".join(sentences)


def corrections(answer: Mapping[str, Any]) -> str:
    """Say which corrections come nearest to the exact metric, and which order pairs rightly.

    The latter are those that order the decided pairs rightly most often.
    """
    best = answer["correction"]
    nearest = best["nearest"]
    uncorrected = ""
    if best["uncorrected_error"] is not None:
        uncorrected = f" ({100 * best['uncorrected_error']:.1f} without a correction)"
    said = (
        f"The smallest root mean square error of {answer['metric']} in one sample is "
        f"{100 * best['error']:.1f} percentage points, with {' and '.join(nearest)}{uncorrected}."
    )
    most_right = best["best_for_order"]
    if most_right:
        shares = [f"{100 * best['most_right']:.0f} % with {' or '.join(most_right)}"]
        if nearest[0] not in most_right:
            shares.append(f"{100 * best['right']:.0f} % with {nearest[0]}")
        if best["uncorrected_right"] is not None:
            shares.append(f"{100 * best['uncorrected_right']:.0f} % without a correction")
        said += (
            " Over all samples and these metrics, decided pairs are in the right order in "
            f"{', '.join(shares)}."
        )
    return f"{said} One sees this only because the exact values are known."


def joint(answers: Sequence[Mapping[str, Any]]) -> str:
    """Return one answer for several datasets and sample sizes.

    The answer is empty if a dataset has no decided pairs, or no sample.
    """
    if len(answers) < 2 or not all(answer["pairs"] and answer["sampled"] for answer in answers):
        return ""
    counts = ", ".join(f"{_right_of_all(answer)} ({answer['heading']})" for answer in answers)
    name = answers[0]["metric"]
    return f"{_outcome(answers)}. Decided pairs in the right order by {name}: {counts}."


# --- the data ---


def without_training(dataset: str, facts: Mapping[str, Any], has_test: bool) -> list[str]:
    """Say how many held-out items have no training events, and how many users too few.

    Small numbers are not mentioned.
    """
    unknown = facts["held_out_items_without_training_events"]
    items = facts["held_out_items"]
    few = facts["users_left_out_with_few_training_events"]
    users = few + facts["users"]
    sentences = []
    if unknown > MANY_WITHOUT_TRAINING * items:
        ids = " See that both files have the same ids." if has_test else ""
        sentences.append(
            f"{unknown} of {items} held-out items of {dataset} have no training events. Most "
            f"recommenders cannot place such an item.{ids}"
        )
    if few > MANY_WITHOUT_TRAINING * users:
        sentences.append(
            f"{few} of {users} users of {dataset} are left out, as they have too few training "
            "events."
        )
    return sentences


def stand_in(answer: Mapping[str, Any]) -> str:
    """Say that the data of an answer may be of a stand-in; nothing if they are not."""
    return (
        STAND_INS[answer["stand_in"]].format(dataset=answer["dataset"])
        if answer["stand_in"]
        else ""
    )


def cost_of_stages(cost: Mapping[str, Any], metric: str) -> str:
    """Say what stages would have taken, from an entry of `summary.stage_costs`."""
    return (
        f"On {cost['dataset']}, {cost['recommender']} would have taken {cost['scores']:,.0f} "
        f"scores for each user in place of {cost['all_scores']:,.0f}, with an interval of "
        f"{metric_name(metric)} {cost['ratio']:.2f} times as wide."
    )


# --- the paper ---


def reproduced(reading: Mapping[str, Any]) -> str:
    """Say how many printed numbers a reading of the paper reproduces."""
    what = (
        "is the correct one"
        if reading["name"] == "default"
        else "repeats two errors that the printed numbers fit"
    )
    numbers = f"{reading['reproduced']} of the {reading['printed']} printed numbers"
    return f"The reading {reading['heading']} {what}. It reproduces {numbers}."


def claims_that_hold(reading: str, holds: Mapping[str, int]) -> str:
    """Say how many claims of the paper hold under a reading, by what was found of them."""
    words = {
        "within noise": "failing by no more than noise may explain",
        "no": "not holding",
        "open": "too vague to check",
    }
    others = "".join(f"; {text}: {holds[kind]}" for kind, text in words.items() if kind in holds)
    return (
        f"Under the reading {reading}, {holds.get('yes', 0)} of {sum(holds.values())} claims that "
        f"the paper makes in words hold{others}."
    )


def not_compared(differences: Sequence[str]) -> str:
    """Say why Tables 3 and 4 are not compared with those of the paper."""
    why = f": {'; '.join(differences)}" if differences else ", as the data are not the paper's"
    return (
        "Tables 1 and 2 are the paper's running example. Tables 3 and 4 of this run are not "
        f"compared with the printed ones{why}."
    )
