"""A broker accepts so many new connections in a second: altogether, on a listener, from an address.

Two manners again (`connection_quotas`), and neither makes anybody wait for longer than a sample of
the rate lasts. Above max.connection.creation.rate, the broker's or the listener's, the connection
is accepted, and the listener looks at nobody else, and reads nothing of it, until its rate is
within. Above connection_creation_rate, a quota of its address or of all addresses, it is closed
unread after the wait, and counts for nothing. The listener of the brokers, where there is another,
does not count for the broker's rate. Since 2.7; no socket in here.

Sources: KIP-612; ConnectionQuotas in kafka.network.SocketServer at 2.8.2, 4.3.1
(recordConnectionAndGetThrottleTimeMs, recordIpConnectionMaybeThrottle); observed on 4.3.1.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.configs.listener_settings import ListenerSettings, prefix
from touchstone.reference_impl.broker.configs.quota_windows import window
from touchstone.reference_impl.cluster.client_settings import entity
from touchstone.reference_impl.cluster.quota_rates import Measures, SampledRate

NO_LIMIT = 2**31 - 1
RATE, QUOTA = "max.connection.creation.rate", "connection_creation_rate"
LOOPBACK = ("localhost", "127.0.0.1")  # the one name that is known here (`k49`)
_WHOLE_BROKER = None


class ConnectionRates:
    """The new connections of one broker, counted altogether, by listener and by address."""

    def __init__(self, broker: Broker, listeners: ListenerSettings) -> None:
        self._broker = broker
        self._enforced = broker.persona.quirk("connections.rates-are-bounded")
        size = window(broker.config)
        keeps = broker.persona.quirk("quotas.rates-keep-overlapping-samples")
        self._longest_ms = size.ms
        self._rates: Measures[SampledRate] = Measures(
            lambda: SampledRate(size, keeps_overlapping=keeps)
        )
        # Who counts a connection of a listener, and the setting that bounds it.
        self._bounds: dict[str, list[tuple[object, str]]] = {}
        self.has(listeners)

    def has(self, listeners: ListenerSettings) -> None:
        """The broker's listeners are these."""
        protected = listeners.inter_broker if len(listeners.listeners) > 1 else None
        self._bounds = {
            name: [
                *([] if name == protected else [(_WHOLE_BROKER, RATE)]),
                (("listener", name), prefix(name) + RATE),
            ]
            for name, *_ in listeners.listeners
        }

    def accepted(self, listener: str, now: int) -> int:
        """Count a connection; how long (ms) its listener accepts and reads nobody."""
        if not self._enforced:
            return 0
        return max(
            self._counted(who, self._broker.number(setting, NO_LIMIT), now)
            for who, setting in self._bounds[listener]
        )

    def refused(self, listener: str, host: str, now: int) -> int:
        """Count it for its address: 0, or how long until it is closed, not counted any more."""
        limit = self._limit_of(host) if self._enforced else None
        if limit is None:
            return 0
        wait = self._counted(("ip", host), limit, now)
        if wait:
            self._rates.of(("ip", host), now).record(-1, now)
            for who, _ in self._bounds[listener]:
                self._rates.of(who, now).record(-1, now)
        return wait

    def _counted(self, who: object, limit: float, now: int) -> int:
        rate = self._rates.of(who, now)
        rate.record(1, now)
        return min(rate.wait(limit, now), self._longest_ms)

    def _limit_of(self, host: str) -> float | None:
        settings = self._broker.cluster.client_settings
        if not settings.has_quota(QUOTA):
            return None
        names = LOOPBACK if host in LOOPBACK else (host,)
        for name in (*names, None):
            found = settings.quota(entity({"ip": name}), QUOTA)
            if found is not None:
                return found
        return None
