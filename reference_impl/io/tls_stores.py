"""Keys and trusted certificates from their stores into Python's `ssl`; either side's.

Source: DefaultSslEngineFactory at 2.8.2 and 4.0.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import ssl
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from touchstone.reference_impl.extras import MissingExtra
from touchstone.reference_impl.io import java_keystores
from touchstone.reference_impl.security.tls_stores import JKS, PEM, PKCS12, Store, UnreadableStore

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_PIECE = re.compile(r"(-----BEGIN [^-]+-----)\s+([^-]*?)\s+(-----END [^-]+-----)")
_MISFIT = "KEY_VALUES_MISMATCH"  # as OpenSSL says it
_OF_PEM = "kafka"  # the name of the one entry of a PEM store, in Java
_ENCRYPTED = "ENCRYPTED"  # stands in the first line of such a key
_TEXTUAL = "BEGIN CERTIFICATE"
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n?", re.DOTALL)


class Shown(NamedTuple):
    """A chain as PEM, the certificate of the key first, and what Java calls the entry."""

    chain: str
    alias: str


def speak_versions(context: ssl.SSLContext, versions: tuple[str, ...]) -> None:
    context.minimum_version = _VERSIONS[versions[0]]
    context.maximum_version = _VERSIONS[versions[-1]]


def choose_suites(context: ssl.SSLContext, suites: Iterable[str]) -> None:
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


def load_keys(
    context: ssl.SSLContext, keys: Store, key_password: str | None, *, fit: bool = True
) -> Shown:
    """Gives what peers will be shown. ValueError for what cannot be read, and for the key of
    another certificate, unless nobody asks whether they `fit`: then no handshake succeeds.
    """
    with _key_files(keys, key_password) as (chain, password, alias):
        try:
            try:
                context.load_cert_chain(chain, password=password or "")
            except ssl.SSLError as fault:
                if fit or fault.reason != _MISFIT:
                    raise
            found = Path(chain).read_text(encoding="ascii", errors="replace")
            if key_password is not None and keys.kind == PEM and _ENCRYPTED not in found:
                raise _unreadable(keys, "its key is not encrypted, and has a password")
        except (ssl.SSLError, OSError) as fault:
            raise _unreadable(keys, fault) from None
    return Shown("".join(_CERTIFICATE.findall(found)), alias)


def check_same(old: Shown, new: Shown, *, subject: bool, names: bool) -> None:
    """Whether the certificate of a chain is for whom that of another was; ValueError if not."""
    module = _certificates("certificates that take another's place need")
    module.check_same(old, new, subject=subject, names=names)


def _certificates(who: str) -> Any:
    try:
        return importlib.import_module("touchstone.reference_impl.io.certificates")
    except ImportError:
        raise MissingExtra(f"{who} cryptography", "tls") from None


@contextlib.contextmanager
def _key_files(keys: Store, key_password: str | None) -> Iterator[tuple[str, str | None, str]]:
    """A file with the chain and its key, as PEM, the password of the key, and its name."""
    if keys.kind == PEM and keys.path is not None:
        yield keys.path, key_password, _OF_PEM
    elif keys.kind == PEM:
        with _written(_in_lines(f"{keys.key} {keys.text}")) as path:
            yield path, key_password, _OF_PEM
    else:
        key, certificates, alias = _binary(keys, key_password)
        with _written(key + certificates) as path:
            yield path, None, alias


def _in_lines(text: str) -> str:
    """PEM text whose lines somebody put into one, which Java reads and OpenSSL does not."""
    return _PIECE.sub(
        lambda found: "\n".join(("", found[1], *found[2].split(), found[3], "")), text
    )


def load_trusted(context: ssl.SSLContext, store: Store | None, purpose: ssl.Purpose) -> None:
    """Trust these, or (None) whom the system trusts. ValueError for what cannot be read."""
    if store is None:
        context.load_default_certs(purpose)
        return
    text = store.text
    if text is None and store.kind == PEM:
        text = _read(store).decode("utf-8", "replace")
    elif text is None:
        _, text, _ = _binary(store, None)
    if _TEXTUAL not in text:
        raise ValueError(
            "ssl.truststore.location: At least one certificate expected, but none found"
        )
    context.load_verify_locations(cadata=_in_lines(text))


def _read(store: Store) -> bytes:
    try:
        return Path(str(store.path)).read_bytes()
    except OSError as fault:
        raise _unreadable(store, fault.strerror) from None


def _binary(store: Store, key_password: str | None) -> tuple[str, str, str]:
    """The key, and all certificates, of a PKCS12 or JKS file, as PEM, and the name of the key."""
    if store.kind not in (PKCS12, JKS):  # Java reads either kind under both names
        raise _unreadable(store, "stores of this type are not read here")
    data, password = _read(store), (store.password or "").encode()
    if data.startswith(java_keystores.MAGIC):
        try:
            return java_keystores.as_pem(data, store.password or "", key_password)
        except ValueError as fault:
            raise _unreadable(store, fault) from None
    try:
        found: tuple[str, str, str] = _certificates("PKCS12 stores need").as_pem(data, password)
    except ValueError as fault:
        why = f"it is neither a PKCS12 store of this password nor a JKS store: {fault}"
        raise _unreadable(store, why) from None
    return found


def _unreadable(store: Store, why: object) -> UnreadableStore:
    return UnreadableStore(_unloaded(store), why, pem=store.kind == PEM)


def _unloaded(store: Store) -> str:
    """As Kafka says it, of key stores and trust stores alike."""
    if store.path is None:
        return "Invalid PEM keystore configs"
    if store.kind == PEM:
        return f"Failed to load PEM SSL keystore {store.path}"
    return f"Failed to load SSL keystore {store.path} of type {store.kind}"


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
