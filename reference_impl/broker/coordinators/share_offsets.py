"""Admins describe, alter and delete the start offsets of share groups.

They stand with the share coordinator; which topics a group has there its own coordinator knows.
Altering begins a share partition anew and wants a group without members, as does deleting.

Sources: GroupCoordinatorService.describeShareGroupOffsets, alterShareGroupOffsets,
deleteShareGroupOffsets@4.3.1; KIP-932, KIP-1226; observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.coordinators import share_persister
from touchstone.reference_impl.broker.coordinators.share_groups import ShareGroups, WrongGroupType
from touchstone.reference_impl.broker.coordinators.share_persister import Answer
from touchstone.reference_impl.broker.coordinators.share_states import ShareStates
from touchstone.reference_impl.cluster.replica import NO_LEADER
from touchstone.reference_impl.share import group_records
from touchstone.reference_impl.share.coordinator import ShareState
from touchstone.reference_impl.share.group import (
    ShareGroup,
    TopicIdPartition,
    TopicPartitions,
    joined,
)
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.records.check import wrapped
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

NOT_EMPTY = "The group is not empty."
WORDS = {
    E.INVALID_GROUP_ID: "The group id is invalid.",
    E.UNSUPPORTED_VERSION: "The version of API is not supported.",
    E.NOT_COORDINATOR: "This is not the correct coordinator.",
}
_LIST_OFFSETS, _LATEST, _VERSION = 2, -1, 7
Answers = dict[TopicIdPartition, Answer]
AskCoordinator = Callable[[TopicIdPartition, share_persister.AnswerListener], None]


def gather(
    places: Iterable[TopicIdPartition],
    ask: AskCoordinator,
    now: int,
    then: Callable[[Answers, int], None],
) -> None:
    """Ask for each place; `then(answers, now)` when all are there."""
    answers: Answers = {}
    waiting = dict.fromkeys(places)
    if not waiting:
        then(answers, now)
        return
    wanted = list(waiting)

    def told(place: TopicIdPartition) -> share_persister.AnswerListener:
        def heard(answer: Answer, at: int) -> None:
            answers[place] = answer
            if len(answers) == len(wanted):
                then({each: answers[each] for each in wanted}, at)

        return heard

    for place in wanted:
        ask(place, told(place))


class ShareOffsets:
    """The start offsets of share groups, for admins."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def summaries(
        self,
        group_id: str,
        places: Iterable[TopicIdPartition],
        now: int,
        then: Callable[[Answers, int], None],
    ) -> None:
        """Each place once, in the order in which it was first named.

        What this broker coordinates itself is looked up at once: a request of 100 KB names 25,000
        places, and a question that may wait for each of them holds everybody up.
        """
        states = self._broker.room(ShareStates)
        wanted = list(dict.fromkeys(places))
        own: Answers = {}
        for place in wanted:
            key = (group_id, *place)
            if states.coordinates(key):
                own[place] = share_persister.answer_of(states.coordinator.summary(key))

        def ask(place: TopicIdPartition, told: share_persister.AnswerListener) -> None:
            share_persister.summary(self._broker, (group_id, *place), now, told)

        def heard(others: Answers, at: int) -> None:
            then({place: own[place] if place in own else others[place] for place in wanted}, at)

        gather([place for place in wanted if place not in own], ask, now, heard)

    def lags(
        self,
        wanted: dict[TopicIdPartition, ShareState],
        now: int,
        then: Callable[[dict[TopicIdPartition, tuple[int, int]], int], None],
    ) -> None:
        """(error code, lag) of each place: records that are neither done nor before the start."""
        found: dict[TopicIdPartition, tuple[int, int]] = {}
        if not wanted:
            then(found, now)
            return

        def told(place: TopicIdPartition, code: int, end: int, at: int) -> None:
            kept = wanted[place]
            found[place] = code, wrapped(end - kept.start - kept.done)
            if len(found) == len(wanted):
                then(found, at)

        for place in wanted:
            self._latest(place, told, now)

    def _latest(
        self,
        place: TopicIdPartition,
        told: Callable[[TopicIdPartition, int, int, int], None],
        now: int,
    ) -> None:
        known = self._broker.cluster.by_id.get(place[0])
        if known is None:  # it was deleted while the states were asked for
            told(place, E.UNKNOWN_TOPIC_OR_PARTITION, 0, now)
            return
        topic, index = known.name, place[1]
        partition = self._broker.cluster.partition(topic, index)
        leader = NO_LEADER if partition is None else partition.leader
        if leader == self._broker.id:
            replica, error = self._broker.replicas.locate(topic, index)
            told(place, error, replica.log.high_watermark if replica else 0, now)
            return
        row = {"partition_index": index, "current_leader_epoch": -1, "timestamp": _LATEST}
        body = {
            "replica_id": -1,
            "isolation_level": 0,
            "topics": [{"name": topic, "partitions": [row]}],
        }

        def heard(answer: Struct | None, at: int) -> None:
            if answer is None:
                told(place, E.LEADER_NOT_AVAILABLE, 0, at)
                return
            said = answer["topics"][0]["partitions"][0]
            told(place, said["error_code"], said["offset"], at)

        if leader < 0:
            told(place, E.LEADER_NOT_AVAILABLE, 0, now)
        else:
            self._broker.ask(leader, _LIST_OFFSETS, _VERSION, body, heard, channel="share")

    def alter(
        self,
        group_id: str,
        offsets: dict[TopicIdPartition, int],
        now: int,
        then: Callable[[Answers, int], None],
        *,
        names: bool = True,
    ) -> None:
        """Begin these share partitions anew. Raises ApiError.

        A group is made for a request that `names` topics, even if none of them is there.
        """
        groups = self._broker.room(ShareGroups).groups
        group = groups.get(group_id)
        before = group_records.stand(group)
        if group is None:
            try:
                group = self._broker.room(ShareGroups).share_group(group_id)
            except WrongGroupType:
                raise
            except ApiError:  # nobody has the id
                group = ShareGroup(group_id)
        if group.members:
            raise ApiError(E.NON_EMPTY_GROUP, NOT_EMPTY)
        if not names:
            then({}, now)
            return
        groups[group_id] = group
        rows: dict[bytes, TopicPartitions] = {}
        for topic_id, index in offsets:
            name = self._broker.cluster.by_id[topic_id].name
            rows = joined(rows, {topic_id: TopicPartitions(name, frozenset({index}), now)})
        group.initialising = joined(group.initialising, rows)
        for topic_id in rows:
            group.deleting.pop(topic_id, None)
        self._broker.room(ShareGroups).keep(group_id, before, now, lambda code, at: None)

        def ask(place: TopicIdPartition, told: share_persister.AnswerListener) -> None:
            key = (group_id, *place)
            share_persister.initialise(self._broker, key, group.epoch, offsets[place], now, told)

        def done(answers: Answers, at: int) -> None:
            if not any(answer.code for answer in answers.values()):
                parts = {topic: row.partitions for topic, row in rows.items()}
                self._broker.room(ShareGroups).started(group, parts, at)
            then(answers, at)

        gather(offsets, ask, now, done)

    def delete(
        self,
        group: ShareGroup,
        topics: dict[bytes, str],
        now: int,
        then: Callable[[dict[bytes, int], int], None],
    ) -> None:
        """Have the share coordinator forget these; (topic id -> error code) of each."""
        before = group_records.stand(group)
        places: list[TopicIdPartition] = []
        for topic_id, name in topics.items():
            started = group.initialised.pop(topic_id, None)
            count = len(self._broker.cluster.by_id[topic_id].partitions)
            parts = started.partitions if started else range(count)
            places += [(topic_id, index) for index in sorted(parts)]
            group.deleting[topic_id] = name
        self._broker.room(ShareGroups).keep(group.id, before, now, lambda code, at: None)

        def ask(place: TopicIdPartition, told: share_persister.AnswerListener) -> None:
            share_persister.delete(self._broker, (group.id, *place), now, told)

        def done(answers: Answers, at: int) -> None:
            codes = {
                topic_id: next(
                    (a.code for p, a in answers.items() if p[0] == topic_id and a.code), 0
                )
                for topic_id in topics
            }
            standing = group_records.stand(group)
            for topic_id, code in codes.items():
                if not code:
                    group.deleting.pop(topic_id, None)
            self._broker.room(ShareGroups).keep(group.id, standing, at, lambda code, at: None)
            then(codes, at)

        gather(places, ask, now, done)

    def delete_group(self, group: ShareGroup, now: int, then: Callable[[int], None]) -> None:
        """The group and its states go; `then(code)`."""
        known = {**group.initialised, **group.initialising}
        topics = {
            topic: row.name for topic, row in known.items() if topic in self._broker.cluster.by_id
        }

        def done(codes: dict[bytes, int], at: int) -> None:
            code = next((code for code in codes.values() if code), E.NONE)
            if not code:
                before = group_records.stand(group)
                self._broker.room(ShareGroups).groups.pop(group.id, None)
                self._broker.room(ShareGroups).keep(group.id, before, at, lambda code, at: None)
            then(code)

        if group.members:
            then(E.NON_EMPTY_GROUP)
        else:
            self.delete(group, topics, now, done)
