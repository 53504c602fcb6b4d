"""What a listener is told of signed tokens: where their keys are, and what a token must say.

A setting with the prefix of listener and mechanism goes before one with the listener's alone, and
that before one without. Kafka 4.0 and later read no URL that the system property
`org.apache.kafka.sasl.oauthbearer.allowed.urls` does not list; there is no JVM here, so that is a
setting of this name, which real Kafka passes over. Before 4.0 everything is allowed unless it is
set.

Sources: KIP-768; ConfigurationUtils, VerificationKeyResolverFactory, RefreshingHttpsJwks at 3.9.2
and 4.3.1, ChannelBuilders.channelBuilderConfigs at 4.0; refusals observed on 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from touchstone.reference_impl.broker.configs.listener_settings import prefix

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.personas.persona import Persona

ALLOWED_URLS = "org.apache.kafka.sasl.oauthbearer.allowed.urls"
URL = "sasl.oauthbearer.jwks.endpoint.url"
VALIDATOR = "sasl.oauthbearer.jwt.validator.class"
_MECHANISM = "oauthbearer."
_PACKAGE = "org.apache.kafka.common.security.oauthbearer."
_VALIDATORS = (f"{_PACKAGE}DefaultJwtValidator", f"{_PACKAGE}BrokerJwtValidator")
_LONG, _INT = 1 << 63, 1 << 31


class JwksSettings(NamedTuple):
    """Where keys are read, and how often."""

    url: str
    refresh_ms: int
    backoff_ms: int  # after a first failure
    most_backoff_ms: int  # of all failures together
    read_again: bool  # a file that has changed
    tls: Mapping[str, str]  # ssl.* of the login module

    @property
    def is_file(self) -> bool:
        return urlsplit(self.url).scheme.lower() == "file"


class TokenSettings(NamedTuple):
    audiences: frozenset[str] = frozenset()
    issuer: str | None = None
    skew_s: int = 30
    scope: str = "scope"  # the claim that lists what a token is for
    principal: str = "sub"  # the claim that names its user


class SignedSettings(NamedTuple):
    tokens: TokenSettings
    jwks: JwksSettings

    @classmethod
    def of(
        cls, config: Mapping[str, str], listener: str, persona: Persona, options: Mapping[str, str]
    ) -> SignedSettings:
        """ValueError, with one line that names the setting, for what cannot be obeyed; `options`
        are the login module's.
        """
        said = _Said(config, listener)
        said.check_validator()
        tokens = TokenSettings(
            frozenset(said.listed("sasl.oauthbearer.expected.audience")),
            (said("sasl.oauthbearer.expected.issuer") or "").strip() or None,
            said.number("sasl.oauthbearer.clock.skew.seconds", 30, "INT", _INT),
            said.claim("sasl.oauthbearer.scope.claim.name", "scope"),
            said.claim("sasl.oauthbearer.sub.claim.name", "sub"),
        )
        return cls(tokens, said.jwks(persona, options))


class _Said:
    def __init__(self, config: Mapping[str, str], listener: str) -> None:
        self._config, self._prefix = config, prefix(listener)

    def __call__(self, name: str) -> str | None:
        for each in (f"{self._prefix}{_MECHANISM}{name}", f"{self._prefix}{name}", name):
            if each in self._config:
                return self._config[each]
        return None

    def listed(self, name: str) -> list[str]:
        text = (self(name) or "").strip()
        return [each.strip() for each in text.split(",")] if text else []

    def number(self, name: str, default: int, kind: str, beyond: int) -> int:
        text = self(name)
        if text is None:
            return default
        found = text.strip()
        if not found.removeprefix("-").isdecimal() or not -beyond <= int(found) < beyond:
            raise ValueError(
                f"Invalid value {text} for configuration {name}: Not a number of type {kind}"
            )
        return int(found)

    def claim(self, name: str, default: str) -> str:
        found = self(name)
        return default if found is None else self._required(name, found)

    def check_validator(self) -> None:
        found = self(VALIDATOR)
        if found is not None and found.strip() not in _VALIDATORS:
            raise ValueError(f"{VALIDATOR}={found} is not obeyed, so it is refused: no class of"
                             " yours is loaded here")  # fmt: skip

    def jwks(self, persona: Persona, options: Mapping[str, str]) -> JwksSettings:
        url = self._required(URL, self(URL))
        _check(url, self._config.get(ALLOWED_URLS), persona)
        refresh = "sasl.oauthbearer.jwks.endpoint.refresh.ms"
        refresh_ms = self.number(refresh, 3_600_000, "LONG", _LONG)
        found = JwksSettings(
            url,
            refresh_ms,
            self.number("sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", 100, "LONG", _LONG),
            self.number(
                "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", 10_000, "LONG", _LONG
            ),
            persona.quirk("sasl.jwks-files-are-read-again"),
            {name: value for name, value in options.items() if name.startswith("ssl.")},
        )
        if not found.is_file and refresh_ms <= 0:
            raise ValueError(f"The OAuth configuration option {refresh} value must be positive")
        return found

    @staticmethod
    def _required(name: str, said: str | None) -> str:
        if not (said or "").strip():
            raise ValueError(f"The OAuth configuration option {name} value is required")
        return str(said).strip()


def _check(url: str, allowed: str | None, persona: Persona) -> None:
    scheme = urlsplit(url).scheme.lower()
    if not scheme:
        raise ValueError(
            f"The OAuth configuration option {URL} contains a URL ({url}) that is malformed: no"
            f" protocol: {url}"
        )
    if scheme not in ("http", "https", "file"):
        raise ValueError(
            f"The OAuth configuration option {URL} contains a URL ({url}) that contains an invalid"
            f' protocol ({scheme}); only "http", "https", and "file" protocol are supported'
        )
    if allowed is None and persona.quirk("sasl.oauth-urls-are-listed"):
        allowed = ""
    if allowed is not None and url not in (each.strip() for each in allowed.split(",")):
        raise ValueError(
            f"Invalid value {url} for configuration {URL}: The URL cannot be accessed due to"
            f" restrictions. Update the setting '{ALLOWED_URLS}' to allow the URL to be accessed."
        )
