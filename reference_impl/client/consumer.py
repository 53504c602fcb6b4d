"""The consumer by assignment: positions, resets, what is handed out and what is fetched ahead.

A poll is rounds (CONS-17): whatever came is taken, missing positions are found, records that are
here are handed out, and else brokers are asked (`fetcher.py`; `read_replicas.py`: leaders, or whom
they named) and waited for. The first that brings something ends the poll, as its timeout does
(CONS-14), and the next fetches are on their way before it returns (CONS-15). It returns at most
`max_poll_records`; the rest waits in `_buffers` for the next poll and is dropped when its partition
is no longer assigned or somebody sought elsewhere (CONS-24, CONS-27). A position moves only over
what was handed out or rightly skipped, so an error loses nothing; one of a partition is raised when
there is nothing to hand out before it (CONS-26). Who delivered goes to the end of the line
(CONS-48).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from touchstone.reference_impl.wire.errors import ErrorCode, is_retriable
from touchstone.reference_impl.wire.records import RecordError
from touchstone.reference_impl.wire.schema import Struct

from .consumer_interceptors import ConsumerInterceptors
from .deserializers import Deserializers
from .fetcher import Fetcher, FetchOptions, FetchPart, FetchPosition, Misdirected
from .flow import (
    Answer,
    Ask,
    ClientError,
    Flow,
    KafkaError,
    NetworkPoll,
    Pause,
    TopicPartition,
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
from .reset_policy import TO_EARLIEST, TO_LATEST, ResetPolicy, reset_policy
from .running import put_off


class Wakeup(ClientError):
    """Somebody called `wakeup`; the next call goes on as if nothing had been."""


class NoPosition(ClientError):
    """No position, or one out of range, and no reset policy (CONS: `auto.offset.reset=none`)."""


class OutOfRange(NoPosition):
    """The broker has no record at the position, and there is no reset policy (CONS-37)."""

    code = ErrorCode.OFFSET_OUT_OF_RANGE


class LogTruncated(ClientError):
    """Records that were read are no longer in the log, and there is no reset policy (KIP-320)."""


class CorruptFetch(ClientError):
    """A broker handed out records that are damaged."""


class _Buffer(NamedTuple):
    """Records of a partition; `taken` are handed out, and the next one is at `start`. Then comes
    `end`, behind a batch of `leader_epoch`. (To cut the list for each poll would touch all of it.)
    """

    start: int
    records: list[Consumed]
    end: int
    leader_epoch: int
    taken: int = 0


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
        key_deserializer: Any = None,
        value_deserializer: Any = None,
        interceptors: Sequence[Any] = (),
    ):
        if isolation not in (READ_UNCOMMITTED, READ_COMMITTED):
            raise ClientError(f"isolation {isolation} is none of Kafka's (CONS-04)")
        if auto_commit_ms is not None:
            raise ClientError("nothing is committed without a group (CONS-12)")
        self.view = view
        self.isolation = isolation
        self.reset = reset_policy(reset)
        self.max_wait_ms = max_wait_ms
        self.request_timeout_ms = request_timeout_ms
        self.rack = rack
        self.check_crcs = check_crcs
        self.max_poll_records = max_poll_records
        self.metadata_max_age_ms = metadata_max_age_ms
        self.interceptors = ConsumerInterceptors(interceptors)
        self.positions: dict[TopicPartition, int | None] = {}
        self.high_watermarks: dict[TopicPartition, int] = {}
        self.stable_offsets: dict[TopicPartition, int] = {}
        self.paused: set[TopicPartition] = set()
        wants = isolation, max_wait_ms, min_bytes, max_bytes, partition_max_bytes
        self.fetcher = Fetcher(view, FetchOptions(*wants, request_timeout_ms, rack))
        self._deserializers = Deserializers(key_deserializer, value_deserializer)
        self._replicas = ReadReplicas(view, metadata_max_age_ms)
        self._epochs = PositionEpochs(view)
        self._resets: dict[TopicPartition, ResetPolicy] = {}  # of positions that are to be found
        self._buffers: dict[TopicPartition, _Buffer] = {}
        self._errors: dict[TopicPartition, ClientError] = {}  # raised when nothing is handed out
        self._woken = False
        self._failures = 0
        self._learned_at = view.now

    def assign(self, places: Iterable[TopicPartition]) -> None:
        """Exactly these partitions from now on; those kept keep their position."""
        self.positions = {place: self.positions.get(place) for place in places}
        self.paused &= self.positions.keys()
        self._replicas.keep(self.positions)
        self._epochs.keep(self.positions)
        for gone in (self._resets.keys() | self._errors.keys()) - self.positions.keys():
            self._resets.pop(gone, None)
            self._errors.pop(gone, None)

    def seek(self, place: TopicPartition, offset: int, leader_epoch: int = UNKNOWN) -> None:
        """Read on at this offset (CONS-11); `leader_epoch` is that of the record before it."""
        self._mine(place)
        if offset < 0:
            raise ClientError(f"cannot seek {place} to {offset}")
        self.positions[place] = offset
        self._resets.pop(place, None)
        self._errors.pop(place, None)
        self._epochs.forget(place)
        self._epochs.read(place, leader_epoch)

    def seek_to_beginning(self, places: Iterable[TopicPartition] = ()) -> None:
        """Of these, or of all that are assigned; looked up by the next poll."""
        self._seek_by(TO_EARLIEST, places)

    def seek_to_end(self, places: Iterable[TopicPartition] = ()) -> None:
        """Of these, or of all that are assigned; looked up by the next poll."""
        self._seek_by(TO_LATEST, places)

    def _seek_by(self, policy: ResetPolicy, places: Iterable[TopicPartition]) -> None:
        for place in [self._mine(place) for place in places] or list(self.positions):
            self._reset(place, policy)

    def _reset(self, place: TopicPartition, policy: ResetPolicy) -> None:
        """Have the next round find where this policy begins."""
        self.positions[place] = None
        self._resets[place] = policy
        self._errors.pop(place, None)
        self._epochs.forget(place)

    def position(self, place: TopicPartition) -> Flow[int]:
        """The offset of the next record, looked up where it is not known yet.

        Raises NoPosition where there is none (so far); Java's waits for one until its timeout.
        """
        self._mine(place)
        yield from know(self.view, [place[0]], timeout_ms=self.request_timeout_ms)
        yield from self._find_positions()
        found = self.positions[place]
        if found is None:
            raise NoPosition(f"no position for {named(place)}")
        return found

    def wakeup(self) -> None:
        """Have the poll that waits, or the next one, raise Wakeup; records come first."""
        self._woken = True

    def _heed_wakeup(self) -> None:
        if self._woken:
            self._woken = False
            raise Wakeup("wakeup was called")

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

    def poll(self, timeout_ms: int | None = None) -> Flow[list[Consumed]]:
        """Rounds until one brings records or the time is up; 0 looks once (CONS-14).

        None: until every broker has answered one fetch. Raises Wakeup, or what stands in the way.
        """
        if timeout_ms is not None and timeout_ms < 0:
            raise ClientError("a timeout is not negative (CONS-13)")
        end = None if timeout_ms is None else self.view.now + timeout_ms
        first = True
        while True:
            self._heed_wakeup()
            out = yield from self._round(end, first or end is not None)
            if out or not self._goes_on(end):
                return self.interceptors.consumed(out)
            first = False

    def _goes_on(self, end: int | None) -> bool:
        return bool(self.fetcher.under_way) if end is None else self.view.now < end

    def _round(self, end: int | None, asks: bool) -> Flow[list[Consumed]]:
        """One round; with `asks` brokers that have nothing under way are asked."""
        if not self.positions:
            raise ClientError("nothing is assigned (CONS-13)")
        yield from self._relearn()
        yield from know(self.view, sorted({topic for topic, _ in self.positions}))
        yield from self._find_positions()
        stale = yield from self._find_truncations()
        self._collect(stale)
        out = self._hand_out()
        if not out:
            out = yield from self._fetch(end, asks, stale)
        with put_off(bool(out)):
            yield from self._prepare_next(out, end, stale)
        return out

    def _prepare_next(self, out: list[Consumed], end: int | None, stale: set[str]) -> Flow[None]:
        """Fetch ahead, or raise or wait for what keeps records away; and ask who leads."""
        if out:
            yield from self._fetch_ahead()
        else:
            self._raise_error()
        stale |= self._leaderless()
        if not stale:
            self._failures = 0
            if not out and not self.fetcher.under_way and not self._is_fetchable():
                yield Pause(self._until(end, 1))  # all is paused, or has no position yet
        elif not out:
            wake = self.view.now + self.view.backoff.delay(self._failures)
            yield Pause(wake if end is None else max(self.view.now + 1, min(wake, end)))
            self._failures += 1
        if stale:
            yield from refresh(self.view, sorted(stale))

    def _fetch(self, end: int | None, asks: bool, stale: set[str]) -> Flow[list[Consumed]]:
        """Ask and wait; again if what came was sent ahead, and is of no use after a seek."""
        while True:
            sent = self._asks() if asks else []
            if not sent and not self.fetcher.under_way:
                return []
            yield NetworkPoll(sent, self.fetcher.inbox, self._until(end))
            self._collect(stale)
            out = self._hand_out()
            if out or sent or self._errors or stale or self.fetcher.under_way:
                return out

    def _until(self, end: int | None, least_ms: int = 0) -> int:
        """How long a round may wait."""
        wait = self.view.now + self.max_wait_ms
        return wait if end is None else max(self.view.now + least_ms, min(wait, end))

    def _fetch_ahead(self) -> Flow[None]:
        """Send what the next poll will want, and wait for nothing (CONS-15)."""
        if asks := self._asks():
            yield NetworkPoll(asks, self.fetcher.inbox, self.view.now)

    def _raise_error(self) -> None:
        """The first error of a partition, once: the next poll tries it again."""
        for place in self._errors:
            raise self._errors.pop(place)

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
            elif self._may_hand_out(place) and len(out) < self.max_poll_records:
                out += self._take_from(place, buffer, self.max_poll_records - len(out))
        return out

    def _may_hand_out(self, place: TopicPartition) -> bool:
        """Not while it is paused, nor before a new leader said that it has what was read."""
        leader = self.view.leader(*place)
        return place not in self.paused and not (leader and self._epochs.is_due(place, leader))

    def _take_from(self, place: TopicPartition, buffer: _Buffer, room: int) -> list[Consumed]:
        given = buffer.records[buffer.taken : buffer.taken + room]
        shown, error = self._deserializers.shown(place, given)
        if error is not None:
            self._errors[place] = error
        if given and not shown:
            return []
        taken = buffer.taken + len(shown)
        left = taken < len(buffer.records)
        position = buffer.records[taken].offset if left else buffer.end
        del self._buffers[place], self.positions[place]
        self.positions[place] = position
        self._epochs.read(place, shown[-1].leader_epoch if left else buffer.leader_epoch)
        if left:
            self._buffers[place] = buffer._replace(start=position, taken=taken)
        self.view.metrics.consumed(place, len(shown), self.lag(place), self.view.now)
        return shown

    def _find_positions(self) -> Flow[None]:
        missing = [place for place, offset in self.positions.items() if offset is None]
        if not missing:
            return
        for place in missing:
            if place not in self._resets:
                if self.reset is None:
                    raise NoPosition(f"no position and no reset policy for {missing}")
                self._resets[place] = self.reset
        now = self.view.now
        wanted = {place: self._resets[place].timestamp(now) for place in missing}
        found = yield from offsets_for(self.view, wanted, isolation=self.isolation)
        for place, offset in found.items():
            if offset < 0:
                continue  # nothing is as new as a duration asks for; as in Java, asked again later
            if self._resets.pop(place, None) is not None and place in self.positions:
                self.positions[place] = offset

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
        elif self.reset is None:
            raise LogTruncated(f"{named(end.place)} was cut at {end.offset}, below {position}")
        elif UNKNOWN in (end.offset, end.leader_epoch):
            self._reset(end.place, self.reset)
        else:
            self.positions[end.place] = end.offset
            self._epochs.read(end.place, end.leader_epoch)
            self._epochs.good(end.place, leader_epoch)

    def _asks(self) -> list[Ask]:
        """Fetches of all that is fetchable (CONS-29) from brokers that have none under way."""
        nodes: dict[int, dict[TopicPartition, FetchPosition]] = {}
        for place, offset in self.positions.items():
            leader = self.view.leader(*place)
            if leader is None or offset is None or not self._may_fetch(place):
                continue
            if not self._epochs.is_due(place, leader):
                wanted = FetchPosition(offset, leader.leader_epoch)
                nodes.setdefault(self._replicas.of(place, leader), {})[place] = wanted
        return self.fetcher.due_requests(nodes)

    def _may_fetch(self, place: TopicPartition) -> bool:
        return place not in self.paused and place not in self._buffers and place not in self._errors

    def _is_fetchable(self) -> bool:
        return any(
            offset is not None and self._may_fetch(place)
            for place, offset in self.positions.items()
        )

    def close(self, timeout_ms: int = 30_000) -> Flow[None]:
        """End the fetch sessions that brokers keep for us; an answer is not needed."""
        asks = self.fetcher.closing_requests(timeout_ms)
        if asks:
            yield asks
        self.interceptors.close()

    def _collect(self, stale: set[str]) -> None:
        """Take what fetches brought."""
        for found in self.fetcher.collect():
            if isinstance(found, Misdirected):
                self._distrust(found.places, stale)
            elif self.positions.get(found.place) == found.asked.offset:
                self._take_partition(found, stale)

    def _take_partition(self, found: FetchPart, stale: set[str]) -> None:
        place, part, position = found.place, found.row, found.asked.offset
        code = part["error_code"]
        if code == ErrorCode.OFFSET_OUT_OF_RANGE:
            if self._replicas.drop(place):
                return  # a follower may be behind: only its leader's word ends a position
            if self.reset is None:
                self._errors[place] = OutOfRange(f"offset {position} of {place} is out of range")
            else:
                self._reset(place, self.reset)
        elif code in STALE or (code and is_retriable(code)):
            self._distrust([place], stale)
        elif code:
            self._errors[place] = KafkaError(code, about=named(place))
        else:
            self._take_records(place, part, position)
            self._epochs.good(place, found.asked.leader_epoch)

    def _take_records(self, place: TopicPartition, part: Struct, position: int) -> None:
        committed = self.isolation == READ_COMMITTED
        try:
            fetched = read_partition(
                place[0], part, position, committed_only=committed, check_crc=self.check_crcs
            )
        except RecordError as fault:
            error = CorruptFetch(f"{place} at {position}: {fault}")
            error.__cause__ = fault
            self._errors[place] = error
            return
        if part.get("preferred_read_replica", -1) >= 0:
            self._replicas.prefer(place, part["preferred_read_replica"])
        if fetched.position > position:
            self._buffers[place] = _Buffer(position, *fetched)
        self.high_watermarks[place] = part["high_watermark"]
        self.stable_offsets[place] = part.get("last_stable_offset", -1)
