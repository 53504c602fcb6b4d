"""The fault plan of a running cluster over HTTP, for tests in any language.

    GET    /faults       every rule in force, with how often it matched and hit
    POST   /faults       one rule, or a list of them, as JSON; answers with their numbers
    DELETE /faults/7     takes rule 7 back, and lets the answers go that it delays
    DELETE /faults       takes all back

A rule is what `broker.fault_plan.Rule` says, field by field. 400 with {"error": ...} for a rule
that cannot be, and then none of a list is put in force; 404 for a number or a path that is not
there. It listens on loopback unless told otherwise: whoever can reach it can break every answer.

A browser on this machine can reach it too, on behalf of any page. So 403 for what a page sends: a
request with an `Origin` that is not this door, and one whose `Host` is a name (a page's own name
may be made to resolve to loopback) other than localhost and the name the door was opened under.
411 for a body without a length, 413 for one that is too long. A peer has a time to say its request
in; those beyond a number of peers are closed unheard. A plan has at most 1,000 rules, a delay ten
minutes. Where the door has a token, 401 for who does
does
not say it (`Authorization: Bearer TOKEN`): other users of this machine reach loopback, too. A door
that is not on loopback has to have one.
"""

from __future__ import annotations

import hmac
import http.client
import io
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from touchstone.reference_impl.broker.faults.fault_plan import BadRule, Plan, Rule
from touchstone.reference_impl.io.http_server import HttpServer, names_door
from touchstone.reference_impl.io.listeners import is_loopback

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

ROOM = "/faults"
_MOST_BYTES = 1 << 20  # of a body
_MOST_HEAD = 1 << 16  # bytes of a request before its body
_PATIENCE_S = 30.0  # for one request to arrive, from the end of the last one


class FaultDoor:
    """Serves a plan at `url` until `close`, to who says `token` if there is one.

    ValueError for a host that is not loopback and no token.
    """

    def __init__(
        self, plan: Plan, host: str = "127.0.0.1", port: int = 0, token: str | None = None
    ) -> None:
        if token is None and not is_loopback(host):
            raise ValueError(f"a fault port on {host} needs a token: any machine can reach it")
        self._server = HttpServer((host, port), _handler_of(plan, host, token))
        self.url = f"http://{host}:{self._server.server_address[1]}{ROOM}"
        self._thread = self._server.begin("touchstone-faults")

    def close(self) -> None:
        self._server.end(self._thread)

    def __enter__(self) -> FaultDoor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Incoming(io.RawIOBase):
    """What a peer says, by a deadline and so many bytes for each request."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.begin()

    def begin(self) -> None:
        """A new request: its head may be so long, and must be here with its body in time."""
        self._deadline = time.monotonic() + _PATIENCE_S
        self.room = _MOST_HEAD

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the request did not arrive in time")
        if self.room <= 0:
            raise http.client.LineTooLong("head")
        self._sock.settimeout(left)
        count = self._sock.recv_into(memoryview(buffer)[: self.room])
        self.room -= count
        return count


class _Handler(BaseHTTPRequestHandler):
    """Serves one request; a door's class sets `plan`, `host` and `alone`, the writers' lock."""

    plan: Plan
    host: str  # the door was opened under it
    token: str | None
    alone: threading.Lock
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are written apart

    def setup(self) -> None:
        super().setup()
        self._incoming = _Incoming(self.connection)
        self.rfile = io.BufferedReader(self._incoming)

    def handle_one_request(self) -> None:
        self._incoming.begin()
        try:
            super().handle_one_request()
        except (OSError, http.client.LineTooLong):  # it is gone, too slow, or says too much
            self.close_connection = True

    def do_GET(self) -> None:
        if not self._ours():
            return
        if self.path == ROOM:
            self._answer(200, {"faults": [each.row() for each in self.plan.standing()]})
        else:
            self._answer(404, {"error": f"there is only {ROOM}"})

    def do_POST(self) -> None:
        body = self._body() if self._ours() else None
        if body is None:
            return
        if self.path != ROOM:
            self._answer(404, {"error": f"there is only {ROOM}"})
            return
        try:
            rules = _rules(body)
            with self.alone:
                numbers = self.plan.add_all(rules)
        except (BadRule, ValueError, RecursionError) as fault:
            self._answer(400, {"error": str(fault)})
            return
        self._answer(201, {"ids": numbers})

    def do_DELETE(self) -> None:
        if not self._ours():
            return
        if self.path == ROOM:
            with self.alone:
                self.plan.clear()
            self._answer(200, {})
            return
        folder, _, number = self.path.rpartition("/")
        with self.alone:
            known = folder == ROOM and _is_number(number) and self.plan.remove(int(number))
        self._answer(200 if known else 404, {} if known else {"error": f"no {self.path}"})

    def log_message(self, format: str, *arguments: object) -> None:
        """Write nothing: standard error belongs to the broker."""

    def _ours(self) -> bool:
        """Whether no page of elsewhere sends it; if one does, it is refused."""
        said = self.headers.get_all("Host", [])
        origins = self.headers.get_all("Origin", [])
        if len(said) > 1 or not all(names_door(each, self.host) for each in said):
            self._refuse(403, "Host is not this door")
        elif any(origin != f"http://{host}" for origin in origins for host in said or [""]):
            self._refuse(403, "Origin is not this door")
        elif not self._may():
            self._refuse(401, "Authorization is not Bearer and the token of this door")
        else:
            return True
        return False

    def _may(self) -> bool:
        """Whether the request carries the token; its comparison tells nothing of it by its time."""
        if self.token is None:
            return True
        said = self.headers.get("Authorization", "")
        return hmac.compare_digest(said.encode(), f"Bearer {self.token}".encode())

    def _body(self) -> bytes | None:
        """All of it; None where it is refused."""
        lengths = self.headers.get_all("Content-Length", ["0"])
        if "Transfer-Encoding" in self.headers or len(lengths) > 1 or not _is_number(lengths[0]):
            self._refuse(411, "a body needs one Content-Length")
        elif int(lengths[0]) > _MOST_BYTES:
            self._refuse(413, f"a body has at most {_MOST_BYTES} bytes")
        else:
            self._incoming.room += int(lengths[0])
            return self.rfile.read(int(lengths[0]))
        return None

    def _refuse(self, status: int, why: str) -> None:
        """Answer without having read the body, so that nothing can follow on this connection."""
        self.close_connection = True
        self._answer(status, {"error": why})

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.connection.settimeout(_PATIENCE_S)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if status == 401:
            self.send_header("WWW-Authenticate", "Bearer")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)


def _handler_of(plan: Plan, host: str, token: str | None) -> type[_Handler]:
    own = {"plan": plan, "host": host, "token": token, "alone": threading.Lock()}
    return type("Handler", (_Handler,), own)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


def _rules(body: bytes) -> list[Rule]:
    """All of them or BadRule."""
    given = json.loads(body)
    rows = given if isinstance(given, list) else [given]
    if not all(isinstance(row, dict) for row in rows):
        raise BadRule("a rule is an object")
    return [Rule.of(row) for row in rows]
