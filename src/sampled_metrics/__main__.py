"""The program `sampled-metrics`, also as `python -m sampled_metrics`.

The command is imported when it runs, as this takes a while.
"""

import os
import signal
import sys
from typing import Any


def main() -> None:
    """Run the command, as `sampled_metrics.cli.main` does.

    An interruption has the exit code 130 from the start.
    """
    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_usual:
        signal.signal(signal.SIGINT, _leave)  # an exception may get lost in what is imported
    from sampled_metrics.cli import main as command

    try:
        if is_usual:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        command()
    except KeyboardInterrupt:  # before the command begins, or after its end
        _leave()


def _leave(*_: Any) -> None:
    """End the process at once."""
    try:
        sys.stdout.flush()
        os.write(2, b"error: interrupted\n")
    finally:
        os._exit(130)


if __name__ == "__main__":
    main()
