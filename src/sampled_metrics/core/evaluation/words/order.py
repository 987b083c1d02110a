"""The order of recommenders: verdicts, margins, groups and families, in words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

from sampled_metrics.checks import enumerated
from sampled_metrics.core.estimators import estimator_name
from sampled_metrics.core.evaluation.kinds import Kind
from sampled_metrics.core.evaluation.phrases import ASSUMPTIONS, better, in_groups, percent
from sampled_metrics.core.evaluation.questions import THESE_RUNS
from sampled_metrics.core.evaluation.standings import MANY, Standings
from sampled_metrics.core.evaluation.verdict import Conclusion, Size, Verdict
from sampled_metrics.core.findings import Finding, grouped
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import metric, metric_name

_FEW = 3  # recommenders that a sentence names in place of "all others"
_PLAN = " To see how often more negatives, or more users, would decide, use plan."


# --- verdicts ---


def _verdicts(alike: Sequence[Verdict], findings: Sequence[Any], setting: Setting) -> list[str]:
    """Return the verdicts of all users, or of a group.

    Those of groups are worded together, with the first of them.
    """
    verdicts_of_groups = [
        finding for finding in findings if isinstance(finding, Verdict) and finding.group
    ]
    if alike[0].group:
        return _by_group(verdicts_of_groups, setting) if alike[0] is verdicts_of_groups[0] else []
    is_pair = len(setting.names) == 2
    others = (
        "all others of these"
        if any(finding.kind == "best-pairs" for finding in findings)
        else "all others"
    )
    sentences = []
    for (question, label), verdicts in grouped(alike, _question).items():
        if is_pair:
            text = on_pair(verdicts[0], setting)
        elif all(verdict.conclusion is Conclusion.NO_VERDICT for verdict in verdicts):
            text = "no verdict."
        else:
            text = " ".join(standing(Standings.from_verdicts(verdicts), others))
        sentences.append(f"{_of_runs(compared_name(label, setting), question)}: {text}")
    if setting.margin is not None and not is_pair:
        sentences += _by_margin(alike)
    return sentences


def _question(verdict: Verdict) -> tuple[str, str]:
    return verdict.of, verdict.metric


def _of_runs(name: str, question: str) -> str:
    """Return the name of a metric, and of which runs its value is if that is a question."""
    return f"{name} of {question}" if question else name


def on_pair(verdict: Verdict, setting: Setting) -> str:
    """Return the verdict on two recommenders by a metric, with the interval."""
    if not verdict.has_interval:
        return "no verdict."
    a, b = setting.names
    conclusion = "undecided"
    rest = f" that includes 0 (p = {verdict.p_value:.2g})"
    if verdict.conclusion is Conclusion.EQUIVALENT:
        conclusion = f"{a} and {b} are equivalent"
        rest = ""
    elif verdict.conclusion is Conclusion.BETTER:
        conclusion = better(*verdict.names) + _by_how_much(verdict, setting)
        rest = ""
    relative = ""
    if verdict.margin is not None and verdict.margin.relative == verdict.margin.relative:
        relative = f" ({100 * verdict.margin.relative:+.3g} % of the worse value)"
    would_help = (
        verdict.conclusion is Conclusion.UNDECIDED and verdict.is_bounded and setting.gives_advice
    )
    return (
        f"{conclusion}; the difference ({b} - {a}) is {verdict.difference:+.4f}{relative}, with a "
        f"{percent(setting.confidence_level)} interval of {verdict.low:+.4f} to "
        f"{verdict.high:+.4f}{rest}."
        f"{_PLAN if would_help else ''}"
    )


def _by_how_much(verdict: Verdict, setting: Setting) -> str:
    """Say whether the better recommender is so by more than the margin.

    There is nothing to say without a margin.
    """
    if setting.margin is None:
        return ""
    if verdict.size is Size.MORE:
        return f" by more than the margin of {setting.margin.text}"
    if verdict.size is Size.LESS:
        return f", by less than the margin of {setting.margin.text}"
    return f"; whether by more than the margin of {setting.margin.text} is undecided"


def _by_group(verdicts: Sequence[Verdict], setting: Setting) -> list[str]:
    """Return a sentence for each metric on the verdicts by group."""
    is_pair = len(setting.names) == 2
    both_orders = [better(*pair) for pair in permutations(setting.names[::-1], 2)]
    sentences = []
    for (question, label), on_metric in grouped(verdicts, _question).items():
        groups_by_text = dict[str, list[str]]()
        for group, on_group in grouped(on_metric, _group).items():
            text = _pair_in_words(on_group[0]) if is_pair else _best_in_words(on_group)
            groups_by_text.setdefault(text, []).append(group)
        order = [
            text
            for text in dict.fromkeys([*both_orders, *groups_by_text])
            if text in groups_by_text
        ]
        texts = [f"{text} for {in_groups(groups_by_text[text])}" for text in order]
        name = _of_runs(compared_name(label, setting), question)
        beginning = f"{name} by group" if is_pair else f"The best by {name}"
        sentences.append(f"{beginning}: {'; '.join(texts)}.")
    return sentences


def _group(verdict: Verdict) -> str:
    return verdict.group


def _pair_in_words(verdict: Verdict) -> str:
    return better(*verdict.names) if verdict.better is not None else verdict.in_words


def _best_in_words(verdicts: Sequence[Verdict]) -> str:
    """Return the recommenders that are not shown to be worse than another one."""
    standings = Standings.from_verdicts(verdicts)
    worse = {row for _, row in standings.decided}
    return enumerated(
        [row.name for number, row in enumerate(standings.rows) if number not in worse], "or"
    )


def verdict_in_words(verdict: Verdict) -> str:
    """Say which recommender of a pair is better, or that none is."""
    return f"{verdict.better} is better" if verdict.better is not None else verdict.in_words


def on_metrics(verdicts: Sequence[Verdict], setting: Setting) -> str:
    """Return in words which of two recommenders is better, by metric.

    With a margin, they say by how much.
    """
    a, b = setting.names
    beginnings = {
        Conclusion.EQUIVALENT: f"{a} and {b} are equivalent on ",
        Conclusion.UNDECIDED: f"Undecided between {a} and {b}: ",
        Conclusion.NO_VERDICT: f"No verdict on {a} and {b}: ",
    }
    order = [Conclusion.BETTER, *beginnings]
    alike = grouped(verdicts, lambda verdict: (verdict.conclusion, verdict.better, verdict.size))
    by_conclusion = sorted(
        alike.values(), key=lambda same: (order.index(same[0].conclusion), -len(same))
    )
    sentences = []
    for same in by_conclusion:
        conclusion = same[0].conclusion
        is_decided = conclusion is Conclusion.BETTER
        beginning = f"{better(*same[0].names)} on " if is_decided else beginnings[conclusion]
        metrics = [_of_runs(metric_name(verdict.metric), verdict.of) for verdict in same]
        size = same[0].size.value
        sentences.append(f"{beginning}{enumerated(metrics)}{f', by {size}' if size else ''}.")
    return " ".join(sentences)


# --- many recommenders ---


def best_alone(metric: str, most: int, recommenders: int) -> str:
    """Say that of many recommenders the best by a metric are shown alone."""
    return f"Of {recommenders} recommenders, the {most} best by {metric_name(metric)} are shown."


def standing(standings: Standings, others: str = "all others") -> list[str]:
    """Say who is better than whom by a metric, and then who cannot be told apart.

    Of many recommenders, say only how many the best one beats.
    """
    names = [row.name for row in standings.rows]
    count = len(names) - 1
    if count >= MANY:
        beaten = sum(winner == 0 for winner, _ in standings.decided)
        return [
            f"{names[0]} has the largest value, and is better than {beaten} of the {count} others."
        ]
    by_losers = dict[tuple[int, ...], list[int]]()
    for row in range(len(names)):
        losers = tuple(worse for winner, worse in standings.decided if winner == row)
        if losers:
            by_losers.setdefault(losers, []).append(row)
    sentences = []
    for losers, winners in by_losers.items():
        all_others = len(losers) > _FEW and len(losers) + len(winners) == len(names)
        than = others if all_others else enumerated([names[row] for row in losers])
        verb = "is" if len(winners) == 1 else "are"
        sentences.append(
            f"{enumerated([names[row] for row in winners])} {verb} better than {than}."
        )
    alike = [
        enumerated([names[row] for row in group]) for group in standings.groups if len(group) > 1
    ]
    if alike:
        sentences.append(f"{', and '.join(alike)}{',' * (len(alike) > 1)} cannot be told apart.")
    return sentences


# --- margins ---


def margin_of_pairs(verdicts: Sequence[Verdict], setting: Setting) -> list[str]:
    """Return what verdicts say of the margin, for each metric, and what the margin means."""
    sentences = _by_margin(verdicts)
    if not sentences:
        sentences = ["No difference is shown to be more or less than the margin, or within it."]
    return [*sentences, _margin(Finding("margin"), setting)]


def _by_margin(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the equivalent pairs of each metric, and those beyond or within the margin."""
    sentences = []
    for (question, label), on_metric in grouped(verdicts, _question).items():
        texts = []
        for verdict in on_metric:
            if verdict.conclusion is Conclusion.EQUIVALENT:
                texts.append(f"{' and '.join(verdict.names)} are equivalent")
            elif verdict.better is not None and verdict.size is not Size.UNKNOWN:
                texts.append(f"{better(*verdict.names)} by {verdict.size.value}")
        if texts:
            sentences.append(f"{_of_runs(metric_name(label), question)}: {'; '.join(texts)}.")
    return sentences


