"""The share consumer (KIP-932): records that a group shares one by one, and their acknowledgements.

A poll acquires records for this member, for as long as the broker's lock lasts. With implicit
acknowledgement the next poll or commit accepts all that the last poll returned; with explicit each
record is accepted, released (to be delivered again), rejected (never again) or renewed (its lock
begins anew, KIP-1222) by `acknowledge`, before the next poll. Acknowledgements go out with the next
fetch from their broker, or at once by `commit_sync`. Offsets that were acquired and hold no record
are acknowledged as gaps without anybody's doing.

A renewed record stays the application's and is not returned again; Java's hands it out anew.

Sources: ShareConsumerImpl, ShareConsumeRequestManager, ShareInFlightBatch at 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Literal, NamedTuple

from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.errors import is_retriable
from touchstone.reference_impl.wire.records.batch import Header
from touchstone.reference_impl.wire.schema import Struct

from .coordinator import Coordinator
from .deserializers import Deserializers
from .flow import (
    LATEST_VERSION,
    Answer,
    Ask,
    ClientError,
    Failed,
    Flow,
    KafkaError,
    Pause,
    TopicPartition,
    Unreachable,
    named,
)
from .metadata import STALE, View, refresh, try_refresh
from .reading import read_partition
from .share_member import ShareMember
from .share_session import AcknowledgeType, ShareSession

_V_STABLE, _V_RENEW = 1, 2
_SESSION_ERRORS = (E.SHARE_SESSION_NOT_FOUND, E.INVALID_SHARE_SESSION_EPOCH)
_ACQUIRE_MODES = {"batch_optimized": 0, "record_limit": 1}
Acks = dict[TopicPartition, dict[int, AcknowledgeType]]
Offsets = Mapping[TopicPartition, Iterable[int]]
AcknowledgementCallback = Callable[[Offsets, ClientError | None], Any]


class Unacknowledged(ClientError):
    """With explicit acknowledgement every record is acknowledged before the next poll."""


class ShareRecord(NamedTuple):
    """`delivery_count` is 1 for the first time that anybody in the group is given it."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]
    delivery_count: int


