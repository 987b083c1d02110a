"""Set the running example beside the paper: Tables 1 and 2, and the claims on Figures 1-4."""

from sampled_metrics import _files
from sampled_metrics.paper import claims, fidelity
from sampled_metrics.study import layout
from sampled_metrics.workflow.jobs import job
from sampled_metrics.workflow.stage_files import read_numbers

if __name__ == "__main__":
    with job(snakemake.log[0]):
        example, given = snakemake.params.toy, snakemake.input
        of_both = ["recommender", "metric"]
        table_1 = read_numbers(given.table_1, of_both, ["value"], key=of_both)
        table_2 = read_numbers(given.table_2, of_both, ["mean", "sd"], key=of_both)
        printed = fidelity.compare_toy(table_1, table_2, example["repetitions"])
        figure_2 = read_numbers(given.figure_2, of_both, ["negatives", "expected"], key=[*of_both, "negatives"])
        figure_3 = read_numbers(given.figure_3, ["metric"], ["negatives", "rank", "expected"])
        figure_4 = read_numbers(given.figure_4, ["panel", "estimator"], ["rank", "value"])
        claimed = claims.check_toy(table_1, table_2, figure_2, figure_3, figure_4, example["candidates"])
        _files.write_csv(snakemake.output.fidelity_csv, printed)
        _files.write_csv(snakemake.output.claims_csv, claimed)
        title = "The paper's printed numbers beside ours: Tables 1 and 2"
        layout.write(title, layout.fidelity(printed), snakemake.output.fidelity_md, snakemake.output.fidelity_html)
        title = "What the paper says in words, and what we find: sections 3 to 5"
        layout.write(title, layout.claims(claimed), snakemake.output.claims_md, snakemake.output.claims_html)
