"""How to log in where a cluster wants it: Kafka's client properties, and one connection's entry.

A login is given once (`--command-config FILE`, or the table [client] of a target file). `reach`
has each connection to an address of it enter by `Login.enter`, which gives back a socket that
carries Kafka's requests and answers in the clear, as that of a PLAINTEXT listener does: whoever
speaks above it, and whatever is kept of what was spoken, sees neither TLS nor SASL. So credentials
are in no transcript, bundle or capture; nor are they in a message: what a peer or a parser says of
a login is shown without them (`Login.masked`).

The settings, the mechanisms and the exchange are the reference client's.

Sources: ClientUtils.createChannelBuilder, SaslClientAuthenticator at 4.3.1.
"""

from __future__ import annotations

import base64
import contextlib
import errno
import random
import re
import socket
import ssl
import struct
import time
import urllib.parse
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from touchstone.harness.model.target import Address
from touchstone.harness.targets import tls_bridge
from touchstone.harness.targets.description import Description
from touchstone.harness.targets.reach import COMMAND_CONFIG, LoginRefused, NoAnswer, NotLoggedIn
from touchstone.reference_impl.client.configs.connection_config import connection_config
from touchstone.reference_impl.client.configs.definitions import definitions_of_every_client
from touchstone.reference_impl.client.configs.properties import ENCODING, parse
from touchstone.reference_impl.client.flow import ClientError
from touchstone.reference_impl.client.security.authenticator import Said, SaslAuthenticator
from touchstone.reference_impl.client.security.errors import (
    AuthenticationException,
    IllegalSaslStateException,
)
from touchstone.reference_impl.client.security.security_settings import SecuritySettings
from touchstone.reference_impl.extras import MissingExtra
from touchstone.reference_impl.io.client_security import ClientSecurity
from touchstone.reference_impl.security import jaas
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import by_name

PROTOCOL, _MECHANISM = "security.protocol", "sasl.mechanism"
OBEYED = ("security.protocol", "sasl.", "ssl.")  # names, and beginnings of names
PATHS = ("ssl.keystore.location", "ssl.truststore.location")
MOST = 1 << 20  # bytes of an answer, and of a file of properties
HIDDEN = "[hidden]"
_VERSIONS = by_name("ApiVersions").key
_CLIENT = "touchstone"
_SECRET = ("password", "secret", "passphrase", "jaas.config", "ssl.keystore.key")
_NOT_TLS = "does the listener speak TLS at all?"
_IS_TLS = "; a listener with TLS wants security.protocol=SASL_SSL"
_NO_SASL = "a listener without SASL wants security.protocol=PLAINTEXT, or SSL"
_NO_CERTIFICATE = "; ssl.keystore.location names the certificate to show, where one is wanted"
# What OpenSSL makes of the alerts that refuse a certificate (RFC 8446, section 6.2); 2.8's are read
# with the wrong keys.
_OF_CERTIFICATES = ("certificate", "unknown_ca", "bad_record_mac")
_TOKEN = re.compile(r"\beyJ[\w-]+\.[\w-]+\.[\w-]*")  # a JSON Web Token
_SHORTEST = 3  # characters of a secret that can be looked for in a text
Ranges = dict[int, tuple[int, int]]
_NO_NAME = "ssl.endpoint.identification.algorithm= (empty) asks for no name"
_OWNER = "the broker needs a new one"
_HELP = {  # what helps, by OpenSSL's X509_V_ERR_ codes
    10: _OWNER,  # CERT_HAS_EXPIRED
    62: _NO_NAME,  # HOSTNAME_MISMATCH
    64: _NO_NAME,  # IP_ADDRESS_MISMATCH
}


class BadLogin(ValueError):
    """The properties say how to log in in a way that cannot be obeyed; the message is one line."""


