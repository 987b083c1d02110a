"""Paths of reports, figures and LaTeX tables: what is none is refused."""

import pytest
from no_files import NO_PATHS, require_that_it_is_refused_in_one_line

import sampled_metrics as sm

RANKS = sm.exact_ranks([1, 2, 30], candidates=90)
USES = {
    "report": lambda path: sm.report(RANKS, path, metrics="recall@10"),
    "plot": lambda path: sm.evaluate(RANKS).plot(path),
    "to_latex": lambda path: sm.evaluate(RANKS).to_latex(path),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("path", NO_PATHS, ids=repr)
def test_what_is_no_path_is_refused_in_one_line(use, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    require_that_it_is_refused_in_one_line(USES[use], path)
