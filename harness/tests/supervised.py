"""A program that restarts a broker whenever it dies, at once and at the same address: a supervisor.

The broker is our own behind a liar that ends its process when it is sent what is deadly. Without a
folder for its data it knows nothing of its last life. It is forked from a program that has imported
everything, so it is away for a few hundredths of a second.

    python -m touchstone.harness.tests.supervised DEADLY [FOLDER]

DEADLY is `garbage`, for bytes that are no request; an API with a version, `DescribeGroups:3`; or
`*` for each request but those of ApiVersions and Metadata. It prints `ready HOST:PORT` when it
serves, and a line whenever it serves again.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path

from touchstone.harness.model.target import Address
from touchstone.harness.targets.liars import Behind, LyingServer
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import API

STATUS, LAST_WORDS = 3, "panic: index out of range [7] with length 7"
PROBED = ("ApiVersions", "Metadata")


def deadly(frame: bytes, what: str) -> bool:
    """Whether a broker that dies of `what` dies of this request."""
    try:
        header, _ = headers.decode_request_header(frame)
        name = API[header.key].name
        headers.decode_request(frame)
    except (ValueError, KeyError):
        return what == "garbage"
    return what == f"{name}:{header.version}" or (what == "*" and name not in PROBED)


class Mortal(Behind):
    """The broker behind, until it is sent what is deadly."""

    def __init__(self, address: Address, what: str) -> None:
        super().__init__(address)
        self.what = what

    def __call__(self, frame: bytes) -> bytes | None:
        if deadly(frame, self.what):
            print(LAST_WORDS, file=sys.stderr, flush=True)
            os._exit(STATUS)
        return super().__call__(frame)


def one_life(port: int, what: str, word: str, data: Path | None) -> None:
    with serve(release="4.3", data=data) as cluster:
        host, _, behind = cluster.bootstrap[0].rpartition(":")
        LyingServer(None, lambda: Mortal((host, int(behind)), what), port)
        print(word, flush=True)
        signal.pause()


def main(what: str, folder: str = "") -> None:
    data = Path(folder) if folder else None
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    word = f"ready 127.0.0.1:{port}"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    while True:
        child = os.fork()
        if not child:
            one_life(port, what, word, data)
        try:
            _, status = os.waitpid(child, 0)
        except BaseException:
            os.kill(child, signal.SIGKILL)
            raise
        word = f"died {os.waitstatus_to_exitcode(status)}"


if __name__ == "__main__":
    main(*sys.argv[1:])
