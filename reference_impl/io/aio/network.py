"""The client's sockets under asyncio: a task for each connection, outcomes to who asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from touchstone.reference_impl.client.connection import Connection
from touchstone.reference_impl.client.flow import Outcome
from touchstone.reference_impl.client.metadata import View
from touchstone.reference_impl.io.client_links import ClientLinks, Link, Where, now_ms
from touchstone.reference_impl.io.client_security import ClientSecurity
from touchstone.reference_impl.io.client_tls import ClientTls

_CHUNK = 1 << 18


class _Link(Link):
    """A connection, its task, and its stream once it is connected."""

    def __init__(
        self, where: Where, connection: Connection, tls: ClientTls | None, address: tuple[str, int]
    ):
        super().__init__(where, connection, tls)
        self.address = address
        self.writer: asyncio.StreamWriter | None = None
        self.task: asyncio.Task[None] | None = None
        self.timer: asyncio.TimerHandle | None = None

    def flush(self) -> None:
        if self.writer is not None and (out := self.outgoing()):
            self.writer.write(out)


class AioNetwork(ClientLinks[_Link]):
    def __init__(
        self, view: View, client_id: str, connect_timeout_s: float, security: ClientSecurity
    ):
        super().__init__(view, client_id, connect_timeout_s, security)
        self._waiters: set[asyncio.Future[None]] = set()

    async def close(self) -> None:
        links = list(self._links.values())
        for link in links:
            self._forget(link)
            self._fail(link.connection.abandon(), "closed", "the client is closed")
        tasks = [link.task for link in links if link.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)

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

    def _open(self, where: Where, address: tuple[str, int], connection: Connection) -> _Link:
        link = _Link(where, connection, self._security.tls(address[0]), address)
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
        while self._links.get(link.where) is link:
            try:
                chunk = await reader.read(_CHUNK)
            except OSError as fault:
                self._lose(link, "closed", str(fault))
                return
            self._receive(link, chunk)
            if self._links.get(link.where) is link:
                self._write(link)

    def _write(self, link: _Link) -> None:
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
            self._take(*link.connection.resume(now_ms()))
            self._write(link)

    def _end(self, ticket: int, outcome: Outcome) -> None:
        super()._end(ticket, outcome)
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _shut(self, link: _Link) -> None:
        if link.timer is not None:
            link.timer.cancel()
        if link.writer is not None:
            link.writer.close()
        if link.task is not None and link.task is not asyncio.current_task():
            link.task.cancel()
