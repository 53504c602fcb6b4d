"""Listeners that ask who a client is, on our brokers and on Kafka's, and what to log in with there.

A broker has a listener of either kind, with every mechanism. A bearer token is refused if its scope
is not the one that the listener asks for: so each client says it with the tokens that it makes.

Sources: KIP-48 (delegation tokens: SCRAM with `tokenauth=true`), KIP-84 (SCRAM), KIP-255
(OAUTHBEARER; OAuthBearerUnsecuredValidatorCallbackHandler@4.3.1).
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from touchstone.harness.model.target import Shape
from touchstone.harness.targets import parse
from touchstone.harness.tests.clients.programs import wait_for
from touchstone.reference_impl.client.admin.credentials import ScramMechanism, ScramUpsertion
from touchstone.reference_impl.client.security.errors import AuthenticationException
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve

PROTOCOLS = ("SASL_PLAINTEXT", "SASL_SSL")
PLAIN, OAUTHBEARER = "PLAIN", "OAUTHBEARER"
SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
BY_TOKEN = tuple(f"{mechanism} by token" for mechanism in SCRAM)
KINDS = (PLAIN, *SCRAM, OAUTHBEARER, *BY_TOKEN)
OLDEST = (PLAIN, *SCRAM)  # what 1.0 has
USER, NOBODY = "alice", "nobody"
PASSWORD = 'alice, "her" secret=1'
PASSWORD_OF_SCRAM = "alice secret=1"  # --add-scram splits at commas, as Kafka does
SCOPE, ANOTHER_SCOPE = "orders", "bills"
MODULE = "org.apache.kafka.common.security"
TOKEN_S, SESSION_MS = 3600, 60_000
SALT = b"salt of sixteen."


class Login(NamedTuple):
    """`secret`: a password, the HMAC of a delegation token, the scope of a bearer token."""

    protocol: str
    mechanism: str
    user: str
    secret: str
    by_token: bool = False

    @property
    def bearer(self) -> str:
        """An unsecured token: a JSON Web Token without a signature."""
        now = int(time.time())
        claims = {"sub": self.user, "iat": now, "exp": now + TOKEN_S, "scope": [self.secret]}
        parts = (json.dumps(each).encode() for each in ({"alg": "none"}, claims))
        return "".join(f"{base64.urlsafe_b64encode(each).decode().rstrip('=')}." for each in parts)

    @property
    def jaas(self) -> str:
        """The login module of a Java client, with its options."""
        if self.mechanism == OAUTHBEARER:
            return (
                f"{MODULE}.oauthbearer.OAuthBearerLoginModule required"
                f' unsecuredLoginStringClaim_sub="{self.user}"'
                f' unsecuredLoginListClaim_scope=",{self.secret}";'
            )
        name = "plain.Plain" if self.mechanism == PLAIN else "scram.Scram"
        more = ' tokenauth="true"' if self.by_token else ""
        return (
            f'{MODULE}.{name}LoginModule required username="{self.user}"'
            f' password="{_quoted(self.secret)}"{more};'
        )

    def java(self, authority: str) -> dict[str, str]:
        """Settings of a Java client."""
        return {
            "security.protocol": self.protocol,
            "sasl.mechanism": self.mechanism,
            "sasl.jaas.config": self.jaas,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": authority,
        }


class Listeners(NamedTuple):
    """Of a running broker: its addresses by listener, and a delegation token of USER's."""

    release: str
    where: Mapping[str, str]
    token: tuple[str, str]  # id and HMAC

    def right(self, protocol: str, kind: str) -> Login:
        if kind in BY_TOKEN:
            return Login(protocol, kind.split()[0], *self.token, by_token=True)
        secret = {PLAIN: PASSWORD, OAUTHBEARER: SCOPE}.get(kind, PASSWORD_OF_SCRAM)
        return Login(protocol, kind, USER, secret)

    def wrong(self, protocol: str, kind: str) -> list[Login]:
        """With somebody else's secret, and as somebody who is not known."""
        right = self.right(protocol, kind)
        if kind == OAUTHBEARER:
            return [right._replace(secret=ANOTHER_SCOPE)]
        return [right._replace(secret="wrong"), right._replace(user=NOBODY)]


