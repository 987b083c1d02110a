"""What a run says: the jobs as they start, remarks, and at the very end what failed, why, and where the log is."""

from pathlib import Path

from made_up_project import RANKS, Project, X, archive, ratings

RECOMMENDERS = {
    "X": X,
    "E": {"type": "ease", "regularization": 1e-12},
    "elsewhere": {"type": "ranks", "path": RANKS},
}


def test_jobs_and_failures(project: Project) -> None:
    lines = ratings().splitlines(keepends=True)
    archive(project.folder / "bad.zip", "".join([*lines[:41], "7::x::3::1000\n", *lines[42:]]))
    ranks = [f"{user},81,0,{40 if user <= 12 else 39}\n" for user in range(1, 61)]
    (project.folder / RANKS).write_text("user,candidates,above,tied\n" + "".join(ranks), encoding="utf-8")
    datasets = {name: {"path": f"{name}.zip", "format": "movielens-dat"} for name in ("made-up", "bad")}
    project.configure(study=["made-up", "bad"], datasets=datasets, recommenders=RECOMMENDERS)
    made, failing = ["ranks/X.csv.gz", "ranks/elsewhere.csv.gz"], ["models/E.npz"]
    targets = [f"results/made-up/{name}" for name in made + failing] + ["results/bad/split.npz"]
    stale = project.folder / "results/logs/made-up/train-W.log"
    stale.parent.mkdir(parents=True)
    stale.write_text("train W on made-up\nerror: of an earlier run\n", encoding="utf-8")

    ran = project.snakemake(*targets, "--cores", "1", "--keep-going")

    assert ran.returncode != 0
    said = ran.stderr.splitlines()
    remark = (
        "half of the other candidates or more tie with the held-out item; the rank of such an item is mostly chance"
    )
    for line in (
        "split bad",
        "split made-up",
        "train X on made-up",
        "rank X on made-up",
        "import the ranks of elsewhere on made-up",
        f"import the ranks of elsewhere on made-up: in 12 of 60 events, {remark}",
    ):
        assert said.count(line) == 1, line
    assert "jobid" not in ran.stdout + ran.stderr
    for noise in ("Traceback", "RuleException", "CalledProcessError"):
        assert noise not in ran.stdout + ran.stderr
    for problem in ("column 2 must be", "is too small"):
        assert (ran.stdout + ran.stderr).count(problem) == 1, problem
    assert sorted(project.results("made-up/ranks/*")) == [f"results/made-up/{name}" for name in made]
    bad, bad_log, ease, ease_log = said[-4:]
    assert bad.startswith("split bad failed: bad.zip/ratings.dat, line 42: column 2 must be a whole number")
    assert bad_log == "  log: results/logs/bad/split.log"
    assert ease.startswith("train E on made-up failed: EASE: regularization 1e-12 is too small")
    assert ease_log == "  log: results/logs/made-up/train-E.log"
    for failed, log in ((bad, bad_log), (ease, ease_log)):
        *_, last = Path(project.folder, log.partition(": ")[2]).read_text(encoding="utf-8").splitlines()
        assert last == f"error: {failed.partition(' failed: ')[2]}"
    assert remark in Path(project.folder, "results/logs/made-up/rank-elsewhere.log").read_text(encoding="utf-8")
