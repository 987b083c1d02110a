"""Reports and figures that several threads write at the same time."""

from concurrent.futures import ThreadPoolExecutor

import matplotlib

import sampled_metrics as sm


def test_reports_and_figures_of_several_threads_are_those_of_one(tmp_path):
    """Nothing is left changed, and the file that all write is whole."""
    table = sm.exact_ranks([30, 25, 40, 12, 60, 33] * 2, candidates=100)
    settings = dict(matplotlib.rcParams)
    result = sm.evaluate(table, metrics="ap")

    def write(name):
        result.plot(tmp_path / f"{name}.svg")
        return sm.report(table, tmp_path / "all.html", metrics="ap"), (
            tmp_path / f"{name}.svg"
        ).read_bytes()

    alone = write("alone")
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(write, "ab")) == [alone, alone]
    assert (tmp_path / "all.html").read_text(encoding="utf-8").strip() == alone[0].strip()
    assert [name for name in settings if matplotlib.rcParams[name] != settings[name]] == []
    assert list(tmp_path.glob(".*")) == []
