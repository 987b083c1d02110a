"""The files of a comparison with the paper."""

from typing import Any

import pandas as pd

from sampled_metrics import file_io
from sampled_metrics_study import claims, fidelity, table_files


def write(
    printed: pd.DataFrame, claimed: pd.DataFrame, tables: str, sections: str, output: Any
) -> None:
    """Write the comparisons of numbers and of claims, and their pages.

    Args:
        printed: result of `fidelity.compare_toy` or `compare_study`.
        claimed: result of `claims.check_toy` or `check_study`.
        tables: the tables of the paper whose numbers are compared.
        sections: the sections of the paper whose claims are checked.
        output: the outputs of the job.
    """
    file_io.write_csv(output.fidelity_csv, printed)
    file_io.write_csv(output.claims_csv, claimed)
    title = f"The paper's printed numbers beside ours: {tables}"
    table_files.write(title, fidelity.sections(printed), output.fidelity_md, output.fidelity_html)
    title = f"What the paper says in words, and what we find: {sections}"
    table_files.write(title, claims.sections(claimed), output.claims_md, output.claims_html)
