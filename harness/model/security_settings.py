"""Settings of the clusters that ask who somebody is, and of those that ask what that one may do.

Beside the plain listener, whose clients are User:ANONYMOUS, stands one with SASL. Where there is an
authorizer, User:ANONYMOUS is a super user: so preparing a case and looking after it need no
rights, and who logs in has those that ACLs give. A session that PLAIN began ends after an hour,
which no case sees; until then it may be renewed (KIP-368).

Sources: BrokerSecurityConfigs, JaasContext.loadServerContext at 2.8.2 and 4.3.1; KIP-48, KIP-84,
KIP-103, KIP-255, KIP-368. The classes of authorizers: KIP-11, KIP-504, KIP-801.
"""

from __future__ import annotations

from touchstone.harness.model.target import LISTENERS

Value = str | tuple[tuple[str, str], ...]  # for all releases, or by releases

SASL_LISTENER = "SASL_PLAINTEXT"
USERS = {
    "admin": "admin-secret",
    "alice": "alice-secret",
    "bob": "bob-secret",
    "carol": "carol-secret",
}
PLAIN, OAUTHBEARER = "PLAIN", "OAUTHBEARER"
SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
SESSION_MS = 3_600_000  # of PLAIN
AUTHORIZER, OPEN = "authorizer.class.name", "allow.everyone.if.no.acl.found"
TOKENS = "2.2+"  # releases with delegation tokens and OAUTHBEARER
_PREFIX = f"listener.name.{SASL_LISTENER.lower()}."
_MODULE = "org.apache.kafka.common.security"
_PASSWORDS = " ".join(f'user_{name}="{password}"' for name, password in USERS.items())
_AT = "127.0.0.1"
_LISTENERS = f"PLAINTEXT://{_AT}:9092,{SASL_LISTENER}://{_AT}:9094"


def _login(mechanism: str) -> str:
    return f"{_PREFIX}{mechanism.lower()}.sasl.jaas.config"


REAUTHENTICATION = f"{_PREFIX}plain.connections.max.reauth.ms"
SASL: dict[str, Value] = {
    LISTENERS: (("1.0-2.8", _LISTENERS), ("3.9+", f"{_LISTENERS},CONTROLLER://{_AT}:9093")),
    "sasl.enabled.mechanisms": (
        ("1.0", ",".join((PLAIN, *SCRAM))), (TOKENS, ",".join((PLAIN, *SCRAM, OAUTHBEARER)))
    ),
    _login(PLAIN): f"{_MODULE}.plain.PlainLoginModule required {_PASSWORDS};",
    **{_login(one): f"{_MODULE}.scram.ScramLoginModule required;" for one in SCRAM},
    _login(OAUTHBEARER): (
        (TOKENS, f'{_MODULE}.oauthbearer.OAuthBearerLoginModule required'
                 ' unsecuredLoginStringClaim_sub="admin";'),
    ),
    REAUTHENTICATION: ((TOKENS, str(SESSION_MS)),),
    "delegation.token.master.key": (("2.2", "secret"),),
    "delegation.token.secret.key": (("2.8+", "secret"),),
}  # fmt: skip
# Tokens that are signed, instead: a target that we start reads the keys from a file of ours, whose
# place is no part of a claim. Kafka reads what a property of its JVM allows, ours a setting.
KEYS_URL = "file:JWKS"
ALLOWED_URLS = "org.apache.kafka.sasl.oauthbearer.allowed.urls"
ISSUER, AUDIENCE = "https://issuer.test", "touchstone"
SKEW_S = 3600
JWKS_URL = f"{_PREFIX}oauthbearer.sasl.oauthbearer.jwks.endpoint.url"
SIGNED: dict[str, Value] = {
    f"{_PREFIX}oauthbearer.sasl.server.callback.handler.class": (
        f"{_MODULE}.oauthbearer.OAuthBearerValidatorCallbackHandler"
    ),
    f"{_PREFIX}oauthbearer.sasl.oauthbearer.expected.audience": AUDIENCE,
    f"{_PREFIX}sasl.oauthbearer.expected.issuer": ISSUER,
    f"{_PREFIX}sasl.oauthbearer.clock.skew.seconds": str(SKEW_S),
    JWKS_URL: KEYS_URL,
    ALLOWED_URLS: KEYS_URL,
}
AUTHORIZED: dict[str, Value] = {
    **SASL,
    AUTHORIZER: (
        ("1.0-2.2", "kafka.security.auth.SimpleAclAuthorizer"),
        ("2.8", "kafka.security.authorizer.AclAuthorizer"),
        ("3.9+", "org.apache.kafka.metadata.authorizer.StandardAuthorizer"),
    ),
    "super.users": "User:ANONYMOUS;User:admin",
}
# Settings that not every release knows. In 1.0 login modules stand in a file of their own.
KNOWN = dict.fromkeys((_login(one) for one in (PLAIN, *SCRAM)), TOKENS)
