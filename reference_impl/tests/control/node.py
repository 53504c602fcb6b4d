"""A broker without sockets, asked the way a peer asks: frames in, frames out."""

from __future__ import annotations

from collections import deque
from typing import Any

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.effects import Ask, Close, Connection, Reply
from touchstone.reference_impl.tests.cores import cores
from touchstone.reference_impl.wire.headers import decode_response, encode_request

CLOSED, SILENT = "closed", "silent"
LONG = 60_000  # later than any deadline a test gives


def brokers(release: str, count: int = 1, **options: Any) -> list[Broker]:
    """As `cores` makes them; a `Peer` of one has all of them tell each other what there is."""
    made = cores(release, count, **options)
    made[0].cluster.cores = made  # for `_settle`
    return made


def _settle(cores: list[Broker], now: int) -> None:
    """Have the brokers tell each other what there is to tell."""
    asks: deque[Ask] = deque()
    while asks or any(core.deadline() == 0 for core in cores):
        for core in cores:
            if core.deadline() == 0:
                asks += [each for each in core.tick(now) if type(each) is Ask]
        if asks:
            ask = asks.popleft()
            link = Connection(2)
            for effect in cores[ask.peer].receive(link, b"".join(ask.parts), now):
                if type(effect) is Ask:
                    asks.append(effect)
                elif type(effect) is Reply and effect.connection is link:
                    frame = b"".join(effect.parts)
                    answers = cores[ask.sender].answered(ask.correlation_id, frame, now)
                    asks += [each for each in answers if type(each) is Ask]


class Peer:
    """One connection; `now` stands still unless an answer has to be waited for."""

    def __init__(self, broker: Broker, *, controller: bool = False) -> None:
        self.broker = broker
        self.connection = Connection(1, controller=controller)
        self.now = 1_000_000

    def ask(self, key: int, version: int, body: dict[str, Any], **header: Any) -> Any:
        frame = encode_request(key, version, 7, header.get("client_id", "e2"), body)
        return self.send(key, version, frame)

    def send(self, key: int, version: int, frame: bytes, *, answered_in: int | None = None) -> Any:
        """The decoded answer, CLOSED, or SILENT where there is none however long one waits."""
        _settle(self.broker.cluster.cores, self.now)
        effects = self.broker.receive(self.connection, frame, self.now)
        if not effects:
            effects = self.broker.tick(self.now + LONG)
        for effect in effects:
            if isinstance(effect, Close):
                return CLOSED
            if isinstance(effect, Reply):
                version = version if answered_in is None else answered_in
                return decode_response(key, version, b"".join(effect.parts)).body
        self.broker.closed(self.connection)
        return SILENT
