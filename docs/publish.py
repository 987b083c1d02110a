"""Copy the figures of a run to docs/reproduction/, and its numbers to the pages that show them.

make publish CONFIG=".ci/local-copy.yaml examples/everything.yaml"
python docs/publish.py budget      # after a run with examples/budget.yaml
python docs/publish.py beauty      # needs no run: the first figure of README.md
python docs/publish.py validation  # needs no run: docs/reproduction/validation.csv
"""

import re
import shutil
import sys
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

import sampled_metrics as sm
from sampled_metrics.reporting import drawing
from sampled_metrics_study import budget
from sampled_metrics_study.figures import Ends, draw

ROOT = Path(__file__).resolve().parent.parent
SHOWN = ROOT / "docs/reproduction"
PAGES = (ROOT / "docs/how-to/expensive-rankers.md",)
PLACE = re.compile("(<!-- budget -->\n).*?(<!-- end of budget -->)", flags=re.DOTALL)
WAYS = {
    "all candidates": "all candidates",
    "stop at k": "stop at k",
    "stages": "**stages**",
    "stop at k, part of users": "stop at k, for a part of the users",
    "all candidates, part of users": "all candidates, for a part of the users",
    "decreasing": "100 uniform negatives, corrected",
    "free": "100 uniform negatives, corrected",
}
"""How the pages name the ways to spend scores."""


def budget_table(path: Path = SHOWN / "budget-pair.csv") -> str:
    """Return the Markdown table of a pair on MovieLens 1M with about a hundred scores for each
    user.

    The rows are those of stages of depth 100, and of each other way with the nearest number of
    scores. All cells of a row are of the same evaluations.
    """
    pair = pd.read_csv(path)
    spent = pair.loc[pair["depth"] == 100, "scores"].item()
    ways = _ways(pair)
    worse, better = pair[["worse", "better"]].iloc[0]
    decided = f"{better} is better than {worse}, decided"
    lines = [
        f"| | scores for each user | assumes | width of the 95 % interval | {decided} |",
        "|---|---|---|---|---|",
    ]
    for way, name in WAYS.items():
        rows_of_way = pair[ways == way]
        row = rows_of_way.loc[(rows_of_way["scores"] - spent).abs().idxmin()]
        width = f"{row['width']:.4f} ({row['width_low']:.4f} to {row['width_high']:.4f})"
        chance = "-"  # the pilot does not know it
        if pd.notna(row["decided"]):
            ends = f"{100 * row['decided_low']:.0f} to {100 * row['decided_high']:.0f}"
            chance = f"{100 * row['decided']:.0f} % ({ends})"
        cells = [
            name,
            f"{row['scores']:,.0f}",
            row["assumes"],
            width,
            chance,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _ways(table: pd.DataFrame) -> "pd.Series[str]":
    """Return the way of each row; that of negatives is the estimator."""
    return table["way"].where(table["way"] != "negatives", table["estimator"])


def publish_budget() -> None:
    """Copy the table and the figure of what a number of scores buys, and write the numbers into the
    pages.
    """
    tables = {
        name: pd.read_csv(ROOT / f"results/{name}/budget.csv") for name in ("ml-1m", "ml-100k")
    }
    table = pd.concat(tables, names=["dataset"]).reset_index("dataset")
    table.round(6).to_csv(SHOWN / "budget.csv", index=False, lineterminator="\n")
    pair = pd.read_csv(ROOT / "results/ml-1m/budget-pair.csv")
    pair.round(6).to_csv(SHOWN / "budget-pair.csv", index=False, lineterminator="\n")
    rows_of_x = tables["ml-1m"][tables["ml-1m"]["recommender"] == "X"]
    note = f"MovieLens 1M: {rows_of_x['users'].iloc[0]:,} users"
    drawing.write(budget.draw(rows_of_x, pair, "recall@10", note), SHOWN / "budget.png")
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        path.write_text(PLACE.sub(rf"\g<1>{budget_table()}\g<2>", text), encoding="utf-8")


def beauty_sides() -> list[Ends]:
    """Return HR@10 of two recommenders on Beauty, among 99 negatives and among all items, with 95 %
    intervals.
    """
    files = {
        name: ROOT / f"published/evidence/beauty-{name}.csv.gz" for name in ("FMLP-Rec", "S3-Rec")
    }
    sampled = sm.sampled_ranks(files, rank_column="sampled_rank", negatives=99)
    exact = sm.exact_ranks(files, rank_column="exact_rank")
    tables = {
        "HR@10 among 99": sm.correct(sampled, metrics="hr@10", estimators="uncorrected"),
        "HR@10 among all": sm.evaluate(exact, metrics="hr@10"),
    }
    values = {
        title: pd.DataFrame(table).set_index("recommender") for title, table in tables.items()
    }
    return [
        Ends(title, table["value"], table["low"], table["high"], "95 % intervals")
        for title, table in values.items()
    ]


def publish_beauty() -> None:
    """Draw the order of two recommenders by sampled and by exact HR@10."""
    drawing.write(draw(*beauty_sides()), SHOWN / "beauty.png")


@drawing.styled
def draw_validation(table: pd.DataFrame) -> Figure:
    """Draw the seconds of two epochs by way to validate: those of the training, and those of the
    validation.
    """
    figure = Figure(figsize=(drawing.WIDTH, 1.7))
    axes = figure.subplots()
    axes.barh(table["way"], table["training"], color="#cccccc", label="training")
    axes.barh(
        table["way"],
        table["validation"],
        left=table["training"],
        color="#404040",
        label="validation",
    )
    for place, row in enumerate(table.to_dict("records")):
        whole = row["training"] + row["validation"]
        axes.text(
            whole + 0.1,
            place,
            f"{100 * row['validation'] / whole:.0f} % validation",
            va="center_baseline",
        )
    axes.set(xlabel="seconds", xlim=(0, 1.25 * (table["training"] + table["validation"]).max()))
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    figure.legend(loc="outside upper left", ncols=2)
    drawing.write_below(
        figure, "BPR in RecBole, MovieLens 1M (stand-in), two epochs on a GPU; one run of each way."
    )
    return figure


def publish_validation() -> None:
    """Draw what validation takes of a training."""
    drawing.write(
        draw_validation(pd.read_csv(SHOWN / "validation.csv")), ROOT / "docs/validation.svg"
    )


def publish() -> None:
    """Copy the figures of the reproduction."""
    for of in ("toy", "ml-1m"):
        for path in sorted((ROOT / "results" / of).glob("figure-*.png")):
            shutil.copyfile(path, SHOWN / path.name)


if __name__ == "__main__":
    {
        "budget": publish_budget,
        "beauty": publish_beauty,
        "validation": publish_validation,
        "": publish,
    }["".join(sys.argv[1:])]()
