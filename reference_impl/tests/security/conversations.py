"""What is said on SASL listeners, right and wrong, over a socket or to a core without one.

`everything(wires)` holds all conversations of a release and returns what was answered, in values
that JSON can say. `recorded/RELEASE.json` is what real Kafka answered, with the listeners and users
of `SETTINGS`; ports stand there by their listener's name.

    python -m touchstone.reference_impl.tests.security.conversations RELEASE PLAIN_PORT SASL_PORT \\
        SHORT_PORT > recorded/RELEASE.json
"""

from __future__ import annotations

import hashlib
import hmac
import json
import select
import socket
import struct
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.headers import decode_response, encode_request

PLAINTEXT, SASL, SHORT = "PLAINTEXT", "SASL_PLAINTEXT", "SHORT"
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
SESSION_MS = 3000
_MODULE = "org.apache.kafka.common.security"
JAAS = {
    "PLAIN": f'{_MODULE}.plain.PlainLoginModule required username="admin" password="admin-secret"'
    ' user_admin="admin-secret" user_alice="alice-secret" user_bob="b=b,\\"x";',
    "SCRAM-SHA-256": f"{_MODULE}.scram.ScramLoginModule required;",
    "SCRAM-SHA-512": f"{_MODULE}.scram.ScramLoginModule required;",
}
SETTINGS = {
    "listeners": f"{PLAINTEXT}://127.0.0.1:0,{SASL}://127.0.0.1:0,{SHORT}://127.0.0.1:0",
    "listener.security.protocol.map": f"{PLAINTEXT}:PLAINTEXT,{SASL}:{SASL},{SHORT}:{SASL}",
    "sasl.enabled.mechanisms": ",".join(MECHANISMS),
    f"listener.name.{SHORT.lower()}.connections.max.reauth.ms": str(SESSION_MS),
    **{
        f"listener.name.{name.lower()}.{mechanism.lower()}.sasl.jaas.config": JAAS[mechanism]
        for name in (SASL, SHORT)
        for mechanism in MECHANISMS
    },
}
SCRAM_USERS = (("alice", "SCRAM-SHA-256"), ("alice", "SCRAM-SHA-512"))
SCRAM_PASSWORD = "alice-scram"
CLOSED, SILENT = "closed", "silent"
GOOD, BAD = b"\0alice\0alice-secret", b"\0alice\0wrong"
NEWEST_AUTHENTICATE = {"1.0": 0, "2.2": 1}
_UNKNOWN_VERSIONS = b"\0\x12\0\x63\0\0\0\1\0\0\0"
_CLIENT_NONCE = "fyko+d2lbbFgONRv9qkxdawL"


class Wire(Protocol):
    """A connection to a listener."""

    def send(self, frame: bytes) -> bytes | None:
        """The answer to a frame; None for the end of the connection."""

    def wait(self, ms: int) -> None: ...

    def close(self) -> None: ...


NewWire = Callable[[str], Wire]  # by the listener's name
Step = Callable[["Peer"], Any]


class Conversation(NamedTuple):
    name: str
    listener: str
    steps: tuple[Step, ...]


class Peer:
    def __init__(self, wire: Wire, release: str, ports: dict[int, str]) -> None:
        self.wire, self.release, self.ports = wire, release, ports

    def ask(self, api: str, version: int, body: dict[str, Any], frame: bytes | None = None) -> Any:
        key = by_name(api).key
        answer = self.wire.send(frame or encode_request(key, version, 7, "probe", body))
        return CLOSED if answer is None else decode_response(key, version, answer).body

    def authenticate(self, token: bytes, version: int | None = None) -> Any:
        newest = NEWEST_AUTHENTICATE.get(self.release, 2)
        version = newest if version is None else version
        return self.ask("SaslAuthenticate", version, {"auth_bytes": token})


# --- steps --------------------------------------------------------------------------------------


def versions(version: int = 0, name: str = "probe") -> Step:
    body = {"client_software_name": name, "client_software_version": "1"}

    def step(peer: Peer) -> Any:
        answer = peer.ask("ApiVersions", version, body)
        return answer if answer == CLOSED else {"error_code": answer["error_code"]}

    return step


def unknown_versions(peer: Peer) -> Any:
    answer = peer.ask("ApiVersions", 0, {}, frame=_UNKNOWN_VERSIONS)
    return answer if answer == CLOSED else {"error_code": answer["error_code"]}


def handshake(mechanism: str = "PLAIN", version: int = 1) -> Step:
    return lambda peer: peer.ask("SaslHandshake", version, {"mechanism": mechanism})


