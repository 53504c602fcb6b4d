"""What listens at a port that does not answer as a Kafka broker does, and what to give it.

Asked only after a broker's first questions went unanswered, on connections of their own, so that
whoever gave the wrong port is told what it is the port of: an HTTP server's, or a listener's that
wants TLS or SASL.

Sources: RFC 9112 section 4 (a status line begins with "HTTP/"), RFC 8446 (a handshake ends well or
with an alert), SaslServerAuthenticator at 1.0.2 and 4.3.1 (a mechanism that nobody has is answered
with those that there are, before any login).
"""

from __future__ import annotations

import contextlib
import ssl
import struct
import time

from touchstone.harness.driver.line import Line
from touchstone.harness.model.target import Address
from touchstone.harness.targets import reach
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import by_name

SECONDS = 1.0  # per question
HTTP = "an HTTP server answers there"
GIVE = f"give {reach.COMMAND_CONFIG} FILE, with Kafka's client properties"
TLS = f"what answers there wants TLS: {GIVE} (security.protocol=SSL, or SASL_SSL)"
SASL = f"the listener wants SASL ({{}}): {GIVE} (security.protocol={{}})"
_HANDSHAKE, _NOT_ENABLED = by_name("SaslHandshake").key, 33
_NOBODYS = "TOUCHSTONE"  # a mechanism


def of(address: Address, seconds: float = SECONDS) -> str | None:
    """What answers there, in words; None where no question is answered.

    `seconds` is how long each of the questions may take.
    """
    if _status_line(address, seconds):
        return HTTP
    return TLS if _shakes_hands(address, seconds) else None


def login_wanted(address: Address, seconds: float = SECONDS) -> str | None:
    """That the listener wants TLS or SASL beyond what connections to it have, and what to give;
    None where it wants neither.
    """
    secured = reach.is_secured(address)
    if mechanisms := _mechanisms(address, seconds):
        return SASL.format(mechanisms, "SASL_SSL" if secured else "SASL_PLAINTEXT")
    return TLS if not secured and _shakes_hands(address, seconds) else None


def _mechanisms(address: Address, seconds: float) -> str | None:
    """The mechanisms of a listener that wants SASL before anything else; None of any other."""
    frame = headers.encode_request(_HANDSHAKE, 1, 0, None, {"mechanism": _NOBODYS})
    deadline = time.perf_counter() + seconds
    try:
        line = Line(address, seconds)
    except OSError:
        return None
    try:
        if line.write(struct.pack(">i", len(frame)) + frame, deadline):
            return None
        how, raw = line.read(deadline)
        if how != "received":
            return None
        body = headers.decode_response(_HANDSHAKE, 1, raw).body
    except ValueError:
        return None
    finally:
        line.end()
    return ", ".join(body["mechanisms"]) if body["error_code"] == _NOT_ENABLED else None


def _status_line(address: Address, seconds: float) -> bool:
    with (
        contextlib.suppress(OSError),
        reach.connect(address, seconds, bare=True) as connection,
    ):
        connection.sendall(b"HEAD / HTTP/1.0\r\n\r\n")
        return connection.recv(5) == b"HTTP/"
    return False


def _shakes_hands(address: Address, seconds: float) -> bool:
    """Whether it ends a handshake, or refuses this one with an alert: we have no certificate."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            reach.connect(address, seconds, bare=True) as connection,
            context.wrap_socket(connection, server_hostname=address[0]),
        ):
            return True
    except ssl.SSLError as refused:
        return "ALERT" in (refused.reason or "")
    except OSError:
        return False
