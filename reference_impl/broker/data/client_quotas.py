"""Clients produce, fetch and ask within quotas; those above theirs wait.

Counted for whom the most specific quota names (`cluster/quota_limits`) are the bytes of Produce
requests, those of Fetch answers, and the time that a request takes here, in percent of one thread's
(KIP-124). Who is above a quota waits until he would be back on it (`cluster/quota_rates`), for his
time no longer than a sample of the rate lasts. Since 2.0 he is answered at once and told the
longest of his waits, and his connection is not read meanwhile; a fetch above a quota carries
nothing (KIP-219). In 1.0 the answer waits, for one quota after the other.

Brokers' own requests take no time of anybody: `EXEMPT`, and fetches of followers. The answer of
Produce without acks is none, so its time is not counted either. The time of a request is that from
its frame to its handler's answer, or to when the handler has it wait; Kafka adds that of the thread
that writes the answer, without making anybody wait for it alone.

What a controller makes its client wait for (`control/mutation_quotas`) stands in the answer.

Sources: KIP-13, KIP-124, KIP-219, KIP-257, KIP-599; ClientQuotaManager, ClientRequestQuotaManager,
RequestHandlerHelper, KafkaApis.handleProduceRequest and handleFetchRequest at 1.0.2, 2.2.1, 2.8.2,
3.9.2, 4.3.1; DYN-16, FETCH-22.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from touchstone.reference_impl.broker.configs.quota_windows import window
from touchstone.reference_impl.broker.data.fetch_sessions import replica_of
from touchstone.reference_impl.broker.effects import NoReply, Wait
from touchstone.reference_impl.cluster.quota_limits import Limit, limit_of
from touchstone.reference_impl.cluster.quota_rates import Measures, SampledRate
from touchstone.reference_impl.wire.headers import encode_response
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.effects import Connection, Request

PRODUCE, FETCH, OFFSET_FOR_LEADER_EPOCH = 0, 1, 23
BYTES = {PRODUCE: "producer_byte_rate", FETCH: "consumer_byte_rate"}
TIME = "request_percentage"
STATIC = {
    "producer_byte_rate": "quota.producer.default",
    "consumer_byte_rate": "quota.consumer.default",
}
# LeaderAndIsr, StopReplica, UpdateMetadata, ControlledShutdown, WriteTxnMarkers, AlterPartition
EXEMPT = frozenset({4, 5, 6, 7, 27, 56})
PERCENT_OF_NS = 100 / 1e9  # a thread that is busy for a second is 100 % busy
WAIT = "throttle_time_ms"


class HeldFrame(NamedTuple):
    """A frame that came while its connection was not read, and now is."""

    frame: bytes


class ThrottledAnswer(NamedTuple):
    """An answer that has waited for one of its client's quotas, and those it is not held to yet."""

    answer: Any
    quotas: Sequence[str]


class _QuotaWaiter(NamedTuple):
    """A request that is served later, in the form that the purgatory keeps."""

    connection: Connection


