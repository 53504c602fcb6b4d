"""Odd peers for the client to meet, each a thread with one listening socket."""

import selectors
import socket
import threading
from collections import deque
from contextlib import closing

from touchstone.reference_impl.wire.framing import Frames, framed
from touchstone.reference_impl.wire.headers import decode_request_header, encode_response

PRODUCE = 0


class Peer(threading.Thread):
    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.join()
        self.listener.close()


class ShyBroker(Peer):
    """Closes `closes` connections on their ApiVersions, then answers on the next one."""

    def __init__(self, closes: int):
        super().__init__()
        self.closes = closes
        self.versions: list[int] = []

    def run(self) -> None:
        for number in range(self.closes + 1):
            peer, _ = self.listener.accept()
            with closing(peer):
                frames = Frames()
                while chunk := peer.recv(4096):
                    if not self._answer(peer, frames.feed(chunk), number):
                        break
            if number == self.closes - 1 and self.closes > 1:
                return

    def _answer(self, peer: socket.socket, frames: list[bytes], number: int) -> bool:
        for frame in frames:
            head, _ = decode_request_header(frame)
            self.versions.append(head.version)
            if number < self.closes:
                return False
            row = {"api_key": head.key, "min_version": 0, "max_version": head.version}
            body = {"error_code": 0, "api_keys": [row]}
            peer.sendall(framed(encode_response(head.key, head.version, head.correlation_id, body)))
        return True


class SilentBroker(Peer):
    """Reads and never answers."""

    def run(self) -> None:
        peer, _ = self.listener.accept()
        with closing(peer):
            while peer.recv(4096):
                pass


class LosesAnswers(Peer):
    """Stands before a real broker; the first answer to Produce is swallowed with the connection."""

    def __init__(self, broker: tuple[str, int]):
        super().__init__()
        self.broker = broker
        self.swallowed = 0

    def run(self) -> None:
        client, _ = self.listener.accept()
        with closing(client), closing(socket.create_connection(self.broker)) as broker:
            keys: deque[int] = deque()
            asked, answered = Frames(), Frames()
            selector = selectors.DefaultSelector()
            selector.register(client, selectors.EVENT_READ)
            selector.register(broker, selectors.EVENT_READ)
            while True:
                for ready, _ in selector.select():
                    chunk = ready.fileobj.recv(1 << 16)
                    if not chunk:
                        return
                    if ready.fileobj is client:
                        for frame in asked.feed(chunk):
                            keys.append(int.from_bytes(frame[:2], "big"))
                            broker.sendall(framed(frame))
                        continue
                    for frame in answered.feed(chunk):
                        if keys.popleft() == PRODUCE:
                            self.swallowed += 1
                            return
                        client.sendall(framed(frame))