def authenticate(token: bytes, version: int | None = None) -> Step:
    return lambda peer: peer.authenticate(token, version)


def bare(frame: bytes) -> Step:
    """A frame whose answer, if there is one, is a token."""
    return lambda peer: CLOSED if (token := peer.wire.send(frame)) is None else token


def request(api: str, version: int, body: dict[str, Any]) -> Step:
    return lambda peer: peer.ask(api, version, body)


def wait(ms: int) -> Step:
    return lambda peer: peer.wire.wait(ms)


def whoever(peer: Peer) -> Any:
    """Metadata: the listeners of the brokers that are named."""
    answer = peer.ask("Metadata", 1, {"topics": []})
    if answer == CLOSED:
        return answer
    return [peer.ports.get(row["port"], "?") for row in answer["brokers"]]


def scram(
    mechanism: str,
    user: str = "alice",
    password: str = SCRAM_PASSWORD,
    *,
    bare_tokens: bool = False,
    id: str = "",
    extensions: str = "",
    own_nonce: bool = False,
) -> Step:
    """A whole exchange: what the server's first message has, and the answer to the proof."""
    kind = "sha256" if mechanism.endswith("256") else "sha512"

    def step(peer: Peer) -> Any:
        def say(text: str) -> Any:
            if not bare_tokens:
                return peer.authenticate(text.encode())
            token = peer.wire.send(text.encode())
            return CLOSED if token is None else {"error_code": 0, "auth_bytes": token}

        header = f"n,{f'a={id}' if id else ''},"
        first = f"n={user},r={_CLIENT_NONCE}{extensions}"
        answer = say(header + first)
        if answer == CLOSED or answer["error_code"]:
            return answer
        said = bytes(answer["auth_bytes"]).decode()
        cells = dict(each.split("=", 1) for each in said.split(","))
        nonce = "another" if own_nonce else cells["r"]
        salted = hashlib.pbkdf2_hmac(
            kind, password.encode(), b64decode(cells["s"]), int(cells["i"])
        )
        client_key = hmac.digest(salted, b"Client Key", kind)
        final = f"c={b64encode(header.encode()).decode()},r={nonce}"
        signed = f"{first},{said},{final}".encode()
        signature = hmac.digest(hashlib.new(kind, client_key).digest(), signed, kind)
        proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
        answer = say(f"{final},p={b64encode(proof).decode()}")
        if answer != CLOSED and not answer["error_code"]:
            key = hmac.digest(salted, b"Server Key", kind)
            proven = b"v=" + b64encode(hmac.digest(key, signed, kind))
            answer = {**answer, "auth_bytes": "proven" if answer["auth_bytes"] == proven else "?"}
        return [cells["r"].startswith(_CLIENT_NONCE), cells["i"], answer]

    return step


def refused_final(peer: Peer) -> Any:
    peer.authenticate(f"n,,n=alice,r={_CLIENT_NONCE}".encode())
    return peer.authenticate(b"c=biws")


# --- conversations ------------------------------------------------------------------------------

PRODUCE = {"transactional_id": None, "acks": 1, "timeout_ms": 1, "topic_data": []}
LIST_OFFSETS = {
    "replica_id": -1,
    "topics": [{"name": "t", "partitions": [{"partition_index": 0, "timestamp": -1}]}],
}
OTHERS = {
    "Metadata": (1, {"topics": []}),
    "Produce": (3, PRODUCE),
    "SaslHandshake": (0, {"mechanism": "PLAIN"}),
    "ListOffsets": (1, LIST_OFFSETS),
    "DescribeGroups": (0, {"groups": ["g"]}),
    "ListGroups": (0, {}),
}
HANDSHAKE_FRAME = encode_request(17, 1, 5, "p", {"mechanism": "PLAIN"})
TOKENS = {
    "right": GOOD,
    "wrong": BAD,
    "unknown": b"\0nobody\0wrong",
    "no user": b"\0\0wrong",
    "no password": b"\0alice\0",
    "two parts": b"alice\0x",
    "four parts": b"\0alice\0x\0y",
    "five parts": b"\0alice\0x\0y\0z",
    "empty": b"",
    "own id": b"alice" + GOOD,
    "another's id": b"bob" + GOOD,
    "another's id and wrong": b"bob" + BAD,
    "odd password": b'\0bob\0b=b,"x',
    "no text": b"\0bob\0\xff\xfe",
    "an empty part behind": GOOD + b"\0",
    "as large as may be": b"\0alice\0" + b"x" * 500_000,
}
GARBAGE = {
    "garbage": b"\x60\x81garbage",
    "short": b"\0",
    "empty": b"",
    "unknown key": b"\x03\xe8\0\0\0\0\0\1\0\0",
    "unknown version": HANDSHAKE_FRAME[:3] + b"\2" + HANDSHAKE_FRAME[4:],
    "cut short": HANDSHAKE_FRAME[:-2],
}


