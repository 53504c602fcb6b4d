"""The door to the fault plan, to peers that mean it ill: pages, hoarders, the silent, the slow."""

from __future__ import annotations

import json
import socket

import pytest

from touchstone.reference_impl.broker.faults.fault_plan import Plan
from touchstone.reference_impl.io import fault_http
from touchstone.reference_impl.io.fault_http import FaultDoor
from touchstone.reference_impl.io.http_server import MOST_PEERS

RULE = b'{"action": "drop"}'
PATIENCE_S = 60


@pytest.fixture
def plan():
    return Plan()


@pytest.fixture
def door(plan):
    with FaultDoor(plan) as opened:
        yield opened


class Visitor:
    def __init__(self, door: FaultDoor) -> None:
        self.port = int(door.url.split(":")[2].partition("/")[0])
        self.sock = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
        self.answers = self.sock.makefile("rb")

    def __enter__(self) -> Visitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.answers.close()
        self.sock.close()

    def say(self, method: str, *headers: str, body: bytes = b"", sized: bool = True) -> None:
        lines = [f"{method} /faults HTTP/1.1", *headers]
        if sized and method == "POST":
            lines.append(f"Content-Length: {len(body)}")
        self.sock.sendall("\r\n".join([*lines, "", ""]).encode() + body)

    def status(self) -> int | None:
        """Of the next answer, whose body is read too; None when the door closed."""
        try:
            line = self.answers.readline()
            if not line:
                return None
            size = 0
            while header := self.answers.readline().strip():
                name, _, value = header.partition(b":")
                size = int(value) if name == b"Content-Length" else size
            self.answers.read(size)
        except ConnectionResetError:
            return None
        return int(line.split()[1])


HERE = ["Host: 127.0.0.1:9080", "Host: localhost:9080", "Host: [::1]:9080", "Host: LOCALHOST"]
NOT_HERE = [
    ("Host: evil.example:9080",),
    ("Host: localhost.evil.example",),
    ("Host: [::1",),
    ("Host: 127.0.0.1:9080", "Host: evil.example"),
    ("Host: 127.0.0.1:9080", "Origin: https://evil.example"),
    ("Host: 127.0.0.1:9080", "Origin: null"),
    ("Host: 127.0.0.1:9080", "Origin: http://127.0.0.1:80"),
    ("Origin: http://evil.example",),
]


@pytest.mark.parametrize("host", HERE)
def test_who_names_the_door_is_obeyed(door, plan, host):
    with Visitor(door) as visitor:
        visitor.say("POST", host, body=RULE)
        assert visitor.status() == 201
        visitor.say("POST", host, "Origin: " + host.replace("Host: ", "http://"), body=RULE)
        assert visitor.status() == 201
    assert len(list(plan.standing())) == 2


@pytest.mark.parametrize("headers", NOT_HERE)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_a_page_of_elsewhere_is_refused_and_not_read_on(door, plan, method, headers):
    with Visitor(door) as visitor:
        visitor.say(method, *headers, body=RULE)
        assert visitor.status() == 403
        assert visitor.status() is None
    assert not list(plan.standing())


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (("Content-Length: 1048577",), 413),
        (("Content-Length: " + "9" * 5000,), 411),
        (("Content-Length: -1",), 411),
        (("Content-Length: many",), 411),
        (("Content-Length: 1", "Content-Length: 18"), 411),
        (("Transfer-Encoding: chunked",), 411),
        (("X: " + "x" * 70_000,), 431),
        (tuple(f"X-{n}: " + "x" * 10_000 for n in range(10)), 431),
    ],
)
def test_a_request_has_a_size_and_a_limit(door, plan, headers, status):
    with Visitor(door) as visitor:
        visitor.say("POST", *headers, body=RULE, sized=False)
        assert visitor.status() in (status, None)  # None: reset by what was not read
    assert not list(plan.standing())
    with Visitor(door) as visitor:
        visitor.say("GET")
        assert visitor.status() == 200


@pytest.mark.parametrize("body", [b"[" * 500_000, b"9" * 5000, b"\xff", b""])
def test_a_body_that_is_no_rule_is_answered(door, body):
    with Visitor(door) as visitor:
        visitor.say("POST", body=body)
        assert visitor.status() == 400
        visitor.say("GET")
        assert visitor.status() == 200


def test_a_line_without_end_is_not_kept(door):
    with Visitor(door) as visitor:
        visitor.sock.sendall(b"G" * (fault_http._MOST_HEAD + 1))
        assert visitor.status() in (414, None)


def test_numbers_are_plain_digits(door, plan):
    number = plan.add(fault_http._rules(RULE)[0])
    with Visitor(door) as visitor:
        for name in ("\u00b2", "9" * 5000, "-1"):
            line = f"DELETE /faults/{name} HTTP/1.1\r\n\r\n"
            visitor.sock.sendall(line.encode("latin-1"))
            assert visitor.status() == 404
    assert [each.number for each in plan.standing()] == [number]


def test_so_many_peers_and_no_more(door):
    silent = [Visitor(door) for _ in range(MOST_PEERS)]
    for each in silent:
        each.say("GET")
        assert each.status() == 200  # it has its place, and keeps it
    with Visitor(door) as late:
        assert late.status() is None
    silent[0].__exit__()
    while True:  # until the place of the one that left is free
        with Visitor(door) as next_one:
            try:
                next_one.say("GET")
            except OSError:
                continue
            if next_one.status() == 200:
                break
    for each in silent:
        each.__exit__()


def test_who_says_nothing_or_half_is_let_go(monkeypatch, plan):
    monkeypatch.setattr(fault_http, "_PATIENCE_S", 0.05)
    with FaultDoor(plan) as door:
        for start in (b"", b"POST /faults HTTP/1.1\r\n", b"POST /faults HTTP/1.1\r\n"
                      b"Content-Length: 18\r\n\r\n" + RULE[:5]):  # fmt: skip
            with Visitor(door) as visitor:
                visitor.sock.sendall(start)
                assert visitor.status() is None
    assert not list(plan.standing())


def test_a_door_of_a_name_is_asked_for_by_it(plan):
    with FaultDoor(plan, host="localhost") as door, Visitor(door) as visitor:
        assert json.loads(RULE)["action"] == "drop"
        visitor.say("POST", f"Host: localhost:{visitor.port}", body=RULE)
        assert visitor.status() == 201


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ((), 401),
        (("Authorization: Bearer",), 401),
        (("Authorization: Bearer secret2",), 401),
        (("Authorization: Basic secret",), 401),
        (("Authorization: Bearer \u00e9",), 401),
        (("Authorization: Bearer secret", "Origin: http://evil.example"), 403),
        (("Authorization: Bearer secret",), 201),
    ],
)
def test_a_door_with_a_token_obeys_who_says_it(plan, headers, status):
    with FaultDoor(plan, token="secret") as door, Visitor(door) as visitor:
        visitor.say("POST", *headers, body=RULE)
        assert visitor.status() == status
    assert len(list(plan.standing())) == (status == 201)


def test_a_door_that_other_machines_reach_has_a_token(plan):
    with pytest.raises(ValueError, match="needs a token"):
        FaultDoor(plan, host="0.0.0.0")
