"""What a run says: the jobs as they start, remarks, and what failed, why, and where the log is."""

from made_up_project import RANKS, Project, archive, ratings

RECOMMENDERS = {
    "E": {"type": "ease", "regularization": 1e-12},
    "elsewhere": {"type": "ranks", "path": RANKS},
    "wrong": {"type": "ranks", "path": "wrong.csv"},
}


def test_jobs_and_failures(project: Project) -> None:
    lines = ratings().splitlines(keepends=True)
    archive(project.folder / "bad.zip", "".join([*lines[:41], "7::x::3::1000\n", *lines[42:]]))
    ranks = [f"{user},81,0,{40 if user <= 12 else 39}\n" for user in range(1, 61)]
    (project.folder / RANKS).write_text("user,candidates,above,tied\n" + "".join(ranks), encoding="utf-8")
    (project.folder / "wrong.csv").write_text("candidates,above,tied\n81,4,0\n81,71,10\n", encoding="utf-8")
    datasets = {name: {"path": f"{name}.zip", "format": "movielens-dat"} for name in ("made-up", "bad")}
    project.configure(study=["made-up", "bad"], datasets=datasets, recommenders=RECOMMENDERS)
    made, failing = "ranks/elsewhere.csv.gz", ["models/E.npz", "ranks/wrong.csv.gz"]
    targets = [f"results/made-up/{name}" for name in (made, *failing)] + ["results/bad/split.npz"]
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
        "train E on made-up",
        "import the ranks of elsewhere on made-up",
        f"import the ranks of elsewhere on made-up: in 12 of 60 rows, {remark}",
    ):
        assert said.count(line) == 1, line
    for noise in ("of an earlier run", "Traceback"):
        assert noise not in ran.stdout + ran.stderr
    assert sorted(project.results("made-up/ranks/*")) == [f"results/made-up/{made}"]
    assert sorted(project.results("bad/*")) == []
    for title, begins, log in (
        ("split bad", "bad.zip/ratings.dat, line 42: column 2 must be a whole number", "bad/split"),
        ("import the ranks of wrong on made-up", "wrong.csv, line 3: rank 82 (ties", "made-up/ranks/wrong"),
        ("train E on made-up", "EASE: regularization 1e-12 is too small", "made-up/train-E"),
    ):
        [(place, line)] = [(place, line) for place, line in enumerate(said) if line.startswith(f"{title} failed: ")]
        assert line.startswith(f"{title} failed: {begins}")
        assert said[place + 1] == f"  log: results/logs/{log}.log"
        *_, last = (project.folder / f"results/logs/{log}.log").read_text(encoding="utf-8").splitlines()
        assert last == f"error: {line.partition(' failed: ')[2]}"
    assert remark in (project.folder / "results/logs/made-up/ranks/elsewhere.log").read_text(encoding="utf-8")
