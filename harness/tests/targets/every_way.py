"""A broker with a listener for every way to log in, each way, and what is wrong in each.

`running` starts Kafka of a release, or our broker; `Everything.properties` is what a client is told
to be let in by one of WAYS; `Everything.wrong` is what nobody can be let in with.
"""

from __future__ import annotations

import base64
import http.server
import json
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import trustme
from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    load_pem_private_key,
    pkcs12,
)

from touchstone.harness.model import security_settings
from touchstone.harness.model.target import Shape, Target, Unavailable
from touchstone.harness.targets import parse, reach
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.process import KafkaProcess
from touchstone.harness.tests.clients.programs import wait_for
from touchstone.harness.tests.targets.secured import SECURED, Secured
from touchstone.reference_impl.client.admin.credentials import ScramMechanism, ScramUpsertion
from touchstone.reference_impl.client.security.token_settings import HANDLER, HANDLERS, URL
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.tests.client.security.listeners import (
    LOGINS,
    MECHANISMS,
    PASSWORD,
    USER,
    sasl_settings,
)
from touchstone.reference_impl.tests.security import signed_tokens
from touchstone.reference_impl.tests.security.signed_conversations import HANDLER as VALIDATOR

PROTOCOLS = {
    "PLAINTEXT": "PLAINTEXT",
    "SASL_PLAINTEXT": "SASL_PLAINTEXT",
    "SASL_SSL": "SASL_SSL",
    "SSL": "SSL",  # which wants a certificate
    "TLS": "SSL",
    "EXPIRED": "SSL",  # its own certificate is of the past
    "TOKENS": "SASL_SSL",  # bearer tokens that are signed, where the release knows such
}
FILE, CREDENTIALS, TLS, MUTUAL = "token file", "client credentials", "TLS", "mTLS"
WAYS = (
    *((listener, mechanism) for mechanism in MECHANISMS for listener in SECURED),
    ("TOKENS", FILE), ("TOKENS", CREDENTIALS), ("TLS", TLS), ("SSL", MUTUAL),
)  # fmt: skip
SIGNED = (3, 1)  # the release since which brokers verify tokens (KIP-768)
STORE = "store-secret"
CLIENT_ID, CLIENT_SECRET = "touch", "st+one/secret"
PAST = datetime(2002, 1, 1, tzinfo=UTC)
_TOKENS = "listener.name.tokens.oauthbearer."
_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"


class Wrong(NamedTuple):
    """Properties (None: none) with which nobody is let in, and words of the line that says so."""

    name: str
    address: str
    properties: Mapping[str, str] | None
    words: str