def _margin(finding: Finding, setting: Setting) -> str:
    margin = setting.margin
    assert margin is not None
    interval = f"{100 * setting.confidence_level:g} % interval"
    meaning = f"Equivalent means that the {interval} is within ± {margin.text}"
    if margin.is_relative:
        ratio = f"{1 + margin.size:.6g}"
        meaning = (
            f"The margin is {margin.text}, and is judged by the {interval}s of b - {ratio} a and a "
            f"- {ratio} b. Equivalent means that both are below 0"
        )
    tests = 100 * (1 - setting.confidence_level)
    return f"{meaning}, which is stricter than two one-sided tests at {tests:.3g} %."


def _higher(finding: Finding, _: Setting) -> str:
    a, b = finding.names
    among = "Among the sampled negatives, " if finding.values["is_sampled"] else ""
    for_a = percent(finding.values["higher_a"], ".3g")
    for_b = percent(finding.values["higher_b"], ".3g")
    return (
        f"{among}{b} ranks the held-out item higher for {for_b} of the users, and {a} for {for_a}."
    )


# --- groups, and how intervals hold together ---


def _order_differs(finding: Finding, setting: Setting) -> str:
    a, b = finding.names
    groups = finding.values["groups"]
    for_b = f"{better(b, a)} for {in_groups(groups[b])}"
    for_a = f"{better(a, b)} for {in_groups(groups[a])}"
    return (
        f"The order by {compared_name(finding.metric, setting)} differs between groups: "
        f"{for_b}, and {for_a}."
    )


