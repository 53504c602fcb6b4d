"""PKCS12 stores are read here: the one door to `cryptography`."""

from __future__ import annotations

from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)


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
