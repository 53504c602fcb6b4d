"""A broker takes metrics of clients: who may send, how often, and who gets them.

A client asks what it is to send, then sends it at its interval. A broker remembers each client by
its instance id: when it asked and sent, and the last error it was told, for who was told that its
subscription is unknown may ask again at once (4.3). It forgets a client with its connection (4.3),
after three intervals, or when there are too many. What comes is handed to the cluster's receivers;
where there are none, as in a Kafka without a plugin, it is checked and dropped.

Sources: KIP-714; ClientMetricsManager, ClientMetricsInstance@4.3.1, the same in 3.9;
observed on both.
"""

from __future__ import annotations

import logging
from base64 import urlsafe_b64encode
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.configs.config_view import broker_definitions
from touchstone.reference_impl.broker.data.telemetry_subscriptions import (
    Subscription,
    Wanted,
    wanted,
)
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.records.compression import CompressionError, decompress

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.effects import Request

LOG = logging.getLogger("touchstone.telemetry")
NOBODY, RESERVED = bytes(16), (bytes(16), bytes(15) + b"\x01")
ACCEPTED = (4, 3, 1, 2)  # zstd, lz4, gzip, snappy: as a client is told; none is taken too
_NONE, _LAST = 0, 4
_MOST = 16_384  # clients that are remembered
_SHORTEST_LIFE_MS = 60_000
_UNKNOWN_SOFTWARE = ("unknown", "unknown")  # until ApiVersions says it
_SOON_AGAIN = (E.UNKNOWN_SUBSCRIPTION_ID, E.UNSUPPORTED_COMPRESSION_TYPE)
MAX_BYTES = "telemetry.max.bytes"


@dataclass(slots=True)
class _Client:
    """One client instance; instants in ms, None for never."""

    attributes: dict[str, str | None]
    wanted: Wanted
    version: int  # of the subscriptions that `wanted` was worked out from
    asked: int | None = None
    sent: int | None = None
    terminating: bool = False
    error: int = E.NONE  # the last that it was told

    def may_ask(self, now: int) -> bool:
        last = max((at for at in (self.asked, self.sent) if at is not None), default=None)
        if last is not None and now - last < self.wanted.interval_ms:
            return False
        self.asked = now
        return True

    def may_send(self, now: int) -> bool:
        """At its interval, and once after it asked, whenever that is."""
        fresh = self.asked is not None and (self.sent is None or self.asked > self.sent)
        if not fresh and self.sent is not None and now - self.sent < self.wanted.interval_ms:
            return False
        self.sent = now
        return True


class ClientTelemetry:
    """The clients of one broker that send metrics."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._clients: OrderedDict[bytes, _Client] = OrderedDict()  # the latest last
        self._configs: dict[str, dict[str, str]] = {}
        self._quirk = broker.persona.quirk
        self._version = 0  # of the subscriptions; it grows with each change

    @property
    def max_bytes(self) -> int:
        default = broker_definitions(self._broker.persona.release)[MAX_BYTES].number
        return self._broker.number(MAX_BYTES, default)

    def subscription(self, client: bytes, request: Request, now: int) -> tuple[bytes, Wanted]:
        """The client's id, a new one where it has none, and what it is to send. Raises ApiError."""
        client = self._new_id() if client == NOBODY else client
        known = self._known(client, request, now)
        soon = self._quirk("telemetry.told-of-errors-ask-again") and known.error in _SOON_AGAIN
        if not known.may_ask(now) and not soon:
            raise ApiError(E.THROTTLING_QUOTA_EXCEEDED)
        known.error = E.NONE
        return client, known.wanted

    def push(self, request: Request, now: int) -> None:
        """Take what a client sends. Raises ApiError."""
        body = request.body
        client = bytes(body["client_instance_id"])
        if client in RESERVED:
            raise ApiError(E.INVALID_REQUEST)
        known = self._known(client, request, now)
        known.error = self._fault(known, request, now)
        known.terminating = body["terminating"]
        if not known.error and body["metrics"]:
            known.error = self._hand_over(client, request)
        if known.error:
            raise ApiError(known.error)

    def _fault(self, known: _Client, request: Request, now: int) -> int:
        body = request.body
        if known.terminating:
            return E.INVALID_REQUEST
        if not known.may_send(now) and not body["terminating"]:
            return E.THROTTLING_QUOTA_EXCEEDED
        if body["subscription_id"] != known.wanted.id:
            return E.UNKNOWN_SUBSCRIPTION_ID
        if not _NONE <= body["compression_type"] <= _LAST:
            return E.UNSUPPORTED_COMPRESSION_TYPE
        return E.TELEMETRY_TOO_LARGE if len(body["metrics"]) > self.max_bytes else E.NONE

    def _hand_over(self, client: bytes, request: Request) -> int:
        """What cannot be unpacked, or whose receiver fails, is an invalid record."""
        body = request.body
        try:
            data = bytes(body["metrics"])
            if body["compression_type"] != _NONE:
                data = decompress(body["compression_type"], data, self.max_bytes)
            for receiver in self._broker.cluster.telemetry_receivers:
                receiver(client, body["terminating"], data)
        except CompressionError:
            return E.INVALID_RECORD
        except Exception:
            LOG.exception("a receiver of client metrics failed")
            return E.INVALID_RECORD
        return E.NONE

    def _known(self, client: bytes, request: Request, now: int) -> _Client:
        """The client as it is remembered, with what is wanted of it now."""
        self._see_subscriptions()
        known = self._clients.get(client)
        if known is None or known.version < self._version:
            attributes = _attributes(client, request) if known is None else known.attributes
            found = map(Subscription.of, self._configs.values())
            known = _Client(attributes, wanted(found, client, attributes), self._version)
            self._clients[client] = known
            if self._quirk("telemetry.clients-go-with-their-connection"):
                gone = request.connection
                self._broker.when_closed(gone, "telemetry", lambda _: self._forget(client))
        self._clients.move_to_end(client)
        while len(self._clients) > _MOST:
            self._forget(next(iter(self._clients)))
        until = now + max(_SHORTEST_LIFE_MS, 3 * known.wanted.interval_ms)
        self._remind(client, until)
        return known

    def _see_subscriptions(self) -> None:
        told = self._broker.cluster.metrics_configs
        if told != self._configs:
            self._configs = {name: dict(configs) for name, configs in told.items()}
            self._version += 1

    def _remind(self, client: bytes, at: int | None) -> None:
        key = ("telemetry", self._broker.id, client)
        self._broker.purgatory.remind(key, at, lambda now: self._forget(client))

    def _forget(self, client: bytes) -> None:
        if self._clients.pop(client, None) is not None:
            self._remind(client, None)

    def _new_id(self) -> bytes:
        raw = bytearray(self._broker.cluster.random.randbytes(16))
        raw[6], raw[8] = raw[6] & 0x0F | 0x40, raw[8] & 0x3F | 0x80
        return bytes(raw)


def _attributes(client: bytes, request: Request) -> dict[str, str | None]:
    """What a subscription can match, of the connection that the client came with."""
    connection = request.connection
    name, version = connection.software or _UNKNOWN_SOFTWARE
    port = connection.peer_port
    return {
        "client_instance_id": urlsafe_b64encode(client).decode().rstrip("="),
        "client_id": request.header.client_id,
        "client_software_name": name,
        "client_software_version": version,
        "client_source_address": connection.peer_host,
        "client_source_port": None if port is None else str(port),
    }
