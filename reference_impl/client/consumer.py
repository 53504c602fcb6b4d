"""The consumer by assignment: positions, resets, fetches.

`poll` is a flow of rounds: each asks each broker that is read from (`read_replicas.py`: leaders, or
whom they named) once for all of its partitions (`fetch_session.py`), and the first that
brings something ends the poll, as its timeout does (CONS-14). It returns at most
`max_poll_records`; the rest waits in `_buffers` for the next poll and is dropped when its partition
is no longer assigned or somebody sought elsewhere (CONS-24, CONS-27). A position moves only over
what was handed out or rightly skipped, so an error loses nothing. Who delivered goes to the end of
the line (CONS-48).
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from touchstone.reference_impl.wire.errors import ErrorCode, is_retriable
from touchstone.reference_impl.wire.records import RecordError
from touchstone.reference_impl.wire.schema import Struct

from .fetch_session import SESSION_ERRORS, FetchSession, Wanted, WantedPartition
from .flow import (
    LATEST_VERSION,
    Answer,
    Ask,
    ClientError,
    Flow,
    KafkaError,
    Pause,
    TopicPartition,
    Unreachable,
    named,
)
from .metadata import STALE, View, know, refresh, try_refresh
from .offsets import (
    EARLIEST,
    LATEST,
    READ_COMMITTED,
    READ_UNCOMMITTED,
    OffsetAndTimestamp,
    found_for,
    offsets_for,
)
from .position_epochs import UNKNOWN, EpochEnd, PositionEpochs, ends, was_cut
from .read_replicas import ReadReplicas
from .reading import Consumed, read_partition

_V_TOPIC_IDS = 13
_V_SESSIONS = (7, LATEST_VERSION)
_RESETS = {"earliest": EARLIEST, "latest": LATEST}


class NoPosition(ClientError):
    """No position, or one out of range, and no reset policy (CONS: `auto.offset.reset=none`)."""


class LogTruncated(ClientError):
    """Records that were read are no longer in the log, and there is no reset policy (KIP-320)."""


class CorruptFetch(ClientError):
    """A broker handed out records that are damaged."""


class _Buffer(NamedTuple):
    """Records of a partition that were fetched at `start` and not handed out; then comes `end`,
    behind a batch of `leader_epoch`.
    """

    start: int
    records: list[Consumed]
    end: int
    leader_epoch: int


class Consumer:
    def __init__(
        self,
        view: View,
        *,
        isolation: int = READ_UNCOMMITTED,
        reset: str = "latest",
        max_wait_ms: int = 500,
        min_bytes: int = 1,
        max_bytes: int = 50 << 20,
        partition_max_bytes: int = 1 << 20,
        request_timeout_ms: int = 30_000,
        rack: str = "",
        check_crcs: bool = True,
        max_poll_records: int = 500,
        metadata_max_age_ms: int = 300_000,
        auto_commit_ms: int | None = None,
    ):
        if reset not in (*_RESETS, "none") or isolation not in (READ_UNCOMMITTED, READ_COMMITTED):
            raise ClientError(f"reset {reset!r} or isolation {isolation} is none of ours (CONS-04)")
        if auto_commit_ms is not None:
            raise ClientError("nothing is committed without a group (CONS-12)")
        self.view = view
        self.isolation = isolation
        self.reset = reset
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.partition_max_bytes = partition_max_bytes
        self.request_timeout_ms = request_timeout_ms
        self.rack = rack
        self.check_crcs = check_crcs
        self.max_poll_records = max_poll_records
        self.metadata_max_age_ms = metadata_max_age_ms
        self.positions: dict[TopicPartition, int | None] = {}
        self.high_watermarks: dict[TopicPartition, int] = {}
        self.stable_offsets: dict[TopicPartition, int] = {}
        self.paused: set[TopicPartition] = set()
        self._replicas = ReadReplicas(view, metadata_max_age_ms)
        self._epochs = PositionEpochs(view)
        self._sessions: dict[int | str, FetchSession] = {}  # by broker id
        self._buffers: dict[TopicPartition, _Buffer] = {}
        self.disbelieved = 0  # answers to Fetch that named partitions nobody had asked for
        self._failures = 0
        self._learned_at = view.now

    def assign(self, places: Iterable[TopicPartition]) -> None:
        """Exactly these partitions from now on; those kept keep their position."""
        self.positions = {place: self.positions.get(place) for place in places}
        self.paused &= self.positions.keys()
        self._replicas.keep(self.positions)
        self._epochs.keep(self.positions)

    def seek(self, place: TopicPartition, offset: int) -> None:
        self._mine(place)
        if offset < 0:
            raise ClientError(f"cannot seek {place} to {offset}")
        self.positions[place] = offset
        self._epochs.forget(place)

    def pause(self, places: Iterable[TopicPartition]) -> None:
        """Neither fetch nor hand out these until `resume`; they stay assigned (CONS-47)."""
        self.paused |= {self._mine(place) for place in places}

    def resume(self, places: Iterable[TopicPartition]) -> None:
        self.paused -= {self._mine(place) for place in places}

    def lag(self, place: TopicPartition) -> int | None:
        """Records up to the end that this reader can see; None until a fetch said so (CONS-28)."""
        ends = self.stable_offsets if self.isolation == READ_COMMITTED else self.high_watermarks
        position = self.positions[self._mine(place)]
        return ends[place] - position if place in ends and position is not None else None

    def _mine(self, place: TopicPartition) -> TopicPartition:
        if place not in self.positions:
            raise ClientError(f"{place} is not assigned")
        return place

    def offsets_for_times(
        self, wanted: Mapping[TopicPartition, int]
    ) -> Flow[dict[TopicPartition, OffsetAndTimestamp]]:
        """The first record of each partition at or after an instant (ms since the epoch)."""
        return (yield from found_for(self.view, wanted, isolation=self.isolation))

    def beginning_offsets(
        self, places: Iterable[TopicPartition]
    ) -> Flow[dict[TopicPartition, int]]:
        wanted = dict.fromkeys(places, EARLIEST)
        return (yield from offsets_for(self.view, wanted, isolation=self.isolation))

    def end_offsets(self, places: Iterable[TopicPartition]) -> Flow[dict[TopicPartition, int]]:
        """Where the next record goes, or the end of what a committed reader may see."""
        wanted = dict.fromkeys(places, LATEST)
        return (yield from offsets_for(self.view, wanted, isolation=self.isolation))

    def commit(self, *_: Any, **__: Any) -> Any:
        """Raise KafkaError: without a group there is no coordinator to commit to (CONS-12)."""
        raise KafkaError(ErrorCode.INVALID_GROUP_ID, about="a consumer without a group")

    committed = commit_async = commit

    def poll(self, timeout_ms: int = 0) -> Flow[list[Consumed]]:
        """Rounds of fetches until one brings records or the time is up; at least one (CONS-14)."""
        end = self.view.now + timeout_ms
        while True:
            out = yield from self._round()
            if out or self.view.now >= end:
                return out

    def _round(self) -> Flow[list[Consumed]]:
        """One round of fetches; what it brings may be nothing."""
        if not self.positions:
            raise ClientError("nothing is assigned (CONS-13)")
        yield from self._relearn()
        yield from know(self.view, sorted({topic for topic, _ in self.positions}))
        yield from self._find_positions()
        stale = yield from self._find_truncations()
        if out := self._hand_out():
            return out
        asks = self._asks()
        outcomes = (yield asks) if asks else []
        stale |= self._leaderless()
        for outcome in outcomes:
            if isinstance(outcome, Answer):
                self._take(outcome, stale)
            elif outcome.kind == "unsupported":
                raise Unreachable(outcome)
            else:
                session = self._sessions[outcome.ask.node]
                session.fail()
                self._distrust(session.places, stale)
        out = self._hand_out()
        if not stale:
            self._failures = 0
            if not asks:  # everything is paused
                yield Pause(self.view.now + self.max_wait_ms)
        elif not out:
            yield Pause(self.view.now + self.view.backoff.delay(self._failures))
            self._failures += 1
        if stale:
            yield from refresh(self.view, sorted(stale))
        return out

    def _relearn(self) -> Flow[None]:
        """Metadata grows old; what is read is never forgotten (PROD-18)."""
        if self.view.now - self._learned_at >= self.metadata_max_age_ms:
            self._learned_at = self.view.now
            names, patience = self._interesting(), self.request_timeout_ms
            yield from try_refresh(self.view, names, timeout_ms=patience)

    def _interesting(self) -> list[str] | None:
        """Topics to know about; None is all."""
        return sorted({topic for topic, _ in self.positions})

    def _distrust(self, places: Iterable[TopicPartition], stale: set[str]) -> None:
        """Whoever was asked for these is not who should be: ask their leaders, and who they are."""
        for place in places:
            self._replicas.drop(place)
            stale.add(place[0])

    def _leaderless(self) -> set[str]:
        return {topic for topic, index in self.positions if self.view.leader(topic, index) is None}

    def _hand_out(self) -> list[Consumed]:
        out: list[Consumed] = []
        for place, buffer in list(self._buffers.items()):
            if self.positions.get(place) != buffer.start:
                del self._buffers[place]
            elif place not in self.paused and len(out) < self.max_poll_records:
                room = self.max_poll_records - len(out)
                given, left = buffer.records[:room], buffer.records[room:]
                out += given
                position = left[0].offset if left else buffer.end
                del self._buffers[place], self.positions[place]
                self.positions[place] = position
                self._epochs.read(place, given[-1].leader_epoch if left else buffer.leader_epoch)
                if left:
                    self._buffers[place] = buffer._replace(start=position, records=left)
        return out

    def _find_positions(self) -> Flow[None]:
        missing = [place for place, offset in self.positions.items() if offset is None]
        if not missing:
            return
        if self.reset not in _RESETS:
            raise NoPosition(f"no position and no reset policy for {missing}")
        wanted = dict.fromkeys(missing, _RESETS[self.reset])
        self.positions |= yield from offsets_for(self.view, wanted, isolation=self.isolation)

    def _find_truncations(self) -> Flow[set[str]]:
        """Ask leaders that are new whether they have what was read; the topics that are not as
        metadata says. Raises LogTruncated.
        """
        stale: set[str] = set()
        leaders = {place: self.view.leader(*place) for place in self.positions}
        known = {place: leader for place, leader in leaders.items() if leader is not None}
        asks = self._epochs.requests(known, self.request_timeout_ms)
        for outcome in (yield asks) if asks else []:
            if isinstance(outcome, Answer):
                for end in ends(outcome):
                    if end.place in known:  # what nobody asked about is not believed (CONS-31)
                        self._take_epoch_end(end, known[end.place].leader_epoch, stale)
            elif outcome.kind == "unsupported":
                for place, leader in known.items():
                    if leader.leader == outcome.ask.node:
                        self._epochs.good(place, leader.leader_epoch)
            else:
                stale |= {
                    topic for (topic, _), one in known.items() if one.leader == outcome.ask.node
                }
        return stale

    def _take_epoch_end(self, end: EpochEnd, leader_epoch: int, stale: set[str]) -> None:
        position = self.positions.get(end.place)
        if end.error in STALE or (end.error and is_retriable(end.error)):
            stale.add(end.place[0])
        elif end.error:
            raise KafkaError(end.error, about=named(end.place))
        elif position is None or not was_cut(end, position):
            self._epochs.good(end.place, leader_epoch)
        elif self.reset not in _RESETS:
            raise LogTruncated(f"{named(end.place)} was cut at {end.offset}, below {position}")
        elif UNKNOWN in (end.offset, end.leader_epoch):
            self.positions[end.place] = None
            self._epochs.forget(end.place)
        else:
            self.positions[end.place] = end.offset
            self._epochs.read(end.place, end.leader_epoch)
            self._epochs.good(end.place, leader_epoch)

    def _asks(self) -> list[Ask]:
        nodes: dict[int, dict[TopicPartition, WantedPartition]] = {}
        for (topic, partition), offset in self.positions.items():
            leader = self.view.leader(topic, partition)
            place = topic, partition
            if leader is None or place in self.paused or place in self._buffers:
                continue
            if self._epochs.is_due(place, leader):
                continue
            row = {
                "partition": partition,
                "current_leader_epoch": leader.leader_epoch,
                "fetch_offset": offset,
                "partition_max_bytes": self.partition_max_bytes,
            }
            node = self._replicas.of(place, leader)
            nodes.setdefault(node, {})[place] = WantedPartition(self.view.id_of(topic), row)
        return [self._ask(node, wanted) for node, wanted in nodes.items()]

    def _ask(self, node: int, wanted: Wanted) -> Ask:
        session = self._sessions.setdefault(node, FetchSession())
        by_ids = all(any(one.topic_id) for one in wanted.values())
        body = session.request(wanted, by_ids=by_ids) | self._limits(self.max_wait_ms)
        versions = (4, LATEST_VERSION if by_ids else _V_TOPIC_IDS - 1)
        timeout = self.request_timeout_ms + self.max_wait_ms
        return Ask(node, "Fetch", body, timeout_ms=timeout, versions=versions)

    def _limits(self, max_wait_ms: int) -> Struct:
        return {
            "replica_id": -1,
            "max_wait_ms": max_wait_ms,
            "min_bytes": self.min_bytes,
            "max_bytes": self.max_bytes,
            "isolation_level": self.isolation,
            "rack_id": self.rack,
        }

    def close(self) -> Flow[None]:
        """End the fetch sessions that brokers keep for us; an answer is not needed."""
        farewells = {node: each.farewell() for node, each in self._sessions.items()}
        self._sessions = {}
        asks = [
            Ask(node, "Fetch", fields | self._limits(0), self.request_timeout_ms, _V_SESSIONS)
            for node, fields in farewells.items()
            if fields is not None and self.view.resolve(node) is not None
        ]
        if asks:
            yield asks

    def _take(self, answer: Answer, stale: set[str]) -> None:
        code = answer.body.get("error_code", 0)
        session, rows = self._sessions[answer.ask.node], self._rows(answer)
        believed = session.take(answer.body, rows)
        if code and code not in SESSION_ERRORS:
            if not is_retriable(code) and code not in STALE:
                raise KafkaError(code, about="Fetch")
            self._distrust(session.places, stale)
        if not believed:
            self.disbelieved += not code
            return
        for place, part in rows.items():
            position = self.positions.get(place)
            if position is not None:
                self._take_partition(place, part, position, stale)

    def _rows(self, answer: Answer) -> dict[TopicPartition, Struct]:
        """By partition; a topic whose id is unknown has the name "", which nobody asks for."""
        return {
            (
                topic.get("topic") or self.view.name_of(topic["topic_id"]) or "",
                part["partition_index"],
            ): part
            for topic in answer.body["responses"]
            for part in topic["partitions"]
        }

    def _take_partition(
        self, place: TopicPartition, part: Struct, position: int, stale: set[str]
    ) -> None:
        code = part["error_code"]
        if code == ErrorCode.OFFSET_OUT_OF_RANGE:
            if self._replicas.drop(place):
                return  # a follower may be behind: only its leader's word ends a position
            if self.reset not in _RESETS:
                raise NoPosition(f"offset {position} of {place} is out of range")
            self.positions[place] = None
            self._epochs.forget(place)
        elif code in STALE or (code and is_retriable(code)):
            self._distrust([place], stale)
        elif code:
            raise KafkaError(code, about=named(place))
        else:
            try:
                fetched = read_partition(
                    place[0],
                    part,
                    position,
                    committed_only=self.isolation == READ_COMMITTED,
                    check_crc=self.check_crcs,
                )
            except RecordError as fault:
                raise CorruptFetch(f"{place} at {position}: {fault}") from fault
            if part.get("preferred_read_replica", -1) >= 0:
                self._replicas.prefer(place, part["preferred_read_replica"])
            if fetched.position > position:
                self._buffers[place] = _Buffer(position, *fetched)
            if leader := self.view.leader(*place):
                self._epochs.good(place, leader.leader_epoch)
            self.high_watermarks[place] = part["high_watermark"]
            self.stable_offsets[place] = part.get("last_stable_offset", -1)