def _order_reversed(finding: Finding, setting: Setting) -> str:
    winner, loser = finding.names
    name = compared_name(finding.metric, setting)
    groups = in_groups(finding.values["groups"])
    return (
        f"By {name}, {better(winner, loser)} for all users together, but "
        f"{better(loser, winner)} for {groups}."
    )


def _family(finding: Finding, setting: Setting) -> str:
    method = finding.values["method"]
    if finding.values["rate"]:
        method += f", each at {100 * (1 - finding.values['rate']):.4g} %"
    values = _of_runs("a metric", finding.values.get("of", ""))
    return (
        f"The intervals of {values} hold together at {percent(setting.confidence_level)} for "
        f"its {finding.values['pairs']} pairs ({method}). The p-values are adjusted for these "
        "pairs by the method of Holm."
    )


def _best_pairs(finding: Finding, setting: Setting) -> str:
    most = finding.values["most"]
    recommenders = finding.values["recommenders"]
    return (
        f"{best_alone(finding.metric, most, recommenders)} The intervals of a metric hold together "
        f"at {percent(setting.confidence_level)} for all {finding.values['pairs']} pairs "
        f"({finding.values['method']}). For the other pairs and the p-values, call compare."
    )


def _groups_adjusted(finding: Finding, setting: Setting) -> str:
    return (
        f"The verdicts by group are adjusted for the {finding.values['groups']} groups: their "
        f"intervals hold together at {percent(setting.confidence_level)} (Bonferroni, each group "
        f"at {percent(finding.values['level'], '.4g')}), and the p-values are adjusted by the "
        "method of Holm."
    )