class ClientQuotas:
    """The quotas of one broker's clients."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        size = window(broker.config)
        keeps = broker.persona.quirk("quotas.rates-keep-overlapping-samples")
        self._rates: Measures[SampledRate] = Measures(
            lambda: SampledRate(size, keeps_overlapping=keeps)
        )
        self._sample_ms, self._least_ms = size.ms, size.least_ms
        self._unread: WeakKeyDictionary[Connection, int] = WeakKeyDictionary()
        self._static = any(name in broker.config for name in STATIC.values())
        self._settings = broker.cluster.client_settings
        self._exempt = EXEMPT
        if broker.persona.quirk("quotas.exempt-epoch-requests"):
            self._exempt = EXEMPT | {OFFSET_FOR_LEADER_EPOCH}

    def __bool__(self) -> bool:
        """Whether anybody may have to wait at all."""
        return self._static or self._settings.has_quotas or bool(self._unread)

    def most(self, request: Request) -> float | None:
        """Bytes that a client may have in one answer, where that is bounded."""
        found = self._limit(request, BYTES[FETCH])
        return None if found is None else found.value * self._least_ms / 1000

    def hold(self, connection: Connection, frame: bytes, now: int) -> bool:
        """Keep the frame until its connection is read again; False where it is."""
        until = self._unread.get(connection, 0)
        if until <= now:
            return False
        wait = Wait(until, (), lambda at: None, lambda at: HeldFrame(frame))
        self._broker.purgatory.park(wait, _QuotaWaiter(connection))
        return True

    def charge(self, request: Request, answer: Any, now: int) -> Any:
        """The answer as its client gets it: with how long to wait, empty, or later."""
        if type(answer) is ThrottledAnswer:
            return self._later(request, answer.answer, answer.quotas, now)
        if not isinstance(answer, dict) and type(answer) is not NoReply:
            return answer
        quotas = self._quotas(request, answer)
        if self._broker.persona.quirk("quotas.answers-wait"):
            return self._later(request, answer, quotas, now)
        return self._at_once(request, answer, quotas, now)

    def _at_once(
        self, request: Request, answer: Any, quotas: Sequence[str], now: int
    ) -> Struct | NoReply:
        wait = answer.get(WAIT, 0) if isinstance(answer, dict) else 0
        size = _size(request, answer) if BYTES[FETCH] in quotas else request.size
        for key in quotas:
            wait = max(wait, self._record(request, key, size, now))
        if not wait:
            return answer
        if isinstance(answer, dict):
            answer[WAIT] = wait
        self._unread[request.connection] = max(now + wait, self._unread.get(request.connection, 0))
        if request.header.key == FETCH:
            self._record(request, BYTES[FETCH], -size, now)
            return _nothing(request, wait)
        return answer

    def _later(self, request: Request, answer: Any, quotas: Sequence[str], now: int) -> Any:
        """After one quota's wait the next is asked, and the client is told the sum."""
        for at, key in enumerate(quotas):
            size = request.size if request.header.key == PRODUCE else _size(request, answer)
            wait = self._record(request, key, size, now)
            if wait:
                if isinstance(answer, dict):
                    answer[WAIT] = answer.get(WAIT, 0) + wait
                return _kept_back(ThrottledAnswer(answer, quotas[at + 1 :]), now + wait)
        return answer

    def _quotas(self, request: Request, answer: Any) -> list[str]:
        """What this request is held to, bytes first."""
        key = request.header.key
        if key in self._exempt or (key == FETCH and replica_of(request) >= 0):
            return []
        quotas = [BYTES[key]] if key in BYTES else []
        if isinstance(answer, dict) and self._settings.has_quota(TIME):
            quotas.append(TIME)
        return [each for each in quotas if self._limit(request, each) is not None]

    def _record(self, request: Request, key: str, size: int, now: int) -> int:
        """Count this request; how long its client waits for it."""
        found = self._limit(request, key)
        if found is None:
            return 0
        rate = self._rates.of((key, found.owner), now)
        rate.record(request.thread_ns * PERCENT_OF_NS if key == TIME else size, now)
        wait = rate.wait(found.value, now)
        return min(wait, self._sample_ms) if key == TIME else wait

    def _limit(self, request: Request, key: str) -> Limit | None:
        """The quota that holds for this client, and of whom its rate is counted."""
        user, client_id = request.connection.principal.name, request.header.client_id or ""
        if self._settings.has_quota(key):
            found = limit_of(self._settings, key, user, client_id)
            if found is not None:
                return found
        text = self._broker.config.get(STATIC.get(key, ""))
        return None if text is None else Limit(float(text), (None, client_id))


def _kept_back(answer: ThrottledAnswer, until: int) -> Wait:
    return Wait(until, (), lambda at: None, lambda at: answer)


def _size(request: Request, answer: Any) -> int:
    """Bytes of the answer; 0 where there is none."""
    if not isinstance(answer, dict):
        return 0
    header = request.header
    return len(encode_response(header.key, header.version, header.correlation_id, answer))


def _nothing(request: Request, wait: int) -> Struct:
    """A fetch above its quota: no error, no records, and no new session."""
    session = request.body["session_id"] if request.body["session_epoch"] > 0 else 0
    return {WAIT: wait, "error_code": 0, "session_id": session, "responses": []}
