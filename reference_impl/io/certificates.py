"""PKCS12 stores, and for whom certificates are: the one door to `cryptography`.

A certificate that takes another's place has its subject, and all its other names (KIP-226).

Sources: SslFactory.CertificateEntries at 2.8.2 and 4.0; observed on 4.3.1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)

from touchstone.reference_impl.broker.security.listener_keys import AnotherIdentity
from touchstone.reference_impl.cluster.hash_order import MASK, java_hash
from touchstone.reference_impl.io.tls_stores import Shown

_UNNAMED = "1"  # what Java calls the one entry of a PKCS12 store without names
_KINDS: dict[type[object], int] = {
    x509.RFC822Name: 1, x509.DNSName: 2, x509.UniformResourceIdentifier: 6, x509.IPAddress: 7,
}  # fmt: skip


def as_pem(data: bytes, password: bytes) -> tuple[str, str, str]:
    """The key (empty where there is none), the certificates, the key's own first, and what Java
    calls the key; ValueError for another password, or what is no such store.
    """
    store = pkcs12.load_pkcs12(data, password)
    key = b""
    if store.key is not None:
        key = store.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    own = [] if store.cert is None else [store.cert]
    found = [
        each.certificate.public_bytes(Encoding.PEM) for each in (*own, *store.additional_certs)
    ]
    name = None if store.cert is None else store.cert.friendly_name
    alias = name.decode("utf-8", "replace").lower() if name else _UNNAMED
    return key.decode(), b"".join(found).decode(), alias


def check_same(old: Shown, new: Shown, *, subject: bool, names: bool) -> None:
    """Whether the certificate at the head of a chain (PEM) is for whom the other's was; `subject`
    and `names` say what may be another.

    AnotherIdentity, in Kafka's words, if it is not.
    """
    was, will_be = (x509.load_pem_x509_certificate(each.chain.encode()) for each in (old, new))
    aliases = old.alias, new.alias
    if not subject and _canonical(was) != _canonical(will_be):
        said = _apart("DN", aliases, (_subject(was), _subject(will_be)))
        raise AnotherIdentity(f"Keystore DistinguishedName does not match: {said}")
    others = _other_names(was), _other_names(will_be)
    if not names and not set(others[0]) <= set(others[1]):
        said = _apart("SAN", aliases, [f"[{', '.join(each)}]" for each in others])
        raise AnotherIdentity(f"Keystore SubjectAltNames do not match: {said}")


def _apart(what: str, aliases: Sequence[str], values: Sequence[str]) -> str:
    was, will_be = (
        f"{{alias={alias}, {what}={value}}}" for alias, value in zip(aliases, values, strict=True)
    )
    return f" existing={was}, new={will_be}"


def _canonical(certificate: x509.Certificate) -> list[set[tuple[str, str]]]:
    """The subject as X500Principal.equals sees it: neither case nor spaces count."""
    return [
        {(each.oid.dotted_string, " ".join(str(each.value).lower().split())) for each in part}
        for part in certificate.subject.rdns
    ]


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


def _other_names(certificate: x509.Certificate) -> Sequence[str]:
    """Each with the number of its kind, in the order of Java's HashSet."""
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    names = [(_KINDS[type(each)], str(each.value)) for each in found if type(each) in _KINDS]
    last = max(16, 1 << int(len(names) / 0.75).bit_length()) - 1  # buckets

    def place(name: tuple[int, str]) -> int:
        value = 31 * (31 + name[0]) + java_hash(name[1]) & MASK  # List.hashCode
        return (value ^ value >> 16) & last

    return [f"[{kind}, {value}]" for kind, value in sorted(dict.fromkeys(names), key=place)]
