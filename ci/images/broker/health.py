"""Health check of the image: exit 0 when the first broker answers ApiVersions, else 1.

It stands alone and imports little, because the engine starts it every few seconds. An open port is
not enough: a frozen broker has one too.
"""

import contextlib
import socket
import struct
import sys

PORT, SECONDS = 9092, 2.0
API_VERSIONS, VERSION, CORRELATION = 18, 0, 7


def healthy(port: int) -> bool:
    """Whether an ApiVersions v0 request is answered with its own correlation id and no error."""
    body = struct.pack(">hhih", API_VERSIONS, VERSION, CORRELATION, -1)
    with contextlib.suppress(OSError, struct.error):
        with socket.create_connection(("127.0.0.1", port), SECONDS) as asked:
            asked.settimeout(SECONDS)
            asked.sendall(struct.pack(">i", len(body)) + body)
            head = asked.recv(10, socket.MSG_WAITALL)
        _, correlation, error = struct.unpack(">iih", head)
        return correlation == CORRELATION and error == 0
    return False


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else PORT
    sys.exit(not healthy(port))