class Issuer:
    """An authorization server: it has a token for whoever knows CLIENT_SECRET, another for each
    client id that `others` names.
    """

    def __init__(self, token: str) -> None:
        self.others: dict[str, str] = {}
        issuer = self

        class Door(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                coded = self.headers["Authorization"].removeprefix("Basic ")
                name, _, secret = base64.b64decode(coded).decode().partition(":")
                allowed = secret == CLIENT_SECRET
                self.send_response(200 if allowed else 401)
                self.end_headers()
                found = {"access_token": issuer.others.get(name, token)} if allowed else {}
                self.wfile.write(json.dumps(found).encode())

            def log_message(self, *_: object) -> None:
                """Write nothing."""

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Door)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/token"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class Everything(Secured):
    """`folder` keeps its stores and tokens; `signs`: whether its broker verifies signatures."""

    folder: Path
    signs: bool
    issuer: Issuer

    def properties(self, listener: str, mechanism: str = "PLAIN", **how: str) -> dict[str, str]:
        if listener not in ("TLS", "TOKENS", "SSL"):
            return super().properties(listener, mechanism, **how)
        if mechanism == TLS:
            return {"security.protocol": "SSL"} | self._trust("JKS")
        if mechanism == MUTUAL:
            own = self._keys("client", self.authority.issue_cert("alice@example.com"))
            return {"security.protocol": "SSL"} | own | self._trust("PKCS12")
        return self._bearer(mechanism, **how)

    def _bearer(
        self, mechanism: str, *, token: str | None = None, client: str = CLIENT_ID,
        secret: str = CLIENT_SECRET, url: str | None = None,
    ) -> dict[str, str]:  # fmt: skip
        options = "" if mechanism == FILE else f' clientId="{client}" clientSecret="{secret}"'
        if mechanism == FILE:
            path = self.folder / f"{len(list(self.folder.iterdir()))}.token"
            path.write_text((token or self.token()) + "\n", encoding="ascii")
            url = url or f"file:{path}"
        return {
            "security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER",
            "sasl.jaas.config": f"{_MODULE}{options};", HANDLER: HANDLERS[0],
            URL: url or self.issuer.url,
        } | self._trust("PEM")  # fmt: skip

    def token(self, *, by: str | None = None, **claims: object) -> str:
        """A token as this broker wants them, signed or not."""
        told = {**signed_tokens.CLAIMS, **claims}
        if self.signs:
            return signed_tokens.signed(told, by=by)
        return f"{signed_tokens.part({'alg': 'none'})}.{signed_tokens.part(told)}."

    def _trust(self, kind: str) -> dict[str, str]:
        pem = self.folder / "trusted.pem"
        self.authority.cert_pem.write_to_path(str(pem))
        if kind == "PEM":
            return {"ssl.truststore.type": kind, "ssl.truststore.location": str(pem)}
        store = self.folder / f"trusted.{kind.lower()}"
        if not store.exists():
            keytool = find_java().executable.with_name("keytool")
            subprocess.run(
                [str(keytool), "-importcert", "-noprompt", "-alias", "ca", "-file", str(pem),
                 "-keystore", str(store), "-storetype", kind, "-storepass", STORE],
                check=True, capture_output=True,
            )  # fmt: skip
        return {
            "ssl.truststore.type": kind, "ssl.truststore.location": str(store),
            "ssl.truststore.password": STORE,
        }  # fmt: skip

    def _keys(self, name: str, leaf: trustme.LeafCert) -> dict[str, str]:
        path = self.folder / f"{name}.p12"
        path.write_bytes(as_pkcs12(leaf))
        return {
            "ssl.keystore.type": "PKCS12", "ssl.keystore.location": str(path),
            "ssl.keystore.password": STORE, "ssl.key.password": STORE,
        }  # fmt: skip

    def wrong(self) -> Iterator[Wrong]:
        yield from self._wrong_passwords()
        yield from self._wrong_tokens()
        yield from self._wrong_certificates()
        yield from self._wrong_protocols()

    def _wrong_passwords(self) -> Iterator[Wrong]:
        for listener in SECURED:
            for mechanism in MECHANISMS[:3]:
                for name, how in (("password", {"password": "wr0ng"}), ("user", {"user": "eve"})):
                    told = self.properties(listener, mechanism, **how)
                    yield self._one(f"wrong {name}, {mechanism}", listener, told, "is refused: ")

    def _wrong_tokens(self) -> Iterator[Wrong]:
        expired = self.token(exp=signed_tokens.PAST + 1)
        self.issuer.others["late"] = expired
        tokens = {"expired token": expired}
        if self.signs:
            tokens["token that a stranger signed"] = self.token(by="rsa-2")
            tokens["token for somebody else"] = self.token(aud="another")
        for name, token in tokens.items():
            words = "; the token ended at " if token == expired else "is refused: "
            yield self._one(name, "TOKENS", self._bearer(FILE, token=token), words)
        nowhere = self._bearer(FILE, url=f"file:{self.folder}/none.token")
        empty = self._bearer(FILE, token=" ")
        for name, told, words in (
            ("no file of a token", nowhere, "none.token: No such file"),
            ("empty file of a token", empty, "no JSON Web Token"),
            ("expired token of a server", self._bearer("", client="late"), "; the token ended"),
            ("wrong client secret", self._bearer("", secret="wr0ng"), "answers 401 Unauthorized"),
            ("no authorization server", self._bearer("", url="http://127.0.0.1:1/"), "refused"),
        ):
            yield self._one(name, "TOKENS", told, words)

    def _wrong_certificates(self) -> Iterator[Wrong]:
        stranger, tls = trustme.CA(), self.properties("TLS", TLS)
        trusting = tls | {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(
            self.folder / "stranger.pem")}  # fmt: skip
        del trusting["ssl.truststore.password"]
        stranger.cert_pem.write_to_path(str(self.folder / "stranger.pem"))
        yield self._one("another authority", "TLS", trusting, "ssl.truststore.location names whom")
        yield self._one("certificate of the past", "EXPIRED", tls, "has expired; the broker needs")
        elsewhere = self.where["TLS"].replace("127.0.0.1", "localhost")
        yield Wrong("name of another", elsewhere, tls, "ssl.endpoint.identification.algorithm=")
        late = self.authority.issue_cert("alice@example.com", not_after=PAST)
        for name, leaf in (("stranger", stranger.issue_cert("eve@example.com")), ("late", late)):
            told = self.properties("SSL", MUTUAL) | self._keys(name, leaf)
            yield self._one(f"client's certificate: {name}", "SSL", told, "ssl.keystore.location")
        yield self._one("no client's certificate", "SSL", tls, "ssl.keystore.location names the")

    def _wrong_protocols(self) -> Iterator[Wrong]:
        plain, tls = {"security.protocol": "PLAINTEXT"}, self.properties("TLS", TLS)
        sasl = {each: self.properties(each) for each in SECURED}
        scram = self.properties("SASL_SSL", "SCRAM-SHA-256")
        for listener, told, words in (
            *((each, one, "wants TLS: give --command-config FILE")
              for each in ("TLS", "SSL", "SASL_SSL", "TOKENS") for one in (None, plain)),
            *(("SASL_PLAINTEXT", one, "wants SASL (") for one in (None, plain)),
            ("SASL_SSL", tls, "(security.protocol=SASL_SSL)"),
            ("PLAINTEXT", tls, "does the listener speak TLS at all?"),
            ("PLAINTEXT", sasl["SASL_PLAINTEXT"], "a listener without SASL wants"),
            ("PLAINTEXT", sasl["SASL_SSL"], "does the listener speak TLS at all?"),
            ("TLS", sasl["SASL_PLAINTEXT"], "a listener with TLS wants"),
            ("TLS", sasl["SASL_SSL"], "a listener without SASL wants"),
            ("SASL_PLAINTEXT", tls, "does the listener speak TLS at all?"),
            ("SASL_PLAINTEXT", sasl["SASL_SSL"], "does the listener speak TLS at all?"),
            ("SASL_SSL", sasl["SASL_PLAINTEXT"], "a listener with TLS wants"),
            ("TOKENS", scram, "SCRAM-SHA-256"),
        ):  # fmt: skip
            how = "nothing" if told is None else told["security.protocol"]
            yield self._one(f"{how} at {PROTOCOLS[listener]}", listener, told, words)

    def _one(
        self, name: str, listener: str, properties: Mapping[str, str] | None, words: str
    ) -> Wrong:
        return Wrong(f"{name}, {listener}", self.where[listener], properties, words)


