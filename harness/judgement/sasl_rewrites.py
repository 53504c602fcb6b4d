"""What is drawn in SASL exchanges and in delegation tokens, as symbols. Pure.

A server draws its half of SCRAM's nonce, so its last message, which signs it, is another every
time: whether it is right, an expectation says (`Scram` of placeholders). A token's id and hmac are
drawn. Its ends, and that of a session that one began, are whole hours from the clock.
"""

from __future__ import annotations

import contextlib
import re
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from touchstone.harness.model import bounded

HOUR_MS = 3_600_000
LATE_MS = 600_000  # what a slow run may take
_REQUEST = re.compile(r"Request\(processor=.*\)", re.DOTALL)
EARLY_MS = 60_000  # by which a broker's clock may be behind
_FIRST = re.compile(rb"n,[^,]*,n=[^,]*,r=([^,]+)(.*)", re.DOTALL)
_CHALLENGE = re.compile(rb"r=([^,]+),s=([^,]+),(i=\d+)")
_BEARER = re.compile(rb"auth=Bearer [^.]*\.([^.]*)\.")
_BY_TOKEN = b",tokenauth=true"


Tables = dict[str, dict[Any, str]]  # those of `Symbols`
NONCES, ENDS = "scram-nonce", "bearer-end"


class Symbols(Protocol):
    """What a rewrite sees of normalize.Symbols."""

    tables: Tables
    clock_ms: int

    def symbol(self, table: str, value: Any) -> str: ...


def learn(body: Mapping[str, Any], tables: Tables) -> None:
    """Remember the nonce of a client's first message, and whether it names a token; of a bearer
    token when it ends.
    """
    said = bytes(body["auth_bytes"])
    found = _FIRST.fullmatch(said)
    if found is not None:
        tables.setdefault(NONCES, {})[found[1]] = "token" if _BY_TOKEN in found[2] else "user"
    end = _end(_BEARER.search(said))
    if end is not None:
        tables.setdefault(ENDS, {})[end] = ""


def _end(token: re.Match[bytes] | None) -> int | None:
    """When a bearer token ends (ms); None where there is none, or it does not say."""
    with contextlib.suppress(ValueError, AttributeError, TypeError):
        text = token[1] if token is not None else b""
        claims = bounded.json_of(urlsafe_b64decode(text + b"=" * (-len(text) % 4)))
        return int(claims["exp"] * 1000) if "exp" in claims else None
    return None


def message(symbols: Symbols, value: Any, _: Any) -> Any:
    """A server's message with a symbol for what it drew: its half of the nonce, and the salt of a
    token; and for its signature.
    """
    if not isinstance(value, bytes):
        return value
    challenge = _CHALLENGE.fullmatch(value)
    if challenge is not None:
        nonces = symbols.tables.get(NONCES, {})
        nonce = next((one for one in nonces if challenge[1].startswith(one)), challenge[1])
        if nonce == challenge[1]:
            return value
        salt = b"$salt" if nonces[nonce] == "token" else challenge[2]
        return b"r=%b$nonce,s=%b,%b" % (nonce, salt, challenge[3])
    return b"v=$signature" if value.startswith(b"v=") else value


def lifetime(symbols: Symbols, value: Any, _: Any) -> Any:
    """A time from a moment of the run to the end of a bearer token, or of hours, as that."""
    for end in symbols.tables.get(ENDS, ()) if isinstance(value, int) and value else ():
        if -EARLY_MS <= end - symbols.clock_ms - value <= LATE_MS:
            return "$as-long-as-the-token"
    if (
        not isinstance(value, int)
        or value < HOUR_MS - LATE_MS
        or not 0 < -value % HOUR_MS < LATE_MS
    ):
        return value
    return f"${-(-value // HOUR_MS)}-hours"


def instant(symbols: Symbols, value: Any, _: Any) -> Any:
    """An instant that is a whole number of hours from a moment of the run, as that."""
    if not isinstance(value, int) or value <= 0:
        return value
    more, off = divmod(value - symbols.clock_ms + EARLY_MS, HOUR_MS)
    return f"$now+{more}h" if more >= 0 and off < LATE_MS + EARLY_MS else value


def quoted(symbols: Symbols, value: Any, _: Any) -> Any:
    """A message without the request that it quotes, as Java prints it."""
    return _REQUEST.sub("$request", value) if isinstance(value, str) else value


def drawn(table: str) -> Callable[[Symbols, Any, Any], Any]:
    """A value that is drawn, "" and no bytes aside."""
    return lambda symbols, value, _: symbols.symbol(table, value) if value else value


_AUTHENTICATE = frozenset({"SaslAuthenticate"})
_TOKENS = frozenset(f"{verb}DelegationToken" for verb in ("Create", "Renew", "Expire", "Describe"))
_CLUSTER = frozenset({
    "DescribeAcls", "CreateAcls", "DeleteAcls", "ListPartitionReassignments",
    "AlterPartitionReassignments", "AlterUserScramCredentials", "DescribeUserScramCredentials",
    "DescribeClientQuotas", "AlterClientQuotas",
})  # fmt: skip
_TIMES = ("issue_timestamp", "expiry_timestamp", "max_timestamp")
# Fields of normalize.Reason: name, sentence, fields, rewrite, APIs.
ROWS: tuple[tuple[str, str, tuple[str, ...], Callable[..., Any], frozenset[str]], ...] = (
    (
        "scram-nonces", "A server draws its half of SCRAM's nonce, and signs it.",
        ("auth_bytes",), message, _AUTHENTICATE,
    ),
    (
        "session-ends", "A session that a token began ends with it, by the clock.",
        ("session_lifetime_ms",), lifetime, _AUTHENTICATE,
    ),
    ("token-ids", "A delegation token's id is drawn.", ("token_id",), drawn("token-id"), _TOKENS),
    (
        "token-hmacs", "A delegation token's hmac follows from its id.",
        ("hmac",), drawn("hmac"), _TOKENS,
    ),
    (
        "quoted-requests", "A refusal on the cluster quotes the request and its connection.",
        ("error_message",), quoted, _CLUSTER,
    ),
    (
        "token-times", "A delegation token begins by the clock and ends whole hours later.",
        (*_TIMES, *(f"{name}_ms" for name in _TIMES)), instant, _TOKENS,
    ),
)  # fmt: skip
