"""Java's own key stores, JKS: the key and its certificates as PEM.

A store is entries and, behind them, a digest of all of it with the store's password. A private key
is PKCS #8 under a stream of digests of its own password, which is the store's unless a tool was
told otherwise. They are only read here: keytool makes them, and says itself that PKCS12 is better.

Source: sun.security.provider.JavaKeyStore and KeyProtector of Java 17, as observed on its stores.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from base64 import encodebytes

MAGIC = b"\xfe\xed\xfe\xed"
_KEY, _TRUSTED = 1, 2
_VERSIONS = (1, 2)
_WHITENER = b"Mighty Aphrodite"
_DIGEST = 20
# What stands before the protected key: an EncryptedPrivateKeyInfo of Sun's algorithm.
_ALGORITHM = bytes.fromhex("060a2b060104012a02110101")


def as_pem(data: bytes, password: str, key_password: str | None = None) -> tuple[str, str, str]:
    """Return the first key (empty where there is none), the certificates, the key's own first, and
    the alias of the key. Raise ValueError for another password, or what is no such store.
    """
    body, digest = data[:-_DIGEST], data[-_DIGEST:]
    spelled = password.encode("utf-16-be")
    if not hmac.compare_digest(hashlib.sha1(spelled + _WHITENER + body).digest(), digest):
        raise ValueError("keystore was tampered with, or password was incorrect")
    reader = _Reader(body)
    if reader.take(4) != MAGIC or (version := reader.number()) not in _VERSIONS:
        raise ValueError("it is no JKS store")
    key, alias, own, trusted = "", "", "", ""
    for _ in range(reader.number()):
        tag, name = reader.number(), reader.text()
        reader.take(8)  # when it was made
        if tag == _TRUSTED:
            trusted += reader.certificate(version)
        elif tag == _KEY:
            protected = reader.take(reader.number())
            chain = "".join(reader.certificate(version) for _ in range(reader.number()))
            if not key:
                key = _pem("PRIVATE KEY", _plain(protected, key_password or password))
                alias, own = name, chain
        else:
            raise ValueError(f"its entry {name} is of an unknown kind")
    return key, own + trusted, alias


def _plain(protected: bytes, password: str) -> bytes:
    """The key behind its protection. Raises ValueError for another password."""
    at = protected.find(_ALGORITHM)
    start = protected.find(b"\x04", at + len(_ALGORITHM) + 2) if at >= 0 else -1  # OCTET STRING
    if start < 0:
        raise ValueError("its key is protected in an unknown way")
    sealed = _content(protected, start)
    salt, veiled, check = sealed[:_DIGEST], sealed[_DIGEST:-_DIGEST], sealed[-_DIGEST:]
    spelled, pad, stream = password.encode("utf-16-be"), salt, b""
    while len(stream) < len(veiled):
        pad = hashlib.sha1(spelled + pad).digest()
        stream += pad
    key = bytes(a ^ b for a, b in zip(veiled, stream, strict=False))
    if not hmac.compare_digest(hashlib.sha1(spelled + key).digest(), check):
        raise ValueError("Cannot recover key: the password of the key is another")
    return key


def _content(data: bytes, at: int) -> bytes:
    """What a DER element holds."""
    size, begin = data[at + 1], at + 2
    if size & 0x80:
        begin += size & 0x7F
        size = int.from_bytes(data[at + 2 : begin], "big")
    return data[begin : begin + size]


def _pem(kind: str, der: bytes) -> str:
    text = encodebytes(der).decode().replace("\n", "")
    lines = "\n".join(text[at : at + 64] for at in range(0, len(text), 64))
    return f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\n"


class _Reader:
    """Numbers and texts as java.io.DataOutputStream writes them. Raises ValueError at the end."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, size: int) -> bytes:
        found = self._data[self._at : self._at + size]
        if size < 0 or len(found) != size:
            raise ValueError("it ends too early")
        self._at += size
        return found

    def number(self) -> int:
        (found,) = struct.unpack(">i", self.take(4))
        return int(found)

    def text(self) -> str:
        (size,) = struct.unpack(">H", self.take(2))
        return self.take(size).decode("utf-8", "replace")

    def certificate(self, version: int) -> str:
        if version > 1:
            self.text()  # X.509
        return _pem("CERTIFICATE", self.take(self.number()))
