"""A client metrics subscription says what it wants of which clients; a client has what all say.

The metrics that a client is to send are those of every subscription that matches it, as often as
the most frequent of them says. Their id is worked out from what they are and from who the client
is, so that every broker of a cluster gives the same.

Sources: KIP-714; ClientMetricsManager.createClientInstance, ClientMetricsInstanceMetadata,
ClientMetricsConfigs@4.3.1, the same in 3.9; observed on both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from touchstone.reference_impl import linear
from touchstone.reference_impl.group.java_maps import java_order, uuid_hash
from touchstone.reference_impl.wire.records.crc import crc32c

EVERY = "*"  # all metrics
LONGEST_MS = 300_000  # interval.ms by default, and the longest that any client is told
_SIGN = 1 << 31


class Subscription(NamedTuple):
    """`match` is attribute -> what it must be like; no attribute matches every client."""

    metrics: tuple[str, ...]
    interval_ms: int
    match: Mapping[str, Callable[[str], bool]]

    @classmethod
    def of(cls, configs: Mapping[str, str]) -> Subscription:
        """Of configs that were checked when they were set."""
        match = {}
        for pattern in _listed(configs.get("match", "")):
            name, value = pattern.split("=")
            match[name.strip()] = linear.matcher(value.strip())
        interval = int(configs.get("interval.ms", LONGEST_MS))
        return cls(tuple(_listed(configs.get("metrics", ""))), interval, match)

    def matches(self, attributes: Mapping[str, str | None]) -> bool:
        found = ((attributes.get(name), like) for name, like in self.match.items())
        return all(text is not None and like(text) for text, like in found)


class Wanted(NamedTuple):
    """What one client is to send."""

    id: int  # int32
    metrics: tuple[str, ...]
    interval_ms: int


def wanted(
    subscriptions: Iterable[Subscription], client: bytes, attributes: Mapping[str, str | None]
) -> Wanted:
    """`client` is its instance id."""
    mine = [each for each in subscriptions if each.matches(attributes)]
    named = dict.fromkeys(name for each in mine for name in java_order(dict.fromkeys(each.metrics)))
    metrics = java_order(named)
    if EVERY in metrics:
        metrics = [EVERY]
    interval = min([LONGEST_MS, *(each.interval_ms for each in mine)])
    text = f"[{', '.join(metrics)}]{interval}"
    number = crc32c(text.encode()) ^ uuid_hash(client)
    return Wanted((number ^ _SIGN) - _SIGN, tuple(metrics), interval)


def _listed(text: str) -> list[str]:
    return [part for part in (each.strip() for each in text.split(",")) if part]