def as_pkcs12(leaf: trustme.LeafCert) -> bytes:
    key = load_pem_private_key(leaf.private_key_pem.bytes(), None)
    chain = [x509.load_pem_x509_certificate(each.bytes()) for each in leaf.cert_chain_pems]
    sealed = BestAvailableEncryption(STORE.encode())
    return pkcs12.serialize_key_and_certificates(b"own", key, chain[0], chain[1:] or None, sealed)


@contextmanager
def running(word: str, folder: Path) -> Iterator[Everything]:
    """A broker of this target word. Keys are in PKCS12, which every release reads alike. Raises
    Unavailable.
    """
    target = _target(word)
    if reason := target.available():
        raise Unavailable(reason)
    authority = trustme.CA()
    signs = tuple(map(int, str(target.release).split("."))) >= SIGNED
    endpoint = target.start(Shape(config=_settings(folder, authority, signs=signs)))
    issuer = None
    try:
        found = {"PLAINTEXT": endpoint.bootstrap, **endpoint.listeners}
        where = {name: "{}:{}".format(*found[name][0]) for name in PROTOCOLS}
        broker = Everything(where, authority)
        broker.folder, broker.signs = folder, signs
        issuer = broker.issuer = Issuer(broker.token())
        with Client(where["PLAINTEXT"]) as client:
            for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
                made = ScramUpsertion(USER, mechanism, PASSWORD.encode(), b"salt of sixteen.")
                client.admin.alter_user_scram_credentials([made]).all()
        wait_for(
            lambda: all(lets_in(broker, "SASL_PLAINTEXT", each) for each in MECHANISMS[1:3]),
            lambda: "the broker has not heard of its users yet",
        )
        yield broker
    finally:
        reach.log_in(reach.logins(), None)
        if issuer is not None:
            issuer.close()
        target.stop()


