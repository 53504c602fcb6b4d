"""Defects of what all APIs share; the rooms and handlers of a planted broker are planted too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.defects.planting import (
    ANY,
    HANDLERS,
    defect,
    maker,
    setting,
)
from touchstone.reference_impl.broker.effects import Connection
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import API_VERSIONS

CONNECTION_LIMITS = ("max.connections.per.ip", "max.connections.per.ip.overrides")

maker(Broker, "room")


@defect(ANY, Broker, "handler")
def handler_with_defects(real: Callable[[int], Any], broker: Any, key: int) -> Any:
    handle = real(key)
    for switch, api, change in HANDLERS:
        if api == key and switch in broker.switches_planted:
            handle = partial(change, handle, broker)
    return handle


@setting("connection-limits-ignored", Broker)
def connection_limits_ignored(broker: Broker) -> None:
    for name in CONNECTION_LIMITS:
        broker.config.pop(name, None)


@defect("newer-api-versions-refused", Broker, "_version_fallback")
def newer_api_versions_refused(real: Any, *_: Any) -> Any:
    raise ValueError("an ApiVersions request of a version that does not exist")


@defect("unknown-version-answered", Broker, "parse")
def unknown_version_answered(
    real: Callable[..., Any], broker: Any, connection: Connection, frame: bytes
) -> Any:
    """A request of a version that is not served is read as if it were the newest."""
    key, version = (int.from_bytes(frame[at : at + 2], "big", signed=True) for at in (0, 2))
    strange = len(frame) >= 8 and key in API and key != API_VERSIONS
    if strange and not broker._served(connection, key, version):
        frame = frame[:2] + API[key].latest.to_bytes(2, "big") + frame[4:]
    return real(connection, frame)
