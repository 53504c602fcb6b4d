"""A proxy on loopback between one client and a broker that is honest: answers pass a `Spoiler`.

It keeps what each connection has asked (API key and version by correlation id), since an answer
does not say what it is. One thread with an event loop; the campaign looks at the spoiler from
outside, whose counters only grow.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

from touchstone.fuzz.clients.faults import CLOSE, GO_ON, Fault, Spoiler
from touchstone.fuzz.layers import frame
from touchstone.reference_impl.wire.framing import FrameError, Frames

CHUNK = 65536
HOST = "127.0.0.1"
Asked = dict[int, tuple[int, int]]


class Proxy:
    """Listens on a free port while it is entered; `begin` puts the next fault in force."""

    def __init__(self, upstream: tuple[str, int]) -> None:
        self.upstream = upstream
        self.port = 0
        self.spoiler = Spoiler(None, 0)
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="proxy", daemon=True)

    def __enter__(self) -> Proxy:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def begin(self, fault: Fault | None) -> Spoiler:
        """A fresh spoiler for the connections that are made from now on."""
        self.spoiler = Spoiler(fault, self.port)
        return self.spoiler

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        start = asyncio.start_server(self._serve, HOST, 0)
        server = self._loop.run_until_complete(start)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of the client, with one to the broker behind it."""
        asked: Asked = {}
        spoiler = self.spoiler
        try:
            broker_reader, broker_writer = await asyncio.open_connection(*self.upstream)
        except OSError:
            writer.close()
            return
        both = [
            asyncio.ensure_future(_forward(reader, broker_writer, asked)),
            asyncio.ensure_future(_answer(broker_reader, writer, asked, spoiler)),
        ]
        with suppress(asyncio.CancelledError):  # the proxy is left
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for one in both:
            one.cancel()
        await asyncio.gather(*both, return_exceptions=True)
        writer.close()
        broker_writer.close()


async def _forward(
    reader: asyncio.StreamReader, broker: asyncio.StreamWriter, asked: Asked
) -> None:
    """Requests to the broker, each noted."""
    frames = Frames()
    with suppress(OSError, FrameError):
        while chunk := await reader.read(CHUNK):
            for request in frames.feed(chunk):
                fixed = [int.from_bytes(request[a:b], "big", signed=True) for a, b in FIXED]
                asked[fixed[2]] = (fixed[0], fixed[1])
            broker.write(chunk)
            await broker.drain()


FIXED = ((0, 2), (2, 4), (4, 8))  # key, version, correlation id


async def _answer(
    broker: asyncio.StreamReader, writer: asyncio.StreamWriter, asked: Asked, spoiler: Spoiler
) -> None:
    """Answers to the client as the spoiler leaves them; returns when the connection is to end."""
    frames = Frames()
    with suppress(OSError):
        while chunk := await broker.read(CHUNK):
            for content in frames.feed(chunk):
                known = asked.pop(int.from_bytes(content[:4], "big", signed=True), None)
                wire, then = frame(content), GO_ON
                if known is not None:
                    wire, then = spoiler.answer(*known, wire)
                writer.write(wire)
                await writer.drain()
                if then == CLOSE:
                    return
                if then != GO_ON:  # says nothing any more, until the client gives up
                    await asyncio.Event().wait()
