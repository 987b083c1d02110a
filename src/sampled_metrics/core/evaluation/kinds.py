"""The kinds of findings of the core, and the look-up of those of all packages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from sampled_metrics._registry import kinds_of_findings
from sampled_metrics.core.findings import CAUTION, REMARK, Finding, Kind
from sampled_metrics.core.inference.means import FEW_USERS
from sampled_metrics.core.ranks.groups import FEWEST_USERS

_GAP = (
    "the difference ({b} - {a}) is {difference:+}{relative_in_words}, with a {confidence} interval "
    "of {low:+} to {high:+}"
)
_OF_VERDICT = (
    "the columns of the row; is_bounded: whether strict bounds decide; assumes: what the interval "
    "assumes, as a clause"
)

KINDS: tuple[Kind, ...] = (
    # --- the order of recommenders
    Kind(
        "better",
        REMARK,
        f"{{metric}}: {{names[0]}} is better than {{names[1]}}{{size_in_words}}; "
        f"{_GAP}{{assumes}}.",
        when="`compare`: the interval excludes 0",
        action="report the difference with its interval",
        values=_OF_VERDICT,
    ),
    Kind(
        "equivalent",
        REMARK,
        f"{{metric}}: {{a}} and {{b}} are equivalent; {_GAP}{{assumes}}.",
        when="`compare` with a margin: the interval is within ± the margin and includes 0",
        action="take either",
        values=_OF_VERDICT,
    ),
    Kind(
        "undecided",
        REMARK,
        f"{{metric}}: undecided; {_GAP} that includes 0 ({{p_value!q}}){{assumes}}.",
        when="`compare`: the interval includes 0",
        action="evaluate more users, or all candidates in place of a sample",
        values=_OF_VERDICT,
    ),
    Kind(
        "no-verdict",
        REMARK,
        "{metric}: no verdict.",
        when="`compare`: there is no interval",
        action="read the cautions",
        values=_OF_VERDICT,
    ),
    Kind(
        "order",
        REMARK,
        "{metric}: {order}",
        when="`compare` with three recommenders or more; for each metric",
        action="report the letters of `standings()`",
        values="order: the decided pairs, and who cannot be distinguished, in words; inference",
    ),
    Kind(
        "use-plan",
        REMARK,
        "To see how many users or negatives decide, call plan with exact or staged ranks of some "
        "users.",
        when="`compare`: strict bounds leave a pair undecided",
        action="call `plan` with a pilot of exact or staged ranks",
    ),
    Kind(
        "order-differs",
        REMARK,
        "The order by {metric} differs between groups: {names[1]} is better than {names[0]} in "
        "{groups_b}, and {names[0]} is better than {names[1]} in {groups_a}.",
        when="`compare`: groups order a pair in different ways",
        action="report the groups separately",
        values="groups_a, groups_b: those in which the first and the second one is better",
    ),
    Kind(
        "order-reversed",
        REMARK,
        "By {metric}, {names[0]} is better than {names[1]} for all users together, but worse in "
        "{groups}.",
        when="`compare`: all users have one order of a pair, and the decided groups the other",
        action="report the groups separately",
        values="groups",
    ),
    Kind(
        "margin",
        REMARK,
        "Equivalent means that the {confidence} interval is within ± {margin}, which is stricter "
        "than two one-sided tests at {tests!p}.",
        when="there is an absolute margin",
        action="choose the margin before you look at the results",
        values="margin, tests: their level",
    ),
    Kind(
        "relative-margin",
        REMARK,
        "The margin is {margin}. It is tested with the {confidence} intervals of b - {ratio:.6g} a "
        "and a - {ratio:.6g} b. Equivalent means that both are below 0, which is stricter than two "
        "one-sided tests at {tests!p}.",
        when="there is a relative margin",
        action="choose the margin before you look at the results",
        values="margin, ratio, tests",
    ),
    Kind(
        "by-margin",
        REMARK,
        "{metric}: {pairs}.",
        when="`compare` with three recommenders or more: the margin decides pairs",
        action="report these pairs with the margin",
        values="pairs: in words; inference",
    ),
    Kind(
        "family",
        REMARK,
        "The intervals of {metric_of} hold together at {confidence} for its {pairs} pairs "
        "({method}). The p-values are adjusted for these pairs with Holm's method.",
        when="there are three recommenders or more, with intervals",
        action="name the method in a paper",
        values="pairs, method; rate of each interval, 0 unless by Bonferroni; metric_of: in words",
    ),
    Kind(
        "several-metrics",
        REMARK,
        "The {metrics} metrics are not adjusted for one another: each has its own {confidence} "
        "confidence, so a false verdict on any of them is more likely than on a single one. "
        "Decide by the first one, {metric}.",
        when="there are verdicts on several metrics (`compare`, `validator`)",
        action="choose one metric before you look at the results",
        values="metrics: how many; its metric is the first one",
    ),
    Kind(
        "best-pairs",
        REMARK,
        "Of {recommenders} recommenders, the {most} best by {metric} are shown. The intervals of a "
        "metric hold together at {confidence} for all {pairs} pairs ({method}). For the other "
        "pairs and the p-values, call compare.",
        when="only the pairs of the best recommenders are compared",
        action="call `compare` without `best` for the others",
        values="most: how many; recommenders, pairs (of all), method",
    ),
    Kind(
        "groups-adjusted",
        REMARK,
        "The verdicts by group are adjusted for the {groups} groups: their intervals hold together "
        "at {confidence} (Bonferroni, each group at {level!p}), and the p-values are adjusted with "
        "Holm's method.",
        when="there are groups (`compare`)",
        action="name the method in a paper",
        values="groups: their number; level: of each group",
    ),
    Kind(
        "group-level",
        REMARK,
        "The interval of each group is at {confidence} by itself; compare adjusts its verdicts for "
        "the number of groups.",
        when="there are groups (`evaluate`, `correct`)",
        action="call `compare` to compare recommenders within groups",
    ),
    Kind(
        "groups-left-out",
        REMARK,
        f"Groups with fewer than {FEWEST_USERS} users are left out, as they have no interval: "
        "{users}.",
        when="groups have too few users for an interval",
        action="merge small groups",
        values="users: their numbers, by group",
    ),
    # --- seeds and draws
    Kind(
        "seeds",
        REMARK,
        "The intervals of new runs include the spread between the seeds ({seeds}), whose metrics "
        "are taken to vary normally and independently. The intervals of these runs are for the "
        "mean over these seeds: only users are random.",
        when="all recommenders have several seeds, and there are intervals of new runs",
        action="report new runs for a claim about a method, and these runs to choose a model",
        values="seeds: by recommender, their number",
    ),
    Kind(
        "one-seed",
        REMARK,
        "The intervals describe these runs, the mean over the seeds, and not new runs: one seed "
        "does not show how seeds vary ({recommenders}). If a recommender has no random start, give "
        "its table as often as another recommender has seeds.",
        when="a recommender has one seed, and another one several",
        action="train the recommender with more seeds",
        values="recommenders: those with one seed; estimator (`correct`)",
    ),
    Kind(
        "bounds-of-seeds",
        REMARK,
        "Strict bounds do not show how seeds vary, so their intervals describe these runs, the "
        "mean over the seeds, and not new runs.",
        when="strict bounds have several seeds",
        action="rank all candidates, or take another estimator, to compare new runs",
        values="estimator (`correct`)",
    ),
    Kind(
        "equal-seeds",
        CAUTION,
        "Seeds {seeds} have the same ranks for all users. If they are copies of one run, remove "
        "them: copies make the intervals of new runs too narrow. Only a recommender without a "
        "random start has equal seeds.",
        when="several seeds of a recommender have the same ranks",
        action="remove copies of one run",
        values="seeds: their names",
    ),
    Kind(
        "equal-draws",
        CAUTION,
        "Draws {seeds} of negatives have the same ranks for all users. If they are copies of one "
        "draw, remove them: copies make the interval too narrow.",
        when="several draws of negatives have the same ranks",
        action="remove copies of one draw",
        values="seeds: their names",
    ),
    Kind(
        "drawn-by-user",
        REMARK,
        "The negatives are assumed to be drawn independently for each user.",
        when="intervals assume that negatives are drawn anew for each user",
        action="read ranks whose users share negatives with `drawn='once'`",
    ),
    Kind(
        "drawn-once",
        CAUTION,
        "All users share one draw of negatives. More users do not reduce its error, so there is no "
        "interval and no verdict. Several independent draws give both: read each with "
        "drawn='once', and give a list of them.",
        when="all users share one draw of negatives: no interval, no verdict",
        action="give several draws",
    ),
    Kind(
        "drawn-by-popularity",
        CAUTION,
        "The negatives are drawn by popularity, so no correction applies, and there is no estimate "
        "and no order. Popular items are likely to be above the held-out item, so its sampled rank "
        "shows only that its true rank is not better.",
        when="negatives are drawn by popularity: bounds only",
        action="draw uniform negatives, or rank all candidates",
    ),
    Kind(
        "draws",
        REMARK,
        "The intervals include the spread between {draws} draws of negatives, which are taken to "
        "be independent.",
        when="there are several such draws",
        action="make sure that the draws are independent",
        values="draws: their number",
    ),
    # --- what intervals assume
    Kind(
        "assumes",
        REMARK,
        "The intervals{whose} are for the true difference, {condition}.",
        when="a pair is compared with strict bounds",
        action="state the assumption with the verdict",
        values="assumption: of the interval; condition and whose: in words",
    ),
    Kind(
        "interval-assumes",
        REMARK,
        "The interval of {assumption} holds the true metric {condition}.",
        when="`correct`, `published`: an interval assumes something of the ranks",
        action="state the assumption with the interval",
        values="assumption; condition: in words",
    ),
    Kind(
        "equal-bias",
        REMARK,
        "The comparison is between the means of {estimator}, and assumes that its bias is equal "
        "for both. If its bias differs between them, so does the true difference. The estimator "
        "decreasing does not assume that.",
        when="the estimator of a comparison has a bias",
        action="compare with decreasing, too",
        values="estimator",
    ),
    Kind(
        "supported",
        REMARK,
        "The sample does not contradict {assumption} ({p_value!q}). Not every wrong assumption is "
        "noticed.",
        when="the sample does not contradict the assumption",
        action="nothing",
        values="assumption, p_value",
    ),
    Kind(
        "contradicted",
        CAUTION,
        "The sample contradicts {assumption} ({p_value!q}), so its row has the interval of free, "
        "which assumes nothing about the ranks.",
        when="the sample contradicts the assumption; a weaker one is taken",
        action="check how the negatives were drawn",
        values="assumption, p_value",
    ),
    Kind(
        "narrow",
        CAUTION,
        "The assumption {assumption} alone would decide: its interval would be hardly wider than "
        "with exact ranks of as many users. So its row has the interval of free, which assumes "
        "nothing about the ranks.",
        when="the assumption alone would decide; a weaker one is taken",
        action="sample more negatives, or rank all candidates",
        values="assumption",
    ),
    Kind(
        "unexplained",
        CAUTION,
        "No distribution of true ranks explains the sample ({p_value!q}), so there is no interval "
        "and no verdict. Usual causes are negatives that all users share, ties that count in "
        "favour of the held-out item, negatives that are not drawn uniformly, or with replacement, "
        "and a wrong number of candidates or negatives.",
        when="no distribution of true ranks explains the sample: no interval",
        action="find the cause in how the sample was made",
        values="assumption, p_value",
    ),
    Kind(
        "uncorrected-values",
        CAUTION,
        "The rows of uncorrected have the metric of the sampled rank, which is not the metric of "
        "the true rank (AUC excepted) and can order recommenders wrongly.",
        when="`uncorrected` is among the estimators",
        action="report decreasing or free",
    ),
    Kind(
        "uncorrected-verdicts",
        CAUTION,
        "These are uncorrected sampled metrics: except for AUC, the better recommender may be the "
        "worse one by the true metric.",
        when="uncorrected sampled metrics are compared",
        action="leave out `estimator`, or rank all candidates",
    ),
    Kind(
        "bias",
        REMARK,
        "{estimator}: the estimated bias of {metric} is {bias:+} (standard error {error}). "
        "Intervals do not include it.",
        when="the estimated bias is above half of the standard error",
        action="take strict bounds",
        values="estimator, bias, error",
    ),
    Kind(
        "no-bias",
        REMARK,
        "No bias is estimated for {estimator}: it is known for estimators that are linear in a "
        "uniform sample.",
        when="the bias is not estimated, as the estimator is not linear",
        action="compare with strict bounds",
        values="estimator",
    ),
    Kind(
        "approximate",
        CAUTION,
        "The intervals of {estimator} are Student's intervals of pseudo-values. They can be much "
        "too narrow where hits are rare: rely on strict bounds.",
        when="the interval is Student's, of pseudo-values",
        action="take strict bounds",
        values="estimator",
    ),
    Kind(
        "out-of-range",
        CAUTION,
        "{estimator}: {what} of {metric} is {value}, but a metric is from 0 to 1. Its weights "
        "vary too much for this sample; take an estimator with a larger γ, or more negatives or "
        "users.",
        when="a value or an end of an interval is not from 0 to 1",
        action="take a larger γ",
        values="estimator, what, value",
    ),
    Kind(
        "replacement",
        CAUTION,
        "If the negatives are drawn {other_design} replacement, the interval of {metric} "
        "({estimator}) is {other_low} to {other_high} in place of {low} to {high}. Make sure how "
        "they are drawn.",
        when="with replacement, or without, the interval moves by more than a tenth",
        action="find out how the negatives were drawn",
        values="estimator, replacement: as given; low, high, other_low, other_high; other_design",
    ),
    # --- expectations
    Kind(
        "wrong-order",
        REMARK,
        "Another order: by the exact {metric}, {names[0]} is ahead of {names[1]} ({exact_better} "
        "against {exact_worse}). Among {negatives} sampled negatives, {estimator} puts "
        "{names[0]} behind {names[1]} on average ({expected_better} against {expected_worse}). The "
        "chance of the exact order is {chance:.2f}.",
        when="a sampled evaluation orders a pair wrongly on average (`expect`)",
        action="do not compare these recommenders with sampled metrics",
        values="estimator, negatives, chance of the exact order, exact_better, exact_worse, "
        "expected_better, expected_worse",
    ),
    Kind(
        "order-undecided",
        REMARK,
        "An order by exact values may be undecided. compare says whether the exact ranks decide "
        "it.",
        when="there is such an order",
        action="call `compare` with the exact ranks",
    ),
    # --- values
    Kind(
        "value",
        REMARK,
        "{metric}{details} is {value} ({confidence} interval {low} to {high}){condition}.",
        when="`sentence()` of a row of `evaluate` or `correct`",
        action="nothing",
        values="value, low, high; details and condition: in words",
    ),
    Kind(
        "value-alone",
        REMARK,
        "{metric}{details} is {value}, without an interval.",
        when="`sentence()` of a row without an interval",
        action="read the cautions",
        values="value; details: in words",
    ),
    Kind(
        "interval",
        REMARK,
        "The {confidence} interval of {metric}{details} is {low} to {high}{condition}.",
        when="`sentence()` of a row of `published`",
        action="nothing",
        values="low, high; details and condition: in words",
    ),
    Kind(
        "expectation",
        REMARK,
        "{metric} is {exact}, and among {negatives} sampled negatives {expected} on average with "
        "{estimator}.",
        when="`sentence()` of a row of `expect`",
        action="nothing",
        values="exact, expected, estimator, negatives",
    ),
    Kind(
        "undefined",
        REMARK,
        "{metric} is not defined, as a user has only one candidate.",
        when="a metric is not defined",
        action="leave out users with one candidate",
    ),
    # --- users
    Kind(
        "few-users",
        CAUTION,
        "There are only {users} users. "
        f"With fewer than {FEW_USERS}, intervals are rough: a few unusual users decide them.",
        when=f"there are fewer than {FEW_USERS} users",
        action="evaluate more users",
        values="users",
    ),
    Kind(
        "one-user",
        CAUTION,
        "There is only one user, so there is no interval: a single value does not show how users "
        "vary.",
        when="there is a single user: a value, and no interval",
        action="evaluate more users",
    ),
    Kind(
        "one-open-user",
        CAUTION,
        "There is only one user, and not all candidates were scored, so the value is no more than "
        "a guess. Take depth=None.",
        when="there is a single user of staged ranks, and not all candidates were scored",
        action="score all candidates",
    ),
    Kind(
        "several-rows",
        REMARK,
        "Some users have several rows. A user counts with the mean over the rows, and each row has "
        "one relevant item. The hit rate, NDCG and MAP of a user's whole list are different: "
        "evaluate has them for ranked lists.",
        when="users have several rows",
        action="read ranked lists for metrics of all items of a user together",
    ),
    Kind(
        "rows-as-users",
        REMARK,
        "Each row counts as a user, as there is no column user.",
        when="no column user was read",
        action="name the column of the users if users have several rows",
    ),
    Kind(
        "paired-by-position",
        REMARK,
        "Users are paired by position: row i of each table is taken to be the same user.",
        when="a table has no column user",
        action="add the column user, or make sure that the rows have the same order",
        values="without: the tables that have no column user",
    ),
    # --- what was read
    Kind(
        "completed",
        REMARK,
        "Staged ranks: {scores:,.0f} of {most_candidates:,} scores for each user on average. The "
        "rank of {completed:,} of {users:,} users is complete.",
        when="the ranks are staged",
        action="nothing",
        values="completed: users whose candidates were all scored, and who are not beaten; users, "
        "rows; scores: for each user; least_candidates, most_candidates; k; is_without_hits: "
        "whether all are beaten",
    ),
    Kind(
        "no-hits",
        CAUTION,
        "No user has a held-out item among the first {k}, as if the ranker masked it.",
        when="staged ranks have no held-out item among the first k",
        action="check that the ranker scores the held-out items",
        values="k",
    ),
    Kind(
        "no-rank-zero",
        CAUTION,
        "No rank is 0, and zero_based (--zero-based) adds 1; leave it out if the best is 1.",
        when="ranks are said to start at 0, and none is 0",
        action="leave out `zero_based` if the best rank is 1",
        values="source",
    ),
    Kind(
        "columns-taken",
        REMARK,
        "Columns were recognized by their usual names: {columns}.",
        when="columns are found by their usual names",
        action="name the column if one is wrong",
        values="columns: by what they are taken as",
    ),
    Kind(
        "columns-not-used",
        REMARK,
        "Columns that are not used: {columns:.200}. If a column holds users, recommenders or "
        "seeds, give its name as user_column, by or seeds.",
        when="columns are not used",
        action="name the column of users, recommenders or seeds",
        values="columns",
    ),
)
"""The kinds of the core."""


def tables_of_kinds() -> Iterator[tuple[str, Sequence[Kind]]]:
    """Yield the kinds of each package, with the title of their table in the reference."""
    yield "Core", KINDS
    yield from kinds_of_findings()


@cache
def _by_name() -> Mapping[str, Kind]:
    return {kind.name: kind for _, kinds in tables_of_kinds() for kind in kinds}


def kind_of(finding: Finding) -> Kind:
    """Return the kind of a finding."""
    return _by_name()[finding.kind]


def cautions_of(findings: Iterable[Finding]) -> list[Finding]:
    """Return the cautions of a group of users, which are shown with those of all users."""
    return [finding for finding in findings if kind_of(finding).rank == CAUTION]
