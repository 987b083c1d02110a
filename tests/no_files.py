"""What is no file and no path, and how readers and writers have to refuse it."""

import socket

import pytest

import sampled_metrics as sm

ADDRESSES = [
    "http://127.0.0.1:9/",
    "https://127.0.0.1:9/",
    "file://FOLDER/",
    "s3://bucket/",
    "ftp://127.0.0.1/",
]
NO_PATHS = [5, 5.0, b"x.parquet", True, [], {}, "", "x\0.parquet", "\ud800.parquet", object]


def require_that_addresses_are_refused(read, name, folder, monkeypatch):
    """Call a reader with addresses that end with the name of a file, which is not fetched."""

    def refused(*_):
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refused)
    (folder / name).write_bytes(b"1,2\n")
    for address in ADDRESSES:
        with pytest.raises(sm.DataError, match="no such file"):
            read(address.replace("FOLDER", str(folder)) + name)


def require_that_it_is_refused_in_one_line(use, path):
    """Call a reader or a writer with what is no path."""
    with pytest.raises(sm.SampledMetricsError) as caught:
        use(path)
    assert "\n" not in str(caught.value)