def _target(word: str) -> Target:
    """Kafka with the heap of its own scripts: it is fuzzed, and serves nobody else's cases."""
    kind, _, release = word.partition("@")
    return KafkaProcess(release, profile="quickstart") if kind == "kafka" else parse(word)


def _settings(folder: Path, authority: trustme.CA, *, signs: bool) -> dict[str, str]:
    trusted, keys = folder / "trusted.pem", folder / "keys.jwks"
    authority.cert_pem.write_to_path(str(trusted))
    keys.write_text(signed_tokens.jwks("rsa"), encoding="ascii")
    url, names = f"file:{keys}", {**PROTOCOLS, "INTERNAL": "PLAINTEXT", "CONTROLLER": "PLAINTEXT"}
    verifying = {
        f"{_TOKENS}sasl.server.callback.handler.class": VALIDATOR,
        f"{_TOKENS}sasl.oauthbearer.jwks.endpoint.url": url,
        f"{_TOKENS}sasl.oauthbearer.expected.audience": signed_tokens.AUDIENCE,
        security_settings.ALLOWED_URLS: url,
    }
    return {
        "listeners": ",".join(f"{each}://127.0.0.1:0" for each in PROTOCOLS),
        "listener.security.protocol.map": ",".join(f"{k}:{v}" for k, v in names.items()),
        "listener.name.ssl.ssl.client.auth": "required",
        "listener.name.tokens.sasl.enabled.mechanisms": "OAUTHBEARER",
        f"{_TOKENS}sasl.jaas.config": LOGINS["OAUTHBEARER"],
        "connection.failed.authentication.delay.ms": "10",
        **sasl_settings(*SECURED),
        **_store(folder / "server.p12", authority.issue_cert("127.0.0.1")),
        **_store(
            folder / "expired.p12",
            authority.issue_cert("127.0.0.1", not_after=PAST),
            "listener.name.expired.",
        ),
        "ssl.truststore.type": "PEM", "ssl.truststore.location": str(trusted),
        **(verifying if signs else {}),
    }  # fmt: skip


def _store(path: Path, leaf: trustme.LeafCert, prefix: str = "") -> dict[str, str]:
    path.write_bytes(as_pkcs12(leaf))
    told = {"type": "PKCS12", "location": str(path), "password": STORE}
    return {
        **{f"{prefix}ssl.keystore.{name}": value for name, value in told.items()},
        f"{prefix}ssl.key.password": STORE,
    }


def lets_in(broker: Secured, listener: str, mechanism: str) -> bool:
    target = broker.target(listener, broker.properties(listener, mechanism))
    return target.available() is None
