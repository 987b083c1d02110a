"""Errors that a user can cause. Each says in one line what is wrong, where, and what is allowed."""

_LONGEST = 2000


class SampledMetricsError(Exception):
    """Base of every error whose message is meant to be read by a user, without a traceback.

    As text it is one line, whatever names and values from elsewhere it quotes: what would end the
    line, or move the cursor of a terminal, is shown escaped, and the middle of what is very long is
    left out.
    """

    def __str__(self) -> str:
        text = printable(super().__str__())
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 200]} … {text[-190:]}"


class ConfigError(SampledMetricsError, ValueError):
    """A configuration value is missing, unknown or out of range; the message names its key."""


class DataError(SampledMetricsError, ValueError):
    """A file is missing, damaged or malformed.

    The message names the file and, where there is one, the line.
    """


class NumericError(SampledMetricsError, ArithmeticError):
    """A computation gave numbers that cannot be right; the message names it."""


class WriteError(SampledMetricsError):
    """A file cannot be written: there is no space or no permission; the message names the file."""


class DownloadError(DataError):
    """No source of a file could be fetched.

    The message names every address that was tried, and why it failed.
    """


class Remark(UserWarning):
    """What the library warns of.

    The command shows each; other warnings are shown as Python shows them.
    """


def printable(text: str) -> str:
    """Return text in one line, with unprintable characters escaped, as Python writes them.

    Line breaks are unprintable.
    """
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def reason(error: BaseException) -> str:
    """Return in one line why a library or the system failed."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(text.split()) or type(error).__name__
