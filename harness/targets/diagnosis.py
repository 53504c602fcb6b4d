"""What listens at a port that does not answer as a Kafka broker: an HTTP server, or a port for TLS.

Asked only after a broker's first question went unanswered, on connections of their own, so that
whoever gave the wrong port is told what it is the port of.

Sources: RFC 9112 section 4 (a status line begins with "HTTP/"), RFC 8446 (a handshake ends well or
with an alert).
"""

from __future__ import annotations

import contextlib
import ssl

from touchstone.harness.model.target import Address
from touchstone.harness.targets import reach

SECONDS = 1.0  # per question
HTTP = "an HTTP server answers there"
TLS = "what answers there wants TLS, which is not spoken here: give a PLAINTEXT listener"


def of(address: Address, seconds: float = SECONDS) -> str | None:
    """What answers there, in words; None where neither question is answered.

    `seconds` is how long each of the two questions may take.
    """
    if _status_line(address, seconds):
        return HTTP
    return TLS if _shakes_hands(address, seconds) else None


def _status_line(address: Address, seconds: float) -> bool:
    with (
        contextlib.suppress(OSError),
        reach.connect(address, seconds) as connection,
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
            reach.connect(address, seconds) as connection,
            context.wrap_socket(connection, server_hostname=address[0]),
        ):
            return True
    except ssl.SSLError as refused:
        return "ALERT" in (refused.reason or "")
    except OSError:
        return False
