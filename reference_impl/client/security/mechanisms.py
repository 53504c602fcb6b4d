"""The client's side of each SASL mechanism: tokens in, tokens out (Java's SaslClient).

Sources: RFC 4616, RFC 5802, RFC 7628; ScramSaslClient, OAuthBearerSaslClient at 4.3.1; PlainClient
of the JDK.
"""

from __future__ import annotations

import hmac
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from typing import Protocol

from touchstone.reference_impl.security.scram import (
    BASE64,
    PRINTABLE,
    VALUE,
    client_key,
    fresh_nonce,
    salted,
    server_key,
    signature,
    spelled,
    stored_key,
    veiled,
)
from touchstone.reference_impl.security.scram_limits import FEWEST, MOST_TAKEN

_ADDED = rf"(?:,[A-Za-z]+={VALUE})*"
_SERVER_FIRST = re.compile(
    rf"(?:m={VALUE},)?r=(?P<nonce>{PRINTABLE}),s=(?P<salt>{BASE64}),i=(?P<rounds>[0-9]+){_ADDED}"
)
_SERVER_FINAL = re.compile(rf"(?:e=(?P<error>{VALUE})|v=(?P<proof>{BASE64})){_ADDED}")
_CHANNEL = b64encode(b"n,,").decode()  # no channel binding
_GO_ON = b"\x01"  # what is said to a status, so that the server can refuse in words


class BadChallenge(Exception):
    """The server's token is not what its mechanism wants; the text is that of Java's."""


class SaslClient(Protocol):
    """The client's side of one exchange; not used again."""

    def first(self, now: int) -> bytes:
        """The first token; `now` in ms since 1970."""

    def answer(self, challenge: bytes) -> bytes | None:
        """The next token, None where all is said. BadChallenge."""


NewSaslClient = Callable[[], SaslClient]


class Plain:
    def __init__(self, user: str, password: str) -> None:
        self._token = f"\0{user}\0{password}".encode()

    def first(self, now: int) -> bytes:
        return self._token

    def answer(self, challenge: bytes) -> bytes | None:
        return None


class Scram:
    """`extensions` go with the name: `tokenauth=true` says that it is a delegation token's."""

    def __init__(
        self,
        mechanism: str,
        user: str,
        password: str,
        extensions: Mapping[str, str],
        nonce: Callable[[], str] = fresh_nonce,
    ) -> None:
        self._mechanism, self._password = mechanism, password.encode()
        self._nonce = nonce()
        added = "".join(f",{name}={value}" for name, value in extensions.items())
        self._bare = f"n={spelled(user)},r={self._nonce}{added}"
        self._expected: bytes | None = None  # the server's proof, once ours is given

    def first(self, now: int) -> bytes:
        return f"n,,{self._bare}".encode()

    def answer(self, challenge: bytes) -> bytes | None:
        text = challenge.decode("utf-8", "replace")
        if self._expected is None:
            return self._prove(text)
        self._check(text, self._expected)
        return None

    def _prove(self, text: str) -> bytes:
        parts = _SERVER_FIRST.fullmatch(text)
        if parts is None:
            raise BadChallenge(f"Invalid SCRAM server first message format: {text}")
        nonce, digits = parts["nonce"], parts["rounds"].lstrip("0") or "0"
        if not nonce.startswith(self._nonce):
            raise BadChallenge("Invalid server nonce: does not start with client nonce")
        if len(digits) > len(str(MOST_TAKEN)) or int(digits) > MOST_TAKEN:
            raise BadChallenge(f"Requested iterations {digits[:20]} is more than {MOST_TAKEN}")
        rounds = int(digits)
        if rounds < FEWEST:
            name = self._mechanism.replace("-", "_")
            raise BadChallenge(
                f"Requested iterations {rounds} is less than the minimum {FEWEST} for {name}"
            )
        kind = self._mechanism
        hashed = salted(kind, self._password, b64decode(parts["salt"]), rounds)
        ours = f"c={_CHANNEL},r={nonce}"
        said = f"{self._bare},{text},{ours}".encode()
        self._expected = signature(kind, server_key(kind, hashed), said)
        key = client_key(kind, hashed)
        proof = veiled(key, signature(kind, stored_key(kind, key), said))
        return f"{ours},p={b64encode(proof).decode()}".encode()

    def _check(self, text: str, expected: bytes) -> None:
        parts = _SERVER_FINAL.fullmatch(text)
        if parts is None:
            raise BadChallenge(f"Invalid SCRAM server final message format: {text}")
        if parts["error"]:
            name = self._mechanism.replace("-", "_")
            raise BadChallenge(
                f"Sasl authentication using {name} failed with error: {parts['error']}"
            )
        if not hmac.compare_digest(b64decode(parts["proof"]), expected):
            raise BadChallenge("Invalid server signature in server final message")


class OAuthBearer:
    """`token` makes one that is good at an instant (ms)."""

    def __init__(self, token: Callable[[int], str], extensions: Mapping[str, str]) -> None:
        self._token, self._extensions = token, extensions

    def first(self, now: int) -> bytes:
        pairs = "".join(f"{name}={value}\x01" for name, value in self._extensions.items())
        return f"n,,\x01auth=Bearer {self._token(now)}\x01{pairs}\x01".encode()

    def answer(self, challenge: bytes) -> bytes | None:
        return _GO_ON if challenge else None
