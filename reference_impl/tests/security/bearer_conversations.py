"""What is said with OAUTHBEARER, right and wrong (see `conversations`).

    python -m touchstone.reference_impl.tests.security.bearer_conversations RELEASE \\
        PLAIN_PORT SASL_PORT SHORT_PORT > recorded/bearer-RELEASE.json
"""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

from touchstone.reference_impl.tests.security.conversations import (
    PLAINTEXT,
    SASL,
    SHORT,
    Conversation,
    SocketWire,
    authenticate,
    bare,
    handshake,
    held,
    whoever,
    written,
)

MECHANISM = "OAUTHBEARER"
JAAS = (
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
    ' unsecuredLoginStringClaim_sub="admin"{};'
)
REQUIRED = ' unsecuredValidatorRequiredScope="read write"'
SETTINGS = {
    "listeners": f"{PLAINTEXT}://127.0.0.1:0,{SASL}://127.0.0.1:0,{SHORT}://127.0.0.1:0",
    "listener.security.protocol.map": f"{PLAINTEXT}:PLAINTEXT,{SASL}:{SASL},{SHORT}:{SASL}",
    "sasl.enabled.mechanisms": MECHANISM,
    f"listener.name.{SHORT.lower()}.connections.max.reauth.ms": "3000",
    f"listener.name.{SHORT.lower()}.oauthbearer.sasl.jaas.config": JAAS.format(""),
    f"listener.name.{SASL.lower()}.oauthbearer.sasl.jaas.config": JAAS.format(REQUIRED),
}
PAST, FUTURE = 1_000_000_000, 4_000_000_000  # seconds since 1970
HEADER = {"alg": "none"}
CLAIMS: dict[str, Any] = {"sub": "alice", "exp": FUTURE}


def part(value: Any) -> str:
    return b64encode(json.dumps(value).encode()).decode().rstrip("=")


def token(claims: Any = CLAIMS, header: Any = HEADER, signature: str = "") -> str:
    return f"{part(header)}.{part(claims)}.{signature}"


def first(
    text: str, scheme: str = "Bearer", id: str = "", more: str = "", header: str | None = None
) -> bytes:
    start = f"n,{f'a={id}' if id else ''}," if header is None else header
    return f"{start}\x01auth={scheme} {text}\x01{more}\x01".encode()


MESSAGES = {
    "right": first(token()),
    "issued before": first(token(CLAIMS | {"iat": PAST})),
    "a fraction": first(token(CLAIMS | {"exp": FUTURE + 0.5})),
    "small letters": first(token(), scheme="bearer"),
    "own id": first(token(), id="alice"),
    "an extension": first(token(), more="key=value\x01"),
    "another's id": first(token(), id="bob"),
    "another scheme": first(token(), scheme="Basic"),
    "no message": b"hello",
    "empty": b"",
    "no header": first(token(), header="y,,"),
    "no token": b"n,,\x01key=value\x01\x01",
    "expired": first(token(CLAIMS | {"exp": PAST})),
    "without an end": first(token({"sub": "alice"})),
    "an end in words": first(token(CLAIMS | {"exp": "soon"})),
    "nobody's": first(token({"exp": FUTURE})),
    "of a number": first(token(CLAIMS | {"sub": 7})),
    "issued later": first(token(CLAIMS | {"iat": FUTURE - 10})),
    "issued after its end": first(token({"sub": "alice", "exp": PAST, "iat": PAST + 1})),
    "issued in words": first(token(CLAIMS | {"iat": "now"})),
    "signed": first(token(signature="c2ln")),
    "of an algorithm": first(token(header={"alg": "RS256"})),
    "of no algorithm": first(token(header={})),
    "two parts": first(f"{part(HEADER)}.{part(CLAIMS)}"),
    "four parts": first(token() + ".x"),
    "no JSON": first("bm9uZQ.bm9uZQ."),
    "no base64": first("~~.~~."),
}
SCOPES = {
    "one scope": "read",
    "both scopes": ["read", "write", "more"],
    "both in one text": "read write",
    "no scope": [],
    "a scope that is a number": 7,
}


def conversations() -> Iterator[Conversation]:
    for name, message in MESSAGES.items():
        steps = (handshake(MECHANISM), authenticate(message), authenticate(b"\x01"), whoever)
        if name in ("right", "expired"):
            bare_steps = (handshake(MECHANISM, 0), bare(message), bare(b"\x01"), whoever)
            yield Conversation(f"bare, {name}", SHORT, bare_steps)
            twice = (handshake(MECHANISM), authenticate(message), authenticate(MESSAGES["right"]))
            yield Conversation(f"{name}, and right", SHORT, (*twice, whoever))
        yield Conversation(name, SHORT, steps)
    for name, scope in SCOPES.items():
        message = first(token(CLAIMS | {"scope": scope}))
        steps = (handshake(MECHANISM), authenticate(message, 0), authenticate(b"\x01", 0), whoever)
        yield Conversation(name, SASL, steps)
    renewed = (handshake(MECHANISM), authenticate(MESSAGES["right"]), whoever)
    other = first(token(CLAIMS | {"sub": "bob"}))
    yield Conversation("renewed", SHORT, (*renewed, *renewed))
    yield Conversation("renewed by another", SHORT,
                       (*renewed, handshake(MECHANISM), authenticate(other), whoever))  # fmt: skip


def main(release: str, *ports: str) -> None:
    named = dict(zip((PLAINTEXT, SASL, SHORT), map(int, ports), strict=True))
    by_port = {port: name for name, port in named.items()}
    found = {
        one.name: held(one, lambda name: SocketWire(named[name]), release, by_port)
        for one in conversations()
    }
    sys.stdout.write(written(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
