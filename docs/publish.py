"""Copy the figures and tables of a run to docs/reproduction/, and into the pages that show them.

make publish CONFIG=".ci/local-copy.yaml examples/estimator-study.yaml"
"""

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHOWN = ROOT / "docs/reproduction"
BLOCK = re.compile(r"(<!-- begin (?P<name>[\w.-]+)(?P<default> \(default\))? -->\n).*?(<!-- end -->)", re.DOTALL)
REST = re.compile(
    r"^(Every printed number beside|Without repetitions|[^\n]* in per cent, by recommender).*", re.M | re.S
)


def collect() -> None:
    """Copy what the documentation shows."""
    SHOWN.mkdir(exist_ok=True)
    for of, patterns in {"toy": ("figure-*.png", "table-*.md"), "ml-1m": ("figure-*.png", "table-*.md")}.items():
        for pattern in patterns:
            for path in sorted((ROOT / "results" / of).glob(pattern)):
                shutil.copyfile(path, SHOWN / path.name)
    for name in ("estimator-study.md", "estimator-study.png", "proof.png"):
        shutil.copyfile(ROOT / "results/ml-1m" / name, SHOWN / name)
    for of in ("toy", "ml-1m"):
        for what in ("fidelity", "claims"):
            shutil.copyfile(ROOT / "results" / of / f"{what}.md", SHOWN / f"{of}-{what}.md")


def with_blocks(text: str) -> str:
    """Fill the blocks of a page that are marked `<!-- begin NAME -->` … `<!-- end -->` from docs/reproduction/NAME.

    `<!-- begin NAME (default) -->` shows the default reading alone.

    Shown are of a fidelity table the counts, of Tables 3 and 4 what the paper has, of the comparison of estimators what
    is over all recommenders.
    """

    def filled(block: re.Match[str]) -> str:
        content = (SHOWN / block["name"]).read_text(encoding="utf-8")
        content = REST.sub("", content)
        if block["default"]:
            content = content.partition("Reading: as printed")[0]
        return f"{block[1]}{content.rstrip()}\n{block[4]}"

    return BLOCK.sub(filled, text)


if __name__ == "__main__":
    collect()
    for page in (ROOT / "docs/reproduction.md", ROOT / "docs/which-estimator.md"):
        page.write_text(with_blocks(page.read_text(encoding="utf-8")), encoding="utf-8")
