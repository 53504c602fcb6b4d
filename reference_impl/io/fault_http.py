"""The fault plan of a running cluster over HTTP, for tests in any language.

    GET    /faults       every rule in force, with how often it matched and hit
    POST   /faults       one rule, or a list of them, as JSON; answers with their numbers
    DELETE /faults/7     takes rule 7 back
    DELETE /faults       takes all back

A rule is what `broker.fault_plan.Rule` says, field by field. 400 with {"error": ...} for a rule
that cannot be, and then none of a list is put in force; 404 for a number or a path that is not
there. It listens on loopback unless told otherwise: whoever can reach it can break every answer.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from touchstone.reference_impl.broker.faults.fault_plan import BadRule, Plan, Rule

ROOM = "/faults"
_MOST_BYTES = 1 << 20
_NOTICE_S = 0.02  # until the end is noticed; the default of half a second is felt at every close


class FaultDoor:
    """Serves a plan at `url` until `close`."""

    def __init__(self, plan: Plan, host: str = "127.0.0.1", port: int = 0) -> None:
        self._server = ThreadingHTTPServer((host, port), _handler_of(plan))
        self._server.daemon_threads = True
        self.url = f"http://{host}:{self._server.server_address[1]}{ROOM}"
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            args=(_NOTICE_S,),
            name="touchstone-faults",
            daemon=True,
        )
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> FaultDoor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Handler(BaseHTTPRequestHandler):
    """Serves one request; the class of a door sets `plan` and `alone`, the lock of writers."""

    plan: Plan
    alone: threading.Lock
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == ROOM:
            self._answer(200, {"faults": [each.row() for each in self.plan.standing()]})
        else:
            self._answer(404, {"error": f"there is only {ROOM}"})

    def do_POST(self) -> None:
        body = self.rfile.read(min(int(self.headers.get("Content-Length") or 0), _MOST_BYTES))
        if self.path != ROOM:
            self._answer(404, {"error": f"there is only {ROOM}"})
            return
        try:
            rules = _rules(body)
        except (BadRule, ValueError) as fault:
            self._answer(400, {"error": str(fault)})
            return
        with self.alone:
            numbers = [self.plan.add(rule) for rule in rules]
        self._answer(201, {"ids": numbers})

    def do_DELETE(self) -> None:
        if self.path == ROOM:
            self.plan.clear()
            self._answer(200, {})
            return
        folder, _, number = self.path.rpartition("/")
        with self.alone:
            known = folder == ROOM and number.isdigit() and self.plan.remove(int(number))
        self._answer(200 if known else 404, {} if known else {"error": f"no {self.path}"})

    def log_message(self, format: str, *arguments: object) -> None:
        """Write nothing: standard error belongs to the broker."""

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _handler_of(plan: Plan) -> type[_Handler]:
    return type("Handler", (_Handler,), {"plan": plan, "alone": threading.Lock()})


def _rules(body: bytes) -> list[Rule]:
    """All of them or BadRule."""
    given = json.loads(body)
    rows = given if isinstance(given, list) else [given]
    if not all(isinstance(row, dict) for row in rows):
        raise BadRule("a rule is an object")
    return [Rule.of(row) for row in rows]
