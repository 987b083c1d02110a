"""The fenced blocks of a page of the documentation, so that tests run what readers copy.

python tests/docs_blocks.py     # writes what the blocks print into the pages
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import textwrap
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
# pages import docs.examples, as a reader does in the root of the repository
sys.path.append(str(ROOT))
FENCE = re.compile(r"^```(?P<language>\S*)\n(?P<content>.*?)^```$", flags=re.MULTILINE | re.DOTALL)
COLUMNS = 100
"""How wide a terminal the documentation shows; lines that are longer go on below, as they do there.
"""


def blocks(page, language):
    """The contents of a page's blocks of a language, in their order."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return [fence["content"] for fence in FENCE.finditer(text) if fence["language"] == language]


class Block(NamedTuple):
    """A fenced block, and the (first, last) characters of the text that follows at once, which is
    what it prints.
    """

    language: str
    content: str
    output: tuple[int, int] | None

    @property
    def is_run(self):
        """Whether it is Python, or nothing but uses of the command."""
        commands = self.content.replace("\\\n", " ").splitlines()
        return self.language == "python" or (
            self.language == "sh"
            and all(re.match(r"sampled-metrics |#|$", line) for line in commands)
        )


def blocks_of(text):
    """The blocks of a page but those that are another one's output."""
    fences = list(FENCE.finditer(text))
    starts_of_outputs = set()
    for fence, after in zip_longest(fences, fences[1:]):
        if fence.start() in starts_of_outputs:
            continue
        output = None
        if after and after["language"] == "text" and not text[fence.end() : after.start()].strip():
            starts_of_outputs.add(after.start())
            output = (after.start("content"), after.end("content"))
        yield Block(fence["language"], fence["content"], output)


def _as_shown(printed):
    lines = printed.splitlines()
    parts = [
        part
        for line in lines
        for part in ([line] if len(line) <= COLUMNS else textwrap.wrap(line, COLUMNS))
    ]
    return "".join(f"{part.rstrip()}\n" for part in parts)


def _run_commands(commands):
    """Run uses of the command in this process, as each would take a second to start in its own."""
    printed = io.StringIO()
    terminal = mock.patch.dict(os.environ, {"COLUMNS": str(COLUMNS), "NO_COLOR": "1"})
    from sampled_metrics.cli import main  # not every user of this module has the program

    for line in commands.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        if set("|&;<>$") & set("".join(words)):
            raise RuntimeError(
                f"a page may show the command alone, not other words of a shell: {line}"
            )
        with terminal, contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            try:
                main(words[1:])
            except SystemExit as ended:  # 1 and 2: an error that the page may show
                if ended.code not in (0, 1, 2):
                    raise RuntimeError(
                        f"{line} ended with {ended.code}: {printed.getvalue()}"
                    ) from None
    return printed.getvalue()


def _run_python(code, namespace):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "block", "exec"), namespace)
    return printed.getvalue()


def with_outputs(text, pictures=None):
    """Run the blocks of a page, in a folder like the repository's root, and put in what they print.

    The pictures that they draw and the page shows are copied to the folder `pictures`.
    """
    namespace: dict[str, Any] = {}
    parts = []
    end = 0
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name in ("docs", "published"):
            Path(name).symlink_to(ROOT / name)
        for block in blocks_of(text):
            if not block.is_run:
                continue
            shell = block.language == "sh"
            printed = (
                _run_commands(block.content) if shell else _run_python(block.content, namespace)
            )
            if block.output:
                parts += [text[end : block.output[0]], _as_shown(printed)]
                end = block.output[1]
            elif shell and printed:
                raise RuntimeError(
                    f"a page does not show what this prints: {block.content}{printed}"
                )
        for picture in re.findall(r"!\[[^]]*\]\(([^)]*)\)", text) if pictures else []:
            if Path(picture).is_file() and "/" not in picture:
                shutil.copy(picture, pictures)
    return "".join([*parts, text[end:]])


def pages():
    """README.md and the pages of the site, from the root of the repository; not what a run of the
    workflow wrote.
    """
    paths = [
        path
        for path in DOCS.rglob("*.md")
        if not {"reproduction", "_build"} & set(path.relative_to(DOCS).parts)
    ]
    return ["README.md", *sorted(str(path.relative_to(ROOT)) for path in paths)]


if __name__ == "__main__":
    for path in (ROOT / page for page in sys.argv[1:] or pages()):
        text = path.read_text(encoding="utf-8")
        if sys.argv[1:] or any(block.output for block in blocks_of(text)):
            path.write_text(with_outputs(text, path.parent), encoding="utf-8")
