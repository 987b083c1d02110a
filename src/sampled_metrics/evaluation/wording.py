"""The findings of results in English. No other module has sentences about results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sampled_metrics._validation import counted, enumerated
from sampled_metrics.errors import printable
from sampled_metrics.estimators import estimator_name
from sampled_metrics.evaluation.standings import Standings
from sampled_metrics.inference.findings import Finding, Setting
from sampled_metrics.inference.means import FEW_USERS
from sampled_metrics.metrics.metric import metric, metric_name
from sampled_metrics.ranks.given import ALL

ASSUMPTIONS = {
    "free": "",
    "decreasing": "better ranks are more frequent than worse ones in the better half of the ranks",
}
"""What is assumed of the ranks, as a clause."""

VERDICTS = frozenset({"better", "undecided", "equivalent", "no-verdict"})
"""Kinds of findings on the order of two recommenders."""

MORE, LESS = "more than the margin", "less than the margin"
"""By how much a recommender is better, where the interval says so."""

MANY = 10
"""Of more recommenders, a sentence names the best alone, and a page and a figure have the pairs of this many best."""

_FEW = 3  # recommenders that a sentence names in place of "all others"
_PLAN = " To see how often more negatives, or more users, would decide, use plan."


def cautions(findings: Iterable[Finding], setting: Setting) -> tuple[str, ...]:
    """Return the cautions as sentences."""
    return _sentences([finding for finding in findings if finding.kind in CAUTIONS], setting)


def remarks(findings: Iterable[Finding], setting: Setting) -> tuple[str, ...]:
    """Return the findings that are not cautions as sentences."""
    return _sentences([finding for finding in findings if finding.kind not in CAUTIONS], setting)


def better(winner: str, loser: str) -> str:
    """Say that a recommender is better than another one."""
    return f"{winner} is better than {loser}"


_CONCLUSIONS = VERDICTS | {
    *("bounds", "published-order", "order-differs", "order-reversed", "margin", "family", "best-pairs", "seeds"),
    *("assumes", "equal-bias", "bias", "approximate", "few-users", "wrong-order", "order-undecided"),
}


def paragraph(rows: Sequence[Mapping[str, Any]], findings: Iterable[Finding], setting: Setting) -> str:
    """Say for a reviewer what was measured, how it was sampled, and what can be concluded from rows of a result."""
    labels = list(dict.fromkeys(str(row["metric"]) for row in rows if "metric" in row))
    about_rows = [one for one in findings if not labels or not one.metric or one.metric in labels]
    if not labels:  # as of a plan
        parameters = f"{setting.parameters}." if setting.parameters else ""
        return " ".join(filter(None, [*cautions(about_rows, setting), parameters, *remarks(about_rows, setting)]))
    are, names = "were" if len(labels) > 1 else "was", f" of {enumerated(setting.names)}" if setting.names else ""
    concluded = [
        one
        for one in about_rows
        if one.kind in _CONCLUSIONS and not (one.kind in ("bounds", "few-users") and one.group)
    ]
    sentences = [
        f"{enumerated([metric_name(label) for label in labels])}{names} {are} {_done(rows[0], setting)}"
        f"{f' ({setting.parameters})' if setting.parameters else ''}.",
        *cautions(about_rows, setting),
    ]
    has_bounds = {(one.values["estimator"], one.metric) for one in concluded if one.kind == "bounds"}
    given = [row for row in rows if (row.get("estimator"), row["metric"]) not in has_bounds and "difference" not in row]
    clauses = [text for row in given if row.get("group", ALL) == ALL and (text := _value(row))]
    interval = f", with {100 * setting.confidence_level:g} % intervals" if given and "low" in given[0] else ""
    values = [f"The values{interval}: {'; '.join(clauses)}."] if clauses else []
    return " ".join([*sentences, *values, *remarks(concluded, setting)])


def _done(row: Mapping[str, Any], setting: Setting) -> str:
    """Return how the metrics of a row were made, after was or were."""
    estimator = f", by the estimator {setting.estimator}" if setting.estimator else ""
    sampled = f"ranks among sampled negatives{estimator}"
    if "difference" in row:
        return f"compared user by user{f', from {sampled}' if setting.estimator else ''}"
    if "expected" in row:
        return f"measured, and expected among {counted(setting.negatives, 'sampled negative')}"
    return f"estimated from {sampled if 'value' in row else 'sampled metrics'}" if "estimator" in row else "measured"


def _value(row: Mapping[str, Any]) -> str:
    """Return the value of a row with its interval, in words; nothing if it has none."""
    of = f" of {row['recommender']}" if "recommender" in row else ""
    by = f" by {estimator_name(str(row['estimator']))}" if "estimator" in row else ""
    if "expected" in row:
        return f"{metric_name(row['metric'])}{of} {row['exact']:.4f}, expected{by} {row['expected']:.4f}"
    if np.isnan(row.get("value", np.nan)):
        return ""
    interval = "no interval" if np.isnan(row["low"]) else f"{row['low']:.4f} to {row['high']:.4f}"
    return f"{metric_name(row['metric'])}{of}{by} {row['value']:.4f} ({interval})"


def best_alone(metric: str, most: int, recommenders: int) -> str:
    """Say that of many recommenders the best by a metric are shown alone."""
    return f"Of {recommenders} recommenders, the {most} best by {metric_name(metric)} are shown."


def standing(standings: Standings, others: str = "all others") -> str:
    """Say who is better than whom by a metric, and then who cannot be told apart; of many, whom the best one beats."""
    if (count := len(standings.rows) - 1) >= MANY:
        beaten = sum(winner == 0 for winner, _ in standings.decided)
        return f"{standings.rows[0].name} has the largest value, and is better than {beaten} of the {count} others."
    names, by_losers = [row.name for row in standings.rows], dict[tuple[int, ...], list[int]]()
    for row in range(len(names)):
        if losers := tuple(worse for winner, worse in standings.decided if winner == row):
            by_losers.setdefault(losers, []).append(row)
    sentences = []
    for losers, winners in by_losers.items():
        all_others = len(losers) > _FEW and len(losers) + len(winners) == len(names)
        than = others if all_others else enumerated([names[row] for row in losers])
        verb = "is" if len(winners) == 1 else "are"
        sentences.append(f"{enumerated([names[row] for row in winners])} {verb} better than {than}.")
    alike = [enumerated([names[row] for row in group]) for group in standings.groups if len(group) > 1]
    if alike:
        sentences.append(f"{', and '.join(alike)}{',' * (len(alike) > 1)} cannot be told apart.")
    return " ".join(sentences)


def on_metrics(verdicts: Sequence[Finding], setting: Setting) -> str:
    """Return in words which of two recommenders is better, by metric, and by how much if there is a margin."""
    (a, b), on = setting.names, dict[tuple[str, str, str], list[str]]()
    for one in verdicts:
        winner = one.names[0] if one.kind == "better" else ""
        on.setdefault((one.kind, winner, one.values.get("size", "")), []).append(metric_name(one.metric))
    order = {"better": 0, "equivalent": 1, "undecided": 2, "no-verdict": 3}
    sentences = []
    for (kind, winner, size), metrics in sorted(on.items(), key=lambda item: (order[item[0][0]], -len(item[1]))):
        by = f", by {size}" if size else ""
        sentences.append(
            {
                "better": f"{better(winner, b if winner == a else a)} on {enumerated(metrics)}{by}.",
                "equivalent": f"{a} and {b} are equivalent on {enumerated(metrics)}.",
                "undecided": f"Undecided between {a} and {b}: {enumerated(metrics)}.",
                "no-verdict": f"No verdict on {a} and {b}: {enumerated(metrics)}.",
            }[kind]
        )
    return " ".join(sentences)


def way_in_words(row: Mapping[str, Any]) -> str:
    """Return the way to evaluate of a row of a plan in words."""
    if row["way"] == "negatives":
        return f"{row['negatives']:.0f} negatives, {row['estimator']}"
    return f"stages, depth {row['depth']:g}" if row["way"] == "stages" else str(row["way"])


def margin_of_pairs(verdicts: Sequence[Finding], setting: Setting) -> list[str]:
    """Return what verdicts say of the margin, for each metric, and what the margin means."""
    labels = dict.fromkeys(one.metric for one in verdicts)
    said = {label: [text for one in verdicts if one.metric == label and (text := _size(one))] for label in labels}
    sentences = [f"{metric_name(label)}: {'; '.join(texts)}." for label, texts in said.items() if texts]
    if not sentences:
        sentences = ["No difference is shown to be more or less than the margin, or within it."]
    return [*sentences, _margin(Finding("margin"), setting)]


def compared_name(label: str, setting: Setting) -> str:
    """Return the name of what is compared: a sampled metric, or the metric itself, as for AUC."""
    is_sampled = setting.is_uncorrected and metric(label).label != "auc"
    return f"{'Sampled ' if is_sampled else ''}{metric_name(label)}"


def assumed(findings: Iterable[Finding], setting: Setting) -> tuple[str, ...]:
    """Return what the intervals of a comparison assume."""
    return _sentences([one for one in findings if one.kind in ("assumes", "equal-bias") and not one.group], setting)


def rounded_outward(low: float, high: float) -> tuple[str, str]:
    """Return the ends of an interval, rounded outward, with as many decimals as its width has, to two digits."""
    decimals = min(max(1 - int(np.floor(np.log10(high - low))), 2), 6) if high > low else 6
    scale = 10.0**decimals
    outward = np.floor(low * scale + 1e-9) / scale + 0.0, np.ceil(high * scale - 1e-9) / scale + 0.0  # 0.0, not -0.0
    low_text, high_text = (f"{end:.{decimals}f}" if 0 < end < 1 else f"{end:g}" for end in outward)
    return low_text, high_text


def _sentences(findings: Sequence[Finding], setting: Setting) -> tuple[str, ...]:
    """Return findings as sentences, in their order; those of a kind that belong together make one sentence."""
    parts: list[tuple[str, tuple[str, ...], str, str, str | None]] = []  # kind, names, group, sentence, clause
    done: set[tuple[Any, str]] = set()
    for finding in findings:
        kind, entry = finding.kind, WORDS[finding.kind]
        if entry.together is not None:
            if (entry, finding.group) not in done:
                done.add((entry, finding.group))
                alike = [one for one in findings if WORDS[one.kind] is entry and one.group == finding.group]
                parts += [(kind, (), finding.group, text, None) for text in entry.together(alike, findings, setting)]
            continue
        said = entry.sentence(finding, setting)
        sentence, clause = said if isinstance(said, tuple) else (said, None)
        parts.append((kind, () if entry.names_recommenders else finding.names, finding.group, sentence, clause))
    return tuple(dict.fromkeys(map(printable, _named(_with_clauses(parts), setting))))


def _with_clauses(
    parts: Iterable[tuple[str, tuple[str, ...], str, str, str | None]],
) -> list[tuple[str, tuple[str, ...], str, str]]:
    """Return sentences with all of their clauses in place of ``{}``, with commas between them.

    Only clauses may have names of recommenders, which may hold ``{}``.
    """
    clauses: dict[tuple[str, tuple[str, ...], str, str], dict[str, None] | None] = {}
    for *key, clause in parts:
        of_sentence = clauses.setdefault(tuple(key), None if clause is None else {})  # type: ignore[arg-type]
        if of_sentence is not None and clause is not None:
            of_sentence[clause] = None
    return [
        (kind, names, group, text if found is None else text.replace("{}", ", ".join(found)))
        for (kind, names, group, text), found in clauses.items()
    ]


def _named(sentences: Sequence[tuple[str, tuple[str, ...], str, str]], setting: Setting) -> list[str]:
    """Return sentences with the name of the recommender and the group that they are about, unless it is all."""
    about = [(set(names), text) for _, names, _, text in sentences]
    of_all_users = {text for *_, group, text in sentences if not group}
    named = []
    for kind, names, group, text in sentences:
        is_of_all = set().union(*(others for others, other in about if other == text)) >= set(setting.names)
        name = "" if not names or (len(setting.names) > 1 and is_of_all) else names[0]
        if WORDS[kind].is_text and name:
            text, name = text.removeprefix("ranks: "), "" if text.startswith(f"{name}: ") else name
        if WORDS[kind].names_groups or not group:
            named.append(f"{name}: {text}" if name else text)
        elif text not in of_all_users:
            named.append(f"{name}: {group}: {text}" if name else f"{group}: {text}")
    return named


# --- one finding, or several of a kind, as a sentence -----------------------------------------------------------------


def _few_completed(finding: Finding, _: Setting) -> str:
    of = finding.values
    return (
        f"Only {of['completed']} users are completed, and an interval needs {of['needed']}. With 97.5 % confidence, no "
        f"metric is above {of['most']:.3f}: of {of['users']} users, {of['open']} have fewer than {of['k']} candidates "
        f"above the held-out item among the first {of['boundary']}. Take a larger depth, or depth=None."
    )


def _unexplained(finding: Finding, _: Setting) -> str:
    return (
        f"No distribution of true ranks explains the sample (p = {finding.values['p_value']:.2g}), so there is no "
        "interval and no verdict. Usual causes are negatives that all users share, ties that count in favour of the "
        "held-out item, negatives that are not drawn uniformly, or with replacement, and a wrong number of candidates "
        "or negatives."
    )


def _contradicted(finding: Finding, _: Setting) -> str:
    return (
        f"The sample contradicts {finding.values['assumption']} (p = {finding.values['p_value']:.2g}), so the interval "
        "is that of a weaker assumption."
    )


def _narrow(finding: Finding, _: Setting) -> str:
    return (
        f"By {finding.values['assumption']}, the interval would be hardly wider than that of exact ranks of as many "
        "users, so that the assumption alone would decide. The interval is that of a weaker assumption."
    )


def _supported(alike: Sequence[Finding], _: Sequence[Finding], setting: Setting) -> list[str]:
    values = [
        f"p = {one.values['p_value']:.2g}{f' for {one.names[0]}' if one.names and len(setting.names) > 1 else ''}"
        for one in alike
    ]
    samples = "samples do" if len(alike) > 1 else "sample does"
    assumption = alike[0].values["assumption"]
    return [
        f"The {samples} not contradict {assumption} ({', '.join(dict.fromkeys(values))}). Not every wrong assumption "
        "is noticed."
    ]


def _bounds(finding: Finding, setting: Setting) -> tuple[str, str]:
    of, name = finding.values, metric_name(finding.metric)
    low, high = rounded_outward(of["low"], of["high"])
    confidence = f"ith {100 * setting.confidence_level:g} % confidence"
    if assumption := ASSUMPTIONS.get(of["assumes"]):
        return f"W{confidence}, {{}}, if {assumption}.", f"{name} is between {low} and {high}"
    least, most = of["least_negatives"], of["most_negatives"]
    allow = (
        f"{counted(least, 'negative')} allow{'s' * (least == 1)}"
        if least == most
        else f"{least} to {most} negatives allow"
    )
    return f"Without an assumption on the ranks, {allow} {{}}, w{confidence}.", f"any {name} from {low} to {high}"


def _auc_too_low(finding: Finding, _: Setting) -> str:
    name, auc = estimator_name(finding.values["estimator"]), finding.values["auc"]
    return f"{name}: its AUC is too low. The AUC of the sample, which has no bias, is {auc:.3f}."


def _replacement(finding: Finding, _: Setting) -> tuple[str, str]:
    of = finding.values
    said, other = ("with", "without") if of["replacement"] else ("without", "with")
    ends, others = (" to ".join(rounded_outward(of[f"{which}low"], of[f"{which}high"])) for which in ("", "other_"))
    return (
        f"The negatives are said to be drawn {said} replacement. If they are drawn {other} it, the intervals are "
        "others: {}. Make sure which it was."
    ), f"{metric_name(finding.metric)} from {others} in place of {ends} ({of['estimator']})"


def _no_share(finding: Finding, _: Setting) -> str:
    of = finding.values
    return (
        f"No number of {of['users']:,} users has the {metric_name(finding.metric)} {of['value']}; the nearest are "
        f"{of['below']:.6g} and {of['above']:.6g}. It is taken to be a mean over seeds."
    )


def _out_of_range(finding: Finding, _: Setting) -> tuple[str, str]:
    of = finding.values
    return (
        f"{estimator_name(of['estimator'])}: a metric is from 0 to 1, but not {{}}. Its weights vary too much for this "
        "sample; take an estimator with a larger γ, or more negatives or users."
    ), f"{of['what']} of {metric_name(finding.metric)} ({of['value']:.4g})"


def _bias(finding: Finding, _: Setting) -> tuple[str, str]:
    of, sentence = finding.values, "the interval ignores the bias. The estimated bias, with its standard error: {}."
    if of["error"] > 0:
        decimals = max(0, -int(np.floor(np.log10(of["error"]))))
        bias = f"{of['bias']:+.{decimals}f} ± {of['error']:.{decimals}f}"
    else:
        bias = f"{of['bias']:+.1g} (its standard error is not known, as all users are alike)"
    return f"{estimator_name(of['estimator'])}: {sentence}", f"{metric_name(finding.metric)} {bias}"


def _no_bias(finding: Finding, _: Setting) -> tuple[str, str]:
    sentence = "No bias is estimated for {}: it is known of estimators that are linear in a uniform sample."
    return sentence, estimator_name(finding.values["estimator"])


def _approximate(finding: Finding, _: Setting) -> tuple[str, str]:
    sentence = (
        "The intervals of {} are Student's intervals of pseudo-values. They can be much too narrow where hits are "
        "rare: rely on those of strict bounds."
    )
    return sentence, estimator_name(finding.values["estimator"])


def _large_weight(finding: Finding, _: Setting) -> str:
    of = finding.values
    return (
        f"{estimator_name(of['estimator'])}: a single user counts up to {of['largest']:.2g}, where a metric is at most "
        "1, because its equations are badly conditioned. Take a larger γ."
    )


def _verdicts(alike: Sequence[Finding], findings: Sequence[Finding], setting: Setting) -> list[str]:
    """Return the verdicts of all users, or of a group; those of groups are worded together, with the first of them."""
    if alike[0].group:
        return _by_group(findings, setting) if alike[0] == next(one for one in findings if _is_of_group(one)) else []
    by_metric = {
        label: [one for one in alike if one.metric == label] for label in dict.fromkeys(one.metric for one in alike)
    }
    if len(setting.names) == 2:
        of_pairs = {label: _of_pair(one, setting) for label, [one] in by_metric.items()}
        return [f"{compared_name(label, setting)}: {text}" for label, text in of_pairs.items()]
    others = "all others of these" if any(one.kind == "best-pairs" for one in findings) else "all others"
    standings = {label: standing(Standings.from_verdicts(of_one), others) for label, of_one in by_metric.items()}
    sentences = [f"{compared_name(label, setting)}: {text}" for label, text in standings.items()]
    return [*sentences, *(margin_of_pairs(alike, setting)[:-1] if setting.margin else [])]


def _is_of_group(finding: Finding) -> bool:
    return finding.kind in VERDICTS and bool(finding.group)


def _of_pair(finding: Finding, setting: Setting) -> str:
    """Return the verdict on two recommenders by a metric, with the interval."""
    of, (a, b), margin = finding.values, setting.names, setting.margin
    if np.isnan(of["low"]):
        return "no verdict."
    conclusion, rest = "undecided", f" that includes 0 (p = {of['p_value']:.2g})"
    if finding.kind == "no-verdict":
        conclusion, rest = "no verdict", ", which excludes the difference itself"
    elif finding.kind == "equivalent":
        conclusion, rest = f"{a} and {b} are equivalent", ""
    elif finding.kind == "better":
        conclusion, rest = better(*finding.names), ""
        if margin is not None:
            conclusion += {
                MORE: f" by more than the margin of {margin.text}",
                LESS: f", by less than the margin of {margin.text}",
            }.get(of["size"], f"; whether by more than the margin of {margin.text} is undecided")
    relative = of.get("relative", np.nan)
    share = "" if np.isnan(relative) else f" ({100 * relative:+.3g} % of the worse value)"
    more = _PLAN if finding.kind == "undecided" and of.get("is_bounded") else ""
    return (
        f"{conclusion}. The difference ({b} - {a}) is {of['difference']:+.4f}{share}, with a "
        f"{100 * setting.confidence_level:g} % interval of {of['low']:+.4f} to {of['high']:+.4f}{rest}.{more}"
    )


def _size(finding: Finding) -> str:
    """Return what the verdict on one of several pairs says of the margin, if it says something."""
    if finding.kind == "equivalent":
        return f"{' and '.join(finding.names)} are equivalent"
    size = finding.values.get("size", "")
    return f"{better(*finding.names)} by {size}" if finding.kind == "better" and size else ""


def _by_group(findings: Sequence[Finding], setting: Setting) -> list[str]:
    """Return a sentence for each metric on the verdicts by group."""
    of_groups, sentences = [one for one in findings if _is_of_group(one)], []
    for label in dict.fromkeys(one.metric for one in of_groups):
        of_metric, clauses = [one for one in of_groups if one.metric == label], dict[str, list[str]]()
        if len(setting.names) == 2:
            a, b = setting.names
            words = {"better": "", "no-verdict": "no verdict"}
            for one in of_metric:
                text = better(*one.names) if one.kind == "better" else words.get(one.kind, one.kind)
                clauses.setdefault(text, []).append(one.group)
            first = [text for text in (better(b, a), better(a, b)) if text in clauses]
            texts = [f"{text} for {_groups(clauses[text])}" for text in dict.fromkeys([*first, *clauses])]
            sentences.append(f"{compared_name(label, setting)} by group: {'; '.join(texts)}.")
            continue
        for group in dict.fromkeys(one.group for one in of_metric):
            standings = Standings.from_verdicts([one for one in of_metric if one.group == group])
            worse = {row for _, row in standings.decided}
            best = [row.name for number, row in enumerate(standings.rows) if number not in worse]
            clauses.setdefault(enumerated(best, "or"), []).append(group)
        texts = [f"{text} for {_groups(groups)}" for text, groups in clauses.items()]
        sentences.append(f"The best by {compared_name(label, setting)}: {'; '.join(texts)}.")
    return sentences


def _groups(groups: Sequence[str]) -> str:
    return f"group{'s' * (len(groups) > 1)} {enumerated(groups)}"


def _order_differs(finding: Finding, setting: Setting) -> str:
    a, b = finding.names
    words = [f"{better(*pair)} for {_groups(finding.values[pair[0]])}" for pair in ((b, a), (a, b))]
    return f"The order by {compared_name(finding.metric, setting)} differs between groups: {', and '.join(words)}."


def _order_reversed(finding: Finding, setting: Setting) -> str:
    winner, loser = finding.names
    return (
        f"By {compared_name(finding.metric, setting)}, {better(winner, loser)} for all users together, but "
        f"{better(loser, winner)} for {_groups(finding.values['groups'])}."
    )


def _margin(finding: Finding, setting: Setting) -> str:
    margin, level = setting.margin, setting.confidence_level
    assert margin is not None
    interval = f"{100 * level:g} % interval"
    meaning = f"Equivalent means that the {interval} is within ± {margin.text}"
    if margin.is_relative:
        ratio = f"{1 + margin.size:.6g}"
        meaning = (
            f"The margin is {margin.text}, and is judged by the {interval}s of b - {ratio} a and a - {ratio} b. "
            "Equivalent means that both are below 0"
        )
    return f"{meaning}, which is stricter than two one-sided tests at {100 * (1 - level):.3g} %."


def _family(finding: Finding, setting: Setting) -> str:
    of = finding.values
    method = of["method"]
    if of["rate"]:
        method += f", each at {100 * (1 - of['rate']):.4g} %"
    return (
        f"The intervals of a metric hold together at {100 * setting.confidence_level:g} % for its {of['pairs']} pairs "
        f"({method}). The p-values are adjusted for these pairs by the method of Holm. Metrics are not adjusted for "
        "one another."
    )


def _best_pairs(finding: Finding, setting: Setting) -> str:
    of = finding.values
    return (
        f"{best_alone(finding.metric, of['most'], of['recommenders'])} The intervals of a metric hold together at "
        f"{100 * setting.confidence_level:g} % for all {of['pairs']} pairs ({of['method']}). For the other "
        "pairs and the p-values, call compare."
    )


def _seeds(finding: Finding, _: Setting) -> str:
    seeds = finding.values["seeds"]
    several = [f"{name} ({number} seeds)" for name, number in seeds.items() if number > 1]
    single = [name for name, number in seeds.items() if number == 1]
    rest = f"; that of {enumerated(single)}, of one seed, is taken to be 0" if single else ""
    return f"The intervals include the spread between the seeds of {enumerated(several)}{rest}."


def _assumes(alike: Sequence[Finding], _: Sequence[Finding], setting: Setting) -> list[str]:
    assumptions, sentences = {one.values["assumption"] for one in alike}, dict[str, None]()
    for one in alike:
        assumption = ASSUMPTIONS[one.values["assumption"]]
        given = f"if {assumption}" if assumption else "without an assumption on the ranks"
        about = f" of {' and '.join(one.names)}" if len(assumptions) > 1 else ""
        sentences[f"The intervals{about} are of the true difference, {given}."] = None
    return list(sentences)


def _equal_bias(finding: Finding, _: Setting) -> str:
    return (
        f"The comparison is between the means of {estimator_name(finding.values['estimator'])}, and assumes that its "
        "bias is equal for both. If its bias differs between them, so does the true difference. The estimator "
        "decreasing does not assume that."
    )


def _higher(finding: Finding, _: Setting) -> str:
    (a, b), of = finding.names, finding.values
    among = "Among the sampled negatives, " if of["is_sampled"] else ""
    return (
        f"{among}{b} ranks the held-out item higher for {100 * of['higher_b']:.3g} % of the users, and {a} for "
        f"{100 * of['higher_a']:.3g} %."
    )


def _several_rows(_: Finding, __: Setting) -> str:
    return (
        "Some users have several rows. A user counts by the mean over the user's rows, each of one relevant item among "
        "irrelevant ones. Hit rate, NDCG or MAP of all items of a user together are others: `evaluate` has them of "
        "ranked lists."
    )


def _few_users(finding: Finding, _: Setting) -> str:
    return (
        f"There are only {finding.values['users']} users. With fewer than {FEW_USERS}, intervals are rough: a few "
        "users who are unlike the others decide them."
    )


def _equal_metrics(finding: Finding, _: Setting) -> str:
    names = enumerated([metric_name(label) for label in finding.values["metrics"]])
    return f"{names} are equal here, as ranks are of one relevant item, with grade 1."


def _groups_adjusted(finding: Finding, setting: Setting) -> str:
    level, of = f"{100 * setting.confidence_level:g} %", finding.values
    return (
        f"The verdicts by group are adjusted for the {of['groups']} groups: their intervals hold together at {level} "
        f"(Bonferroni, each group at {100 * of['level']:.4g} %), and the p-values are adjusted by the method of Holm."
    )


def _wrong_order(finding: Finding, setting: Setting) -> str:
    of, (winner, loser), name = finding.values, finding.names, metric_name(finding.metric)
    exact, expected = (
        f"{of[f'{what}_better']:.4f} against {of[f'{what}_worse']:.4f}" for what in ("exact", "expected")
    )
    label = of["estimator"]
    by = f"the uncorrected {name}" if label == "uncorrected" else f"{estimator_name(label)} of {name}"
    return (
        f"Another order: by the exact {name}, {winner} is ahead of {loser} ({exact}). Among "
        f"{counted(setting.negatives, 'sampled negative')}, {by} puts {winner} behind {loser} on average ({expected}). "
        f"The chance of the exact order is {of['chance']:.2f}."
    )


def _published_order(finding: Finding, setting: Setting) -> tuple[str, str]:
    of, name = finding.values, metric_name(finding.metric)
    confidence, assumption = f"with {100 * setting.confidence_level:g} % confidence", ASSUMPTIONS[of["assumption"]]
    if of["is_decided"]:
        least, most = rounded_outward(*sorted((abs(of["low"]), abs(of["high"]))))
        condition = f"if {assumption}" if assumption else "without an assumption on the ranks"
        clause = f"{better(*finding.names)} by {name} ({least} to {most})"
        return f"By these numbers, {confidence} and {condition}, {{}}.", clause
    a, b = finding.names
    for_a, for_b = (rounded_outward(0.0, end)[1] for end in (-of["low"], of["high"]))
    condition = f", even if {assumption}" if assumption else ""
    clause = f"{a} and {b} by {name} ({a} may be better by up to {for_a}, {b} by up to {for_b})"
    return f"These numbers do not order {{}}, {confidence}{condition}.", clause


def _plan_pair(finding: Finding, _: Setting) -> str:
    (winner, loser), of, name = finding.names, finding.values, metric_name(finding.metric)
    if of["is_of_law"]:
        return (
            f"By the smooth distribution that fits the samples, {better(winner, loser)} by {name}, by "
            f"{of['difference']:.4f}. compare says what the samples decide."
        )
    gap = f"The difference in {of['users']:,} users is {of['difference']:.4f} ({of['low']:.4f} to {of['high']:.4f})."
    if of["low"] > 0:
        return f"In the pilot, {better(winner, loser)} by {name}. {gap}"
    return (
        f"The pilot does not decide whether {better(winner, loser)} by {name}. {gap} The chances are those of a "
        "difference as large as this one; their intervals say what other differences would change."
    )


def _plan_first(finding: Finding, _: Setting) -> str:
    of = finding.values
    return (
        f"The cheapest way that decides rightly in {100 * of['share']:.0f} % of evaluations or more: "
        f"{way_in_words(of)}, with {of['scores']:,.0f} scores for each user ({100 * of['decided']:.0f} %, "
        f"{100 * of['decided_low']:.0f} to {100 * of['decided_high']:.0f} %)."
    )


def _plan_choice(finding: Finding, _: Setting) -> str:
    of = finding.values
    cost = f"{of['scores']:,.0f} scores for each user, {of['total']:,.0f} in all"
    width = f"a width of {of['width']:.4f} ({of['width_low']:.4f} to {of['width_high']:.4f})"
    if of["by"] == "width":
        return f"For a width of at most {of['wanted']:g}, the cheapest way is {way_in_words(of)}: {cost}, with {width}."
    decides = f", and it decides rightly in {100 * of['decided']:.0f} % of evaluations" if "decided" in of else ""
    return f"With {of['wanted']:,.0f} scores, the best way is {way_in_words(of)}: {cost}, with {width}{decides}."


def _plan_none(finding: Finding, _: Setting) -> str:
    of = finding.values
    if of["width"] is not None:
        return f"No way of these is sure to have a width of at most {of['width']:g}; take more users."
    return f"No way of these takes at most {of['scores']:,.0f} scores; take fewer users."


def _plan_wrong(finding: Finding, _: Setting) -> tuple[str, str]:
    of = finding.values
    return (
        "The verdict of these ways is often wrong, however cheap they are: {}.",
        f"{way_in_words(of)} ({100 * of['wrong']:.0f} %)",
    )


def _plan_no_interval(finding: Finding, _: Setting) -> tuple[str, str]:
    sentence = "In half of the evaluations or more there is no interval, by {}."
    return sentence, way_in_words(finding.values)


def _plan_too_many(finding: Finding, _: Setting) -> str:
    left_out = enumerated([str(m) for m in finding.values["negatives"]])
    return f"A user has only {finding.values['fewest']} other candidates, so that {left_out} negatives are left out."


def _plan_few_hits(finding: Finding, _: Setting) -> str:
    of = finding.values
    return (
        f"{metric_name(finding.metric)} is above 0 for only {counted(of['hits'], 'user')} of the pilot, so that the "
        "intervals of the promises are wide."
    )


class Words(NamedTuple):
    """How the findings of a kind are said.

    Attributes:
        sentence: the sentence of a finding, or a sentence with ``{}`` and a clause; findings of the same sentence are
            one sentence with all of their clauses.
        together: the sentences of all findings of the kind, from these and from all findings, in place of `sentence`.
        is_caution: whether they stand above the numbers.
        is_text: whether the text comes from a reader.
        names_recommenders: whether the sentence names its recommenders. Otherwise it begins with the name of the one
            that it is about, unless it is about all.
        names_groups: whether the sentence names its group, likewise.
    """

    sentence: Callable[[Finding, Setting], str | tuple[str, str]] = lambda *_: ""
    together: Callable[[Sequence[Finding], Sequence[Finding], Setting], list[str]] | None = None
    is_caution: bool = False
    is_text: bool = False
    names_recommenders: bool = False
    names_groups: bool = False


WORDS: dict[str, Words] = {
    "caution": Words(lambda finding, _: str(finding.values["text"]), is_caution=True, is_text=True),
    "note": Words(lambda finding, _: str(finding.values["text"]), is_text=True),
    "few-completed": Words(_few_completed, is_caution=True),
    "unexplained": Words(_unexplained, is_caution=True),
    "contradicted": Words(_contradicted, is_caution=True),
    "narrow": Words(_narrow, is_caution=True),
    "uncorrected-values": Words(
        lambda *_: (
            "The rows of uncorrected have the metric of the sampled rank, which is not that of the true rank (AUC "
            "excepted) and can order recommenders wrongly."
        ),
        is_caution=True,
    ),
    "uncorrected-verdicts": Words(
        lambda *_: (
            "These are uncorrected sampled metrics: except for AUC, the better recommender by them may be the worse by "
            "the true metric."
        ),
        is_caution=True,
    ),
    "bounds": Words(_bounds),
    "drawn-once": Words(
        lambda *_: (
            "All users share one draw of negatives, whose error no number of users reduces or shows. So there is no "
            "interval and no verdict. Several independent draws give them: read each with drawn='once', and give a "
            "list of them."
        ),
        is_caution=True,
    ),
    "drawn-by-user": Words(lambda *_: "The negatives of each user are taken to be drawn anew."),
    "draws": Words(
        lambda finding, _: (
            f"The intervals include the spread between {finding.values['draws']} draws of negatives, which are taken "
            "to be independent."
        )
    ),
    "replacement": Words(_replacement),
    "no-share": Words(_no_share),
    "auc-too-low": Words(_auc_too_low),
    "out-of-range": Words(_out_of_range),
    "bias": Words(_bias),
    "no-bias": Words(_no_bias),
    "approximate": Words(_approximate),
    "large-weight": Words(_large_weight),
    "order-differs": Words(_order_differs, names_recommenders=True),
    "order-reversed": Words(_order_reversed, names_recommenders=True),
    "margin": Words(_margin),
    "family": Words(_family),
    "best-pairs": Words(_best_pairs),
    "seeds": Words(_seeds),
    "equal-bias": Words(_equal_bias),
    "higher": Words(_higher, names_recommenders=True),
    "undefined": Words(
        lambda finding, _: f"{metric_name(finding.metric)} is not defined, as a user has only one candidate."
    ),
    "several-rows": Words(_several_rows),
    "few-users": Words(_few_users),
    "equal-metrics": Words(_equal_metrics),
    "group-level": Words(
        lambda _, setting: (
            f"The interval of each group is at {100 * setting.confidence_level:g} % by itself; compare adjusts its "
            "verdicts for the number of groups."
        )
    ),
    "groups-adjusted": Words(_groups_adjusted),
    "wrong-order": Words(_wrong_order, names_recommenders=True),
    "order-undecided": Words(
        lambda *_: "An order by exact values may be undecided. compare says whether the exact ranks decide it."
    ),
    "published-order": Words(_published_order, names_recommenders=True),
    "plan-pair": Words(_plan_pair, names_recommenders=True),
    "plan-first": Words(_plan_first, names_recommenders=True),
    "plan-choice": Words(_plan_choice),
    "plan-none": Words(_plan_none),
    "plan-wrong": Words(_plan_wrong),
    "plan-no-interval": Words(_plan_no_interval),
    "plan-too-many": Words(_plan_too_many),
    "plan-few-hits": Words(_plan_few_hits),
    "plan-laws": Words(
        lambda *_: (
            "The pilot is a sample. The rows are those of a smooth distribution of true ranks that fits it, and the "
            "intervals include those of the distributions by which the recommenders are closest and farthest apart."
        )
    ),
    "plan-no-stages": Words(
        lambda *_: (
            "There are no rows of stages, nor of a stop at k: they need staged ranks by depth=None, beside the exact "
            "ranks."
        )
    ),
    "plan-no-negatives": Words(
        lambda *_: (
            "There are no rows of negatives: they need exact ranks, beside the staged ranks, as the ranks above k "
            "count."
        )
    ),
    "supported": Words(together=_supported),
    "assumes": Words(together=_assumes),
    **dict.fromkeys(VERDICTS, Words(together=_verdicts, names_groups=True)),
}
"""How findings are said, by kind. These are all kinds."""

CAUTIONS = frozenset(kind for kind, entry in WORDS.items() if entry.is_caution)
"""Kinds of findings that stand above the numbers."""
