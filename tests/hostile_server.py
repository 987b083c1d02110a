"""A real server of bytes on this machine that answers each request as a test says, well or badly.

It writes what goes over the wire itself, so that nothing keeps it from being wrong.
"""

import socket
import socketserver
import ssl
import struct
import subprocess
import threading
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass

CONTENT = bytes(number * number % 251 for number in range(300_000))
WEB_PAGE = b"<!DOCTYPE html><html><body>Sign in to the WLAN</body></html>"
REASONS = {200: "OK", 302: "Found", 404: "Not Found"}


@dataclass
class Request:
    """A connection to answer on, and an event that is set when the server is about to end."""

    connection: socket.socket
    stopping: threading.Event

    def send(self, data):
        self.connection.sendall(data)

    def wait(self, seconds):
        if self.stopping.wait(seconds):
            raise ConnectionError("the test is over")


Answer = Callable[[Request], None]


class Server(socketserver.ThreadingTCPServer):
    """Gives, for every request, the next of `answers`, and the last one again and again."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, answers, context=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = answers
        self.context = context
        self.requests = 0
        self.stopping = threading.Event()
        self.url = (
            f"{'https' if context else 'http'}://127.0.0.1:{self.server_address[1]}/ml-1m.zip"
        )

    def handle_error(self, request, client_address):
        pass  # clients that hang up are what is wanted


class Handler(socketserver.BaseRequestHandler):
    server: Server

    def handle(self):
        connection = self.request
        connection.settimeout(60)
        if not self.server.context:
            return self.answer(connection)
        with self.server.context.wrap_socket(connection, server_side=True) as connection:
            return self.answer(connection)

    def answer(self, connection):
        head = b""
        while b"\r\n\r\n" not in head:
            received = connection.recv(65536)
            if not received:
                return
            head += received
        self.server.requests += 1
        answers = self.server.answers
        (answers.pop(0) if len(answers) > 1 else answers[0])(
            Request(connection, self.server.stopping)
        )


@contextmanager
def serving(*answers, context=None):
    server = Server(list(answers), context)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        server.shutdown()
        thread.join()
        server.server_close()


def then(*answers):
    def answer(request):
        for part in answers:
            part(request)

    return answer


def raw(data):
    return lambda request: request.send(data)


def head_only(*fields, code=200):
    status_line = f"HTTP/1.1 {code} {REASONS.get(code, 'Something')}"
    return raw("\r\n".join([status_line, "Connection: close", *fields, "", ""]).encode("latin-1"))


def status(code):
    return head_only("Content-Length: 0", code=code)


def whole(content, *fields):
    return then(head_only(f"Content-Length: {len(content)}", *fields), raw(content))


honest = whole(CONTENT)


def cut(size):
    """Less than announced."""
    return then(head_only(f"Content-Length: {len(CONTENT)}"), raw(CONTENT[:size]))


def reset(request):
    """Hang up so that the other side gets a reset."""
    request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.connection.close()


def redirect(location):
    return head_only(f"Location: {location}", "Content-Length: 0", code=302)


def chunked(*parts):
    return then(head_only("Transfer-Encoding: chunked"), *parts)


def chunk(content, end=b""):
    return raw(b"%x\r\n%b\r\n%b" % (len(content), content, end))


def endless(data):
    """The same bytes again and again."""

    def answer(request):
        while not request.stopping.is_set():
            request.send(data)

    return answer


def dripping(data, size=1, seconds=0.02):
    """A few bytes at a time."""

    def answer(request):
        for position in range(0, len(data), size):
            request.send(data[position : position + size])
            request.wait(seconds)

    return answer


def stall(request):
    request.wait(60)


def certificate(folder, subject, days=2):
    """Make a self-signed certificate and its key, and the context of a server; negative days make a
    lapsed one.
    """
    path = folder / "both.pem"
    key = folder / "key.pem"
    request = folder / "request.pem"
    ask = [
        "req",
        "-new",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-subj",
        "/CN=test",
    ]
    sign = ["x509", "-req", "-days", str(days), "-copy_extensions", "copy", "-in", str(request)]
    for command in (
        [*ask, "-addext", f"subjectAltName={subject}", "-keyout", str(key), "-out", str(request)],
        [*sign, "-signkey", str(key), "-out", str(path)],
    ):
        subprocess.run(["openssl", *command], check=True, capture_output=True)
    path.write_bytes(path.read_bytes() + key.read_bytes())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return path, context
