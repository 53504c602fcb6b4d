"""SCRAM-SHA-256 and -512: both sides prove that they know the password, and neither says it.

Kafka knows the channel binding "n" only. Of extensions one is heard (from 2.2 on): `tokenauth=true`
says that the name is a delegation token's. Releases before 3.9.2 believe a final message with a
nonce of the client's own (CVE-2024-56128), 3.9.2 one that only ends with the server's, and so do
their personas.

Sources: RFC 5802; ScramSaslServer, ScramMessages at 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1; observed
on all five releases.
"""

from __future__ import annotations

import hmac
import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import NamedTuple, Protocol

from touchstone.reference_impl.broker.security.mechanism import EITHER_ID, CredentialsRefused
from touchstone.reference_impl.cluster.hash_order import copied_map
from touchstone.reference_impl.cluster.scram_credentials import ScramCredential
from touchstone.reference_impl.security.scram import (
    BASE64,
    NAME,
    PRINTABLE,
    TOKEN_AUTHENTICATION,
    VALUE,
    fresh_nonce,
    read_name,
    signature,
    stored_key,
    veiled,
)
from touchstone.reference_impl.security.scram_limits import FEWEST

_EXTENSIONS = rf"(?:,[A-Za-z]+={VALUE})*"
_FIRST = re.compile(
    rf"n,(?:a=(?P<id>{NAME}))?,(?:m={VALUE},)?n=(?P<name>{NAME}),r=(?P<nonce>{PRINTABLE})"
    rf"(?P<extensions>{_EXTENSIONS})"
)
_FINAL = re.compile(
    rf"c=(?P<channel>{BASE64}),r=(?P<nonce>{PRINTABLE}){_EXTENSIONS},p=(?P<proof>{BASE64})"
)


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


# What a final message must say of the nonce that was told (quirk sasl.scram-nonce-is-repeated).
_REPEATS: dict[str, Callable[[str, str], bool]] = {
    "never": lambda said, told: True,
    "at the end": str.endswith,
    "whole": str.__eq__,
}


class Scram:
    def __init__(
        self,
        mechanism: str,
        accounts: Accounts,
        *,
        repeats_nonce: str,
        hears_extensions: bool,
        token_sessions_end: bool,
        nonce: Callable[[], str] = fresh_nonce,
    ) -> None:
        self._mechanism, self._accounts = mechanism, accounts
        self._repeats_nonce, self._hears_extensions = repeats_nonce, hears_extensions
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
        if not _REPEATS[self._repeats_nonce](parts["nonce"], first.nonce):
            raise CredentialsRefused
        channel = b64encode(b64decode(parts["channel"])).decode()
        said = f"{first.messages},c={channel},r={parts['nonce']}".encode()
        credential, proof = first.account.credential, b64decode(parts["proof"])
        ours = signature(self._mechanism, credential.stored_key, said)
        if len(proof) != len(ours):
            raise CredentialsRefused
        found = stored_key(self._mechanism, veiled(ours, proof))
        if not hmac.compare_digest(found, credential.stored_key):
            raise CredentialsRefused
        self.user = first.account.user
        if self._token_sessions_end:
            self.expires = first.account.expires
        return b"v=" + b64encode(signature(self._mechanism, credential.server_key, said))


def _user(name: str) -> str:
    try:
        return read_name(name)
    except ValueError:
        raise CredentialsRefused from None
