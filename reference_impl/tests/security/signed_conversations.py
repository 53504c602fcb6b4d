"""What is said with OAUTHBEARER and signed tokens, right and wrong (see `conversations`).

    python -m touchstone.reference_impl.tests.security.signed_conversations RELEASE JWKS_FILE \\
        PLAIN_PORT SASL_PORT SHORT_PORT > recorded/signed-RELEASE.json

It writes the keys of its process into JWKS_FILE, and goes on when a line says that the broker runs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from touchstone.reference_impl.tests.security.bearer_conversations import first
from touchstone.reference_impl.tests.security.conversations import (
    CLOSED,
    PLAINTEXT,
    SASL,
    SHORT,
    Conversation,
    Peer,
    SocketWire,
    Step,
    authenticate,
    handshake,
    held,
    wait,
    whoever,
    written,
)
from touchstone.reference_impl.tests.security.signed_tokens import (
    CLAIMS,
    FUTURE,
    ISSUER,
    PAST,
    confused,
    jwks,
    part,
    signed,
    without,
)

MECHANISM = "OAUTHBEARER"
HANDLER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"
ALLOWED = "org.apache.kafka.sasl.oauthbearer.allowed.urls"
JAAS = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;"
SKEW_S = 600
KEYS = (
    "rsa", "rsa-2", "rs256-only", "for-encryption", "for-signing", "for-verifying",
    "of-another-use", "short", "ec-256", "ec-384", "ec-521", "ed-25519", "octets",
)  # fmt: skip


def settings(url: str) -> dict[str, str]:
    """Two listeners that read the same keys: SASL asks much of a token, SHORT little."""
    strict, lenient = (f"listener.name.{name.lower()}." for name in (SASL, SHORT))
    return {
        "listeners": f"{PLAINTEXT}://127.0.0.1:0,{SASL}://127.0.0.1:0,{SHORT}://127.0.0.1:0",
        "listener.security.protocol.map": f"{PLAINTEXT}:PLAINTEXT,{SASL}:{SASL},{SHORT}:{SASL}",
        "sasl.enabled.mechanisms": MECHANISM,
        "sasl.oauthbearer.jwks.endpoint.url": url,
        "sasl.oauthbearer.clock.skew.seconds": "0",
        **{
            f"{each}oauthbearer.{name}": value
            for each in (strict, lenient)
            for name, value in (
                ("sasl.jaas.config", JAAS), ("sasl.server.callback.handler.class", HANDLER)
            )
        },
        f"{strict}oauthbearer.sasl.oauthbearer.expected.audience": "another,touchstone",
        f"{strict}sasl.oauthbearer.expected.audience": "nobody",  # goes after the mechanism's own
        f"{strict}sasl.oauthbearer.expected.issuer": ISSUER,
        f"{strict}oauthbearer.sasl.oauthbearer.clock.skew.seconds": str(SKEW_S),
        f"{lenient}connections.max.reauth.ms": "3000",
        f"{lenient}sasl.oauthbearer.scope.claim.name": "rights",
        f"{lenient}oauthbearer.sasl.oauthbearer.sub.claim.name": "email",
        ALLOWED: url,
    }  # fmt: skip


def strict(now: int) -> dict[str, str]:
    """Tokens for the listener that asks for an issuer and an audience; `now` in seconds."""
    return {**signatures(), **dates(now), **names()}


def signatures() -> dict[str, str]:
    header = {"alg": "none"}
    good = signed()
    head, body, signature = good.split(".")
    return {
        "right": good,
        **{
            f"{alg} by {kid}": signed(kid=kid, alg=alg)
            for alg, kid in {
                "RS384": "rsa", "RS512": "rsa-2", "PS256": "rsa", "PS384": "rsa-2", "PS512": "rsa",
                "ES256": "ec-256", "ES384": "ec-384", "ES512": "ec-521", "EdDSA": "ed-25519",
                "HS256": "octets", "HS512": "octets",
            }.items()
        },
        "no kid, and not the first key that fits": signed(kid=None, by="rs256-only"),
        "no kid, and one key of the curve": signed(kid=None, alg="ES384", by="ec-384"),
        "no kid, and the first key that fits": signed(kid=None, by="rsa", alg="RS512"),
        "unknown kid": signed(kid="nobody's", by="rsa"),
        "unknown kid of more than a thousand letters": signed(kid="x" * 1001, by="rsa"),
        "kid of another key": signed(kid="rsa", by="rsa-2"),
        "kid of a key of another kind": signed(kid="ec-256", by="rsa"),
        "another curve than the algorithm's": signed(kid="ec-384", by="ec-256", alg="ES256"),
        "a key that says another algorithm": signed(kid="rs256-only", alg="RS512"),
        "a key for encryption": signed(kid="for-encryption"),
        "a key for signing": signed(kid="for-signing"),
        "a key for verifying": signed(kid="for-verifying"),
        "a key that says an algorithm of encryption": signed(kid="of-another-use"),
        "a key of 1024 bits": signed(kid="short"),
        "wrong signature": f"{head}.{body}.{signature[:-8]}AAAAAAAA",
        "no signature": f"{head}.{body}.",
        "another's claims": f"{head}.{part(CLAIMS | {'sub': 'admin'})}.{signature}",
        "unsigned": f"{part(header)}.{part(CLAIMS)}.",
        "unsigned, with a signature": f"{part(header)}.{part(CLAIMS)}.c2ln",
        "unsigned, with a kid": f"{part(header | {'kid': 'rsa'})}.{part(CLAIMS)}.c2ln",
        "HMAC with the public keys": confused(jwks("rsa").encode()),
        "an unknown algorithm": f"{part({'alg': 'RS1'})}.{part(CLAIMS)}.{signature}",
        "no algorithm": f"{part({'kid': 'rsa'})}.{part(CLAIMS)}.{signature}",
        "an algorithm that is a number": f"{part({'alg': 7})}.{part(CLAIMS)}.{signature}",
        "crit b64": signed(crit=["b64"]),
        "crit of something unknown": signed(crit=["touchstone"]),
        "crit that is no list": signed(crit="b64"),
        "another type": signed(typ="at+jwt"),
        "a nested token": signed(cty="JWT"),
        "header twice the same name": _raw(b'{"alg":"RS256","kid":"rsa","kid":"rsa"}', body),
        "two parts": f"{head}.{body}",
        "four parts": f"{good}.x",
        "no JSON": "bm9uZQ.bm9uZQ.bm9uZQ",
        "claims that are a list": signed([CLAIMS]),
        "letters that are not base64url": f"{head}.{body}.{signature[:8]}~~{signature[8:]}",
    }  # fmt: skip


def dates(now: int) -> dict[str, str]:
    return {
        "expired": signed(CLAIMS | {"exp": PAST + 1}),
        "expired within the skew": signed(CLAIMS | {"exp": now - SKEW_S // 2}),
        "expired beyond the skew": signed(CLAIMS | {"exp": now - 2 * SKEW_S}),
        "no end": signed(without("exp")),
        "an end in words": signed(CLAIMS | {"exp": "soon"}),
        "an end that is a fraction": signed(CLAIMS | {"exp": FUTURE + 0.5}),
        "an end beyond a long": signed(CLAIMS | {"exp": 1 << 70}),
        "an end whose milliseconds are beyond a long": signed(CLAIMS | {"exp": (1 << 63) // 500}),
        "not begun, within the skew": signed(CLAIMS | {"nbf": now + SKEW_S // 2}),
        "not begun": signed(CLAIMS | {"nbf": now + 2 * SKEW_S}),
        "begins after its end": signed(CLAIMS | {"nbf": FUTURE + 1}),
        "begins in words": signed(CLAIMS | {"nbf": "now"}),
        "not issued": signed(without("iat")),
        "issued later": signed(CLAIMS | {"iat": FUTURE - 10}),
        "issued after its end": signed(CLAIMS | {"iat": FUTURE + 1}),
        "issued before 1970": signed(CLAIMS | {"iat": -1}),
        "issued in words": signed(CLAIMS | {"iat": "now"}),
    }


def names() -> dict[str, str]:
    return {
        "no audience": signed(without("aud")),
        "another audience": signed(CLAIMS | {"aud": "kafka"}),
        "audiences, one right": signed(CLAIMS | {"aud": ["kafka", "another"]}),
        "audiences, one a number": signed(CLAIMS | {"aud": ["touchstone", 7]}),
        "the listener's audience": signed(CLAIMS | {"aud": "nobody"}),
        "no issuer": signed(without("iss")),
        "another issuer": signed(CLAIMS | {"iss": ISSUER + "/"}),
        "an issuer that is a list": signed(CLAIMS | {"iss": [ISSUER]}),
        "nobody's": signed(without("sub")),
        "of a number": signed(CLAIMS | {"sub": 7}),
        "of blanks": signed(CLAIMS | {"sub": "  "}),
        "no scope": signed(without("scope")),
        "an empty scope": signed(CLAIMS | {"scope": ""}),
        "a blank scope": signed(CLAIMS | {"scope": " "}),
        "scopes in one text": signed(CLAIMS | {"scope": "read write"}),
        "scopes": signed(CLAIMS | {"scope": ["read", "write"]}),
        "no scopes": signed(CLAIMS | {"scope": []}),
        "a scope twice": signed(CLAIMS | {"scope": ["read", "read "]}),
        "a scope that is a number": signed(CLAIMS | {"scope": 7}),
        "scopes, one a number": signed(CLAIMS | {"scope": ["read", 7]}),
        "scopes, one null": signed(CLAIMS | {"scope": ["read", None]}),
        "an id that is a number": signed(CLAIMS | {"jti": 7}),
    }


def _raw(header: bytes, body: str) -> str:
    return f"{part(header)}.{body}.c2ln"


MAIL: dict[str, Any] = {"email": "a@b", "iat": PAST, "exp": FUTURE}


def lenient(now: int) -> dict[str, str]:
    """Tokens for the listener with claim names of its own, and no skew."""
    return {
        "own claims": signed(MAIL | {"rights": ["a"]}),
        "own claims, and the usual": signed(without("aud") | MAIL),
        "an audience where none is expected": signed(MAIL | {"aud": "x"}),
        "no audiences where none is expected": signed(MAIL | {"aud": []}),
        "an issuer where none is expected": signed(MAIL | {"iss": "x"}),
        "not its own claims": signed(without("aud")),
        "a usual claim that is a number": signed(MAIL | {"sub": 7}),
        "an own scope twice": signed(MAIL | {"rights": ["a", "a"]}),
        "expired without a skew": signed(MAIL | {"exp": now - 60}),
        "not begun without a skew": signed(MAIL | {"nbf": now + 600}),
    }


def lifetime(message: bytes) -> Step:
    """The answer, its session's lifetime in hours: the clocks of two processes are not one."""

    def step(peer: Peer) -> Any:
        answer = peer.authenticate(message, 2)
        if answer == CLOSED:
            return answer
        return answer | {"session_lifetime_ms": round(answer["session_lifetime_ms"] / 3_600_000)}

    return step


