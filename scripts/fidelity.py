"""Set the study beside the paper: Tables 3 and 4, and the claims of section 6."""

from sampled_metrics import _files
from sampled_metrics.paper import claims, fidelity
from sampled_metrics.ranks.pairing import read_rank_tables
from sampled_metrics.study import layout
from sampled_metrics.workflow.jobs import job
from sampled_metrics.workflow.stage_files import read_numbers

if __name__ == "__main__":
    with job(snakemake.log[0]):
        names = snakemake.params.recommenders
        ranks = read_rank_tables(names, snakemake.input.ranks)
        given = snakemake.input
        cell = ["reading", "recommender", "metric", "estimator"]
        table_3 = read_numbers(given.table_3, cell, ["mean", "sd"], key=cell)
        cell = ["reading", "worse", "better", "metric", "estimator"]
        table_4 = read_numbers(given.table_4, cell, ["correct"], key=cell)
        curve = ["recommender", "metric", "estimator"]
        figure_6 = read_numbers(given.figure_6, curve, ["negatives", "expected", "exact"], key=[*curve, "negatives"])
        seed_spread = read_numbers(given.seed_spread, ["reading", "cell"], ["table", "seeds", "mean", "sd"])
        printed = fidelity.compare_study(table_3, table_4, snakemake.params.repetitions, seed_spread)
        claimed = claims.check_study(ranks, table_3, table_4, figure_6)
        _files.write_csv(snakemake.output.fidelity_csv, printed)
        _files.write_csv(snakemake.output.claims_csv, claimed)
        title = "The paper's printed numbers beside ours: Tables 3 and 4"
        layout.write(title, layout.fidelity(printed), snakemake.output.fidelity_md, snakemake.output.fidelity_html)
        title = "What the paper says in words, and what we find: section 6"
        layout.write(title, layout.claims(claimed), snakemake.output.claims_md, snakemake.output.claims_html)
