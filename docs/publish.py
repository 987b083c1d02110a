"""Copy the figures of a run to docs/reproduction/, and its numbers to the pages that show them.

make publish CONFIG=".ci/local-copy.yaml examples/everything.yaml"
python docs/publish.py budget    # after a run with examples/budget.yaml
"""

import re
import shutil
import sys
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
SHOWN = ROOT / "docs/reproduction"
PAGES = (ROOT / "docs/how-to/expensive-rankers.md",)
PLACE = re.compile("(<!-- budget -->\n).*?(<!-- end of budget -->)", flags=re.DOTALL)
WAYS = {
    "all candidates": ("all candidates", "nothing"),
    "stop at k": ("stop at k", "nothing"),
    "stages": ("**stages**", "nothing"),
    "stop at k, part of users": ("stop at k, for a part of the users", "nothing"),
    "all candidates, part of users": ("all candidates, for a part of the users", "nothing"),
    "decreasing": ("100 uniform negatives, corrected", "better ranks are more frequent"),
    "free": ("100 uniform negatives, corrected", "nothing"),
}
"""How the pages name the ways to spend scores, and what each assumes."""


def budget_table(path: Path = SHOWN / "budget.csv") -> str:
    """Return the Markdown table of X on MovieLens 1M with about a hundred scores for each user."""
    table = pd.read_csv(path)
    pair = pd.read_csv(path.with_name("budget-pair.csv"))
    of_x = table[(table["dataset"] == "ml-1m") & (table["recommender"] == "X")].reset_index(drop=True)
    stages = of_x[of_x["depth"] == 100].iloc[0]
    lines = [
        "| | scores for each user | assumes | width of the 95 % interval | Z better than X, decided |",
        "|---|---|---|---|---|",
    ]
    for way, (name, assumes) in WAYS.items():
        row, of_pair = (
            rows.loc[(rows["scores"] - stages["scores"]).abs().idxmin()]
            for rows in (of_x[_ways(of_x) == way], pair[_ways(pair) == way])
        )
        cells = [name, f"{row['scores']:,.0f}", assumes, f"{row['width']:.4f}", f"{100 * of_pair['decided']:.0f} %"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _ways(table: pd.DataFrame) -> "pd.Series[str]":
    """Return the way of each row; that of negatives is the estimator."""
    return table["way"].where(table["way"] != "negatives", table["estimator"])


def publish_budget() -> None:
    """Copy the table and the figure of what a number of scores buys, and write the numbers into the pages."""
    from sampled_metrics.rendering import drawing
    from sampled_metrics.study import budget

    tables = {name: pd.read_csv(ROOT / f"results/{name}/budget.csv") for name in ("ml-1m", "ml-100k")}
    table = pd.concat(tables, names=["dataset"]).reset_index("dataset")
    table.round(6).to_csv(SHOWN / "budget.csv", index=False, lineterminator="\n")
    pair = pd.read_csv(ROOT / "results/ml-1m/budget-pair.csv")
    pair.round(6).to_csv(SHOWN / "budget-pair.csv", index=False, lineterminator="\n")
    of_x = tables["ml-1m"][tables["ml-1m"]["recommender"] == "X"]
    note = f"MovieLens 1M: {of_x['users'].iloc[0]:,} users"
    drawing.write(budget.draw(of_x, pair, "recall@10", note), SHOWN / "budget.png")
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        path.write_text(PLACE.sub(rf"\g<1>{budget_table()}\g<2>", text), encoding="utf-8")


def publish() -> None:
    """Copy the figures of the reproduction."""
    for of in ("toy", "ml-1m"):
        for path in sorted((ROOT / "results" / of).glob("figure-*.png")):
            shutil.copyfile(path, SHOWN / path.name)


if __name__ == "__main__":
    publish_budget() if sys.argv[1:] == ["budget"] else publish()