# --- seeds ---


def _seeds(alike: Sequence[Finding], _: Sequence[Any], setting: Setting) -> list[str]:
    numbers: dict[str, int] = {}
    for finding in alike:
        numbers |= finding.values["seeds"]
    seeds = [f"{name} ({count} seeds)" for name, count in numbers.items() if name]
    between = (
        f"the seeds of {enumerated(seeds)}"
        if seeds
        else f"the {next(iter(numbers.values()))} seeds"
    )
    return [
        f"The intervals of new runs include the spread between {between}, whose metrics are taken "
        "to vary normally and independently. Those of these runs are of the mean over these seeds: "
        "users are the only chance."
    ]


def _equal_tables(finding: Finding, _: Setting) -> str:
    names = enumerated(finding.values["seeds"])
    if finding.values["are_draws"]:
        return (
            f"Draws {names} of negatives have the same ranks for all users. If they are copies of "
            "one draw, remove them: copies make the interval too narrow."
        )
    return (
        f"Seeds {names} have the same ranks for all users. If they are copies of one run, remove "
        "them: copies make the intervals of new runs too narrow. Only a recommender without a "
        "random start has equal seeds."
    )


def _these_runs(alike: Sequence[Finding], _: Sequence[Any], setting: Setting) -> list[str]:
    sentences = []
    for reason, findings in grouped(alike, lambda finding: finding.values["reason"]).items():
        labels = dict.fromkeys(finding.values.get("estimator", "") for finding in findings)
        names = dict.fromkeys(name for finding in findings for name in finding.values["of"])
        intervals = (
            f"intervals of {enumerated(map(estimator_name, labels))}"
            if all(labels)
            else "intervals"
        )
        because = "as strict bounds do not show how seeds vary"
        advice = ""
        if reason == "one seed":
            has = "has" if len(names) == 1 else "have"
            because = f"as {enumerated(names)} {has} one seed, which does not show how seeds vary"
            advice = (
                " If a recommender has no random start, give its table as often as another "
                "recommender has seeds."
            )
        sentences.append(
            f"The {intervals} are of {THESE_RUNS} alone, the mean over the seeds that are here. "
            f"They say nothing of new runs, {because}.{advice}"
        )
    return sentences


# --- what intervals assume ---


def compared_name(label: str, setting: Setting) -> str:
    """Return the name of what is compared: a sampled metric, or the metric itself, as for AUC."""
    is_sampled = setting.is_uncorrected and metric(label).label != "auc"
    return f"{'Sampled ' if is_sampled else ''}{metric_name(label)}"


def assumed_of_pair(finding: Finding) -> str:
    """Return what the interval of a pair assumes, as a clause; it is empty for nothing."""
    assumption = ASSUMPTIONS[finding.values["assumption"]]
    only = finding.values.get("only")
    return f"{assumption} of {only}" if only else assumption


def _assumes(alike: Sequence[Finding], _: Sequence[Any], setting: Setting) -> list[str]:
    conditions = {}
    for finding in alike:
        assumption = assumed_of_pair(finding)
        conditions[finding] = (
            f"if {assumption}"
            if assumption
            else "if negatives are drawn uniformly, whatever the ranks are"
        )
    sentences = []
    for finding, condition in conditions.items():
        pair = f" of {' and '.join(finding.names)}" if len({*conditions.values()}) > 1 else ""
        sentences.append(f"The intervals{pair} are of the true difference, {condition}.")
    return list(dict.fromkeys(sentences))