def conversations(release: str) -> Iterator[Conversation]:
    yield from _plain()
    yield from _handshakes(release)
    yield from _requests()
    yield from _scram()
    if release != "1.0":
        yield from _sessions()


def _plain() -> Iterator[Conversation]:
    for name, token in TOKENS.items():
        steps = (handshake(), authenticate(token), whoever)
        yield Conversation(f"plain, {name}", SASL, steps)
        if name in ("right", "wrong"):
            bare_steps = (versions(), handshake(version=0), bare(token), whoever)
            yield Conversation(f"plain, bare, {name}", SASL, bare_steps)
    twice = (versions(), handshake(), authenticate(GOOD), whoever, versions())
    again = (handshake(), handshake("X"), authenticate(GOOD), whoever)
    yield Conversation("plain, twice", SASL, (*twice, *again))
    yield Conversation("no sasl", PLAINTEXT, (versions(), *again))
    yield Conversation("plain, a header on bare tokens", SASL,
                       (handshake(version=0), authenticate(GOOD), whoever))  # fmt: skip
    yield Conversation("plain, a bare token", SASL, (handshake(), bare(GOOD), whoever))


def _handshakes(release: str) -> Iterator[Conversation]:
    for mechanism in ("X", "GSSAPI", "plain", "", "P" * 30_000):
        for version in (0, 1):
            name = f"handshake v{version}, {mechanism[:9]!r}"
            yield Conversation(name, SASL, (handshake(mechanism, version), whoever))
    for version in range(NEWEST_AUTHENTICATE.get(release, 2) + 1):
        steps = (handshake(), authenticate(GOOD, version), whoever)
        yield Conversation(f"authenticate v{version}", SASL, steps)
    done = (handshake(), authenticate(GOOD), whoever)
    yield Conversation("handshake twice", SASL, (handshake(), handshake(), whoever))
    yield Conversation("versions twice", SASL, (versions(), versions(), whoever))
    yield Conversation("versions late", SASL, (handshake(), versions(), whoever))
    yield Conversation("versions unknown", SASL, (*[unknown_versions] * 3, versions(), *done))
    if release not in ("1.0", "2.2"):
        yield Conversation("versions of nobody", SASL, (versions(3, "-"), versions(3), *done))
    for what, step in {
        "a handshake": handshake(),
        "a token": authenticate(GOOD),
        "metadata": whoever,
        "garbage": bare(b"\x60\x81garbage"),
    }.items():
        yield Conversation(
            f"versions unknown, then {what}", SASL, (unknown_versions, step, whoever)
        )
    trailing = (bare(HANDSHAKE_FRAME + b"xx"), authenticate(GOOD), whoever)
    yield Conversation("handshake with more behind it", SASL, trailing)


def _requests() -> Iterator[Conversation]:
    for api, (version, body) in OTHERS.items():
        one = request(api, version, body)
        yield Conversation(f"{api} after a handshake", SASL, (handshake(), one, whoever))
        if api != "SaslHandshake":
            yield Conversation(f"{api} first", SASL, (one, whoever))
            yield Conversation(f"{api} after versions", SASL, (versions(), one, whoever))
    yield Conversation("a token first", SASL, (authenticate(GOOD), whoever))
    yield Conversation("a token after versions", SASL, (versions(), authenticate(GOOD), whoever))
    for name, frame in GARBAGE.items():
        yield Conversation(f"{name} first", SASL, (bare(frame), whoever))
        yield Conversation(f"{name} after versions", SASL, (versions(), bare(frame), whoever))
        yield Conversation(f"{name} after a handshake", SASL, (handshake(), bare(frame), whoever))


