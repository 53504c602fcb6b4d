"""Listeners of a broker with TLS and SASL, and what a client is told to be let in."""

from __future__ import annotations

import trustme

PACKAGE = "org.apache.kafka.common.security"
USER, PASSWORD = "alice", "alice-secret"
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
SCRAM = tuple(f"{kind}=[name={USER},password={PASSWORD}]" for kind in MECHANISMS[1:3])
BEARER = (
    f'{PACKAGE}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="{{}}";'
)
LOGINS = {
    "PLAIN": f'{PACKAGE}.plain.PlainLoginModule required user_{USER}="{PASSWORD}";',
    "SCRAM-SHA-256": f"{PACKAGE}.scram.ScramLoginModule required;",
    "SCRAM-SHA-512": f"{PACKAGE}.scram.ScramLoginModule required;",
    "OAUTHBEARER": BEARER.format(USER),
}


def pem(blob: trustme.Blob) -> str:
    return blob.bytes().decode("ascii")


def jaas(mechanism: str, password: str = PASSWORD, more: str = "", user: str = USER) -> str:
    if mechanism == "OAUTHBEARER":
        return BEARER.format(user)
    module = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
    return f'{PACKAGE}.{module}LoginModule required username="{user}" password="{password}"{more};'


def login(mechanism: str, protocol: str = "SASL_PLAINTEXT", **how: str) -> dict[str, str]:
    return {
        "security.protocol": protocol,
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": jaas(mechanism, **how),
    }


def sasl_settings(*protocols: str, mechanisms: tuple[str, ...] = MECHANISMS) -> dict[str, str]:
    return {
        "sasl.enabled.mechanisms": ",".join(mechanisms),
        **{
            f"listener.name.{protocol.lower()}.{mechanism.lower()}.sasl.jaas.config": LOGINS[
                mechanism
            ]
            for protocol in protocols
            for mechanism in mechanisms
        },
    }


def keys(server: trustme.LeafCert, authority: trustme.CA) -> dict[str, str]:
    """What a broker is told of its own certificate."""
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": "\n".join(map(pem, server.cert_chain_pems)),
        "ssl.keystore.key": pem(server.private_key_pem),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": pem(authority.cert_pem),
    }


def trust(authority: trustme.CA) -> dict[str, str]:
    """What a client is told to believe the broker."""
    return {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": pem(authority.cert_pem)}
