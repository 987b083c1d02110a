"""What a run says: the jobs as they start, remarks, and what failed and where its log is (more in test_jobs.py)."""

from made_up_project import RANKS, Project


def test_jobs_and_failures(project: Project) -> None:
    ranks = [f"{user},81,0,{40 if user <= 12 else 39}\n" for user in range(1, 61)]
    (project.folder / RANKS).write_text("user,candidates,above,tied\n" + "".join(ranks), encoding="utf-8")
    (project.folder / "wrong.csv").write_text("candidates,above,tied\n81,4,0\n81,71,10\n", encoding="utf-8")
    project.configure(
        recommenders={name: {"type": "ranks", "path": path} for name, path in (("R", RANKS), ("wrong", "wrong.csv"))}
    )
    stale = project.folder / "results/logs/made-up/train-W.log"
    stale.parent.mkdir(parents=True)
    stale.write_text("train W on made-up\nerror: of an earlier run\n", encoding="utf-8")

    targets = [f"results/made-up/ranks/{name}.csv.gz" for name in ("R", "wrong")]
    ran = project.snakemake(*targets, "--cores", "2", "--keep-going")

    assert ran.returncode != 0
    said = ran.stderr.splitlines()
    remark = "in 12 of 60 rows, half of the other candidates or more tie with the held-out item; "
    assert said.count("import the ranks of R on made-up") == 1
    assert len([line for line in said if line.startswith(f"import the ranks of R on made-up: {remark}")]) == 1
    for noise in ("of an earlier run", "Traceback"):
        assert noise not in ran.stdout + ran.stderr
    assert [*project.results("made-up/ranks/*")] == targets[:1]
    title, logs = "import the ranks of wrong on made-up failed: ", "results/logs/made-up/ranks"
    [(place, line)] = [(place, line) for place, line in enumerate(said) if line.startswith(title)]
    assert line.startswith(f"{title}wrong.csv, line 3: rank 82 (ties")
    assert said[place + 1] == f"  log: {logs}/wrong.log"
    *_, last = (project.folder / f"{logs}/wrong.log").read_text(encoding="utf-8").splitlines()
    assert last == f"error: {line.removeprefix(title)}"
    assert remark in (project.folder / f"{logs}/R.log").read_text(encoding="utf-8")
