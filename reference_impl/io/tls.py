"""TLS between a socket and the frames of its connection, without a socket of its own.

Bytes that came in go through `received`, pieces to be sent through `encrypted`; what the handshake
has to say is in `outgoing`. So the event loop stays the only one that reads, writes and waits.
Files are read when a listener begins, and again when its broker comes back.

Sources: SslTransportLayer, DefaultSslEngineFactory at 2.8.2 and 4.0 (what is asked of whom).
"""

from __future__ import annotations

import contextlib
import importlib
import os
import ssl
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from touchstone.reference_impl.broker.configs.listener_settings import Listener
from touchstone.reference_impl.broker.security.ssl_principals import Rule, user_of
from touchstone.reference_impl.broker.security.tls_settings import (
    NONE,
    PEM,
    REQUIRED,
    Store,
    TlsSettings,
)

_CHUNK = 1 << 16
_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_TEXTUAL = "BEGIN CERTIFICATE"


class TlsFailed(ValueError):
    """The peer speaks no TLS, or not the one that is asked for."""


class TlsListener:
    """The keys and rules of one listener. ValueError for what cannot be read."""

    def __init__(self, settings: TlsSettings, listener: Listener) -> None:
        self.names_users = not listener.sasl and settings.client_auth != NONE
        self.rules: tuple[Rule, ...] = settings.rules
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = _VERSIONS[settings.versions[0]]
        self.context.maximum_version = _VERSIONS[settings.versions[-1]]
        if settings.client_auth != NONE:
            required = settings.client_auth == REQUIRED
            self.context.verify_mode = ssl.CERT_REQUIRED if required else ssl.CERT_OPTIONAL
        if settings.suites:
            _choose(self.context, settings.suites)
        _load_keys(self.context, settings)
        _load_trusted(self.context, settings.trusted)


class TlsLayer:
    """One connection's TLS."""

    def __init__(self, listener: TlsListener) -> None:
        self._listener = listener
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = listener.context.wrap_bio(self._in, self._out, server_side=True)
        self.ready = False
        self.ended = False  # the peer has said that it will say no more

    def received(self, data: bytes) -> bytes:
        """What the peer said in what came in; TlsFailed, after which `outgoing` has an alert."""
        self._in.write(data)
        found = []
        try:
            if not self.ready:
                self._tls.do_handshake()
                self.ready = True
            while piece := self._tls.read(_CHUNK):
                found.append(piece)
            self.ended = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as fault:
            raise TlsFailed(fault.reason or str(fault)) from None
        return b"".join(found)

    def encrypted(self, pieces: Iterable[bytes]) -> tuple[bytes, ...]:
        for piece in pieces:
            if piece:
                self._tls.write(piece)
        return (self._out.read(),)

    def outgoing(self) -> bytes:
        """What TLS itself has to say."""
        return self._out.read()

    def farewell(self) -> bytes:
        if not self.ready:
            return b""
        with contextlib.suppress(ssl.SSLError, ValueError):
            self._tls.unwrap()
        return self._out.read()

    def user(self) -> str | None:
        """Whose certificate the peer has shown, where that says who it is. TlsFailed where no rule
        knows its name.
        """
        if not (self.ready and self._listener.names_users):
            return None
        certificate: dict[str, Any] | None = self._tls.getpeercert()
        if not certificate:
            return None
        try:
            return user_of(certificate["subject"], self._listener.rules)
        except ValueError as nobody:
            raise TlsFailed(str(nobody)) from None


def _choose(context: ssl.SSLContext, suites: Iterable[str]) -> None:
    """Java's names of suites are OpenSSL's for TLS 1.3, which always has all of its own."""
    old = [each for each in suites if not each.startswith(("TLS_AES", "TLS_CHACHA20"))]
    if old:
        known = {str(each["name"]): str(each["name"]) for each in context.get_ciphers()}
        named = [known.get(each) or _openssl_name(each) for each in old]
        try:
            context.set_ciphers(":".join(named))
        except ssl.SSLError:
            raise ValueError(f"ssl.cipher.suites={','.join(old)} names none that is here") from None


def _openssl_name(suite: str) -> str:
    """TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 -> ECDHE-RSA-AES128-GCM-SHA256."""
    text = suite.removeprefix("TLS_").replace("_WITH_", "_").replace("AES_", "AES")
    return text.replace("_", "-")


def _load_keys(context: ssl.SSLContext, settings: TlsSettings) -> None:
    with _key_files(settings) as (chain, password):
        try:
            context.load_cert_chain(chain, password=password or "")
        except (ssl.SSLError, OSError) as fault:
            raise ValueError(f"ssl.keystore.location: {fault}") from None


@contextlib.contextmanager
def _key_files(settings: TlsSettings) -> Iterator[tuple[str, str | None]]:
    """A file with the chain and its key, as PEM, and the password of the key."""
    keys = settings.keys
    if keys.kind == PEM and keys.path is not None:
        yield keys.path, settings.key_password
    elif keys.kind == PEM:
        with _written(f"{keys.key}\n{keys.text}\n") as path:
            yield path, settings.key_password
    else:
        key, certificates = _pkcs12(keys)
        with _written(key + certificates) as path:
            yield path, None


def _load_trusted(context: ssl.SSLContext, store: Store | None) -> None:
    if store is None:
        context.load_default_certs(ssl.Purpose.CLIENT_AUTH)
        return
    text = store.text
    if text is None and store.kind == PEM:
        text = _read(store).decode("utf-8", "replace")
    elif text is None:
        _, text = _pkcs12(store)
    if _TEXTUAL not in text:
        raise ValueError(
            "ssl.truststore.location: At least one certificate expected, but none found"
        )
    context.load_verify_locations(cadata=text)


def _read(store: Store) -> bytes:
    try:
        return Path(str(store.path)).read_bytes()
    except OSError as fault:
        raise ValueError(f"Failed to load SSL store {store.path}: {fault.strerror}") from None


def _pkcs12(store: Store) -> tuple[str, str]:
    """The key, and all certificates, of a PKCS12 file, as PEM."""
    data, password = _read(store), (store.password or "").encode()
    try:
        module = importlib.import_module("touchstone.reference_impl.io.pkcs12")
    except ImportError:
        raise ValueError(
            f"{store.path}: PKCS12 stores need pip install 'kafka-touchstone[tls]'"
        ) from None
    try:
        found: tuple[str, str] = module.as_pem(data, password)
    except ValueError as fault:
        how = "keytool -importkeystore -deststoretype PKCS12"
        raise ValueError(
            f"{store.path} is no PKCS12 store of this password ({how} makes one): {fault}"
        ) from None
    return found


@contextlib.contextmanager
def _written(text: str) -> Iterator[str]:
    """A file that only this user can read, for a while: `ssl` takes keys from nowhere else."""
    descriptor, path = tempfile.mkstemp(suffix=".pem")
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
        yield path
    finally:
        os.unlink(path)
