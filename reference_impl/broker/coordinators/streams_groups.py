"""A broker finds, keeps and watches the groups that have members of KIP-1071.

A group's id, offsets and partition are those of `groups.py`; what is here is its other half, for
groups whose members are Kafka Streams applications. Each operation's records are appended as one
batch; the answer waits until they are replicated. What could not be kept did not happen: the group
is read from the log again.

Sources: KIP-1071; GroupCoordinatorService, KafkaApis.isStreamsGroupProtocolEnabled@4.3.1;
observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.configs import group_settings
from touchstone.reference_impl.broker.coordinators.group_log import nobody_waits
from touchstone.reference_impl.broker.coordinators.groups import Groups, streams_are_served
from touchstone.reference_impl.broker.coordinators.share_groups import ShareGroups
from touchstone.reference_impl.broker.coordinators.topic_view import topic_view
from touchstone.reference_impl.group import log_records
from touchstone.reference_impl.group.members import Group
from touchstone.reference_impl.group.states import State
from touchstone.reference_impl.group.streams import records
from touchstone.reference_impl.group.streams.coordinator import StreamsCoordinator
from touchstone.reference_impl.group.streams.group import JOIN_EPOCH, STREAMS, StreamsGroup
from touchstone.reference_impl.group.streams.heartbeat import Beat, HeartbeatResult, Settings
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

Form = Callable[[int, HeartbeatResult, int], Struct]  # (code, told, now)
RecordPair = tuple[bytes, bytes | None]


class StreamsGroups:
    """The half of a broker's group coordinator that speaks KIP-1071."""

    def __init__(self, broker: Broker) -> None:
        self._broker, self._groups = broker, broker.room(Groups)
        self.coordinator = StreamsCoordinator(partial(topic_view, broker), self._settings)

    def enabled(self) -> bool:
        """Whether streams groups are served: by the feature, and by the broker's setting."""
        return streams_are_served(self._broker)

    def adopt(self, now: int) -> None:
        """See to the groups that were loaded."""
        for group in self._groups.coordinator.groups.values():
            if group.streams_group is not None and not group.streams_group.watched:
                self.coordinator.adopt(group.streams_group, now)
                self._watch(group, now)

    def streams_group(self, group_id: str) -> StreamsGroup:
        """Raises ApiError where the id is nobody's, or another kind of group's."""
        group = self._groups.coordinator.groups.get(group_id)
        if group is not None and group.streams_group is not None:
            return group.streams_group
        other = group is not None or self._broker.room(ShareGroups).is_shared(group_id)
        words = "is not a streams group" if other else "not found"
        raise ApiError(E.GROUP_ID_NOT_FOUND, f"Group {group_id} {words}.")

    def heartbeat(self, beat: Beat, form: Form, now: int) -> Ticket[Struct]:
        """The answer that `form` makes of (code, what is told, now), when it is kept.

        Raises ApiError.
        """
        if beat.epoch < JOIN_EPOCH:
            streams_group = self.streams_group(beat.group_id)
            told = self.coordinator.leave(streams_group, beat)
            return self._kept(self._groups.coordinator.groups[beat.group_id], told, form, now)
        standing = self._groups.coordinator.groups.get(beat.group_id)
        streams_group, ended = self._opened(standing, beat)
        told = self.coordinator.beat(streams_group, beat, now, known=standing is not None)
        group = standing or self._groups.coordinator.create(beat.group_id, now)
        if group.streams_group is None:
            streams_group.forget_unwritten()
            group.streams_group, group.protocol_type = streams_group, STREAMS
        return self._kept(group, told, form, now, ended)

    def heartbeat_interval(self, group_id: str) -> int:
        return group_settings.number(self._broker, group_id, "streams.heartbeat.interval.ms")

    def _opened(self, group: Group | None, beat: Beat) -> tuple[StreamsGroup, list[RecordPair]]:
        """The group that the heartbeat is for, and records that end what was there before it."""
        joins = beat.epoch == JOIN_EPOCH
        if group is None and not self._broker.room(ShareGroups).is_shared(beat.group_id):
            if not joins:
                raise ApiError(E.GROUP_ID_NOT_FOUND, f"Streams group {beat.group_id} not found.")
            return StreamsGroup(beat.group_id), []
        if group is not None and group.streams_group is not None:
            return group.streams_group, []
        if joins and group is not None and group.newer_half is None and group.state is State.EMPTY:
            return StreamsGroup(beat.group_id), [log_records.group_tombstone(group.id)]
        words = f"Group {beat.group_id} is not a streams group."
        raise ApiError(E.GROUP_ID_NOT_FOUND, words)

    def _kept(
        self,
        group: Group,
        told: HeartbeatResult,
        form: Form,
        now: int,
        ended: list[RecordPair] | None = None,
    ) -> Ticket[Struct]:
        ticket: Ticket[Struct] = Ticket()
        self._keep(group, ended or [], now, lambda code, at: ticket.give(form(code, told, at)))
        return ticket

    def _keep(
        self, group: Group, pairs: list[RecordPair], now: int, then: Callable[[int, int], None]
    ) -> None:
        """Append what the operation changed, then call `then(code, now)`."""
        streams_group = group.streams_group
        if streams_group is None:
            then(E.NONE, now)
            return
        pairs = pairs + [records.encoded(entry) for entry in streams_group.journal]
        streams_group.journal.clear()

        def kept(code: int, at: int) -> None:
            if code:
                self._groups.log.read_again(group, at)
                if group.streams_group is not None:
                    self.coordinator.adopt(group.streams_group, at)
                self._watch(group, at)
            then(code, at)

        self._watch(group, now)
        if pairs:
            self._groups.log.keep(group.id, pairs, now, kept)
        else:
            then(E.NONE, now)

    def _watch(self, group: Group, now: int) -> None:
        streams_group = group.streams_group
        if streams_group is None:
            self._groups.log.runtime.remind(("streams", group.id), None, lambda then: None)
            return
        streams_group.watched = True
        if not streams_group.members:
            group.emptied_at_ms = now

        def due(then: int) -> None:
            if (
                self._groups.coordinator.groups.get(group.id) is group
                and group.streams_group is streams_group
            ):
                self.coordinator.tick(streams_group, then)
                self._keep(group, [], then, nobody_waits)

        self._groups.log.runtime.remind(("streams", group.id), streams_group.deadline(), due)

    def _settings(self, group_id: str) -> Settings:
        def own(name: str) -> int:
            return group_settings.number(self._broker, group_id, f"streams.{name}")

        return Settings(
            session_ms=own("session.timeout.ms"),
            assignment_interval_ms=own("assignment.interval.ms"),
            initial_delay_ms=own("initial.rebalance.delay.ms"),
            max_size=self._groups.number("group.streams.max.size"),
            standby_replicas=own("num.standby.replicas"),
        )


def adopt(broker: Broker, now: int) -> None:
    """See to the groups that were loaded."""
    broker.room(StreamsGroups).adopt(now)
