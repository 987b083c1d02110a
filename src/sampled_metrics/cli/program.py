"""The program: its commands, its errors and its exit codes."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

import click
from click.shell_completion import get_completion_class

import sampled_metrics as sm
from sampled_metrics._registry import commands
from sampled_metrics.cli.options import NAME, Command
from sampled_metrics.errors import ConfigError, SampledMetricsError, printable


def main(arguments: list[str] | None = None) -> None:
    """Run the command, and exit with 0 when done.

    The exit code is 1 if the command fails, such as for a malformed file, and 2 if it is used
    wrongly; one line on stderr says why. `compare` exits with 3 if an option makes its result a
    failure, and an interrupted command with 130.
    """
    code: Any = None
    if sys.stderr is None:  # closed, as by 2>&-
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  # until the process ends
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what the terminal's encoding lacks
    try:
        code = cli.main(arguments, prog_name=NAME, standalone_mode=False)
    except click.Abort as error:
        _fail("; ".join(["interrupted", *getattr(error.__cause__, "__notes__", ())]), 130)
    except click.ClickException as error:
        _fail(error.format_message(), 2)
    except ConfigError as error:
        _fail(str(error), 2)
    except SampledMetricsError as error:
        _fail(str(error))
    except MemoryError as error:
        _fail(f"there is not enough memory for this: {error or 'it is too large'}")
    except SystemExit:  # click and rich leave so when whoever read the output has seen enough
        sys.exit(1)
    except OSError as error:  # files say theirs themselves
        sys.stdout = None  # what it still holds cannot be written either
        _fail(f"the output cannot be written: {error.strerror}")
    if code:
        sys.exit(code)


def _fail(message: str, code: int = 1) -> None:
    sys.stderr.write(f"error: {printable(' '.join(message.split()))}\n")
    sys.exit(code)


class _Program(click.Group):
    """The command, in which SystemExit means that nobody reads the output any more."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; one that exits for another reason keeps its exit code."""
        try:
            return super().invoke(ctx)
        except SystemExit as error:
            if isinstance(error.__context__, BrokenPipeError):
                raise
            raise click.exceptions.Exit(error.code) from None  # type: ignore[arg-type]  # may be text, as of sys.exit


@click.group(
    cls=_Program,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Files are csv, gzip if the name ends in .gz, or parquet; - is standard input. "
    "'sampled-metrics COMMAND --help' has an example of each.",
)
@click.version_option(sm.__version__, prog_name=NAME)
@click.pass_context
def cli(context: click.Context) -> None:
    """Metrics of recommenders from ranks, exact or among sampled negatives."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(2)


cli.command_class = Command
for command in commands():
    cli.add_command(command)


@cli.command(
    "completion",
    short_help="Print what makes a shell complete this.",
    epilog='  eval "$(sampled-metrics completion bash)"    # in ~/.bashrc; zsh and fish likewise',
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def _completion(shell: str) -> None:
    """Print what makes a shell complete this command."""
    completion: Any = get_completion_class(shell)
    click.echo(completion(cli, {}, NAME, "_SAMPLED_METRICS_COMPLETE").source())
