"""Signed bearer tokens from a file or an authorization server, kept until they end soon.

Kafka's client fetches a token when it is made and renews it in a thread; here the connection that
needs one fetches it, and later ones have the same until 80 % of its time have passed. A token is
looked into (RFC 7519), not verified: that is the broker's part.

Sources: HttpJwtRetriever, FileJwtRetriever at 3.9.2 and 4.3.1; RFC 6749, section 4.4.
"""

from __future__ import annotations

import json
import ssl
import threading
import urllib.request
from base64 import b64encode, urlsafe_b64decode
from binascii import Error as NoBase64
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote_plus, urlencode

from touchstone.reference_impl.client.security.errors import SaslAuthenticationException
from touchstone.reference_impl.client.security.token_settings import URL, TokenSource

_MOST = 1 << 20  # bytes of an answer, and of a file
_KEPT = 0.8  # of a token's time


class BearerTokens:
    """`token` is called by any thread. Raises SaslAuthenticationException where there is none."""

    def __init__(self, source: TokenSource, context: ssl.SSLContext | None) -> None:
        self._source, self._context = source, context
        self._lock = threading.Lock()
        self._token, self._until = "", 0.0
        self.end = 0.0  # of the token that was given last, in ms since 1970

    def token(self, now: int) -> str:
        """A token that is good at this instant (ms since 1970)."""
        with self._lock:
            if now >= self._until:
                source = self._source
                self._token = _of_file(source.path) if source.path else self._of_server()
                self.end = _end(self._token)
                self._until = now + _KEPT * (self.end - now)
            return self._token

    def _of_server(self) -> str:
        source = self._source
        name, secret = source.client_id, source.secret
        if source.encodes:
            name, secret = quote_plus(name), quote_plus(secret)
        form = {"grant_type": "client_credentials"}
        if source.scope:
            form["scope"] = source.scope
        request = urllib.request.Request(
            source.url,
            urlencode(form).encode(),
            {
                "Authorization": f"Basic {b64encode(f'{name}:{secret}'.encode()).decode()}",
                "Content-Type": "application/x-www-form-urlencoded",
                "Accept": "application/json",
            },
        )
        try:
            with urllib.request.urlopen(
                request, timeout=source.timeout_s, context=self._context
            ) as answer:
                found = json.loads(answer.read(_MOST))
        except HTTPError as refused:
            refused.close()
            raise _none(f"{source.url} answers {refused.code} {refused.reason}") from refused
        except URLError as fault:
            raise _none(f"{source.url}: {fault.reason}") from fault
        except (OSError, ValueError) as fault:
            raise _none(f"{source.url}: {fault}") from fault
        token = found.get("access_token") if isinstance(found, dict) else None
        if not isinstance(token, str) or not token:
            raise _none(f"{source.url} answers without an access_token")
        return token


def _of_file(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")[:_MOST].strip()
    except (OSError, ValueError) as fault:
        raise _none(f"{path}: {getattr(fault, 'strerror', None) or fault}") from fault


def _end(token: str) -> float:
    """When the token ends, in ms since 1970. Raises SaslAuthenticationException."""
    parts = token.split(".")
    try:
        text = urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        claims: Any = json.loads(text)
        return float(claims["exp"]) * 1000
    except (IndexError, KeyError, TypeError, ValueError, NoBase64) as fault:
        raise _none("what was given is no JSON Web Token with an end (exp)") from fault


def _none(why: str) -> SaslAuthenticationException:
    return SaslAuthenticationException(f"there is no token by {URL}: {why}")