KINDS: dict[str, Kind] = {
    **{
        conclusion.value: Kind(
            when=when,
            values=values,
            together=_verdicts,
            is_first=True,
            names_groups=True,
        )
        for conclusion, when, values in (
            (
                Conclusion.BETTER,
                "the interval excludes 0",
                "a, b, value_a, value_b, difference, low, high, p_value; is_bounded: by strict "
                "bounds; with a margin also relative and size; with several seeds of: new runs or "
                "these runs",
            ),
            (
                Conclusion.EQUIVALENT,
                "there is a margin, and the interval is within ± the margin and includes 0",
                "the same",
            ),
            (Conclusion.UNDECIDED, "the interval includes 0", "the same"),
            (
                Conclusion.NO_VERDICT,
                "there is no interval",
                "the same",
            ),
        )
    },
    "order-differs": Kind(
        when="groups order a pair in different ways",
        values="groups: by recommender, those for which it is better",
        sentence=_order_differs,
        names_recommenders=True,
        is_first=True,
    ),
    "order-reversed": Kind(
        when="all users have one order of a pair, and the decided groups the other",
        values="groups",
        sentence=_order_reversed,
        names_recommenders=True,
        is_first=True,
    ),
    "margin": Kind(
        when="there is a margin",
        sentence=_margin,
        of_groups=False,
    ),
    "higher": Kind(
        when="two recommenders are compared by ranks with a margin",
        values="higher_a, higher_b: shares of users; is_sampled",
        sentence=_higher,
        names_recommenders=True,
        of_groups=False,
    ),
    "family": Kind(
        when="there are three recommenders or more, with intervals",
        values="pairs, method; rate of each interval, 0 unless by Bonferroni",
        sentence=_family,
        of_groups=False,
    ),
    "several-metrics": Kind(
        when="there are verdicts on several metrics (`compare`, `validator`)",
        values="metrics: how many; its metric is the first one",
        sentence=(
            "The {metrics} metrics are not adjusted for one another: each has its own {confidence} "
            "confidence, so a false verdict on any of them is more likely than on a single one. "
            "Decide by the first one, {metric}."
        ),
        of_groups=False,
    ),
    "best-pairs": Kind(
        when="the pairs of the best recommenders are compared alone",
        values="most: how many; recommenders, pairs (of all), method",
        sentence=_best_pairs,
        of_groups=False,
    ),
    "groups-adjusted": Kind(
        when="there are groups",
        values="groups: their number; level: of each group",
        sentence=_groups_adjusted,
        of_groups=False,
    ),
    "seeds": Kind(
        when="all recommenders have several seeds, and new runs are judged, too",
        values="seeds: by recommender, their number",
        together=_seeds,
        of_groups=False,
    ),
    "these-runs": Kind(
        when="there are several seeds, and new runs are not judged",
        values="reason: strict bounds or one seed; of: the recommenders with one seed; estimator "
        "(`correct`)",
        together=_these_runs,
        of_groups=False,
    ),
    "equal-tables": Kind(
        when="several seeds, or draws of negatives, of a recommender have the same ranks",
        values="seeds: their names; are_draws: whether they are draws of negatives",
        sentence=_equal_tables,
        is_caution=True,
        of_groups=False,
    ),
    "assumes": Kind(
        when="a pair is compared by strict bounds",
        values="assumption: of the interval; only: the recommender that it is made of, if the "
        "interval of the other one assumes nothing of the ranks",
        together=_assumes,
    ),
    "equal-bias": Kind(
        when="the estimator has a bias",
        values="estimator",
        sentence=(
            "The comparison is between the means of {estimator_name}, and assumes that its bias "
            "is equal for both. If its bias differs between them, so does the true difference. "
            "The estimator decreasing does not assume that."
        ),
        of_groups=False,
    ),
    "uncorrected-verdicts": Kind(
        when="sampled metrics are compared as they are",
        sentence=(
            "These are uncorrected sampled metrics: except for AUC, the better recommender by "
            "them may be the worse by the true metric."
        ),
        is_caution=True,
    ),
}
"""What is known of each kind of finding."""