class Login:
    """One way to log in, and what is known of the peers that it was tried on.

    `source` names where the properties are from. Raises BadLogin.
    """

    def __init__(self, properties: Mapping[str, str], source: str) -> None:
        self.properties, self.source = dict(properties), source
        self._secrets = sorted(_secrets(properties), key=len, reverse=True)
        self._ranges: dict[Address, Ranges] = {}
        self._sessions: WeakKeyDictionary[socket.socket, SaslAuthenticator]
        self._sessions = WeakKeyDictionary()
        try:
            self.settings = SecuritySettings.of(connection_config(self.properties))
            self._security = ClientSecurity(random.random, self.settings)
        except (ClientError, MissingExtra, ValueError, OSError) as wrong:
            more = _of_properties(properties)
            raise BadLogin(f"{source}: {self.masked(str(wrong))}{more}") from None

    def __reduce__(self) -> tuple[type[Login], tuple[dict[str, str], str]]:
        return Login, (self.properties, self.source)

    @property
    def is_secured(self) -> bool:
        """Whether it is under TLS."""
        return self.settings.tls is not None

    @property
    def authenticates(self) -> bool:
        """Whether it says who somebody is by SASL."""
        return self.settings.sasl is not None

    @property
    def identifies(self) -> bool:
        """Whether it says who somebody is, by SASL or by a certificate."""
        tls = self.settings.tls
        return self.authenticates or (tls is not None and tls.keys is not None)

    @property
    def protocol(self) -> str:
        """The security protocol, as listeners are named by default."""
        return (self.properties.get(PROTOCOL) or "PLAINTEXT").strip().upper()

    def unused(self) -> list[str]:
        """The line that says which properties nobody obeys here, if there are any; Kafka's clients
        warn so.
        """
        known = definitions_of_every_client()
        names = [
            name for name in self.properties if not (name.startswith(OBEYED) and name in known)
        ]
        if not names:
            return []
        return [f"{self.source}: supplied, but not used here: {', '.join(sorted(names))}"]

    def client_properties(self) -> dict[str, str]:
        """The properties that say how to log in."""
        return {name: text for name, text in self.properties.items() if name.startswith(OBEYED)}

    def masked(self, text: str) -> str:
        """The text as one line, without any of the secrets."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        text = _TOKEN.sub(HIDDEN, text)
        return " ".join(text.split())

    # one connection

    def enter(self, connection: socket.socket, address: Address, seconds: float) -> socket.socket:
        """Log in on a new connection; the socket to go on with. It takes `seconds` at most. Raises
        NotLoggedIn, and closes the connection then.
        """
        deadline, stream = time.perf_counter() + seconds, connection
        try:
            stream = self._secured(connection, address, deadline)
            machine = self._said(stream, address, deadline)
        except BaseException:
            stream.close()
            raise
        if isinstance(stream, ssl.SSLSocket):
            stream = tls_bridge.opened(stream)
        stream.settimeout(seconds)  # as socket.create_connection leaves it
        if machine is not None:
            self._sessions[stream] = machine
        return stream

    def expiring(self, connection: socket.socket) -> bool:
        """Whether the session on it is to be renewed before the next request (KIP-368)."""
        machine = self._sessions.get(connection)
        return machine is not None and machine.expiring(_now_ms())

    def renew(self, connection: socket.socket, seconds: float) -> None:
        """Log in again on a connection that carries nothing at the moment. Raises NotLoggedIn."""
        machine, deadline = self._sessions[connection], time.perf_counter() + seconds
        with self._explained("when the session was to be renewed"):
            self._exchanged(machine, machine.renew(_now_ms()), connection, deadline)

    def _secured(
        self, connection: socket.socket, address: Address, deadline: float
    ) -> socket.socket:
        """The connection under TLS, where there is any."""
        context = self._security.context
        if context is None:
            return connection
        connection.settimeout(_left(deadline))
        try:
            return context.wrap_socket(connection, server_hostname=address[0])
        except ssl.SSLCertVerificationError as fault:
            text = f"its certificate is refused: {fault.verify_message}; {_help(fault)}"
            raise NotLoggedIn(self._why(text)) from fault
        except TimeoutError as fault:
            raise NoAnswer(self._why("no TLS handshake in time")) from fault
        except OSError as fault:
            text = f"the TLS handshake failed: {_short(fault)}; {_NOT_TLS}"
            raise NotLoggedIn(self._why(text)) from fault

    def _said(
        self, stream: socket.socket, address: Address, deadline: float
    ) -> SaslAuthenticator | None:
        """Say who we are, or, the first time, look whether TLS was enough."""
        machine = self._security.authenticator()
        if machine is None and (address in self._ranges or self._security.context is None):
            return None
        with self._explained("during the login"):
            ranges = self._ranges.get(address) or self._asked(stream, deadline)
            if machine is not None:
                said = machine.versions(ranges, _now_ms())
                self._exchanged(machine, said, stream, deadline)
        self._ranges[address] = ranges
        return machine

    @contextlib.contextmanager
    def _explained(self, when: str) -> Iterator[None]:
        """Raise what goes wrong as NotLoggedIn."""
        try:
            yield
        except AuthenticationException as refused:
            more = f"; {_NO_SASL}" if isinstance(refused, IllegalSaslStateException) else ""
            more += self._of_token()
            raise LoginRefused(self._why(f"the login is refused: {refused}{more}")) from refused
        except TimeoutError as fault:
            raise NoAnswer(self._why(f"no answer {when} in time")) from fault
        except (OSError, ValueError) as fault:
            what = "the TLS connection" if self._security.context else "the connection"
            more = self._of_tls(fault) if self._security.context else _IS_TLS
            text = f"{what} ended {when}: {_short(fault)}{more}"
            raise NotLoggedIn(self._why(text)) from fault

    def _of_tls(self, fault: Exception) -> str:
        """What to give where the peer ends TLS for want of a certificate, in TLS 1.3 late."""
        reason = (fault.reason or "").lower() if isinstance(fault, ssl.SSLError) else ""
        tls = self.settings.tls
        shows_none = tls is not None and tls.keys is None
        is_about_it = any(word in reason for word in _OF_CERTIFICATES)
        return _NO_CERTIFICATE if shows_none or is_about_it else ""

    def _of_token(self) -> str:
        """When the token that was shown ended, which brokers do not tell."""
        end = self._security.tokens.end if self._security.tokens else 0.0
        if not 0 < end < _now_ms():
            return ""
        when = datetime.fromtimestamp(end / 1000, UTC)
        return f"; the token ended at {when:%Y-%m-%d %H:%M:%S} UTC"

    def _asked(self, stream: socket.socket, deadline: float) -> Ranges:
        body = _answer(stream, _VERSIONS, 0, {}, deadline)
        if body["error_code"]:
            raise ValueError(f"ApiVersions answered error {body['error_code']}")
        return {row["api_key"]: (row["min_version"], row["max_version"])
                for row in body["api_keys"]}  # fmt: skip

    def _exchanged(
        self, machine: SaslAuthenticator, said: Said | None, stream: socket.socket, deadline: float
    ) -> None:
        while said is not None:
            if said.key is None:
                _write(stream, said.frame, deadline)
                said = machine.framed(_read(stream, deadline), _now_ms())
            else:
                body = _answer(stream, said.key, said.version, said.body, deadline)
                said = machine.answered(said.key, body, _now_ms())

    def _why(self, text: str) -> str:
        return f"{self.masked(text)} ({self.how})"

    @property
    def how(self) -> str:
        """How it logs in, in words."""
        sasl = self.settings.sasl
        mechanism = f" {sasl.mechanism}" if sasl else ""
        return f"{self.protocol}{mechanism} by {self.source}"


def of_file(path: Path) -> Login:
    """The login of a file of Kafka's client properties. Raises BadLogin."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST + 1)
    except OSError as fault:
        raise BadLogin(f"{COMMAND_CONFIG} {path}: {fault.strerror}") from None
    if len(data) > MOST:
        raise BadLogin(f"{COMMAND_CONFIG} {path}: it is larger than {MOST} bytes")
    try:
        return Login(parse(data.decode(ENCODING)), str(path))
    except BadLogin as wrong:
        raise BadLogin(f"{COMMAND_CONFIG} {wrong}") from None
    except ValueError as wrong:
        raise BadLogin(f"{COMMAND_CONFIG} {path}: {wrong}") from None