def _scram() -> Iterator[Conversation]:
    for kind in MECHANISMS[1:]:
        bare_shake = handshake(kind, 0)
        right = scram(kind, bare_tokens=True)
        wrong = scram(kind, password="wrong", bare_tokens=True)
        yield Conversation(
            f"{kind}, right", SASL, (versions(), handshake(kind), scram(kind), whoever)
        )
        yield Conversation(f"{kind}, bare, right", SASL, (bare_shake, right, whoever))
        yield Conversation(f"{kind}, bare, wrong", SASL, (bare_shake, wrong, whoever))
        for name, one in {
            "wrong": scram(kind, password="wrong"),
            "unknown": scram(kind, user="nobody"),
            "badly spelt": scram(kind, user="a=2Cb="),
            "own id": scram(kind, id="alice"),
            "another's id": scram(kind, id="bob"),
            "own nonce": scram(kind, own_nonce=True),
            "an extension": scram(kind, extensions=",foo=bar"),
            "more extensions": scram(kind, extensions=",zeta=1,alpha=2,beta=3"),
            "a token of nobody": scram(kind, extensions=",tokenauth=true"),
            "garbage": authenticate(b"hello"),
            "no binding": authenticate(b"y,,n=alice,r=abc"),
            "a binding": authenticate(b"p=tls-unique,,n=alice,r=abc"),
            "no nonce": authenticate(b"n,,n=alice,r="),
            "garbage at last": refused_final,
        }.items():
            yield Conversation(f"{kind}, {name}", SASL, (handshake(kind), one, whoever))


def _sessions() -> Iterator[Conversation]:
    begun = (handshake(), authenticate(GOOD), whoever)
    for name, steps in {
        "over": (*begun, wait(SESSION_MS + 200), whoever),
        "again at once": (*begun, *begun, handshake(), whoever),
        "again later": (*begun, wait(1200), *begun, wait(2000), whoever),
        "again when it is over": (*begun, wait(SESSION_MS + 200), *begun),
        "another user": (*begun, handshake(), authenticate(b"\0admin\0admin-secret"), whoever),
        "another mechanism": (*begun, handshake("SCRAM-SHA-256"), scram("SCRAM-SHA-256"), whoever),
        "unknown mechanism": (*begun, handshake("X"), whoever),
        "wrong": (*begun, handshake(), authenticate(BAD), whoever),
        "wrong scram": (
            handshake("SCRAM-SHA-256"),
            scram("SCRAM-SHA-256"),
            handshake("SCRAM-SHA-256"),
            scram("SCRAM-SHA-256", password="wrong"),
            whoever,
        ),
        "metadata between": (*begun, handshake(), whoever),
        "versions between": (*begun, handshake(), versions(), whoever),
        "bare, again": (handshake(version=0), bare(GOOD), whoever, *begun),
        "again, bare": (*begun, handshake(version=0), bare(GOOD), whoever),
        "of an old client": (handshake(), authenticate(GOOD, 0), wait(SESSION_MS + 200), whoever),
    }.items():
        yield Conversation(f"session, {name}", SHORT, steps)  # fmt: skip
    yield Conversation("session without an end, again", SASL, (*begun, *begun))


def everything(new_wire: NewWire, release: str, ports: dict[int, str]) -> dict[str, list[Any]]:
    return {one.name: held(one, new_wire, release, ports) for one in conversations(release)}


def held(one: Conversation, new_wire: NewWire, release: str, ports: dict[int, str]) -> list[Any]:
    wire, answers = new_wire(one.listener), []
    peer = Peer(wire, release, ports)
    for step in one.steps:
        try:
            answers.append(plainly(step(peer)))
        except TimeoutError:
            answers.append(SILENT)
        if answers[-1] in (CLOSED, SILENT):
            break
    wire.close()
    return answers


def plainly(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: plainly(child) for name, child in value.items()}
    if isinstance(value, list):
        return [plainly(child) for child in value]
    return bytes(value).hex() if isinstance(value, bytes | bytearray | memoryview) else value


# --- over sockets -------------------------------------------------------------------------------


class SocketWire:
    def __init__(self, port: int) -> None:
        self._sock = socket.create_connection(("127.0.0.1", port), 5)

    def send(self, frame: bytes) -> bytes | None:
        try:
            self._sock.sendall(struct.pack(">i", len(frame)) + frame)
            size = self._read(4)
            return None if size is None else self._read(*struct.unpack(">i", size))
        except ConnectionError:
            return None

    def _read(self, count: int) -> bytes | None:
        found = b""
        while len(found) < count:
            chunk = self._sock.recv(count - len(found))
            if not chunk:
                return None
            found += chunk
        return found

    def wait(self, ms: int) -> None:
        """Of Kafka's own clock, which nobody turns; an end that comes sooner is seen later."""
        select.select([self._sock], [], [], ms / 1000)

    def close(self) -> None:
        self._sock.close()


def written(found: dict[str, Any]) -> str:
    """As it is recorded: a conversation a line."""
    rows = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items())
    return "{\n" + ",\n".join(rows) + "\n}\n"


def main(release: str, *ports: str) -> None:
    named = dict(zip((PLAINTEXT, SASL, SHORT), map(int, ports), strict=True))
    found = everything(
        lambda listener: SocketWire(named[listener]),
        release,
        {port: name for name, port in named.items()},
    )
    sys.stdout.write(written(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
