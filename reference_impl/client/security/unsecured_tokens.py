"""Tokens that nobody signs, made of a login module's options: OAUTHBEARER for tests.

Sources: OAuthBearerUnsecuredLoginCallbackHandler at 4.3.1; KIP-255, KIP-342.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import Any

_OPTION = "unsecuredLogin"
_EXTENSION, _LIFETIME = f"{_OPTION}Extension_", f"{_OPTION}LifetimeSeconds"
_RESERVED = ("iat", "exp")
_KEY, _VALUE = re.compile(r"[A-Za-z]+"), re.compile(r"[\x21-\x7e \t\r\n]+")


class UnsecuredLogin:
    """Raises ValueError, with Kafka's message where it has one, for options that make no token."""

    def __init__(self, options: Mapping[str, str]) -> None:
        if all(name.startswith(_EXTENSION) for name in options):
            raise ValueError("Extensions provided in login context without a token")
        self.extensions = _extensions(options)
        self._claims = _claims(options)
        lifetime = options.get(_LIFETIME, "3600")
        if not lifetime.lstrip("-").isdecimal():
            raise ValueError(f'For input string: "{lifetime}"')
        self._lifetime_s = int(lifetime)
        principal = options.get(f"{_OPTION}PrincipalClaimName", "").strip() or "sub"
        if not str(self._claims.get(principal) or "").strip():
            raise ValueError(f"No principal name in JWT claim: {principal}")

    def token(self, now: int) -> str:
        """A token that begins at this instant (ms since 1970)."""
        issued = now / 1000
        claims = {"exp": issued + self._lifetime_s, "iat": issued, **self._claims}
        return f"{_part({'alg': 'none'})}.{_part(claims)}."


def _claims(options: Mapping[str, str]) -> dict[str, Any]:
    kinds: dict[str, Callable[[str], Any]] = {
        "StringClaim_": str,
        "NumberClaim_": float,
        "ListClaim_": _listed,
    }
    found: dict[str, Any] = {}
    for option, text in options.items():
        for kind, read in kinds.items():
            claim = option.removeprefix(_OPTION + kind)
            if claim and claim != option:
                if claim in _RESERVED:
                    raise ValueError(f"Cannot explicitly set the '{claim}' claim")
                found[claim] = read(text)
    return found


def _listed(text: str) -> list[str]:
    """The first character parts the others."""
    return text[1:].split(text[0]) if len(text) > 1 else []


def _extensions(options: Mapping[str, str]) -> dict[str, str]:
    found = {
        name.removeprefix(_EXTENSION): value
        for name, value in options.items()
        if name.startswith(_EXTENSION)
    }
    for key, value in found.items():
        if key == "auth":
            raise ValueError("Extension name auth is invalid")
        if not _KEY.fullmatch(key):
            raise ValueError(f"Extension name {key} is invalid")
        if not _VALUE.fullmatch(value):
            raise ValueError(f"Extension value ({value}) for extension {key} is invalid")
    return found


def _part(of_token: Mapping[str, Any]) -> str:
    text = json.dumps(of_token, separators=(",", ":"))
    return urlsafe_b64encode(text.encode()).rstrip(b"=").decode()
