"""The keys that sign a listener's tokens, read from a file or over HTTP beside the event loop.

What is over HTTP is read once before the listener accepts anybody, so that a broker whose keys
nobody can read does not start, and then by a thread of its own: every refresh.ms, and soon where
a token names an unknown key. The loop only takes the keys that were read last, and waits for
nobody; a token whose key is still to come is refused, as Kafka refuses it.

Sources: CachedFile, JwksFileVerificationKeyResolver, RefreshingHttpsJwks, Retry, JaasOptionsUtils
at 3.9.2 and 4.3.1; HttpsJwks and Get of jose4j 0.9.6; observed on 3.9.2 and 4.3.1.
"""

from __future__ import annotations

import logging
import ssl
import threading
import time
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit

from touchstone.reference_impl.broker.security.jwks_settings import URL, JwksSettings
from touchstone.reference_impl.broker.security.token_keys import MissingKeys
from touchstone.reference_impl.io.tls_stores import (
    choose_suites,
    load_keys,
    load_trusted,
    speak_versions,
)
from touchstone.reference_impl.security.json_web_keys import JsonWebKey
from touchstone.reference_impl.security.signatures import key_set
from touchstone.reference_impl.security.tls_stores import (
    ENGINE,
    NO_ENGINE,
    keys_of,
    listed,
    trusted_of,
    versions_of,
)

LOG = logging.getLogger("touchstone.jwks")
_TRIES, _FIRST_WAIT_S = 4, 0.18  # of one reading; each wait is twice the one before
_TIMEOUT_S = 20.0
_MOST = 512 * 1024  # characters of a set
_JUST_READ_S = 0.3  # what was read so lately is not read again
_LONGEST_S = 1_000_000_000.0  # what a thread can wait has an end


def opened(settings: JwksSettings) -> JwksFile | JwksEndpoint:
    """Reads the keys; ValueError, with one line, where they cannot be read."""
    return JwksFile(settings) if settings.is_file else JwksEndpoint(settings)


class JwksFile:
    def __init__(self, settings: JwksSettings) -> None:
        self._path, self._again = _file(settings.url), settings.read_again
        self._keys: Iterable[JsonWebKey] = ()
        self._read()

    def current(self) -> Iterable[JsonWebKey]:
        if self._again and self._modified() != self._seen:
            self._read()
        return self._keys

    def missing(self, kid: str, now: int) -> None:
        """It has not changed, so the key is not in it."""

    def refresh(self) -> None:
        """The broker starts again; one that reads no more keys has those of before."""
        try:
            self._read()
        except ValueError as fault:
            LOG.warning("%s", fault)

    def close(self) -> None:
        """It keeps nothing open."""

    def _read(self) -> None:
        self._seen = self._modified()
        try:
            self._keys = key_set(self._path.read_text(encoding="utf-8", errors="replace"))
        except (OSError, ValueError) as fault:
            self._seen = -1  # whoever comes next may find another
            raise ValueError(f"{URL}: {self._path} holds no JWKS: {fault}") from None

    def _modified(self) -> int:
        """In ms, as Java has it; 0 for a file that is gone."""
        try:
            return self._path.stat().st_mtime_ns // 1_000_000
        except OSError:
            return 0