def of_description(described: Description) -> Login | None:
    """The login that a target file describes, if any; paths in it are from where the file is.
    Raises BadLogin.
    """
    if described.command_config is not None:
        return of_file(described.command_config)
    if not described.client:
        return None
    beside = {
        name: str(described.file.parent / described.client[name])
        for name in PATHS if name in described.client
    }  # fmt: skip
    return Login({**described.client, **beside}, f"[client] of {described.file}")


def _of_properties(properties: Mapping[str, str]) -> str:
    """What else is to be known of properties that cannot be obeyed."""
    if any("${" in value for name, value in properties.items() if name.startswith(OBEYED)):
        return "; a value that config.providers is to fill in (${...}) must be written out here"
    is_sasl = properties.get(PROTOCOL, "").strip().upper().startswith("SASL_")
    if not is_sasl or _MECHANISM in properties:
        return ""
    librdkafkas = f"; {_MECHANISM}s is librdkafka's" if f"{_MECHANISM}s" in properties else ""
    return f"; {_MECHANISM} is not given{librdkafkas}"


def _secrets(properties: Mapping[str, str]) -> Iterator[str]:
    """Everything in these properties that nobody may see, in each of its spellings."""
    plain = [value for name, value in properties.items() if name.endswith(_SECRET)]
    with contextlib.suppress(ValueError):
        module = jaas.parse(properties.get(jaas.SETTING, ""))
        plain += [
            value for name, value in module.options.items()
            if any(word in name.lower() for word in ("password", "secret", "token"))
        ]  # fmt: skip
    for secret in plain:
        if len(secret) >= _SHORTEST and secret.lower() not in ("true", "false"):
            yield secret
            yield base64.b64encode(secret.encode()).decode()
            yield urllib.parse.quote(secret, safe="")


