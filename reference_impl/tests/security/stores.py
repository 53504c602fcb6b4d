"""Key stores and trust stores as files that Java and OpenSSL read alike, and as PEM text."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import trustme
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
    pkcs12,
)
from cryptography.x509 import Certificate, load_pem_x509_certificate

HOST = "127.0.0.1"
PASSWORD = b"secret"
PAST = datetime(2001, 1, 1, tzinfo=UTC), datetime(2002, 1, 1, tzinfo=UTC)


class Held(NamedTuple):
    """A certificate, those above it, and the key in PKCS #8, the one form that Kafka reads."""

    chain: str
    key: str

    @property
    def serial(self) -> int:
        return load_pem_x509_certificate(self.chain.encode()).serial_number


def pem(blob: trustme.Blob) -> str:
    return blob.bytes().decode("ascii")


def held(authority: trustme.CA, *names: str, organization: str = "books", **more) -> Held:
    made = authority.issue_cert(
        *(names or (HOST,)), organization_name=organization, organization_unit_name="unit", **more
    )
    key = load_pem_private_key(made.private_key_pem.bytes(), None)
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return Held("".join(map(pem, made.cert_chain_pems)), text)


class Stores:
    """A folder of stores; what is written is known by its name from then on.

    `pem`: whether keys of files are PEM, else PKCS12. 2.8 reads only PEM that is encrypted in an
    old way.
    """

    def __init__(self, folder: Path, *, pem: bool = True) -> None:
        self.folder, self.pem_files = folder, pem
        self.authority, self.stranger = trustme.CA(), trustme.CA()
        self.known: dict[int, str] = {}  # the name of a certificate, by its serial number

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def made(self, label: str, *names: str, by: trustme.CA | None = None, **more) -> Held:
        found = held(by or self.authority, *names, **more)
        self.known[found.serial] = label
        return found

    def pem(self, file: str, label: str, *names: str, **more) -> str:
        found = self.made(label, *names, **more)
        return self.write(file, found.key + found.chain)

    def keys(self, file: str, label: str, *names: str, **more) -> str:
        return (self.pem if self.pem_files else self.p12)(file, label, *names, **more)

    def write(self, file: str, text: str) -> str:
        Path(self.path(file)).write_text(text)
        return self.path(file)

    def p12(self, file: str, label: str, *names: str, password=PASSWORD, **more) -> str:
        found = self.made(label, *names, **more)
        own, *above = (load_pem_x509_certificate(each.encode()) for each in _pieces(found.chain))
        blob = pkcs12.serialize_key_and_certificates(
            b"Mine", load_pem_private_key(found.key.encode(), None), own, above or None,
            encrypted(password),
        )  # fmt: skip
        Path(self.path(file)).write_bytes(blob)
        return self.path(file)

    def trusted_p12(self, file: str, *authorities: trustme.CA) -> str:
        named = [
            pkcs12.PKCS12Certificate(_certificate(each), b"ca%d" % number)
            for number, each in enumerate(authorities)
        ]
        blob = pkcs12.serialize_java_truststore(named, encrypted(PASSWORD))
        Path(self.path(file)).write_bytes(blob)
        return self.path(file)

    def trusted_pem(self, file: str, *authorities: trustme.CA) -> str:
        return self.write(file, "".join(pem(each.cert_pem) for each in authorities))


def encrypted(password: bytes) -> KeySerializationEncryption:
    """As keytool does it, but for the rounds, which take the time."""
    return (
        PrivateFormat.PKCS12.encryption_builder()
        .kdf_rounds(100)
        .key_cert_algorithm(pkcs12.PBES.PBESv2SHA256AndAES256CBC)
        .hmac_hash(SHA256())
        .build(password)
    )


def on_one_line(text: str) -> str:
    """PEM as a properties file takes it."""
    return text.strip().replace("\n", " ")


def _pieces(chain: str) -> list[str]:
    return re.findall(r"-----BEGIN.*?END CERTIFICATE-----\n?", chain, re.DOTALL)


def _certificate(authority: trustme.CA) -> Certificate:
    return load_pem_x509_certificate(authority.cert_pem.bytes())