class JwksEndpoint:
    def __init__(self, settings: JwksSettings) -> None:
        self._settings = settings
        self._opener = _opener(settings)
        self._missing, self._lock = MissingKeys(), threading.Lock()
        self._wake, self._over = threading.Event(), threading.Event()
        self._keys = self._fetched()
        self._read_at = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="touchstone-jwks", daemon=True)
        self._thread.start()

    def current(self) -> Iterable[JsonWebKey]:
        return self._keys

    def missing(self, kid: str, now: int) -> None:
        with self._lock:
            wanted = self._missing.wanted(kid, now)
        if wanted:
            self._wake.set()

    def refresh(self) -> None:
        self._wake.set()

    def close(self) -> None:
        """A reading that is under way ends without anybody waiting for it."""
        self._over.set()
        self._wake.set()

    def _run(self) -> None:
        every = min(self._settings.refresh_ms / 1000, _LONGEST_S)
        due = time.monotonic() + every
        while True:
            asked = self._wake.wait(max(0.0, due - time.monotonic()))
            self._wake.clear()
            if self._over.is_set():
                return
            now = time.monotonic()
            if now >= due:
                due = max(due + every, now)
            elif not asked:
                continue
            if now - self._read_at >= _JUST_READ_S:
                self._refresh()

    def _refresh(self) -> None:
        """Read until it succeeds, or until retry.backoff.max.ms are over: the keys stay, then."""
        wait = self._settings.backoff_ms / 1000
        end = time.monotonic() + self._settings.most_backoff_ms / 1000
        while True:
            try:
                keys = self._fetched()
                break
            except ValueError as fault:
                LOG.warning("%s", fault)
            pause = min(wait, end - time.monotonic())
            if pause <= 0 or self._over.wait(pause):
                return
            wait *= 2
        with self._lock:
            self._missing.found(each.id for each in keys)
        self._keys, self._read_at = keys, time.monotonic()

    def _fetched(self) -> tuple[JsonWebKey, ...]:
        url = self._settings.url
        for tried in range(_TRIES):
            try:
                return key_set(self._body())
            except OSError as fault:
                if tried + 1 == _TRIES or _is_certain(fault):
                    why = fault.reason if isinstance(fault, URLError) else fault
                    raise ValueError(f"{URL}: {url} cannot be read: {why}") from None
            except ValueError as fault:
                raise ValueError(f"{URL}: {url} holds no JWKS: {fault}") from None
            if self._over.wait(_FIRST_WAIT_S * 2**tried):
                break
        raise ValueError(f"{URL}: {url} is read no more")

    def _body(self) -> str:
        request = urllib.request.Request(self._settings.url, headers={"Cache-Control": "no-cache"})
        try:
            with self._opener.open(request, timeout=_TIMEOUT_S) as response:
                if response.status != 200:
                    raise OSError(f"status {response.status}")
                data: bytes = response.read(_MOST + 1)
                charset = response.headers.get_content_charset("utf-8")
        except HTTPError as fault:
            fault.close()
            raise
        if len(data) > _MOST:
            raise ValueError(f"more than {_MOST} characters")
        try:
            return data.decode(charset, "replace")
        except LookupError:
            return data.decode("utf-8", "replace")


def _is_certain(fault: OSError) -> bool:
    """Whether another try would find the same: a peer that is not trusted."""
    reason = fault.reason if isinstance(fault, URLError) else fault
    return isinstance(reason, ssl.SSLError)


def _file(url: str) -> Path:
    path = Path(unquote(urlsplit(url).path)).absolute()
    contains = f"The OAuth configuration option {URL} contains a file ({path}) that"
    if not path.exists():
        raise ValueError(f"{contains} doesn't exist")
    if path.is_dir():
        raise ValueError(
            f"The OAuth configuration option {URL} references a directory ({path}), not a file"
        )
    return path


def _opener(settings: JwksSettings) -> urllib.request.OpenerDirector:
    """Without proxies of the environment, which Java does not know."""
    handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
    if urlsplit(settings.url).scheme.lower() == "https":
        handlers.append(urllib.request.HTTPSHandler(context=_context(settings)))
    return urllib.request.build_opener(*handlers)


def _context(settings: JwksSettings) -> ssl.SSLContext:
    """By the ssl.* options of the login module; the host's name is always checked."""
    said = settings.tls.get
    if said(ENGINE):
        raise ValueError(NO_ENGINE)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    speak_versions(context, versions_of(said))
    choose_suites(context, listed(said("ssl.cipher.suites")))
    keys = keys_of(said)
    if keys is not None:
        load_keys(context, keys, said("ssl.key.password"))
    load_trusted(context, trusted_of(said), ssl.Purpose.SERVER_AUTH)
    return context