def settings(authority: trustme.CA, folder: Path, mechanisms: Sequence[str]) -> dict[str, str]:
    logins = {
        PLAIN: f'{MODULE}.plain.PlainLoginModule required user_{USER}="{_quoted(PASSWORD)}";',
        **dict.fromkeys(SCRAM, f"{MODULE}.scram.ScramLoginModule required;"),
        OAUTHBEARER: (
            f"{MODULE}.oauthbearer.OAuthBearerLoginModule required"
            f' unsecuredLoginStringClaim_sub="{USER}" unsecuredValidatorRequiredScope="{SCOPE}";'
        ),
    }
    return {
        "listeners": ",".join(f"{each}://127.0.0.1:0" for each in ("PLAINTEXT", *PROTOCOLS)),
        "sasl.enabled.mechanisms": ",".join(mechanisms),
        **{
            f"listener.name.{protocol.lower()}.{mechanism.lower()}.sasl.jaas.config": logins[
                mechanism
            ]
            for protocol in PROTOCOLS for mechanism in mechanisms
        },
        **stores(authority, folder),
        "delegation.token.secret.key": "secret",
        "connections.max.reauth.ms": str(SESSION_MS),
        "connection.failed.authentication.delay.ms": "10",
        "group.initial.rebalance.delay.ms": "0",
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "1",
    }  # fmt: skip


def stores(authority: trustme.CA, folder: Path) -> dict[str, str]:
    """Keys as files: a properties file cannot say what PEM text is without help. The key is in the
    one form that DefaultSslEngineFactory reads, PKCS #8.
    """
    own = authority.issue_cert("127.0.0.1")
    key = load_pem_private_key(own.private_key_pem.bytes(), None)
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    keys, trusted = folder / "key.pem", folder / "trusted.pem"
    keys.write_text(text + "".join(each.bytes().decode() for each in own.cert_chain_pems))
    authority.cert_pem.write_to_path(str(trusted))
    return {
        "ssl.keystore.type": "PEM", "ssl.keystore.location": str(keys),
        "ssl.truststore.type": "PEM", "ssl.truststore.location": str(trusted),
    }  # fmt: skip


@contextmanager
def ours(
    release: str, config: Mapping[str, str], switches: Sequence[str] = ()
) -> Iterator[Listeners]:
    users = [f"{each}=[name={USER},password={PASSWORD_OF_SCRAM}]" for each in SCRAM]
    with serve(release=release, config=config, scram=users, switches=switches) as cluster:
        where = {name: cluster.listeners[name][0] for name in ("PLAINTEXT", *PROTOCOLS)}
        yield Listeners(release, where, _token(where) if release != "1.0" else ("", ""))


@contextmanager
def kafka(release: str, config: Mapping[str, str]) -> Iterator[Listeners]:
    """A release that can be told of users while it runs, 2.7 or later (KIP-554)."""
    target = parse(f"kafka@{release}")
    if reason := target.available():
        pytest.skip(f"not run: {reason}")
    endpoint = target.start(Shape(1, config=config))
    try:
        where = {name: _at(endpoint.listeners[name]) for name in PROTOCOLS}
        where["PLAINTEXT"] = _at(endpoint.bootstrap)
        with Client(where["PLAINTEXT"]) as client:
            for mechanism in ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512:
                made = ScramUpsertion(USER, mechanism, PASSWORD_OF_SCRAM.encode(), SALT)
                client.admin.alter_user_scram_credentials([made]).all()
        found = Listeners(release, where, _token(where))
        wait_for(
            lambda: all(_known(found, kind) for kind in (*SCRAM, *BY_TOKEN)),
            lambda: "the broker has not heard of its users yet",
        )
        yield found
    finally:
        target.stop()


def _token(where: Mapping[str, str]) -> tuple[str, str]:
    own = Listeners("", where, ("", "")).right(PROTOCOLS[0], PLAIN)
    with Client(where[PROTOCOLS[0]], own.java("")) as client:
        made = client.admin.create_delegation_token()
    return made.token_id, base64.b64encode(made.hmac).decode()


def _known(listeners: Listeners, kind: str) -> bool:
    """Whether the broker lets this one in yet: what was written comes to it a little later."""
    own = listeners.right(PROTOCOLS[0], kind)
    try:
        with Client(listeners.where[PROTOCOLS[0]], own.java("")) as client:
            return client.admin.list_topics() is not None
    except AuthenticationException:
        return False


def _at(addresses: Sequence[tuple[str, int]]) -> str:
    return ",".join(f"{host}:{port}" for host, port in addresses)


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
