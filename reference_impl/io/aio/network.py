"""The client's sockets under asyncio: a task for each connection, outcomes to who asked.

As `io.client_network`: a connection serves one node and one lane, and an ask that was started has
exactly one outcome.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from touchstone.reference_impl.client.connection import (
    Connection,
    ProtocolFault,
    Reply,
    Unsupported,
)
from touchstone.reference_impl.client.flow import Answer, Ask, Failed, FailureKind, Outcome
from touchstone.reference_impl.client.metadata import View
from touchstone.reference_impl.io.client_network import Sink, Where, now_ms

_CHUNK = 1 << 18


class _Link:
    """A connection, its task, and its stream once it is connected."""

    def __init__(self, where: Where, address: tuple[str, int], connection: Connection):
        self.where = where
        self.address = address
        self.connection = connection
        self.writer: asyncio.StreamWriter | None = None
        self.task: asyncio.Task[None] | None = None
        self.timer: asyncio.TimerHandle | None = None

    def flush(self) -> None:
        if self.writer is not None and (out := self.connection.outgoing()):
            self.writer.write(out)


class AioNetwork:
    def __init__(self, view: View, client_id: str, connect_timeout_s: float):
        self.view = view
        self.client_id = client_id
        self.connect_timeout_s = connect_timeout_s
        self._links: dict[Where, _Link] = {}
        self._asked: dict[int, tuple[Ask, Sink]] = {}  # by ticket
        self._plain: set[int] = set()  # nodes that closed on our ApiVersions; they get version 0
        self._serial = 0
        self._waiters: set[asyncio.Future[None]] = set()

    async def close(self) -> None:
        links = list(self._links.values())
        for link in links:
            self._lose(link, "closed", "the client is closed")
        tasks = [link.task for link in links if link.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)

    def start(self, ask: Ask, sink: Sink) -> None:
        """Send it; `sink` is given its outcome, perhaps at once."""
        node = self.view.resolve(ask.node)
        if node is None:
            sink(Failed(ask, "refused", f"node {ask.node} is not known"))
            return
        link = self._links.get((node, ask.lane)) or self._connect((node, ask.lane))
        self._serial += 1
        self._asked[self._serial] = ask, sink
        try:
            replies = link.connection.ask(self._serial, ask, now=now_ms())
        except Unsupported as fault:
            self._end(self._serial, Failed(ask, "unsupported", str(fault)))
            return
        self._replied(replies)
        link.flush()
        self._watch(link)

    async def wait(self, done: Callable[[], bool], until: int | None = None) -> None:
        """Return when `done`, or at an instant (ms); one that has come lets others run once."""
        while not done():
            left = None if until is None else (until - now_ms()) / 1000
            if left is not None and left <= 0:
                await asyncio.sleep(0)
                return
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.add(waiter)
            try:
                async with asyncio.timeout(left):
                    await waiter
            except TimeoutError:
                continue
            finally:
                self._waiters.discard(waiter)

    def _connect(self, where: Where) -> _Link:
        first = 0 if where[0] in self._plain else None
        connection = Connection(self.client_id, now=now_ms(), first_version=first)
        link = self._links[where] = _Link(where, self.view.addresses[where[0]], connection)
        link.task = asyncio.create_task(self._serve(link), name=f"touchstone-node-{where[0]}")
        return link

    async def _serve(self, link: _Link) -> None:
        try:
            async with asyncio.timeout(self.connect_timeout_s):
                reader, link.writer = await asyncio.open_connection(*link.address)
        except (OSError, TimeoutError) as fault:
            self._lose(link, "refused", str(fault))
            return
        link.flush()
        kind: FailureKind = "closed"
        why = "the broker closed the connection"
        try:
            while chunk := await reader.read(_CHUNK):
                self._receive(link, chunk)
        except OSError as fault:
            why = str(fault)
        except ProtocolFault as fault:
            kind, why = "malformed", str(fault)
        self._lose(link, kind, why)

    def _receive(self, link: _Link, chunk: bytes) -> None:
        self._take(link, *link.connection.receive(chunk, now=now_ms()))

    def _take(
        self, link: _Link, replies: list[Reply], impossible: list[tuple[int, Unsupported]]
    ) -> None:
        self._replied(replies)
        for ticket, why in impossible:
            ask, _ = self._asked[ticket]
            self._end(ticket, Failed(ask, "unsupported", str(why)))
        link.flush()
        self._watch(link)

    def _watch(self, link: _Link) -> None:
        """Have the link looked at when its first answer is due, or it may send again."""
        if link.timer is not None:
            link.timer.cancel()
            link.timer = None
        due = link.connection.due()
        if due is not None:
            wait = max(0, due - now_ms()) / 1000
            link.timer = asyncio.get_running_loop().call_later(wait, self._late, link)

    def _late(self, link: _Link) -> None:
        link.timer = None
        if link.connection.expired(now_ms()):
            self._lose(link, "timeout", "no answer in time")
        else:
            self._take(link, *link.connection.resume(now_ms()))

    def _replied(self, replies: list[Reply]) -> None:
        for reply in replies:
            ask, _ = self._asked[reply.ticket]
            self._end(reply.ticket, Answer(ask, reply.version, reply.body or {}))

    def _end(self, ticket: int, outcome: Outcome) -> None:
        _, sink = self._asked.pop(ticket)
        sink(outcome)
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _lose(self, link: _Link, kind: FailureKind, why: str) -> None:
        if self._links.get(link.where) is not link:
            return
        del self._links[link.where]
        if link.timer is not None:
            link.timer.cancel()
        if link.writer is not None:
            link.writer.close()
        if link.task is not None and link.task is not asyncio.current_task():
            link.task.cancel()
        node = link.where[0]
        shy = kind == "closed" and not link.connection.negotiated and node not in self._plain
        if shy:
            self._plain.add(node)
        else:
            self.view.unreachable(node)
        for ticket, _ in link.connection.abandon():
            ask, sink = self._asked[ticket]
            if shy:
                del self._asked[ticket]
                self.start(ask, sink)
            else:
                self._end(ticket, Failed(ask, kind, why))
