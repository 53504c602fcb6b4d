"""Clients produce and fetch within quotas; those above theirs wait.

A client is its user and its client id; of the quotas that name one or both the most specific holds
(DYN-16), and all who fall under the same one by user or by pair share its rate. Counted are the
bytes of Produce requests and of Fetch answers. The rate is Kafka's: the bytes of the last eleven
one-second samples over the time they span, which counts as ten seconds at least; who is above his
quota waits until he would be back on it. Since 2.0 he is answered at once and his connection is not
read meanwhile, and a fetch above its quota carries nothing (KIP-219); in 1.0 the answer waits.

Quotas of processor time (`request_percentage`) are kept and not applied: nothing here takes time.

Sources: KIP-13, KIP-124, KIP-219, KIP-257; ClientQuotaManager, KafkaApis.handleProduceRequest and
handleFetchRequest at 1.0.2, 2.8.2, 3.9.2; org.apache.kafka.common.metrics.stats.Rate; DYN-16,
FETCH-22.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from touchstone.reference_impl.broker.data.fetch_sessions import replica_of
from touchstone.reference_impl.broker.effects import NoReply, Wait
from touchstone.reference_impl.cluster.client_settings import Entity, entity
from touchstone.reference_impl.wire.headers import encode_response
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.effects import Connection, Request

PRODUCE, FETCH = 0, 1
KEYS = {PRODUCE: "producer_byte_rate", FETCH: "consumer_byte_rate"}
STATIC = {PRODUCE: "quota.producer.default", FETCH: "quota.consumer.default"}
SAMPLES, SAMPLE_MS = 11, 1000
LEAST_MS = (SAMPLES - 1) * SAMPLE_MS
Whose = tuple[str | None, str | None]  # the user and the client id that a rate is counted of
# Who a quota may name, the most specific first, and of whom its rate is counted apart.
LEVELS: tuple[tuple[dict[str, bool], tuple[bool, bool]], ...] = (
    ({"user": True, "client-id": True}, (True, True)),
    ({"user": True, "client-id": False}, (True, True)),
    ({"user": True}, (True, False)),
    ({"user": False, "client-id": True}, (True, True)),
    ({"user": False, "client-id": False}, (True, True)),
    ({"user": False}, (True, False)),
    ({"client-id": True}, (False, True)),
    ({"client-id": False}, (False, True)),
)


class HeldFrame(NamedTuple):
    """A frame that came while its connection was not read, and now is."""

    frame: bytes


class ThrottledAnswer(NamedTuple):
    """An answer that has waited for its client's quota, as the handler gave it."""

    answer: Any


class _QuotaWaiter(NamedTuple):
    """A request that is served later, in the form that the purgatory keeps."""

    connection: Connection


class _Rate:
    """Bytes per second of one client."""

    def __init__(self) -> None:
        self._samples: deque[list[int]] = deque()  # [began at, bytes]

    def record(self, size: int, now: int) -> None:
        if not self._samples or now - self._samples[-1][0] >= SAMPLE_MS:
            self._samples.append([now, 0])
        self._samples[-1][1] += size

    def wait(self, limit: float, now: int) -> int:
        """Milliseconds until this client would be back on its quota; 0 where it is not above."""
        while self._samples and now - self._samples[0][0] >= SAMPLES * SAMPLE_MS:
            self._samples.popleft()
        if not self._samples:
            return 0
        span = now - self._samples[0][0]
        span += max(0, SAMPLES - 1 - span // SAMPLE_MS) * SAMPLE_MS
        rate = sum(size for _, size in self._samples) * 1000 / span
        return round((rate - limit) / limit * span) if rate > limit else 0


class ClientQuotas:
    """The quotas of one broker's clients."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._rates: dict[tuple[int, Whose], _Rate] = {}
        self._unread: WeakKeyDictionary[Connection, int] = WeakKeyDictionary()
        self._static = any(name in broker.config for name in STATIC.values())
        self._settings = broker.cluster.client_settings

    def __bool__(self) -> bool:
        """Whether anybody may have to wait at all."""
        return self._static or self._settings.has_quotas

    def most(self, request: Request) -> float | None:
        """Bytes that a client may have in one answer, where that is bounded."""
        found = self._limit(request)
        return None if found is None else found[0] * LEAST_MS / 1000

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
            return answer.answer
        key = request.header.key
        if key not in KEYS or not (isinstance(answer, dict) or type(answer) is NoReply):
            return answer
        found = self._limit(request)
        if found is None or _follows(request):
            return answer
        limit, whose = found
        rate = self._rates.setdefault((key, whose), _Rate())
        size = request.size  # of a Produce; of all else what is answered
        if key != PRODUCE and isinstance(answer, dict):
            size = _size(request, answer)
        rate.record(size, now)
        wait = rate.wait(limit, now)
        if not wait:
            return answer
        if isinstance(answer, dict):
            answer["throttle_time_ms"] = wait
        if self._broker.persona.quirk("quotas.answers-wait"):
            return Wait(now + wait, (), lambda at: None, lambda at: ThrottledAnswer(answer))
        self._unread[request.connection] = now + wait
        if key == FETCH:
            rate.record(-size, now)
            return _nothing(request, wait)
        return answer

    def _limit(self, request: Request) -> tuple[float, Whose] | None:
        """The quota that holds for this client, and of whom its rate is counted."""
        key, client_id = request.header.key, request.header.client_id or ""
        user, settings = request.connection.principal.name, self._broker.cluster.client_settings
        own = {"user": user, "client-id": client_id}
        for names, (by_user, by_client) in LEVELS:
            who: Entity = entity({kind: own[kind] if exact else None
                                  for kind, exact in names.items()})  # fmt: skip
            value = settings.quota(who, KEYS[key])
            if value is not None:
                return value, (user if by_user else None, client_id if by_client else None)
        text = self._broker.config.get(STATIC[key])
        return None if text is None else (float(text), (None, client_id))


def _follows(request: Request) -> bool:
    """Followers have a quota of their own (`replication_quota`)."""
    return request.header.key == FETCH and replica_of(request) >= 0


def _size(request: Request, answer: Struct) -> int:
    header = request.header
    return len(encode_response(header.key, header.version, header.correlation_id, answer))


def _nothing(request: Request, wait: int) -> Struct:
    """A fetch above its quota: no error, no records, and no new session."""
    session = request.body["session_id"] if request.body["session_epoch"] > 0 else 0
    return {"throttle_time_ms": wait, "error_code": 0, "session_id": session, "responses": []}
