"""A Hub on the loopback: enough of its API for a listing, for small files and for ranges, and every way it can fail.

Binds to 127.0.0.1 and a free port, answers at most a few hundred requests, and is gone with its `with` block.
"""

import json
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
MOST_REQUESTS = 500
LONGEST_WAIT = 5.0  # seconds that a slow answer waits for the test to end

Fault = Callable[["Handler"], None]


class LoopbackHub:
    """Serves repositories of bytes; `faults` take the place of an answer, by the end of the path asked for."""

    def __init__(self, repositories: Mapping[str, Mapping[str, bytes]] | None = None) -> None:
        self.repositories = dict(repositories or {})
        self.faults: dict[str, Fault] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.over = threading.Event()
        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.hub = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    hub: LoopbackHub

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is part of the tests, and nothing to print."""


class Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        hub = self.server.hub
        hub.asked.append((path, {name.lower(): value for name, value in self.headers.items()}))
        if len(hub.asked) > MOST_REQUESTS:
            self.answer(503)
            return
        for ending, fault in hub.faults.items():
            if path.endswith(ending):
                fault(self)
                return
        self.serve(path)

    def serve(self, path: str) -> None:
        """Answer as the Hub does."""
        hub = self.server.hub
        for name, files in hub.repositories.items():
            if path.startswith(f"/api/models/{name}/revision/"):
                if path.endswith(("/main", COMMIT)):
                    self.answer(200, listing(files))
                else:
                    self.answer(404, x_error_code="RevisionNotFound")
                return
            root = f"/{name}/resolve/{COMMIT}/"
            if path.startswith(root):
                content = files.get(path.removeprefix(root))
                if content is None:
                    self.answer(404, x_error_code="EntryNotFound")
                else:
                    self.answer_range(content)
                return
        self.answer(401, b'{"error":"Invalid username or password."}', x_error_code="RepoNotFound")

    def answer_range(self, content: bytes) -> None:
        said = self.headers.get("range")
        if not said:
            self.answer(200, content)
            return
        first, last = (int(part) for part in said.removeprefix("bytes=").split("-"))
        if first >= len(content):
            self.answer(416, content_range=f"bytes */{len(content)}")
            return
        piece = content[first : last + 1]
        self.answer(206, piece, content_range=f"bytes {first}-{first + len(piece) - 1}/{len(content)}")

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in ({"content_length": str(len(body))} | headers).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is http.server's
        """Print nothing."""


def listing(files: Mapping[str, bytes]) -> bytes:
    return json.dumps({"sha": COMMIT, "siblings": [{"rfilename": name} for name in files]}).encode()


def status(code: int, **headers: str) -> Fault:
    return lambda handler: handler.answer(code, b"{}", **headers)


def body(content: bytes, **headers: str) -> Fault:
    return lambda handler: handler.answer(200, content, **headers)


def redirect(address: str) -> Fault:
    return lambda handler: handler.answer(302, location=address + handler.path)


def partial(content: bytes, content_range: str) -> Fault:
    return lambda handler: handler.answer(206, content, content_range=content_range)


def truncated(content: bytes) -> Fault:
    """Promise more than is sent, then hang up."""
    return lambda handler: handler.answer(200, content, content_length=str(len(content) + 100))


def silent(handler: Handler) -> None:
    """Say nothing until the test is over."""
    handler.server.hub.over.wait(LONGEST_WAIT)


def dripping(handler: Handler) -> None:
    """Send a byte every moment, so that no read ever waits long."""
    handler.send_response(200)
    handler.end_headers()
    for _ in range(1000):
        handler.wfile.write(b" ")
        if handler.server.hub.over.wait(LONGEST_WAIT / 1000):
            return


def hanging_up(handler: Handler) -> None:
    """Close the connection without a word."""
    handler.close_connection = True
