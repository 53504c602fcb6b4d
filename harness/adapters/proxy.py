"""A proxy on loopback between clients and brokers: what passes goes through a `Passage`.

It listens on a port for each broker, and keeps what each connection has asked (API key and version
by correlation id), since an answer does not say what it is. One thread with an event loop.
"""

from __future__ import annotations

import asyncio
import itertools
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from touchstone.harness.targets import reach
from touchstone.reference_impl.wire.framing import FrameError, Frames

TURNS = 3
CHUNK = 65536
LOGIN_S = 10.0
HOST = "127.0.0.1"
GO_ON, CLOSE, SILENCE = "go on", "close", "silence"
"""What follows an answer on its connection: others, the end, nothing any more."""
FIXED = struct.Struct(">hhi")  # key, version, correlation id


def framed(content: bytes) -> bytes:
    """A frame with its size in front."""
    return len(content).to_bytes(4, "big") + content


@dataclass(slots=True)
class Link:
    """One connection of a client: its number, the broker's index, what it has asked so far."""

    number: int
    upstream: int
    asked: dict[int, tuple[int, int]] = field(default_factory=dict)


class Passage(Protocol):
    """Sees and may change what passes. Called in the proxy's thread."""

    def joined(self, link: Link) -> None:
        """A client has connected."""

    def request(self, link: Link, content: bytes) -> bytes | None:
        """The request (a frame without its size) that goes to the broker, None for none."""

    def answer(self, link: Link, key: int, version: int, content: bytes) -> tuple[bytes, str]:
        """The bytes that go to the client, size included, and what follows them."""

    def parted(self, link: Link, by: str) -> None:
        """The connection is over; `by` is "client" or "broker"."""


class Proxy:
    """Listens on free ports while it is entered; `passage` takes the connections made from then on.

    `ports` are those of `upstreams`, in their order.
    """

    def __init__(self, *upstreams: tuple[str, int], passage: Passage | None = None) -> None:
        self.upstreams = upstreams
        self.ports: list[int] = []
        self.passage = passage
        self._numbers = itertools.count(1)
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._writers: set[asyncio.StreamWriter] = set()
        self._thread = threading.Thread(target=self._run, name="proxy", daemon=True)

    @property
    def port(self) -> int:
        """The first one."""
        return self.ports[0]

    def __enter__(self) -> Proxy:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        servers = [
            self._loop.run_until_complete(asyncio.start_server(partial(self._serve, at), HOST, 0))
            for at in range(len(self.upstreams))
        ]
        self.ports = [server.sockets[0].getsockname()[1] for server in servers]
        self._ready.set()
        self._loop.run_forever()
        for server in servers:  # nobody is accepted any more
            for listening in server.sockets:
                self._loop.remove_reader(listening.fileno())
        # Who was accepted last has a transport, a protocol and `_serve` each a turn later. A task
        # that is cancelled before its first turn, or a transport of a server that is closed, would
        # leave the socket open.
        for _ in range(TURNS):
            self._loop.run_until_complete(asyncio.sleep(0))
        for server in servers:
            server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        for writer in self._writers:  # what a closed one had not written yet would keep it open
            writer.transport.abort()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _serve(
        self, upstream: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """One connection of the client, with one to the broker behind it."""
        link, passage = Link(next(self._numbers), upstream), self.passage
        self._writers.add(writer)
        if passage is None:
            writer.close()
            return
        try:
            broker_reader, broker_writer = await _opened(self.upstreams[upstream])
        except OSError:
            writer.close()
            return
        self._writers.add(broker_writer)
        passage.joined(link)
        both = [
            asyncio.ensure_future(_forward(reader, broker_writer, link, passage)),
            asyncio.ensure_future(_answer(broker_reader, writer, link, passage)),
        ]
        with suppress(asyncio.CancelledError):  # the proxy is left
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            passage.parted(link, "client" if both[0].done() else "broker")
        for one in both:
            one.cancel()
        await asyncio.gather(*both, return_exceptions=True)
        for ended in (writer, broker_writer):
            ended.close()
            if ended.transport.get_write_buffer_size() == 0:
                self._writers.discard(ended)


async def _opened(address: tuple[str, int]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to a broker, logged in on where that is wanted, so that clients need not.
    Raises OSError.
    """
    if reach.login_of(address) is None:
        return await asyncio.open_connection(*address)
    made = await asyncio.to_thread(reach.connect, address, LOGIN_S)
    made.setblocking(False)
    return await asyncio.open_connection(sock=made)


async def _forward(
    reader: asyncio.StreamReader, broker: asyncio.StreamWriter, link: Link, passage: Passage
) -> None:
    """Requests to the broker, each noted."""
    frames = Frames()
    with suppress(OSError, FrameError):
        while chunk := await reader.read(CHUNK):
            for content in frames.feed(chunk):
                sent = passage.request(link, content)
                if sent is None:
                    continue
                if len(sent) >= FIXED.size:
                    key, version, correlation = FIXED.unpack_from(sent)
                    link.asked[correlation] = key, version
                broker.write(framed(sent))
            await broker.drain()


async def _answer(
    broker: asyncio.StreamReader, writer: asyncio.StreamWriter, link: Link, passage: Passage
) -> None:
    """Answers to the client as the passage leaves them; returns when the connection is to end."""
    frames = Frames()
    with suppress(OSError, FrameError):
        while chunk := await broker.read(CHUNK):
            for content in frames.feed(chunk):
                known = link.asked.pop(int.from_bytes(content[:4], "big", signed=True), None)
                wire, then = framed(content), GO_ON
                if known is not None:
                    wire, then = passage.answer(link, *known, content)
                writer.write(wire)
                await writer.drain()
                if then == CLOSE:
                    return
                if then != GO_ON:  # says nothing any more, until the client gives up
                    await asyncio.Event().wait()
