"""PKCS12 stores, and for whom certificates are: the one door to `cryptography`.

A certificate that takes another's place has its subject, and all its other names (KIP-226).

Sources: SslFactory.CertificateEntries at 2.8.2 and 4.0; observed on 4.3.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)

from touchstone.reference_impl.broker.security.listener_keys import AnotherIdentity

_KINDS: dict[type[object], int] = {
    x509.RFC822Name: 1, x509.DNSName: 2, x509.UniformResourceIdentifier: 6, x509.IPAddress: 7,
}  # fmt: skip


def as_pem(data: bytes, password: bytes) -> tuple[str, str]:
    """The key (empty where there is none), and the certificates, the key's own first; ValueError
    for another password, or what is no such store.
    """
    store = pkcs12.load_pkcs12(data, password)
    key = b""
    if store.key is not None:
        key = store.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    own = [] if store.cert is None else [store.cert]
    found = [
        each.certificate.public_bytes(Encoding.PEM) for each in (*own, *store.additional_certs)
    ]
    return key.decode(), b"".join(found).decode()


def check_same(old: str, new: str) -> None:
    """Whether the certificate at the head of a chain (PEM) is for whom the other's was.

    AnotherIdentity, in Kafka's words, if it is not.
    """
    was, will_be = (x509.load_pem_x509_certificate(each.encode()) for each in (old, new))
    if was.subject != will_be.subject:
        shown = [_subject(each) for each in (was, will_be)]
        raise AnotherIdentity("Keystore DistinguishedName does not match: " + _apart("DN", *shown))
    others = [_other_names(each) for each in (was, will_be)]
    if not set(others[0]) <= set(others[1]):
        shown = [f"[{', '.join(each)}]" for each in others]
        raise AnotherIdentity("Keystore SubjectAltNames do not match: " + _apart("SAN", *shown))


def _apart(what: str, old: str, new: str) -> str:
    """A PEM store has no names; Java's for its one entry is this."""
    return f" existing={{alias=kafka, {what}={old}}}, new={{alias=kafka, {what}={new}}}"


def _subject(certificate: x509.Certificate) -> str:
    """As X500Principal.toString has it."""
    return ", ".join(
        f"{each.rfc4514_attribute_name}={_quoted(str(each.value))}"
        for each in reversed([*certificate.subject])
    )


def _quoted(value: str) -> str:
    special = re.search(r'[,+=\n<>#;\\"]', value) or value != value.strip()
    escaped = re.sub(r'(["\\])', r"\\\1", value)
    return f'"{escaped}"' if special else escaped


def _other_names(certificate: x509.Certificate) -> Iterable[str]:
    """Each with the number of its kind, as Java lists them."""
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    return sorted(f"[{_KINDS[type(each)]}, {each.value}]" for each in found if type(each) in _KINDS)
