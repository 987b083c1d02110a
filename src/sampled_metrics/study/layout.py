"""The paper's tables as people read them: Markdown, LaTeX and html. Fractions become per cent here alone."""

import html
import math
import os
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from sampled_metrics import _files
from sampled_metrics.study.names import estimator_name, metric_name

Section = tuple[str, pd.DataFrame]
"""A heading, which may be empty, and a table of text."""


def table_1(table: pd.DataFrame, ranks: dict[str, Sequence[int]]) -> list[Section]:
    """Lay out Table 1 from its csv table and the ranks of the example."""
    cells = table.assign(cell=[f"{value:.3f}" for value in table["value"]])
    return [("", _by_recommender(cells, ranks))]


def table_2(table: pd.DataFrame, ranks: dict[str, Sequence[int]]) -> list[Section]:
    """Lay out Table 2 from its csv table and the ranks of the example."""
    cells = table.assign(cell=[_plus_minus(mean, sd, 3) for mean, sd in zip(table["mean"], table["sd"], strict=True)])
    return [("", _by_recommender(cells, ranks))]


WITHOUT_REPETITIONS = "Without repetitions"
"""What the headings of the sections begin with that set repetitions beside what needs none."""


def table_3(table: pd.DataFrame, repetitions: int) -> list[Section]:
    """Lay out Table 3 from its csv table, a section for each reading; values in per cent.

    The last section says how far the means are from their exact expectations.
    """
    per_cent = table.assign(
        cell=[
            f"{100 * mean:.2f}" if estimator == "exact" else _plus_minus(100 * mean, 100 * sd, 2)
            for estimator, mean, sd in zip(table["estimator"], table["mean"], table["sd"], strict=True)
        ]
    )
    sections = []
    for name, cells in per_cent.groupby("reading", sort=False):
        estimators = list(dict.fromkeys(cells["estimator"]))
        rows = [
            [metric_name(str(label)), str(recommender), *_in_order(of_one, estimators)]
            for label in dict.fromkeys(cells["metric"])
            for recommender, of_one in cells[cells["metric"] == label].groupby("recommender", sort=False)
        ]
        columns = ["Metric", "Recommender", *map(estimator_name, estimators)]
        sections.append((_reading_heading(str(name)), pd.DataFrame(rows, columns=columns)))
    linear = table[(table["estimator"] != "exact") & table["mean_exact"].notna()]
    # where nothing varies, only rounding tells the two apart
    error = (linear["sd_exact"] / math.sqrt(repetitions)).clip(lower=1e-12)
    off = ((linear["mean"] - linear["mean_exact"]) / error).abs()
    heading = f"{WITHOUT_REPETITIONS}: the means of the repetitions and their exact expectations, in standard errors"
    return [*sections, (heading, _agreement(linear["reading"], off))]


def _in_order(cells: pd.DataFrame, estimators: list[str]) -> list[str]:
    """Cells by estimator, and a dash where one has none."""
    return list(cells.set_index("estimator")["cell"].reindex(estimators, fill_value="-"))


def _agreement(readings: pd.Series, off: pd.Series) -> pd.DataFrame:
    """Count how many numbers are how many standard errors off, by reading."""
    rows = [
        [str(name), str(len(of_one)), f"{of_one.max():.1f}", *(str((of_one > limit).sum()) for limit in (2, 3, 4))]
        for name, of_one in off.groupby(readings, sort=False)
    ]
    columns = ["Reading", "Numbers", "Largest difference", "Beyond 2", "Beyond 3", "Beyond 4"]
    return pd.DataFrame(rows, columns=columns)


def table_4(table: pd.DataFrame) -> list[Section]:
    """Lay out Table 4 from its csv table, a section for each reading; per cent of the repetitions.

    Sections with the probabilities that need no repetition follow.
    """
    beside = f"{WITHOUT_REPETITIONS}: the probability of the right order, by the normal approximation. "
    counted = [(_reading_heading(str(name)), _pairs(cells, "correct")) for name, cells in _by_reading(table)]
    expected = [
        (beside + _reading_heading(str(name)), _pairs(cells, "correct_exact")) for name, cells in _by_reading(table)
    ]
    return [*counted, *expected]


