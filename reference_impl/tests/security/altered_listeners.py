"""Settings of listeners are altered while a broker runs, step by step, on ours and on real Kafka.

After each step it is noted what was answered, whose certificate each listener shows, who is let in,
and whether connections that were there before go on. `recorded/altered-RELEASE.json` is what real
Kafka answered; `harness/tests/clients/test_altered_listeners.py` asks it again, and records.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from touchstone.reference_impl.tests.security.changing_listeners import LISTENERS_CHANGE
from touchstone.reference_impl.tests.security.listener_names import (
    CHAIN,
    KEY,
    KEYS,
    PASS,
    SSL,
    TRUST,
    Step,
    first_keys,
    own,
)
from touchstone.reference_impl.tests.security.played_listeners import (
    LOGIN,
    MUTUAL,
    PLAINTEXT,
    Played,
    Scene,
)
from touchstone.reference_impl.tests.security.stores import (
    HOST,
    PASSWORD,
    PAST,
    Stores,
    on_one_line,
)

FOLDER = Path(__file__).parent / "recorded"
TEXT = "TEXT"
PROTOCOLS = {
    PLAINTEXT: "PLAINTEXT", LOGIN: "SASL_PLAINTEXT", SSL: "SSL", MUTUAL: "SSL", TEXT: "SSL"
}  # fmt: skip
MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule required"
JAAS = f'{MODULE} user_alice="alice-secret"'


def settings(stores: Stores) -> dict[str, str]:
    """What a broker is started with, but for where it listens."""
    text = stores.made("text")
    return {
        "listener.security.protocol.map": ",".join(map(":".join, PROTOCOLS.items())),
        "inter.broker.listener.name": PLAINTEXT,
        **first_keys(stores),
        own(MUTUAL, "ssl.keystore.type"): "PKCS12",
        own(MUTUAL, "ssl.keystore.location"): stores.p12("first.p12", "first p12"),
        own(MUTUAL, "ssl.keystore.password"): PASSWORD.decode(),
        own(MUTUAL, "ssl.key.password"): PASSWORD.decode(),
        own(MUTUAL, "ssl.truststore.type"): "PKCS12",
        own(MUTUAL, "ssl.truststore.location"): stores.trusted_p12("t.p12", stores.authority),
        own(MUTUAL, "ssl.truststore.password"): PASSWORD.decode(),
        own(MUTUAL, "ssl.client.auth"): "required",
        own(TEXT, "ssl.keystore.type"): "PEM",
        own(TEXT, "ssl.keystore.certificate.chain"): on_one_line(text.chain),
        own(TEXT, "ssl.keystore.key"): on_one_line(text.key),
        own(TEXT, "ssl.allow.dn.changes"): "true",
        own(TEXT, "ssl.allow.san.changes"): "true",
        own(LOGIN, "sasl.enabled.mechanisms"): "PLAIN",
        own(LOGIN, "plain.sasl.jaas.config"): f"{JAAS};",
        "connection.failed.authentication.delay.ms": "0",
        "password.encoder.secret": "secret",
        "num.network.threads": "1",
    }


def _with(listener: str, **changes: str | None) -> dict[str, str | None]:
    return {own(listener, name.replace("_", ".")): value for name, value in changes.items()}


def _keys(value: str | None, listener: str = SSL) -> dict[str, str | None]:
    return {own(listener, KEYS): value}


def _text(played: Played, label: str, *names: str, **more: Any) -> dict[str, str]:
    made = played.stores.made(label, *names, **more)
    return {own(TEXT, CHAIN): on_one_line(made.chain), own(TEXT, KEY): on_one_line(made.key)}


def _mixed(played: Played) -> str:
    """The certificate of one and the key of another."""
    names = HOST, "localhost", "example.org"
    one, other = (played.stores.made(label, *names) for label in ("mixed", "other"))
    return played.stores.write("mixed.pem", other.key + one.chain)


EXPIRED = dict(zip(("not_before", "not_after"), PAST, strict=True))
BOB = f'{JAAS} user_bob="bob-secret";'
STEPS: dict[str, Step] = {
    "nothing yet": lambda p: None,
    "the file is another": lambda p: p.stores.keys("first.pem", "first again") and 0,
    "all brokers have a setting": lambda p: p.alter({"message.max.bytes": "1000000"}, ""),
    "this broker has a setting, validated": lambda p: p.alter(
        {"message.max.bytes": "1000001"}, validate_only=True
    ),
    "this broker has a setting": lambda p: p.alter({"message.max.bytes": "1000001"}),
    "another file, validated": lambda p: p.alter(
        _keys(p.stores.keys("second.pem", "second")), validate_only=True
    ),
    "another file": lambda p: p.alter(_keys(p.stores.path("second.pem"))),
    "the same file once more": lambda p: p.alter(_keys(p.stores.path("second.pem"))),
    "the file is replaced": lambda p: p.stores.keys("second.pem", "third") and 0,
    "and named once more": lambda p: p.alter(_keys(p.stores.path("second.pem"))),
    "described": lambda p: p.described(),
    "no such file": lambda p: p.alter(_keys("none.pem")),
    "nonsense": lambda p: p.alter(_keys(p.stores.write("nonsense.pem", "nonsense"))),
    "an empty file": lambda p: p.alter(_keys(p.stores.write("empty.pem", ""))),
    "no location": lambda p: p.alter(_keys("")),
    "another organization": lambda p: p.alter(
        _keys(p.stores.keys("dn.pem", "dn", organization="a, b"))
    ),
    "another host": lambda p: p.alter(_keys(p.stores.keys("san.pem", "san", "10.0.0.1"))),
    "one host more": lambda p: p.alter(
        _keys(p.stores.keys("more.pem", "more", HOST, "localhost", "example.org"))
    ),
    "one host less": lambda p: p.alter(_keys(p.stores.path("second.pem"))),
    "taken back to one host less": lambda p: p.alter(_keys(None)),
    "expired": lambda p: p.alter(
        _keys(p.stores.keys("expired.pem", "expired", HOST, "localhost", "example.org", **EXPIRED))
    ),
    "of another authority": lambda p: p.alter(
        _keys(p.stores.keys("alien.pem", "alien", HOST, "localhost", "example.org",
                           by=p.stores.stranger))
    ),
    "a key password": lambda p: p.alter(_with(SSL, ssl_key_password="secret")),
    "a store password": lambda p: p.alter(_with(SSL, ssl_keystore_password="secret")),
    "another type": lambda p: p.alter(_with(SSL, ssl_keystore_type="PKCS12")),
    "no type": lambda p: p.alter(_with(SSL, ssl_keystore_type="ABC")),
    "a truststore where none was": lambda p: p.alter(
        {own(SSL, TRUST): p.stores.trusted_pem("t.pem", p.stores.authority),
         own(SSL, "ssl.truststore.type"): "PEM"}
    ),
    "without a prefix": lambda p: p.alter({KEYS: p.stores.path("more.pem"), PASS: "secret"}),
    "of all brokers": lambda p: p.alter(_keys(p.stores.path("more.pem")), ""),
    "of nobody's listener": lambda p: p.alter(_keys("none.pem", "NOBODY")),
    "the prefix in capitals": lambda p: p.alter({"listener.name.SSL.ssl.keystore.location": "x"}),
    "the file is spoiled": lambda p: p.stores.write("alien.pem", "nonsense") and 0,
    "and something else is set": lambda p: p.alter({"message.max.bytes": "1000002"}),
    "the file is another's": lambda p: p.stores.keys("alien.pem", "spoiled", "10.0.0.1") and 0,
    "and something else is set again": lambda p: p.alter({"message.max.bytes": "1000003"}),
    "the file is mended": lambda p: p.stores.keys(
        "alien.pem", "mended", HOST, "localhost", "example.org"
    ) and 0,
    "and something else is taken back": lambda p: p.alter({"message.max.bytes": None}),
    "p12, another file": lambda p: p.alter(_keys(p.stores.p12("second.p12", "p12 2"), MUTUAL)),
    "p12, another password": lambda p: p.alter(_with(MUTUAL, ssl_keystore_password="wrong")),
    "p12, another file and password": lambda p: p.alter(
        _keys(p.stores.p12("third.p12", "p12 3", password=b"other"), MUTUAL)
        | _with(MUTUAL, ssl_keystore_password="other", ssl_key_password="other")
    ),
    "p12, another organization": lambda p: p.alter(
        _keys(p.stores.p12("dn.p12", "p12 dn", organization="c", password=b"other"), MUTUAL)
    ),
    "p12, another host": lambda p: p.alter(
        _keys(p.stores.p12("san.p12", "p12 san", "10.0.0.1", password=b"other"), MUTUAL)
    ),
    "p12, described": lambda p: p.described(),
    "more are trusted": lambda p: p.alter(
        {own(MUTUAL, TRUST):
         p.stores.trusted_p12("both.p12", p.stores.authority, p.stores.stranger)}
    ),
    "others are trusted": lambda p: p.alter(
        {own(MUTUAL, TRUST): p.stores.trusted_p12("others.p12", p.stores.stranger)}
    ),
    "no such truststore": lambda p: p.alter({own(MUTUAL, TRUST): "none.p12"}),
    "a truststore of nonsense": lambda p: p.alter(
        {own(MUTUAL, TRUST): p.stores.path("nonsense.pem")}
    ),
    "the first are trusted": lambda p: p.alter({own(MUTUAL, TRUST): None}),
    "nobody need show a certificate": lambda p: p.alter(_with(MUTUAL, ssl_client_auth="none")),
    "nor anywhere": lambda p: p.alter({"ssl.client.auth": "none"}),
    "client auth of no kind": lambda p: p.alter(_with(MUTUAL, ssl_client_auth="perhaps")),
    "somebody must again": lambda p: p.alter({own(MUTUAL, "ssl.client.auth"): None}),
    "text, another": lambda p: p.alter(_text(p, "text 2")),
    "text, validated": lambda p: [
        p.alter(_text(p, "text 3"), validate_only=True)[0]
    ],
    "text, another organization": lambda p: p.alter(_text(p, "text dn", organization="c")),
    "text, another host": lambda p: p.alter(_text(p, "text san", "10.0.0.1")),
    "text, nonsense": lambda p: p.alter(_with(TEXT, ssl_keystore_key="nonsense")),
    "text, no chain": lambda p: p.alter(_with(TEXT, ssl_keystore_certificate_chain="nonsense")),
    "text, described": lambda p: p.described(),
    "text and a location": lambda p: p.alter(_keys(p.stores.path("first.pem"), TEXT)),
    "text, taken back": lambda p: p.alter({own(TEXT, CHAIN): None, own(TEXT, KEY): None}),
    "bob may come": lambda p: p.alter(_with(LOGIN, plain_sasl_jaas_config=BOB)),
    "and by another mechanism": lambda p: p.alter(
        _with(LOGIN, sasl_enabled_mechanisms="SCRAM-SHA-256", connections_max_reauth_ms="5000")
    ),
    "no jaas": lambda p: p.alter(_with(LOGIN, plain_sasl_jaas_config="nonsense")),
    "no number": lambda p: p.alter(_with(LOGIN, connections_max_reauth_ms="soon")),
    "a number too small": lambda p: p.alter(_with(LOGIN, connections_max_reauth_ms="-1")),
    "mechanisms of everybody": lambda p: p.alter({"sasl.enabled.mechanisms": "SCRAM-SHA-256"}),
    "sessions of everybody": lambda p: p.alter({"connections.max.reauth.ms": "5000"}),
    "rules of names": lambda p: p.alter(
        _with(MUTUAL, ssl_principal_mapping_rules="RULE:^(.*)$/me/")
    ),
    "rules of names of everybody": lambda p: p.alter({"ssl.principal.mapping.rules": "DEFAULT"}),
    "what is no rule": lambda p: p.alter(_with(MUTUAL, ssl_principal_mapping_rules="RULE:")),
    "protocols": lambda p: p.alter(_with(SSL, ssl_enabled_protocols="TLSv1.2")),
    "other names are allowed": lambda p: p.alter(
        _with(SSL, ssl_allow_dn_changes="true", ssl_allow_san_changes="true")
    ),
    "and are there": lambda p: p.alter(_keys(p.stores.keys("dn2.pem", "dn 2", organization="c"))),
    "other names are allowed everywhere": lambda p: p.alter({"ssl.allow.dn.changes": "true"}),
    "the key of another certificate": lambda p: p.alter(_keys(_mixed(p))),
    "all is replaced": lambda p: p.replace(
        _keys(p.stores.keys("last.pem", "last", HOST, "localhost", "example.org"))
    ),
    "all is replaced by what cannot be read": lambda p: p.replace(_keys("none.pem")),
    "described in the end": lambda p: p.described(),
    "bob may come again": lambda p: p.alter(
        _with(LOGIN, plain_sasl_jaas_config=BOB) | _with(MUTUAL, ssl_client_auth="none")
    ),
    "it is started again": lambda p: p.restart(),
    "and something is set": lambda p: p.alter({"message.max.bytes": "1000004"}),
}  # fmt: skip


def between_brokers(stores: Stores) -> dict[str, str]:
    """Keys that brokers show one another have to be such as they trust."""
    return {
        "listener.security.protocol.map": f"{PLAINTEXT}:PLAINTEXT,{SSL}:SSL",
        "inter.broker.listener.name": SSL,
        "num.network.threads": "1",
        "password.encoder.secret": "secret",
        **first_keys(stores),
        own(SSL, "ssl.truststore.type"): "PKCS12",
        own(SSL, TRUST): stores.trusted_p12("t.p12", stores.authority),
        own(SSL, "ssl.truststore.password"): PASSWORD.decode(),
    }


BETWEEN_BROKERS: dict[str, Step] = {
    "another file": lambda p: p.alter(_keys(p.stores.keys("second.pem", "second"))),
    "of another authority": lambda p: p.alter(
        _keys(p.stores.keys("alien.pem", "alien", by=p.stores.stranger))
    ),
    "expired": lambda p: p.alter(_keys(p.stores.keys("expired.pem", "expired", **EXPIRED))),
    "others are trusted": lambda p: p.alter(
        {own(SSL, TRUST): p.stores.trusted_p12("others.p12", p.stores.stranger)}
    ),
    "more are trusted": lambda p: p.alter(
        {own(SSL, TRUST): p.stores.trusted_p12("both.p12", p.stores.authority, p.stores.stranger)}
    ),
    "of another authority, trusted": lambda p: p.alter(_keys(p.stores.path("alien.pem"))),
    "others are trusted, only": lambda p: p.alter({own(SSL, TRUST): p.stores.path("others.p12")}),
    "the file is another's": lambda p: p.stores.keys("alien.pem", "spoiled") and 0,
    "and something else is set": lambda p: p.alter({"message.max.bytes": "1000002"}),
}  # fmt: skip


SCENES = {
    "altered": Scene(PROTOCOLS, settings, STEPS),
    "between-brokers": Scene(
        {PLAINTEXT: "PLAINTEXT", SSL: "SSL"}, between_brokers, BETWEEN_BROKERS
    ),
    "listeners": LISTENERS_CHANGE,
}


def recorded_scenes() -> list[tuple[str, str]]:
    """(scene, release) of what is recorded."""
    return [
        (name, path.stem.removeprefix(f"{name}-"))
        for name in SCENES
        for path in sorted(FOLDER.glob(f"{name}-*.json"))
    ]


def read_recorded(name: str, release: str) -> dict[str, Any]:
    """(answer, what clients met) of each step."""
    return json.loads((FOLDER / f"{name}-{release}.json").read_text())


def write_recorded(name: str, release: str, found: Mapping[str, Any]) -> None:
    lines = ",\n".join(f"{json.dumps(step)}: {json.dumps(row)}" for step, row in found.items())
    (FOLDER / f"{name}-{release}.json").write_text(f"{{\n{lines}\n}}\n")
