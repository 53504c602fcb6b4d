"""SCRAM-SHA-256 and -512: both sides prove that they know the password, and neither says it.

Kafka knows the channel binding "n" only. Of extensions one is heard (from 2.2 on): `tokenauth=true`
says that the name is a delegation token's. Releases before 3.9.2 believe a final message with a
nonce of the client's own (CVE-2024-56128), and so do their personas.

Sources: RFC 5802; ScramSaslServer, ScramMessages at 1.0.2, 2.2.1, 2.8.2 and 4.0; observed on all
five releases.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import NamedTuple, Protocol

from touchstone.reference_impl.broker.security.mechanism import EITHER_ID, CredentialsRefused
from touchstone.reference_impl.cluster.hash_order import copied_map
from touchstone.reference_impl.cluster.scram_credentials import FEWEST, ScramCredential
from touchstone.reference_impl.cluster.scram_keys import HASHES

_VALUE, _NAME = r"[\x01-\x2b\x2d-\x7f]+", r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
_PRINTABLE = r"[\x21-\x2b\x2d-\x7e]+"
_BASE64 = r"(?:[a-zA-Z0-9/+]{4})*(?:[a-zA-Z0-9/+]{3}=|[a-zA-Z0-9/+]{2}==)?"
_EXTENSIONS = rf"(?:,[A-Za-z]+={_VALUE})*"
_FIRST = re.compile(
    rf"n,(?:a=(?P<id>{_NAME}))?,(?:m={_VALUE},)?n=(?P<name>{_NAME}),r=(?P<nonce>{_PRINTABLE})"
    rf"(?P<extensions>{_EXTENSIONS})"
)
_FINAL = re.compile(
    rf"c=(?P<channel>{_BASE64}),r=(?P<nonce>{_PRINTABLE}){_EXTENSIONS},p=(?P<proof>{_BASE64})"
)
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_NONCE_BITS = 130
TOKEN_AUTHENTICATION = "tokenauth"


def fresh_nonce() -> str:
    """130 random bits in base 36 (ScramFormatter.secureRandomString)."""
    number, digits = secrets.randbits(_NONCE_BITS), ""
    while number:
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits or "0"


class Account(NamedTuple):
    user: str  # who its credential stands for
    credential: ScramCredential
    expires: int | None = None  # ms


class _First(NamedTuple):
    """What was said until the client's proof is awaited."""

    account: Account
    nonce: str  # both halves
    messages: str  # the client's first, without its header, and the server's


class Accounts(Protocol):
    """Whose credentials there are."""

    def user(self, name: str) -> Account | None: ...

    def token(self, token_id: str) -> Account | None: ...


class Scram:
    def __init__(
        self,
        mechanism: str,
        accounts: Accounts,
        *,
        checks_nonce: bool,
        hears_extensions: bool,
        token_sessions_end: bool,
        nonce: Callable[[], str] = fresh_nonce,
    ) -> None:
        self._hash, self._accounts = HASHES[mechanism], accounts
        self._checks_nonce, self._hears_extensions = checks_nonce, hears_extensions
        self._token_sessions_end, self._nonce = token_sessions_end, nonce
        self._first: _First | None = None
        self.user: str | None = None
        self.expires: int | None = None
        self.by_token = False

    def evaluate(self, token: bytes, now: int) -> bytes:
        text = token.decode("utf-8", "replace")
        return self._begin(text) if self._first is None else self._finish(text, self._first)

    def _begin(self, text: str) -> bytes:
        parts = _FIRST.fullmatch(text)
        if parts is None:
            raise CredentialsRefused
        extensions = self._extensions(parts["extensions"])
        user = _user(parts["name"])
        self.by_token = extensions.get(TOKEN_AUTHENTICATION, "").lower() == "true"
        account = self._accounts.token(user) if self.by_token else self._accounts.user(user)
        if account is None:
            raise CredentialsRefused
        credential = account.credential
        if (parts["id"] or user) != user:
            raise CredentialsRefused(EITHER_ID)
        if credential.iterations < FEWEST:
            raise CredentialsRefused
        nonce = parts["nonce"] + self._nonce()
        salt = b64encode(credential.salt).decode()
        answer = f"r={nonce},s={salt},i={credential.iterations}"
        bare = [f"n={parts['name']}", f"r={parts['nonce']}"]
        bare += [f"{name}={extensions[name]}" for name in copied_map(extensions)]
        self._first = _First(account, nonce, f"{','.join(bare)},{answer}")
        return answer.encode()

    def _extensions(self, text: str) -> dict[str, str]:
        if not self._hears_extensions or not text:
            return {}
        pairs = (each.partition("=") for each in text[1:].split(","))
        return {name: value for name, _, value in pairs}

    def _finish(self, text: str, first: _First) -> bytes:
        parts = _FINAL.fullmatch(text)
        if parts is None:
            raise CredentialsRefused
        if self._checks_nonce and not parts["nonce"].endswith(first.nonce):
            raise CredentialsRefused
        channel = b64encode(b64decode(parts["channel"])).decode()
        said = f"{first.messages},c={channel},r={parts['nonce']}".encode()
        credential, proof = first.account.credential, b64decode(parts["proof"])
        signature = hmac.digest(credential.stored_key, said, self._hash)
        if len(proof) != len(signature):
            raise CredentialsRefused
        client_key = bytes(a ^ b for a, b in zip(signature, proof, strict=True))
        stored_key = hashlib.new(self._hash, client_key).digest()
        if not hmac.compare_digest(stored_key, credential.stored_key):
            raise CredentialsRefused
        self.user = first.account.user
        if self._token_sessions_end:
            self.expires = first.account.expires
        return b"v=" + b64encode(hmac.digest(credential.server_key, said, self._hash))


def _user(name: str) -> str:
    """The name behind its spelling, in which "=" and "," are =3D and =2C."""
    text = name.replace("=2C", ",")
    if "=" in text.replace("=3D", ""):
        raise CredentialsRefused
    return text.replace("=3D", "=")
