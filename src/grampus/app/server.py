"""The server of the app: on 127.0.0.1 alone, for one reader, who has a secret.

The first address holds a key that is used once: it becomes a cookie that no script can read and no other site can send,
and leaves the address. Everything lies below a random folder, to which the cookie is limited: browsers send cookies to
every port of a computer. Requests with another Host (a name that was made to point here) or from another origin are
refused before anything is looked at.
"""

import secrets
import socket
from collections.abc import Mapping
from contextlib import suppress
from hmac import compare_digest
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore, Timer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from .session import READS, WRITES, Reply, Session, problem, safely

HOST = "127.0.0.1"
PATIENCE = 20.0  # seconds for a request to arrive whole
MOST_AT_ONCE = 32  # requests
LONGEST_QUERY = 4000
ALWAYS = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",  # a page has one of its own
    "Connection": "close",
}


class Server(ThreadingHTTPServer):
    """Serve a session to one reader.

    Parameters
    ----------
    session : Session
    patience : float
        Seconds in which a request must have arrived.

    Attributes
    ----------
    address : str
        Where the reader begins, with the key.
    """

    daemon_threads = True
    allow_reuse_address = False
    request_queue_size = 64

    def __init__(self, session: Session, patience: float = PATIENCE) -> None:
        self.session, self.patience = session, patience
        self.folder = f"/{secrets.token_urlsafe(12)}/"
        self.cookie = secrets.token_urlsafe(32)
        self._key, self._used = secrets.token_urlsafe(32), False
        self._places = BoundedSemaphore(MOST_AT_ONCE)
        super().__init__((HOST, 0), Handler)
        self.host = f"{HOST}:{self.server_port}"
        self.origin = f"http://{self.host}"
        self.address = f"{self.origin}/?key={self._key}"

    def use_key(self, given: str) -> tuple[bool, bool]:
        """Return whether this is the key, and whether for the first time."""
        right, first = compare_digest(given.encode(), self._key.encode()), not self._used
        self._used = self._used or right
        return right, first

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread; hang up where too many are at work."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and make room for the next."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing about a reader who hung up."""


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "Grampus", ""

    def handle(self) -> None:
        """Read and answer one request, which must arrive in time."""
        self._guard = Timer(self.server.patience, self._hang_up)
        self._guard.daemon = True
        self._guard.start()
        try:
            self.close_connection = True
            self.handle_one_request()
        finally:
            self._guard.cancel()

    def _hang_up(self) -> None:
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (the base class calls it so)
        """Log nothing: addresses may hold the key."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a request that cannot be read."""
        self._send(problem(code, message or HTTPStatus(code).phrase))

    def do_GET(self) -> None:
        """Answer a request, or say why it is refused."""
        self._send(self._refused() or self._answer())

    do_POST = do_GET  # noqa: N815  (the base class calls it so)

    def _send(self, reply: Reply) -> None:
        self._guard.cancel()
        self.send_response(reply.status)
        for name, value in (ALWAYS | dict(reply.headers)).items():
            self.send_header(name, value)
        self.send_header("Content-Type", reply.kind)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def _refused(self) -> Reply | None:
        """Return why a request is refused before anything is looked at; None if it is not."""
        names = self.headers
        if names.get_all("Host") != [self.server.host]:
            return problem(403, "This server is asked under another name.")
        origin, site = names.get_all("Origin", []), names.get("Sec-Fetch-Site", "none")
        foreign = origin not in ([], [self.server.origin]) or site not in ("none", "same-origin")
        if foreign or (self.command == "POST" and not origin):
            return problem(403, "Another page asks.")
        if len(self.path) > LONGEST_QUERY:
            return problem(414, "The address is too long.")
        return None

    def _allowed(self) -> bool:
        """Return whether the cookie is there."""
        given = [part.strip() for line in self.headers.get_all("Cookie", []) for part in line.split(";")]
        return any(compare_digest(one.encode(), f"grampus={self.server.cookie}".encode()) for one in given)

    def _asked(self) -> tuple[str | None, Mapping[str, str]]:
        """Return what is asked for below the folder, None if the address lies elsewhere; and the parameters."""
        parts = urlsplit(self.path)
        asked = dict(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=8))
        inside = parts.path.startswith(self.server.folder)
        return (parts.path.removeprefix(self.server.folder) if inside else None), asked

    def _answer(self) -> Reply:
        """Return what a request is answered; `_refused` has let it pass."""
        try:
            name, asked = self._asked()
        except ValueError:
            return problem(400, "The address cannot be read.")
        writes = self.command == "POST"
        if name is None and not writes and urlsplit(self.path).path == "/":
            return self._first(asked)
        if not self._allowed():
            return problem(403, "This browser has no key, or it was used in another one. Start grampus open again.")
        if name is None or name not in (WRITES if writes else READS):
            return problem(404, "There is nothing here.")
        return self._write(name, asked) if writes else safely(lambda: READS[name](self.server.session, asked))

    def _first(self, asked: Mapping[str, str]) -> Reply:
        """Turn the key into a cookie, and take it out of the address."""
        right, first = self.server.use_key(asked.get("key", ""))
        if not right:
            return problem(403, "This address needs the key that grampus open printed.")
        cookie = f"grampus={self.server.cookie}; Path={self.server.folder}; HttpOnly; SameSite=Strict"
        return Reply(status=303, headers={"Location": self.server.folder} | ({"Set-Cookie": cookie} if first else {}))

    def _write(self, name: str, asked: Mapping[str, str]) -> Reply:
        act, kind, most = WRITES[name]
        if self.headers.get("Content-Type", "").partition(";")[0].strip().lower() != kind:
            return problem(415, f"This takes {kind}.")
        given = self.headers.get_all("Content-Length", [])
        if "Transfer-Encoding" in self.headers or len(given) != 1 or not (given[0].isascii() and given[0].isdigit()):
            return problem(411, "The length of what is sent must be said.")
        if len(given[0]) > len(str(most)) or int(given[0]) > most:
            return problem(413, f"This takes at most {most // 10**6} MB.")
        body = self.rfile.read(int(given[0]))
        if len(body) < int(given[0]):
            return problem(400, "Less came than was announced.")
        self._guard.cancel()
        return safely(lambda: act(self.server.session, asked, body))