class ShareConsumer:
    def __init__(
        self,
        view: View,
        group: str,
        *,
        member_id: str,
        acknowledgement: Literal["implicit", "explicit"] = "implicit",
        acquire_mode: str = "batch_optimized",
        rack: str = "",
        max_wait_ms: int = 500,
        min_bytes: int = 1,
        max_bytes: int = 50 << 20,
        max_poll_records: int = 500,
        request_timeout_ms: int = 30_000,
        max_poll_interval_ms: int = 300_000,
        check_crcs: bool = True,
        key_deserializer: Any = None,
        value_deserializer: Any = None,
        on_acknowledged: AcknowledgementCallback | None = None,
    ):
        if acknowledgement not in ("implicit", "explicit") or acquire_mode not in _ACQUIRE_MODES:
            raise ClientError(f"{acknowledgement!r} or {acquire_mode!r} is none of Kafka's")
        if not group:
            raise KafkaError(E.INVALID_GROUP_ID, about="a group needs an id")
        self.view = view
        self.group = group
        self.explicit = acknowledgement == "explicit"
        self.max_wait_ms = max_wait_ms
        self.max_poll_records = max_poll_records
        self.request_timeout_ms = request_timeout_ms
        self.max_poll_interval_ms = max_poll_interval_ms
        self.check_crcs = check_crcs
        self.on_acknowledged = on_acknowledged
        self.acquisition_lock_timeout_ms: int | None = None  # as the last answer had it
        self.coordinator = Coordinator(view, group, request_timeout_ms=request_timeout_ms)
        self.member = ShareMember(self.coordinator, member_id=member_id, rack=rack or None)
        self.assignment: frozenset[TopicPartition] = frozenset()
        self._limits = {
            "max_wait_ms": max_wait_ms,
            "min_bytes": min_bytes,
            "max_bytes": max_bytes,
            "max_records": max_poll_records,
            "batch_size": max_poll_records,
            "share_acquire_mode": _ACQUIRE_MODES[acquire_mode],
        }
        self._deserializers = Deserializers(key_deserializer, value_deserializer)
        self._sessions: dict[int, ShareSession] = {}
        self._held: dict[TopicPartition, dict[int, int]] = {}  # what to acknowledge: offset -> node
        self._renewed: set[tuple[TopicPartition, int]] = set()  # of what is held
        self._acks: dict[int, Acks] = {}  # by node, to be sent
        self._lane = view.lane()
        self._polled_at: int | None = None
        self._failures = 0

    def subscribe(self, topics: Iterable[str]) -> None:
        """These topics instead of any earlier ones."""
        found = frozenset(topics)
        if not found or not all(topic.strip() for topic in found):
            raise ClientError("a subscription names topics")
        self.member.topics = found

    def unsubscribe(self) -> Flow[None]:
        """Release what is held and leave the group."""
        yield from self._end_sessions()
        if self.member.generation >= 0:
            yield from self.member.leave("unsubscribed")
        self.member.topics, self.assignment = frozenset(), frozenset()

    # --- acknowledging -------------------------------------------------------------------------

    def acknowledge(
        self, record: ShareRecord, kind: AcknowledgeType = AcknowledgeType.ACCEPT
    ) -> None:
        """Say what became of a record that a poll returned; sent with the next poll or commit."""
        if not self.explicit:
            raise ClientError("implicit acknowledgement does it all")
        place = record.topic, record.partition
        node = self._held.get(place, {}).get(record.offset)
        if node is None:
            raise ClientError(f"{named(place)} at {record.offset} is not waiting for it")
        if kind is AcknowledgeType.RENEW:  # its end is to come yet
            self._renewed.add((place, record.offset))
        else:
            self._renewed.discard((place, record.offset))
            del self._held[place][record.offset]
        self._acks.setdefault(node, {}).setdefault(place, {})[record.offset] = kind

    def _settle_what_was_given(self, *, polls: bool) -> None:
        """Accept it, or with explicit acknowledgement see that nothing is forgotten."""
        held = [(place, offset) for place, offsets in self._held.items() for offset in offsets]
        if self.explicit:
            if polls and not self._renewed.issuperset(held):
                raise Unacknowledged("a record of the last poll is not acknowledged")
            return
        for place, offset in held:
            node = self._held[place][offset]
            acks = self._acks.setdefault(node, {}).setdefault(place, {})
            acks[offset] = AcknowledgeType.ACCEPT
        self._held = {}

    def commit_sync(self) -> Flow[dict[TopicPartition, ClientError | None]]:
        """Send every acknowledgement and wait; what came of each partition's."""
        self._settle_what_was_given(polls=False)
        return (yield from self._acknowledge_all())

    def _acknowledge_all(
        self, *, last: bool = False
    ) -> Flow[dict[TopicPartition, ClientError | None]]:
        results: dict[TopicPartition, ClientError | None] = {}
        sent, self._acks = self._acks, {}
        nodes = self._sessions.keys() | sent.keys() if last else sent.keys()
        asks: list[Ask] = []
        for node in sorted(nodes):
            session = self._sessions.setdefault(node, ShareSession())
            acks = sent.get(node, {})
            if not session.begun or self.view.resolve(node) is None:
                self._report(acks, KafkaError(E.SHARE_SESSION_NOT_FOUND), results)
            elif acks or last:
                fields = session.acknowledge(self._by_id(acks), last=last)
                asks.append(self._ask("ShareAcknowledge", node, fields, acks))
        for outcome in (yield asks) if asks else []:
            assert isinstance(outcome.ask.node, int), "only brokers by id are asked"
            acks = sent.get(outcome.ask.node, {})
            self._take_acknowledged(outcome, outcome.ask.node, acks, results)
        return results

    def _take_acknowledged(
        self,
        outcome: Answer | Failed,
        node: int,
        acks: Acks,
        results: dict[TopicPartition, ClientError | None],
    ) -> None:
        error = self._session_error(outcome, node)
        if error is not None or not isinstance(outcome, Answer):
            self._report(acks, error, results)
            return
        for place, row in self._rows(outcome):
            code = row["error_code"]
            failed = KafkaError(code, row["error_message"], named(place)) if code else None
            self._report({place: acks.get(place, {})}, failed, results)

    def _session_error(self, outcome: Answer | Failed, node: int) -> ClientError | None:
        """Count the session on, or begin it anew for the error that is returned."""
        session = self._sessions[node]
        if isinstance(outcome, Failed):
            session.lost()
            return Unreachable(outcome)
        self.acquisition_lock_timeout_ms = (
            outcome.body.get("acquisition_lock_timeout_ms") or self.acquisition_lock_timeout_ms
        )
        if code := outcome.body["error_code"]:
            if code in _SESSION_ERRORS:
                session.lost()
            return KafkaError(code, outcome.body["error_message"], outcome.ask.api)
        session.succeeded()
        return None

    def _report(
        self,
        acks: Acks,
        error: ClientError | None,
        results: dict[TopicPartition, ClientError | None] | None = None,
    ) -> None:
        known = {place: list(kinds) for place, kinds in acks.items() if kinds}
        for place in known:
            if results is not None:
                results[place] = error
        if known and self.on_acknowledged is not None:
            self.on_acknowledged(known, error)

    # --- polling -------------------------------------------------------------------------------

    def poll(self, timeout_ms: int | None = None) -> Flow[list[ShareRecord]]:
        """Records that this member has acquired; None as a timeout is one round of fetches."""
        if not self.member.topics:
            raise ClientError("nothing is subscribed to")
        self._polled_at = self.view.now
        self._settle_what_was_given(polls=True)
        if any(map(_renews, self._acks.values())):
            yield from self._acknowledge_all()  # a fetch that renews would fetch nothing (KIP-1222)
        end = self.view.now + (timeout_ms or 0)
        while True:
            out = yield from self._round()
            if out or self.view.now >= end:
                return out

    def keep_alive(self) -> Flow[None]:
        """What somebody runs between polls when `keep_alive_at` has come: a heartbeat, or leaving
        where poll is overdue. What fails the next poll meets again.
        """
        with suppress(ClientError):
            if self._polled_at is None or self.member.generation < 0:
                return
            if self.view.now - self._polled_at > self.max_poll_interval_ms:
                yield from self.member.leave("poll was not called in time")
            else:
                yield from self.member.beat()

    @property
    def keep_alive_at(self) -> int | None:
        """In ms; None while there is no membership."""
        if self._polled_at is None or self.member.generation < 0:
            return None
        return min(self.member.beat_at, self._polled_at + self.max_poll_interval_ms + 1)

    def _round(self) -> Flow[list[ShareRecord]]:
        yield from self.member.beat()
        yield from self._take_assignment()
        if not self.assignment:
            yield Pause(self.view.now + min(self.max_wait_ms, 100))
            return []
        asks, sent, stale = self._asks()
        out: list[ShareRecord] = []
        for outcome in (yield asks) if asks else []:
            assert isinstance(outcome.ask.node, int), "only brokers by id are asked"
            out += self._take(outcome, outcome.ask.node, sent[outcome.ask.node], stale)
        if stale:
            if not out:
                yield Pause(self.view.now + self.view.backoff.delay(self._failures))
                self._failures += 1
            yield from refresh(self.view, sorted(stale))
        else:
            self._failures = 0
        return out

    def _take_assignment(self) -> Flow[None]:
        target = self.member.target
        if target is None:
            return
        if any(self.view.name_of(topic_id) is None for topic_id, _ in target):
            yield from try_refresh(self.view, None, timeout_ms=self.request_timeout_ms)
        known = {(self.view.name_of(topic_id), index) for topic_id, index in target}
        self.assignment = frozenset((name, index) for name, index in known if name is not None)
        if len(self.assignment) == len(target):
            self.member.target = None

    def _asks(self) -> tuple[list[Ask], dict[int, Acks], set[str]]:
        """A ShareFetch for each leader, with its acknowledgements; topics that have none."""
        nodes: dict[int, list[TopicPartition]] = {}
        stale: set[str] = set()
        for place in sorted(self.assignment):
            leader = self.view.leader(*place)
            if leader is None:
                stale.add(place[0])
            else:
                nodes.setdefault(leader.leader, []).append(place)
        asks, sent = [], {}
        for node in nodes.keys() | self._acks.keys():
            session = self._sessions.setdefault(node, ShareSession())
            acks = self._acks.pop(node, {})
            if acks and not session.begun:
                self._report(acks, KafkaError(E.SHARE_SESSION_NOT_FOUND))
                acks = {}
            wanted = [self._id(place) for place in nodes.get(node, ())]
            fields = session.fetch(wanted, self._by_id(acks)) | self._limits
            sent[node] = acks
            asks.append(self._ask("ShareFetch", node, fields, acks))
        return asks, sent, stale

    def _ask(self, api: str, node: int, fields: Struct, acks: Acks) -> Ask:
        renews = _renews(acks)
        body = {"group_id": self.group, "member_id": self.member.id, "is_renew_ack": renews}
        versions = (_V_RENEW if renews else _V_STABLE, LATEST_VERSION)
        timeout = self.request_timeout_ms + self.max_wait_ms
        return Ask(node, api, body | fields, timeout, versions, lane=self._lane)

    def _take(
        self, outcome: Answer | Failed, node: int, acks: Acks, stale: set[str]
    ) -> list[ShareRecord]:
        error = self._session_error(outcome, node)
        if error is not None or not isinstance(outcome, Answer):
            self._report(acks, error)
            stale |= {topic for topic, _ in self.assignment}
            if error is not None and not _passes(error):
                raise error
            return []
        out: list[ShareRecord] = []
        for place, row in self._rows(outcome):
            if acks.get(place):
                code = row["acknowledge_error_code"]
                failed = KafkaError(code, about=named(place)) if code else None
                self._report({place: acks[place]}, failed)
            if row["error_code"]:
                stale.add(place[0])
                failed = KafkaError(row["error_code"], row["error_message"], named(place))
                if not _passes(failed):
                    raise failed
            else:
                out += self._acquired(place, row, node)
        return out

    def _acquired(self, place: TopicPartition, row: Struct, node: int) -> list[ShareRecord]:
        """Records of the acquired ranges; what is not there is acknowledged as a gap."""
        counts = {
            offset: each["delivery_count"]
            for each in row["acquired_records"]
            for offset in range(each["first_offset"], each["last_offset"] + 1)
        }
        if not counts:
            return []
        fetched = read_partition(place[0], row, min(counts), check_crc=self.check_crcs)
        mine = [record for record in fetched.records if record.offset in counts]
        shown, error = self._deserializers.shown(place, mine)
        acks = self._acks.setdefault(node, {}).setdefault(place, {})
        for offset in counts.keys() - {record.offset for record in mine}:
            acks[offset] = AcknowledgeType.GAP
        for record in mine[len(shown) :]:  # given to somebody again, perhaps one who can read it
            acks[record.offset] = AcknowledgeType.RELEASE
        if error is not None and not shown:
            raise error
        held = self._held.setdefault(place, {})
        for record in shown:
            held[record.offset] = node
        return [ShareRecord(*record[:7], counts[record.offset]) for record in shown]

    def _rows(self, answer: Answer) -> Iterable[tuple[TopicPartition, Struct]]:
        for topic in answer.body["responses"]:
            name = self.view.name_of(bytes(topic["topic_id"]))
            if name is not None:
                for part in topic["partitions"]:
                    yield (name, part["partition_index"]), part

    def _id(self, place: TopicPartition) -> tuple[bytes, int]:
        return self.view.id_of(place[0]), place[1]

    def _by_id(self, acks: Acks) -> dict[tuple[bytes, int], dict[int, AcknowledgeType]]:
        return {self._id(place): kinds for place, kinds in acks.items() if kinds}

    # --- the end -------------------------------------------------------------------------------

    def _end_sessions(self) -> Flow[None]:
        """Send what is acknowledged, and have brokers release the rest."""
        self._settle_what_was_given(polls=False)
        yield from self._acknowledge_all(last=True)
        self._sessions, self._held, self._renewed = {}, {}, set()

    def close(self, timeout_ms: int = 30_000) -> Flow[None]:
        """As `unsubscribe`, in this time."""
        left = max(1, min(self.request_timeout_ms, timeout_ms))
        self.request_timeout_ms = self.coordinator.request_timeout_ms = left
        try:
            yield from self.unsubscribe()
        except ClientError:
            return  # who cannot be told sees locks and sessions end


def _renews(acks: Acks) -> bool:
    return any(kind is AcknowledgeType.RENEW for kinds in acks.values() for kind in kinds.values())


def _passes(error: ClientError) -> bool:
    """Whether another try may do better."""
    if isinstance(error, KafkaError):
        return error.code in STALE or error.code in _SESSION_ERRORS or is_retriable(error.code)
    return not (isinstance(error, Unreachable) and error.final)
