"""What is drawn in SASL exchanges and in delegation tokens: honest answers, legal ones, faults.

Rows as in test_normalize: an honest conversation, a change that is allowed, and changes that look
like it and are faults.
"""

from __future__ import annotations

from typing import Any

from touchstone.harness.model import sasl_messages
from touchstone.harness.tests.conversations import CLOCK, conversation

HOUR_MS = 3_600_000
NONCE = sasl_messages.CLIENT_NONCE.encode()
FIRST = sasl_messages.scram("first", "SCRAM-SHA-256", "alice")
BY_TOKEN = sasl_messages.scram("first", "SCRAM-SHA-256", "id", extensions=",tokenauth=true")
BEARER = sasl_messages.bearer({"sub": "alice", "exp": CLOCK // 1000 + 100}, {"alg": "none"})


def _said(token: bytes, first: bytes = FIRST, **fields: Any) -> Any:
    answer = {"error_code": 0, "error_message": None, "auth_bytes": token, **fields}
    return conversation(("asked", "SaslAuthenticate", 1, {"auth_bytes": first}, answer))


def _challenge(drawn: bytes, salt: bytes = b"c2FsdA==", count: int = 4096, nonce: bytes = NONCE):
    return b"r=%b%b,s=%b,i=%d" % (nonce, drawn, salt, count)


def _session(lifetime: int) -> Any:
    return _said(b"", BEARER, session_lifetime_ms=lifetime)


def _token(
    token_id: str = "AAAAAAAAAAAAAAAAAAAAAA", hmac: bytes = b"h" * 64, issued: int = CLOCK,
    lasts: int = 24 * HOUR_MS,
) -> Any:  # fmt: skip
    answer = {
        "error_code": 0, "principal_type": "User", "principal_name": "alice",
        "issue_timestamp_ms": issued, "expiry_timestamp_ms": issued + lasts,
        "max_timestamp_ms": issued + 168 * HOUR_MS, "token_id": token_id, "hmac": hmac,
    }  # fmt: skip
    request = {"renewers": [], "max_lifetime_ms": -1}
    return conversation(("asked", "CreateDelegationToken", 1, request, answer))


def _refused(connection: str, code: int = 31, more: str = " is not authorized.") -> Any:
    said = f"Request Request(processor=0, connectionId={connection}, buffer=null){more}"
    answer = {"error_code": code, "error_message": said, "topics": []}
    request = {"timeout_ms": 1, "topics": None}
    return conversation(("asked", "ListPartitionReassignments", 0, request, answer))


DIFFERENCES = {
    "quoted-requests": (
        _refused("127.0.0.1:1-127.0.0.1:2-0-0"),
        _refused("127.0.0.1:1-127.0.0.1:3-0-1"),
        [_refused("127.0.0.1:1-127.0.0.1:2-0-0", more=" is fine."), _refused("x", code=0)],
    ),
    "scram-nonces": (
        _said(_challenge(b"drawn")),
        _said(_challenge(b"other")),
        [
            _said(_challenge(b"")),
            _said(_challenge(b"drawn", salt=b"b3RoZXI=")),
            _said(_challenge(b"drawn", count=8192)),
            _said(_challenge(b"drawn", nonce=b"another")),
            _said(b"v=c2lnbmF0dXJl"),
        ],
    ),
    "session-ends": (
        _session(99_000),
        _session(97_000),
        [_session(0), _session(3_600_000), _session(1_000_000)],
    ),
    "token-ids": (_token(), _token(token_id="BBBBBBBBBBBBBBBBBBBBBB"), [_token(token_id="")]),
    "token-hmacs": (_token(), _token(hmac=b"i" * 64), [_token(hmac=b"")]),
    "token-times": (
        _token(),
        _token(issued=CLOCK + 50),
        [_token(issued=-1), _token(lasts=HOUR_MS), _token(issued=CLOCK + 30 * 60_000)],
    ),
}
SALTS = (
    _said(_challenge(b"drawn"), BY_TOKEN),
    _said(_challenge(b"other", salt=b"b3RoZXI="), BY_TOKEN),
)