def _by_reading(table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    return [(str(name), cells) for name, cells in table.groupby("reading", sort=False)]


def _pairs(cells: pd.DataFrame, column: str) -> pd.DataFrame:
    pairs = cells[["worse", "better"]].min(axis=1) + " vs " + cells[["worse", "better"]].max(axis=1)
    estimators = list(dict.fromkeys(cells["estimator"]))
    rows = [
        [
            str(pair),
            metric_name(str(label)),
            *(_number(100 * value, ".0f") for value in of_one.set_index("estimator")[column].reindex(estimators)),
        ]
        for pair, of_pair in cells.groupby(pairs, sort=False)
        for label, of_one in of_pair.groupby("metric", sort=False)
    ]
    return pd.DataFrame(rows, columns=["Pair", "Metric", *map(estimator_name, estimators)])


def estimator_study(compared: pd.DataFrame, ordered: pd.DataFrame) -> list[Section]:
    """Lay out the comparison of estimators: error and order by sample size, the adaptive sample, then every metric.

    Args:
        compared: what `estimator_study.study_estimators` returned, with a column recommender.
        ordered: what `estimator_study.order` returned.
    """
    of_recall = compared[compared["metric"].str.startswith("recall@1-")]
    top = ordered[ordered["metric"] != "auc"]
    name = metric_name(str(of_recall["metric"].iloc[0]))
    error = f"Error of {name} in per cent: mean of |estimate - exact| / exact, over the recommenders"
    chance = "Right order in per cent: mean over all pairs of recommenders and all metrics but AUC"
    sections = [
        (error, _by_size(of_recall[of_recall["sample"] == "fixed"], "error", 1)),
        (chance, _by_size(top[top["sample"] == "fixed"], "correct", 0)),
    ]
    if (compared["sample"] == "adaptive").any():
        sections.append(("Adaptive sampling, and fixed samples of equal cost", _equal_cost(of_recall, top)))
    for label in dict.fromkeys(compared.loc[compared["exact"].notna(), "metric"]):
        cells = compared[(compared["metric"] == label) & (compared["sample"] == "fixed")]
        heading = f"{metric_name(str(label))} in per cent, by recommender: bias ± standard deviation"
        sections.append((heading, _bias_and_deviation(cells)))
    return sections


def _by_size(cells: pd.DataFrame, column: str, digits: int) -> pd.DataFrame:
    wide = cells.pivot_table(index="estimator", columns="negatives", values=column, sort=False, dropna=False)
    text = wide.map(lambda value: _number(100 * value, f".{digits}f"))
    text.columns = [f"m = {m:g}" for m in text.columns]
    text.insert(0, "Estimator", [estimator_name(str(label)) for label in text.index])
    return text


def _equal_cost(of_recall: pd.DataFrame, top: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for sample in ("adaptive", "equal-cost"):
        errors = of_recall[of_recall["sample"] == sample]
        for label, of_one in errors.groupby("estimator", sort=False):
            chances = top.loc[(top["sample"] == sample) & (top["estimator"] == label), "correct"]
            values = [_number(100 * value, ".1f") for value in (of_one["error"].mean(), chances.mean())]
            rows.append([estimator_name(str(label)), f"{of_one['negatives'].mean():.0f}", *values])
    return pd.DataFrame(rows, columns=["Estimator", "Mean negatives", "Error", "Right order"])


def _bias_and_deviation(cells: pd.DataFrame) -> pd.DataFrame:
    sizes = list(dict.fromkeys(cells["negatives"]))
    rows = []
    for (recommender, label), of_one in cells.groupby(["recommender", "estimator"], sort=False):
        of_size = of_one.set_index("negatives").reindex(sizes)
        shown = [
            "-" if math.isnan(bias) else f"{100 * bias:+z.2f}±{100 * sd:.2f}"
            for bias, sd in zip(of_size["bias"], of_size["sd"], strict=True)
        ]
        rows.append([str(recommender), estimator_name(str(label)), *shown])
    return pd.DataFrame(rows, columns=["Recommender", "Estimator", *(f"m = {m:g}" for m in sizes)])


def _number(value: float, form: str) -> str:
    return "-" if math.isnan(value) else f"{value:{form}}"


def fidelity(table: pd.DataFrame) -> list[Section]:
    """Lay out a fidelity table: a count for each table and reading, then the cells that are not ok, then all cells."""
    counts = table.groupby(["table", "reading"], sort=False)["ok"].agg(["sum", "size"]).reset_index()
    summary = pd.DataFrame(
        {
            "Table": counts["table"].astype(str),
            "Reading": counts["reading"],
            "Printed numbers": counts["size"].astype(str),
            "Reproduced": counts["sum"].astype(str),
        }
    )
    cells = pd.DataFrame(
        {
            "Table": table["table"].astype(str),
            "Reading": table["reading"],
            "Cell": table["cell"],
            "Printed": [f"{value:.4f}" for value in table["printed"]],
            "Ours": [f"{value:.4f}" for value in table["ours"]],
            "Standard error": [f"{value:.5f}" for value in table["standard_error"]],
            "z": [f"{value:+z.1f}" for value in table["z"]],
            "Reproduced": table["ok"].map({True: "yes", False: "no"}),
        }
    )
    off = cells[~table["ok"].to_numpy()]
    sections = [("Printed numbers that are reproduced", summary)]
    if len(off):
        sections.append(("Printed numbers that are not", off))
    return [*sections, ("Every printed number beside ours", cells)]


def claims(table: pd.DataFrame) -> list[Section]:
    """Lay out the claims in words, a section for each reading."""
    columns = {"place": "Where", "claim": "The paper says", "ours": "We find", "holds": "Holds"}
    return [
        (
            _reading_heading(str(name)) if table["reading"].nunique() > 1 else "",
            rows[list(columns)].rename(columns=columns),
        )
        for name, rows in table.groupby("reading", sort=False)
    ]


def write(title: str, sections: Sequence[Section], *paths: str | os.PathLike[str]) -> None:
    """Write a table in the formats of the paths' endings: .md, .tex or .html."""
    formats = {".md": _markdown, ".tex": _latex, ".html": _html}
    for path in paths:
        _files.write_text(path, formats[Path(path).suffix](title, sections))


def _by_recommender(cells: pd.DataFrame, ranks: dict[str, Sequence[int]]) -> pd.DataFrame:
    wide = cells.pivot(index="recommender", columns="metric", values="cell")
    wide = wide.loc[list(ranks), list(dict.fromkeys(cells["metric"]))].rename(columns=metric_name)
    wide.insert(0, "Predicted ranks", [", ".join(map(str, of_one)) for of_one in ranks.values()])
    return wide.rename_axis(columns=None).rename_axis(index="Recommender").reset_index()


def _plus_minus(mean: float, sd: float, digits: int) -> str:
    return f"{mean:.{digits}f}" if math.isnan(sd) else f"{mean:.{digits}f}±{sd:.{digits}f}"


def _reading_heading(name: str) -> str:
    return {
        "default": "Reading: default (ties broken at random, eq. 20 as written)",
        "as-printed": "Reading: as printed (with the two slips that the paper's numbers have)",
    }.get(name, f"Reading: {name}")


def _markdown(title: str, sections: Sequence[Section]) -> str:
    parts = [f"**{title}**"]
    for heading, table in sections:
        parts += [heading] if heading else []
        parts.append(str(table.to_markdown(index=False, disable_numparse=True)))
    return "\n\n".join(parts)


def _latex(title: str, sections: Sequence[Section]) -> str:
    parts = []
    for heading, table in sections:
        caption = (f"{title}. {heading}." if heading else f"{title}.").replace("±", r"$\pm$")
        text = table.map(lambda cell: str(cell).replace("±", "\x00")).style.hide(axis="index")
        rendered = (
            text.format(escape="latex")
            .format_index(escape="latex", axis="columns")
            .to_latex(hrules=True, caption=caption, column_format="ll" + "r" * (table.shape[1] - 2))
        )
        parts.append(rendered.replace("\x00", r"\,$\pm$\,").replace("γ", r"$\gamma$"))
    return "\n".join(parts)


_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 1.2em; color: #1a1a1a; background: #fff }
h1 { font-size: 1.25em } h2 { font-size: 1.05em; margin-top: 1.6em }
.scroll { overflow-x: auto }
table { border-collapse: separate; border-spacing: 0; font-variant-numeric: tabular-nums }
th, td { padding: .25em .7em; text-align: left; border-bottom: 1px solid #ddd; vertical-align: top; background: #fff }
tbody th { font-weight: inherit }
thead th { border-bottom: 2px solid #1a1a1a; white-space: nowrap }
.numbers td, .numbers tbody th { white-space: nowrap }
tbody tr:hover > * { background: #f3f3f3 }
@media (max-width: 40em) {
  body { font-size: 13.5px; margin: .8em }
  th, td { padding: .3em .4em }
  .numbers tbody th { white-space: normal }
  .stays { position: sticky; left: var(--left); min-width: var(--width); max-width: var(--width) }
  .stays { z-index: 1; box-sizing: border-box; white-space: normal; overflow-wrap: anywhere }
  .last { border-right: 1px solid #ddd }
  .words thead { display: none }
  .words, .words tbody, .words tr, .words th, .words td { display: block }
  .words tr { border-bottom: 2px solid #ddd; padding: .4em 0 }
  .words tbody th, .words td { border: 0; padding: .1em 0 }
  .words tbody th { font-weight: 600 }
  .words td::before { content: attr(data-of) ": "; color: #595959 }
}
"""

_WORDS = 40
"""Where a cell is longer, the table is of sentences: on a phone its rows stand one below the other."""

_LABEL, _LABELS = 13, 20.0
"""On a phone: the letters of a label before it is broken, and how wide, in em, all that stay on scrolling are."""


def _html(title: str, sections: Sequence[Section]) -> str:
    body = []
    for heading, table in sections:
        body += [f"<h2>{html.escape(heading)}</h2>"] if heading else []
        name = html.escape(heading or title)
        body.append(f'<div class="scroll" role="region" tabindex="0" aria-label="{name}">{_html_table(table)}</div>')
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><h1>{html.escape(title)}</h1>\n{''.join(body)}</body>\n</html>"
    )


def _html_table(table: pd.DataFrame) -> str:
    """One table. The columns that say what a row is of are headers, and stay in sight on a phone."""
    text = table.astype(str)
    of_words = bool((text.map(len) > _WORDS).to_numpy().any())
    labels = 1 if of_words else _label_columns(text)
    stay = {} if of_words else _staying(text.iloc[:, :labels])
    head = "".join(
        f'<th scope="col"{stay.get(place, "")}>{html.escape(str(name))}</th>' for place, name in enumerate(text)
    )
    rows = []
    for row in text.itertuples(index=False):
        cells = [f'<th scope="row"{stay.get(place, "")}>{html.escape(row[place])}</th>' for place in range(labels)]
        for name, cell in zip(text.columns[labels:], row[labels:], strict=True):
            of = f' data-of="{html.escape(str(name))}"' if of_words else ""
            cells.append(f"<td{of}>{html.escape(cell)}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>\n")
    kind = "words" if of_words else "numbers"
    return f'<table class="{kind}">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{"".join(rows)}</tbody></table>'


def _label_columns(text: pd.DataFrame) -> int:
    """Count the columns that say what a row is of: the first, and those after it up to the first of numbers."""
    numbers = [bool(text[name].str.fullmatch(r"-|[-+]?[\d.].*").all()) for name in text]
    return next((place for place, are in enumerate(numbers) if are and place), len(numbers))


def _staying(labels: pd.DataFrame) -> dict[int, str]:
    """Give the label columns that stay on a phone their attributes: the last ones, so many that numbers have room."""
    widths = [  # in em: what letters take, bold in the header, and the padding
        max(0.62 * min(labels[name].map(len).max(), _LABEL), 0.8 * max(map(len, str(name).split()))) + 0.8
        for name in labels
    ]
    first = next(place for place in range(len(widths)) if sum(widths[place:]) <= _LABELS or place == len(widths) - 1)
    attributes = {}
    for place in range(first, len(widths)):
        kind = "stays last" if place == len(widths) - 1 else "stays"
        style = f"--left: {sum(widths[first:place]):.2f}em; --width: {widths[place]:.2f}em"
        attributes[place] = f' class="{kind}" style="{style}"'
    return attributes
