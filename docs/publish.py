"""Copy the figures of a run to docs/reproduction/.

make publish CONFIG=".ci/local-copy.yaml examples/everything.yaml examples/estimator-study.yaml"
"""

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHOWN = ROOT / "docs/reproduction"

if __name__ == "__main__":
    for of in ("toy", "ml-1m"):
        for path in sorted((ROOT / "results" / of).glob("figure-*.png")):
            shutil.copyfile(path, SHOWN / path.name)
    for name in ("estimator-study.png", "proof.png"):
        shutil.copyfile(ROOT / "results/ml-1m" / name, SHOWN / name)
