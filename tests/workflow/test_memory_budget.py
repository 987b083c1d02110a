"""The memory budget of config: too little is refused in one line, and how much there is changes no byte."""

import re

from conftest import Project

RANKS = [f"results/made-up/ranks/{name}.csv.gz" for name in ("Y", "Z", "near")]
NEAR = {"near": {"type": "item-cf", "exponent": 1, "neighbours_prime": 10}}


def run(project: Project, *arguments: str, **ranking: int) -> tuple[int, str]:
    project.configure(ranking=ranking, recommenders=NEAR)
    ran = project.snakemake(*arguments, "--cores", "2")
    return ran.returncode, ran.stdout + ran.stderr


def refusal(output: str) -> str:
    assert "Traceback" not in output
    (line,) = {line for line in output.splitlines() if line.startswith("error: ")}
    return line


def test_too_little_is_refused_in_one_line_and_any_that_will_do_gives_the_same_bytes(project: Project) -> None:
    code, output = run(project, RANKS[2], memory=100)
    assert code != 0
    said = re.fullmatch(
        r"error: ranking\.memory: item-cf takes (\d+) MB at least, and may take 100; .*", refusal(output)
    )
    assert said
    code, output = run(project, RANKS[2], memory=int(said[1]))  # trains now, but cannot rank
    assert code != 0
    said = re.fullmatch(r"error: ranking\.memory: ranking takes (\d+) MB at least, .* give \1 or more", refusal(output))
    assert said
    assert (project.folder / "results/made-up/models/near.npz").is_file()
    assert not (project.folder / RANKS[2]).exists()

    code, output = run(project, *RANKS, memory=int(said[1]) + 20)
    assert code == 0, output
    little = project.results("made-up/ranks/*.csv.gz")
    assert len(little) == 3
    code, output = run(project, *RANKS, "--dry-run", memory=3000)
    assert "Nothing to be done" in output
    code, output = run(project, *RANKS, "--forceall", memory=3000, threads=2, scatter=3)
    assert code == 0, output
    assert project.results("made-up/ranks/*.csv.gz") == little
