"""The findings of results in English. No other module has sentences about results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from sampled_metrics._validation import counted, enumerated
from sampled_metrics.errors import printable
from sampled_metrics.estimators import estimator_name
from sampled_metrics.evaluation.standings import Standings
from sampled_metrics.inference.findings import Finding, Setting, grouped
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
_Said = tuple[str, tuple[str, ...], str, str]  # kind, names, group, sentence
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


def verdict_in_words(verdict: Finding) -> str:
    """Say which recommender of a pair is better, or that none is."""
    return f"{verdict.names[0]} is better" if verdict.kind == "better" else verdict.kind.replace("-", " ")


_CONCLUSIONS = VERDICTS | {
    *("bounds", "published-order", "order-differs", "order-reversed", "margin", "family", "best-pairs", "seeds"),
    *("assumes", "supported", "equal-bias", "bias", "approximate", "few-users", "one-user", "groups-adjusted"),
    *("wrong-order", "order-undecided"),
}


def paragraph(rows: Sequence[Mapping[str, Any]], findings: Iterable[Finding], setting: Setting) -> str:
    """Say for a reviewer what was measured, how it was sampled, and what can be concluded from rows of a result."""
    setting = replace(setting, gives_advice=False)
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
    # the verdict on a pair has its difference
    omits_differences = len(setting.names) == 2 or len(rows) > MANY
    given = [
        row
        for row in rows
        if (row.get("estimator"), row["metric"]) not in has_bounds and not ("difference" in row and omits_differences)
    ]
    clauses = [text for row in given if row.get("group", ALL) == ALL and (text := _value(row))]
    has_interval = any(not np.isnan(row.get("low", np.nan)) for row in given)
    interval = f", with {_percent(setting.confidence_level)} intervals" if has_interval else ""
    what = "differences" if given and "difference" in given[0] else "values"
    values = [f"The {what}{interval}: {'; '.join(clauses)}."] if clauses else []
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
    if "difference" in row and not np.isnan(row["low"]):
        ends = f"{row['low']:+.4f} to {row['high']:+.4f}"
        return f"{metric_name(row['metric'])} of {row['b']} - {row['a']} {row['difference']:+.4f} ({ends})"
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
    a, b = setting.names
    beginnings = {
        "equivalent": f"{a} and {b} are equivalent on ",
        "undecided": f"Undecided between {a} and {b}: ",
        "no-verdict": f"No verdict on {a} and {b}: ",
    }
    order, sentences = ["better", *beginnings], []
    said = grouped(verdicts, lambda one: (one.kind, one.names if one.kind == "better" else (), one.values.get("size")))
    for (kind, names, size), alike in sorted(said.items(), key=lambda item: (order.index(item[0][0]), -len(item[1]))):
        beginning = f"{better(*names)} on " if names else beginnings[kind]
        metrics = enumerated([metric_name(one.metric) for one in alike])
        sentences.append(f"{beginning}{metrics}{f', by {size}' if size else ''}.")
    return " ".join(sentences)


def way_in_words(row: Mapping[str, Any]) -> str:
    """Return the way to evaluate of a row of a plan in words."""
    if row["way"] == "negatives":
        return f"{row['negatives']:.0f} negatives, {row['estimator']}"
    return f"stages, depth {row['depth']:g}" if row["way"] == "stages" else str(row["way"])


def margin_of_pairs(verdicts: Sequence[Finding], setting: Setting) -> list[str]:
    """Return what verdicts say of the margin, for each metric, and what the margin means."""
    sentences = []
    for label, of_metric in grouped(verdicts, _metric).items():
        texts = [
            f"{' and '.join(one.names)} are equivalent"
            if one.kind == "equivalent"
            else f"{better(*one.names)} by {one.values['size']}"
            for one in of_metric
            if one.kind == "equivalent" or (one.kind == "better" and one.values.get("size"))
        ]
        sentences += [f"{metric_name(label)}: {'; '.join(texts)}."] if texts else []
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
    clauses = dict[_Said, dict[str, None]]()  # only these may have names of recommenders, which may hold {}
    done = set[tuple[Words, str]]()
    for finding in findings:
        entry = WORDS[finding.kind]
        if entry.together is None:
            sentence, clause = _said(entry, finding, setting)
            names = () if entry.names_recommenders else finding.names
            clauses.setdefault((finding.kind, names, finding.group, sentence), {})[clause] = None
            continue
        if (entry, finding.group) in done:
            continue
        done.add((entry, finding.group))
        alike = [one for one in findings if WORDS[one.kind] is entry and one.group == finding.group]
        said = entry.together(alike, findings, setting)
        clauses |= {(finding.kind, (), finding.group, sentence): {"": None} for sentence in said}
    whole = [
        (kind, names, group, text.replace("{}", ", ".join(of_text)) if any(of_text) else text)
        for (kind, names, group, text), of_text in clauses.items()
    ]
    return tuple(dict.fromkeys(map(printable, _named(whole, setting))))


def _said(entry: Words, finding: Finding, setting: Setting) -> tuple[str, str]:
    """Return the sentence of a finding, and its clause, which may be empty."""
    if callable(entry.sentence):
        said = entry.sentence(finding, setting)
        return said if isinstance(said, tuple) else (said, "")
    of = finding.values
    words = {"metric": metric_name(finding.metric), "confidence": _percent(setting.confidence_level)}
    words |= {"estimator_name": estimator_name(of["estimator"])} if "estimator" in of else {}
    values = {**of, **words}
    return entry.sentence.format(**values), entry.clause.format(**values)


def _completed(finding: Finding, _: Setting) -> str:
    of = finding.values
    several = f" in {of['rows']:,} rows" if of["rows"] > of["users"] else ""
    least, most = of["least_candidates"], of["most_candidates"]
    candidates = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    completed = f"{counted(of['completed'], 'user')} {'was' if of['completed'] == 1 else 'were'} completed"
    if of["is_without_hits"]:
        completed = f"no user has a held-out item among the first {of['k']}, as if the ranker masked it"
    return (
        f"Staged ranks of {of['users']:,} user{'s' * (of['users'] != 1)}{several}, {of['scores']:,.0f} scores for each "
        f"of {candidates} candidates; {completed}."
    )


def _percent(share: float, digits: str = "g") -> str:
    return f"{100 * share:{digits}} %"


def _named(sentences: Sequence[_Said], setting: Setting) -> list[str]:
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
    confidence = f"ith {_percent(setting.confidence_level)} confidence"
    if assumption := ASSUMPTIONS.get(of["assumes"]):
        return f"W{confidence}, {{}}, if {assumption}.", f"{name} is between {low} and {high}"
    least, most = of["least_negatives"], of["most_negatives"]
    allow = (
        f"{counted(least, 'negative')} allow{'s' if least == 1 else ''}"
        if least == most
        else f"{least} to {most} negatives allow"
    )
    return f"Without an assumption on the ranks, {allow} {{}}, w{confidence}.", f"any {name} from {low} to {high}"


def _replacement(finding: Finding, _: Setting) -> tuple[str, str]:
    of = finding.values
    said, other = ("with", "without") if of["replacement"] else ("without", "with")
    ends, others = (" to ".join(rounded_outward(of[f"{which}low"], of[f"{which}high"])) for which in ("", "other_"))
    return (
        f"The negatives are said to be drawn {said} replacement. If they are drawn {other} it, the intervals are "
        "others: {}. Make sure which it was."
    ), f"{metric_name(finding.metric)} from {others} in place of {ends} ({of['estimator']})"


def _bias(finding: Finding, _: Setting) -> tuple[str, str]:
    of, sentence = finding.values, "the estimated bias, with its standard error: {}."
    if of["has_interval"]:
        sentence = "the interval ignores the bias. The estimated bias, with its standard error: {}."
    if of["error"] > 0:
        decimals = max(0, -int(np.floor(np.log10(of["error"]))))
        bias = f"{of['bias']:+.{decimals}f} ± {of['error']:.{decimals}f}"
    else:
        bias = f"{of['bias']:+.1g} (its standard error is not known, as all users are alike)"
    return f"{estimator_name(of['estimator'])}: {sentence}", f"{metric_name(finding.metric)} {bias}"


def _verdicts(alike: Sequence[Finding], findings: Sequence[Finding], setting: Setting) -> list[str]:
    """Return the verdicts of all users, or of a group; those of groups are worded together, with the first of them."""
    if alike[0].group:
        return _by_group(findings, setting) if alike[0] == next(one for one in findings if _is_of_group(one)) else []
    is_pair = len(setting.names) == 2
    others = "all others of these" if any(one.kind == "best-pairs" for one in findings) else "all others"
    sentences = []
    for label, of_metric in grouped(alike, _metric).items():
        if all(one.kind == "no-verdict" for one in of_metric) and not is_pair:
            text = "no verdict."
        else:
            text = _of_pair(of_metric[0], setting) if is_pair else standing(Standings.from_verdicts(of_metric), others)
        sentences.append(f"{compared_name(label, setting)}: {text}")
    return [*sentences, *(margin_of_pairs(alike, setting)[:-1] if setting.margin and not is_pair else [])]


def _is_of_group(finding: Finding) -> bool:
    return finding.kind in VERDICTS and bool(finding.group)


def _metric(finding: Finding) -> str:
    return finding.metric


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
    more = _PLAN if finding.kind == "undecided" and of.get("is_bounded") and setting.gives_advice else ""
    return (
        f"{conclusion}. The difference ({b} - {a}) is {of['difference']:+.4f}{share}, with a "
        f"{_percent(setting.confidence_level)} interval of {of['low']:+.4f} to {of['high']:+.4f}{rest}.{more}"
    )


def _by_group(findings: Sequence[Finding], setting: Setting) -> list[str]:
    """Return a sentence for each metric on the verdicts by group."""
    sentences, first = [], [better(*pair) for pair in permutations(setting.names[::-1], 2)]
    for label, of_metric in grouped(filter(_is_of_group, findings), _metric).items():
        said, name = dict[str, str](), compared_name(label, setting)
        for group, verdicts in grouped(of_metric, lambda one: one.group).items():
            standings = Standings.from_verdicts(verdicts)
            worse = {row for _, row in standings.decided}
            best = [row.name for number, row in enumerate(standings.rows) if number not in worse]
            said[group] = enumerated(best, "or")
            if len(setting.names) == 2:
                [one] = verdicts
                said[group] = better(*one.names) if one.kind == "better" else one.kind.replace("-", " ")
        groups_of = grouped(said, said.__getitem__)
        order = [text for text in dict.fromkeys([*first, *groups_of]) if text in groups_of]
        texts = [f"{text} for {_groups(groups_of[text])}" for text in order]
        beginning = f"{name} by group" if len(setting.names) == 2 else f"The best by {name}"
        sentences.append(f"{beginning}: {'; '.join(texts)}.")
    return sentences


def _groups(groups: Sequence[str]) -> str:
    return f"group{'s' * (len(groups) > 1)} {enumerated(groups)}"


def _order_differs(finding: Finding, setting: Setting) -> str:
    (a, b), name, of = finding.names, compared_name(finding.metric, setting), finding.values
    if finding.kind == "order-reversed":
        return f"By {name}, {better(a, b)} for all users together, but {better(b, a)} for {_groups(of['groups'])}."
    words = [f"{better(*pair)} for {_groups(of[pair[0]])}" for pair in ((b, a), (a, b))]
    return f"The order by {name} differs between groups: {', and '.join(words)}."


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
        f"The intervals of a metric hold together at {_percent(setting.confidence_level)} for its {of['pairs']} pairs "
        f"({method}). The p-values are adjusted for these pairs by the method of Holm. Metrics are not adjusted for "
        "one another."
    )


def _seeds(finding: Finding, _: Setting) -> str:
    seeds = finding.values["seeds"]
    several = [f"{name} ({number} seeds)" for name, number in seeds.items() if number > 1]
    single = [name for name, number in seeds.items() if number == 1]
    rest = f"; that of {enumerated(single)}, of one seed, is taken to be 0" if single else ""
    return (
        f"The intervals include the spread between the seeds of {enumerated(several)}{rest}. Metrics of new seeds are "
        "taken to vary normally."
    )


def _assumes(alike: Sequence[Finding], _: Sequence[Finding], setting: Setting) -> list[str]:
    assumptions, sentences = {one.values["assumption"] for one in alike}, dict[str, None]()
    for one in alike:
        assumption = ASSUMPTIONS[one.values["assumption"]]
        given = f"if {assumption}" if assumption else "without an assumption on the ranks"
        about = f" of {' and '.join(one.names)}" if len(assumptions) > 1 else ""
        sentences[f"The intervals{about} are of the true difference, {given}."] = None
    return list(sentences)


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


def _unexplained(finding: Finding, _: Setting) -> str:
    values, causes = finding.values.get("values", {}), "Usual causes are"
    explained = _written(values) if values else "the sample"
    if len(values) > 1:
        causes = "The values contradict one another. Usual causes are a misprint, values of several runs,"
    return (
        f"No distribution of true ranks explains {explained} (p = {finding.values['p_value']:.2g}), so there is no "
        f"interval and no verdict. {causes} negatives that all users share, ties that count in favour of the held-out "
        "item, negatives that are not drawn uniformly, or with replacement, and a wrong number of candidates or "
        "negatives."
    )


def _contradicted(finding: Finding, _: Setting) -> str:
    of = finding.values
    values = of.get("values", {})
    subject = f"{_written(values)} contradict{'s' * (len(values) == 1)}" if values else "The sample contradicts"
    return f"{subject} {of['assumption']} (p = {of['p_value']:.2g}), so the interval is that of a weaker assumption."


def _exact_contradicted(finding: Finding, setting: Setting) -> str:
    of, name = finding.values, metric_name(finding.metric)
    least, most = rounded_outward(of["low"], of["high"])
    assumption = ASSUMPTIONS[of["assumption"]]
    condition = f"if {assumption}" if assumption else "whatever the ranks are"
    return (
        f"The exact {name} {of['value']} contradicts {_written(of['values'])} of the sample, which "
        f"{'allow' if len(of['values']) > 1 else 'allows'} {least} to {most}, {condition}. Usual causes are a "
        "misprint, values of several runs, negatives that all users share or that are not drawn uniformly, and a "
        "wrong number of candidates or negatives."
    )


def _written(values: Mapping[str, str]) -> str:
    """Return published values in words, as they are written."""
    return enumerated(f"{metric_name(label)} {value}" for label, value in values.items())


def _published_order(finding: Finding, setting: Setting) -> tuple[str, str]:
    of, name = finding.values, metric_name(finding.metric)
    confidence, assumption = f"with {_percent(setting.confidence_level)} confidence", ASSUMPTIONS[of["assumption"]]
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
    columns = f"The column decided is for {winner}, and wrong for {loser}"
    if of["is_of_law"]:
        return (
            f"By the smooth distribution that fits the samples, {better(winner, loser)} by {name}, by "
            f"{of['difference']:.4f}. compare says what the samples decide. {columns}."
        )
    gap = f"The difference in {of['users']:,} users is {of['difference']:.4f} ({of['low']:.4f} to {of['high']:.4f})."
    if of["low"] > 0:
        return f"In the pilot, {better(winner, loser)} by {name}. {gap} {columns}."
    return (
        f"The pilot does not decide whether {better(winner, loser)} by {name}. {gap} {columns}, whichever is better in "
        "truth. They are of a difference as large as this one; their intervals say what other differences would change."
    )


def _plan_first(finding: Finding, _: Setting) -> str:
    of = finding.values
    return (
        f"The cheapest way that decides rightly in {_percent(of['share'], '.0f')} of evaluations or more: "
        f"{way_in_words(of)}, with {of['scores']:,.0f} scores for each user ({_chance(of, 'decided')})."
    )


def _plan_unsure(finding: Finding, _: Setting) -> str:
    of = finding.values
    share = f"in {_percent(of['share'], '.0f')} of evaluations or more"
    way = f"{way_in_words(of)}, with {of['scores']:,.0f} scores for each user"
    if not of["is_open"]:
        return f"None of these ways decides rightly {share}. The highest chance has {way} ({_chance(of, 'decided')})."
    low, high = (100 * of[f"decided_{end}"] for end in ("low", "high"))
    return (
        f"The pilot cannot tell which way decides rightly {share}. By {way}, the chance is {low:.0f} to {high:.0f} %; "
        f"it is {_percent(of['decided'], '.0f')} if the true difference is that of the pilot."
    )


def _plan_choice(finding: Finding, _: Setting) -> str:
    of = finding.values
    cost = f"{of['scores']:,.0f} scores for each user, {of['total']:,.0f} in all"
    width = f"a width of {of['width']:.4f} ({of['width_low']:.4f} to {of['width_high']:.4f})"
    if of["by"] == "width":
        return f"For a width of at most {of['wanted']:g}, the cheapest way is {way_in_words(of)}: {cost}, with {width}."
    beginning, way = f"With {of['wanted']:,.0f} scores,", f"{way_in_words(of)}: {cost}, with {width}"
    if of["promise"] == "decided":
        return (
            f"{beginning} the best way is {way}. It decides rightly in {_percent(of['decided'], '.0f')} of evaluations "
            f"({100 * of['decided_low']:.0f} to {100 * of['decided_high']:.0f} %)."
        )
    chance = f" How often it decides, the pilot cannot tell ({_chance(of, 'decided')})." if "decided" in of else ""
    return f"{beginning} the narrowest interval is that of {way}.{chance}"


def _chance(values: Mapping[str, Any], name: str) -> str:
    """Return a chance with its interval, in per cent."""
    value, low, high = (100 * values[column] for column in (name, f"{name}_low", f"{name}_high"))
    return f"{value:.0f} %, {low:.0f} to {high:.0f} %"


class Words(NamedTuple):
    """How the findings of a kind are said.

    Attributes:
        sentence: the sentence of a finding, or a function that returns it, or it and its clause. A text names in braces
            the values of the finding, and metric, estimator_name and confidence. Findings of the same sentence are one
            sentence, with all of their clauses in place of ``{}``, which a text doubles.
        clause: the clause of a sentence that is a text.
        together: the sentences of all findings of the kind, from these and from all findings, in place of `sentence`.
        is_caution: whether they stand above the numbers.
        is_text: whether the text comes from a reader.
        names_recommenders: whether the sentence names its recommenders. Otherwise it begins with the name of the one
            that it is about, unless it is about all.
        names_groups: whether the sentence names its group, likewise.
    """

    sentence: str | Callable[[Finding, Setting], str | tuple[str, str]] = ""
    clause: str = ""
    together: Callable[[Sequence[Finding], Sequence[Finding], Setting], list[str]] | None = None
    is_caution: bool = False
    is_text: bool = False
    names_recommenders: bool = False
    names_groups: bool = False


WORDS: dict[str, Words] = {
    "caution": Words("{text}", is_caution=True, is_text=True),
    "note": Words("{text}", is_text=True),
    "completed": Words(_completed),
    "unexplained": Words(_unexplained, is_caution=True),
    "contradicted": Words(_contradicted, is_caution=True),
    "exact-contradicted": Words(_exact_contradicted, is_caution=True),
    "narrow": Words(
        "By {assumption}, the interval would be hardly wider than that of exact ranks of as many users, so that the "
        "assumption alone would decide. The interval is that of a weaker assumption.",
        is_caution=True,
    ),
    "uncorrected-values": Words(
        "The rows of uncorrected have the metric of the sampled rank, which is not that of the true rank (AUC "
        "excepted) and can order recommenders wrongly.",
        is_caution=True,
    ),
    "uncorrected-verdicts": Words(
        "These are uncorrected sampled metrics: except for AUC, the better recommender by them may be the worse by "
        "the true metric.",
        is_caution=True,
    ),
    "bounds": Words(_bounds),
    "drawn-once": Words(
        "All users share one draw of negatives, whose error no number of users reduces or shows. So there is no "
        "interval and no verdict. Several independent draws give them: read each with drawn='once', and give a "
        "list of them.",
        is_caution=True,
    ),
    "drawn-by-user": Words("The negatives of each user are taken to be drawn anew."),
    "draws": Words(
        "The intervals include the spread between {draws} draws of negatives, which are taken to be independent."
    ),
    "replacement": Words(_replacement),
    "no-share": Words(
        "No number of {users:,} users has the {metric} {value}; the nearest are {below:.6g} and {above:.6g}. It is "
        "taken to be a mean over seeds."
    ),
    "auc-too-low": Words(
        "{estimator_name}: its AUC is too low. The AUC of the sample, which has no bias, is {auc:.3f}."
    ),
    "out-of-range": Words(
        "{estimator_name}: a metric is from 0 to 1, but not {{}}. Its weights vary too much for this sample; take an "
        "estimator with a larger γ, or more negatives or users.",
        "{what} of {metric} ({value:.4g})",
    ),
    "bias": Words(_bias),
    "no-bias": Words(
        "No bias is estimated for {{}}: it is known of estimators that are linear in a uniform sample.",
        "{estimator_name}",
    ),
    "approximate": Words(
        "The intervals of {{}} are Student's intervals of pseudo-values. They can be much too narrow where hits are "
        "rare: rely on those of strict bounds.",
        "{estimator_name}",
    ),
    "large-weight": Words(
        "{estimator_name}: a single user counts up to {largest:.2g}, where a metric is at most 1, because its "
        "equations are badly conditioned. Take a larger γ."
    ),
    "order-differs": Words(_order_differs, names_recommenders=True),
    "order-reversed": Words(_order_differs, names_recommenders=True),
    "margin": Words(_margin),
    "family": Words(_family),
    "best-pairs": Words(
        lambda finding, setting: (
            f"{best_alone(finding.metric, finding.values['most'], finding.values['recommenders'])} The intervals of a "
            f"metric hold together at {_percent(setting.confidence_level)} for all {finding.values['pairs']} pairs "
            f"({finding.values['method']}). For the other pairs and the p-values, call compare."
        )
    ),
    "seeds": Words(_seeds),
    "equal-bias": Words(
        "The comparison is between the means of {estimator_name}, and assumes that its bias is equal for both. If its "
        "bias differs between them, so does the true difference. The estimator decreasing does not assume that."
    ),
    "higher": Words(
        lambda finding, _: (
            f"{'Among the sampled negatives, ' if finding.values['is_sampled'] else ''}{finding.names[1]} ranks the "
            f"held-out item higher for {_percent(finding.values['higher_b'], '.3g')} of the users, and "
            f"{finding.names[0]} for {_percent(finding.values['higher_a'], '.3g')}."
        ),
        names_recommenders=True,
    ),
    "undefined": Words("{metric} is not defined, as a user has only one candidate."),
    "several-rows": Words(
        "Some users have several rows. A user counts by the mean over the user's rows, each of one relevant item among "
        "irrelevant ones. Hit rate, NDCG or MAP of all items of a user together are others: `evaluate` has them of "
        "ranked lists."
    ),
    "few-users": Words(
        f"There are only {{users}} users. With fewer than {FEW_USERS}, intervals are rough: a few users who are unlike "
        "the others decide them."
    ),
    "one-user": Words(
        lambda finding, _: (
            "There is only one user, and not all candidates were scored, so the value is no more than a guess. Take "
            "depth=None."
            if finding.values["is_open"]
            else "There is only one user, so there is no interval: a single value does not show how users vary."
        )
    ),
    "equal-metrics": Words(
        lambda finding, _: (
            f"{enumerated([metric_name(label) for label in finding.values['metrics']])} are equal here, as ranks are "
            "of one relevant item, with grade 1."
        )
    ),
    "group-level": Words(
        "The interval of each group is at {confidence} by itself; compare adjusts its verdicts for the number of "
        "groups."
    ),
    "groups-adjusted": Words(
        lambda finding, setting: (
            f"The verdicts by group are adjusted for the {finding.values['groups']} groups: their intervals hold "
            f"together at {_percent(setting.confidence_level)} (Bonferroni, each group at "
            f"{_percent(finding.values['level'], '.4g')}), and the p-values are adjusted by the method of Holm."
        )
    ),
    "wrong-order": Words(_wrong_order, names_recommenders=True),
    "order-undecided": Words(
        "An order by exact values may be undecided. compare says whether the exact ranks decide it."
    ),
    "published-order": Words(_published_order, names_recommenders=True),
    "plan-pair": Words(_plan_pair, names_recommenders=True),
    "plan-first": Words(_plan_first, names_recommenders=True),
    "plan-unsure": Words(_plan_unsure, names_recommenders=True),
    "plan-choice": Words(_plan_choice),
    "plan-none": Words(
        lambda finding, _: (
            f"No way of these takes at most {finding.values['scores']:,.0f} scores; take fewer users."
            if finding.values["width"] is None
            else f"No way of these is sure to have a width of at most {finding.values['width']:g}; take more users."
        )
    ),
    "plan-wrong": Words(
        lambda finding, _: (
            "By the order of the pilot, the verdict of these ways is often wrong, however cheap they are: {}.",
            f"{way_in_words(finding.values)} ({_chance(finding.values, 'wrong')})",
        )
    ),
    "plan-left": Words(
        lambda finding, _: (
            "In a part of the evaluations, the sample contradicts the assumption, or the assumption alone would "
            "decide, so that the interval is that of a weaker one, which is wider: {}.",
            f"{way_in_words(finding.values)} ({_percent(finding.values['left'], '.0f')})",
        )
    ),
    "plan-no-interval": Words(
        lambda finding, _: (
            "In half of the evaluations or more there is no interval, by {}.",
            way_in_words(finding.values),
        )
    ),
    "plan-too-many": Words(
        lambda finding, _: (
            f"A user has only {finding.values['fewest']} other candidates, so that "
            f"{enumerated(map(str, finding.values['negatives']))} negatives are left out."
        )
    ),
    "plan-few-hits": Words(
        lambda finding, setting: (
            f"{metric_name(finding.metric)}{f' of {finding.names[0]}' if setting.names else ''} is above 0 for only "
            f"{counted(finding.values['hits'], 'user')} of the pilot, so that the intervals of the promises are wide."
        ),
        names_recommenders=True,
    ),
    "plan-laws": Words(
        "The pilot is a sample. The rows are those of a smooth distribution of true ranks that fits it, and the "
        "intervals include those of the distributions by which the recommenders are closest and farthest apart."
    ),
    "plan-no-stages": Words(
        "There are no rows of stages, nor of a stop at k: they need staged ranks by depth=None, beside the exact ranks."
    ),
    "plan-no-negatives": Words(
        "There are no rows of negatives: they need exact ranks, beside the staged ranks, as the ranks above k count."
    ),
    "supported": Words(together=_supported),
    "assumes": Words(together=_assumes),
    **dict.fromkeys(VERDICTS, Words(together=_verdicts, names_groups=True)),
}
"""How findings are said, by kind. These are all kinds."""

CAUTIONS = frozenset(kind for kind, entry in WORDS.items() if entry.is_caution)
"""Kinds of findings that stand above the numbers."""