def conversations(now: int) -> Iterator[Conversation]:
    """`now` is the broker's time in seconds since 1970."""
    for name, token in strict(now).items():
        message = first(token)
        over = name == "expired within the skew"  # a session that has ended when it begins
        then = wait(50) if over else authenticate(b"\x01", 0)
        steps = (handshake(MECHANISM), authenticate(message, 0), then, whoever)
        yield Conversation(name, SASL, steps)
    for name, token in lenient(now).items():
        steps = (handshake(MECHANISM), authenticate(first(token)), authenticate(b"\x01"))
        yield Conversation(name, SHORT, (*steps, whoever))
    right = first(signed(CLAIMS | {"exp": now + 2 * 3_600}))
    yield Conversation("two hours", SASL, (handshake(MECHANISM), lifetime(right), whoever))
    for name, id in {"own id": "alice", "another's id": "bob"}.items():
        steps = (handshake(MECHANISM), authenticate(first(signed(), id=id), 0), whoever)
        yield Conversation(name, SASL, steps)
    more = first(signed(), more="traceId=7\x01")
    yield Conversation("an extension", SASL, (handshake(MECHANISM), authenticate(more, 0), whoever))


def main(release: str, file: str, *ports: str) -> None:
    Path(file).write_text(jwks(*KEYS), encoding="utf-8")
    sys.stdin.readline()
    named = dict(zip((PLAINTEXT, SASL, SHORT), map(int, ports), strict=True))
    by_port = {port: name for name, port in named.items()}
    found = {
        one.name: held(one, lambda name: SocketWire(named[name]), release, by_port)
        for one in conversations(int(time.time()))
    }
    sys.stdout.write(written(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