def _help(fault: ssl.SSLCertVerificationError) -> str:
    """Which property it is a matter of."""
    return _HELP.get(fault.verify_code, "ssl.truststore.location names whom to trust")


def _short(fault: Exception) -> str:
    """A fault without the line numbers of OpenSSL."""
    if isinstance(fault, ssl.SSLError) and fault.reason:
        return fault.reason.lower().replace("_", " ")
    if isinstance(fault, OSError):
        return fault.strerror or type(fault).__name__
    return re.sub(r"\s+", " ", str(fault))


def _answer(
    stream: socket.socket, key: int, version: int, body: dict[str, Any], deadline: float
) -> dict[str, Any]:
    """The decoded answer. Raises OSError, ValueError."""
    _write(stream, headers.encode_request(key, version, 0, _CLIENT, body), deadline)
    return headers.decode_response(key, version, _read(stream, deadline)).body


def _write(stream: socket.socket, frame: bytes, deadline: float) -> None:
    stream.settimeout(_left(deadline))
    stream.sendall(struct.pack(">i", len(frame)) + frame)


def _read(stream: socket.socket, deadline: float) -> bytes:
    (size,) = struct.unpack(">i", _exactly(stream, 4, deadline))
    if not 0 <= size <= MOST:
        raise ValueError(f"what came begins no frame ({size} bytes)")
    return _exactly(stream, size, deadline)


def _exactly(stream: socket.socket, size: int, deadline: float) -> bytes:
    found = b""
    while len(found) < size:
        stream.settimeout(_left(deadline))
        chunk = stream.recv(size - len(found))
        if not chunk:
            raise ConnectionResetError(errno.ECONNRESET, "the peer closed it")
        found += chunk
    return found


def _left(deadline: float) -> float:
    return max(deadline - time.perf_counter(), 0.001)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
