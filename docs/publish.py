"""Copy the figures of a run to docs/reproduction/, and its tables into the pages that show them.

make publish CONFIG=".ci/local-copy.yaml examples/everything.yaml examples/estimator-study.yaml"
"""

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHOWN = ROOT / "docs/reproduction"
BLOCK = re.compile(r"(<!-- begin (?P<file>[\w./-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
REST = re.compile(
    r"^(Every printed number beside|Without repetitions|Reading: as printed|[^\n]* in per cent, by recommender).*",
    re.M | re.S,
)


def with_blocks(text: str) -> str:
    """Fill the blocks of a page that are marked `<!-- begin FILE -->` … `<!-- end -->` from results/FILE.

    Shown are of a fidelity table the counts and what is not reproduced, of Tables 3 and 4 what the paper has, in the
    reading default, and of the comparison of estimators what is over all recommenders.
    """

    def filled(block: re.Match[str]) -> str:
        content = REST.sub("", (ROOT / "results" / block["file"]).read_text(encoding="utf-8"))
        return f"{block[1]}{content.rstrip()}\n{block[3]}"

    return BLOCK.sub(filled, text)


if __name__ == "__main__":
    for of in ("toy", "ml-1m"):
        for path in sorted((ROOT / "results" / of).glob("figure-*.png")):
            shutil.copyfile(path, SHOWN / path.name)
    for name in ("estimator-study.png", "proof.png"):
        shutil.copyfile(ROOT / "results/ml-1m" / name, SHOWN / name)
    for page in (ROOT / "docs/reproduction.md", ROOT / "docs/which-estimator.md"):
        page.write_text(with_blocks(page.read_text(encoding="utf-8")), encoding="utf-8")
