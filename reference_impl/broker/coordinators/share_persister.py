"""A broker asks the share coordinator to write and read states of share partitions.

That may be the broker itself or another, which is sent requests 83 to 87. The topic of the states
is made by the first who needs it. What fails for a reason that passes is asked again, with growing
pauses and five times at most.

Sources: DefaultStatePersister, PersisterStateManager@4.3.1; KIP-932.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from touchstone.reference_impl.broker.control.auto_create import AutoTopicCreation
from touchstone.reference_impl.broker.control.internal_topics import SHARES
from touchstone.reference_impl.broker.coordinators.share_states import ShareStates
from touchstone.reference_impl.cluster.replica import NO_LEADER
from touchstone.reference_impl.share.coordinator import (
    ShareCoordinator,
    SharePartitionKey,
    ShareResult,
    ShareState,
)
from touchstone.reference_impl.share.log_records import batches_of, rows_of
from touchstone.reference_impl.share.state_batches import NO_OFFSET, StateBatch
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

_CHANNEL = "share"
_TRIES, _FIRST_PAUSE_MS = 5, 20
_PASSES = (E.NOT_COORDINATOR, E.COORDINATOR_NOT_AVAILABLE, E.COORDINATOR_LOAD_IN_PROGRESS)


class Answer(NamedTuple):
    """The coordinator's answer; `kept` where it was asked for the state or its summary."""

    code: int
    message: str | None = None
    kept: ShareState | None = None


AnswerListener = Callable[[Answer, int], None]


def answer_of(told: ShareResult) -> Answer:
    """What this broker's own coordinator said, as another's would be answered."""
    if told.fault:
        return Answer(told.fault.code, told.fault.message)
    return Answer(E.NONE, None, told.kept)


class Operation(NamedTuple):
    """One of the five operations: how this broker asks itself, and how it asks another."""

    api: int
    version: int
    row: Struct  # of a request, less its partition
    ask: Callable[[ShareCoordinator], ShareResult]


def initialise(
    broker: Broker,
    key: SharePartitionKey,
    state_epoch: int,
    start: int,
    now: int,
    then: AnswerListener,
) -> None:
    row = {"state_epoch": state_epoch, "start_offset": start}

    def ask(coordinator: ShareCoordinator) -> ShareResult:
        return coordinator.initialise(key, state_epoch, start, now)

    _PersisterRequest(broker, key, Operation(83, 0, row, ask), then).go(now)


def read(
    broker: Broker, key: SharePartitionKey, leader_epoch: int, now: int, then: AnswerListener
) -> None:
    def ask(coordinator: ShareCoordinator) -> ShareResult:
        return coordinator.read(key, leader_epoch, now)

    _PersisterRequest(broker, key, Operation(84, 0, {"leader_epoch": leader_epoch}, ask), then).go(
        now
    )


@dataclass(frozen=True, slots=True)
class Update:
    """The changes that the leader of a partition reports of a share partition."""

    state_epoch: int
    leader_epoch: int
    start: int
    done: int
    batches: list[StateBatch]


def write(
    broker: Broker, key: SharePartitionKey, update: Update, now: int, then: AnswerListener
) -> None:
    row = {
        "state_epoch": update.state_epoch,
        "leader_epoch": update.leader_epoch,
        "start_offset": update.start,
        "delivery_complete_count": update.done,
        "state_batches": rows_of(update.batches),
    }

    def ask(coordinator: ShareCoordinator) -> ShareResult:
        return coordinator.write(
            key,
            state_epoch=update.state_epoch,
            leader_epoch=update.leader_epoch,
            start=update.start,
            done=update.done,
            batches=update.batches,
            now=now,
        )

    _PersisterRequest(broker, key, Operation(85, 1, row, ask), then).go(now)


def delete(broker: Broker, key: SharePartitionKey, now: int, then: AnswerListener) -> None:
    operation = Operation(86, 0, {}, lambda coordinator: coordinator.delete(key))
    _PersisterRequest(broker, key, operation, then).go(now)


def summary(broker: Broker, key: SharePartitionKey, now: int, then: AnswerListener) -> None:
    row = {"leader_epoch": -1}
    operation = Operation(87, 1, row, lambda coordinator: coordinator.summary(key))
    _PersisterRequest(broker, key, operation, then).go(now)


class _PersisterRequest:
    def __init__(
        self, broker: Broker, key: SharePartitionKey, operation: Operation, then: AnswerListener
    ) -> None:
        self.broker, self.key, self.operation, self.then = broker, key, operation, then
        self.left = _TRIES

    def go(self, now: int) -> None:
        self.left -= 1
        broker = self.broker
        if SHARES not in broker.cluster.topics:
            broker.room(AutoTopicCreation).internal_topic(SHARES)
            self._again(Answer(E.COORDINATOR_NOT_AVAILABLE), now)
            return
        partition = broker.cluster.partition(
            SHARES, broker.room(ShareStates).partition_of(self.key)
        )
        leader = NO_LEADER if partition is None else partition.leader
        if leader == broker.id:
            broker.room(ShareStates).run(self.key, self.operation.ask, now, self._told)
        elif leader < 0:
            self._again(Answer(E.COORDINATOR_NOT_AVAILABLE), now)
        else:
            self._send(leader)

    def _send(self, leader: int) -> None:
        group, topic_id, index = self.key
        row = {"partition": index} | self.operation.row
        body = {"group_id": group, "topics": [{"topic_id": topic_id, "partitions": [row]}]}
        api, version = self.operation.api, self.operation.version
        self.broker.ask(leader, api, version, body, self._answered, channel=_CHANNEL)

    def _told(self, told: ShareResult, now: int) -> None:
        self._settle(answer_of(told), now)

    def _answered(self, body: Struct | None, now: int) -> None:
        if body is None or not body["results"]:
            self._settle(Answer(E.COORDINATOR_NOT_AVAILABLE), now)
            return
        row = body["results"][0]["partitions"][0]
        kept = _kept(row) if "state_epoch" in row else None
        self._settle(Answer(row["error_code"], row["error_message"], kept), now)

    def _settle(self, answer: Answer, now: int) -> None:
        if answer.code in _PASSES:
            self._again(answer, now)
        else:
            self.then(answer, now)

    def _again(self, answer: Answer, now: int) -> None:
        if not self.left:
            self.then(answer, now)
            return
        pause = _FIRST_PAUSE_MS << 2 * (_TRIES - 1 - self.left)
        self.broker.purgatory.remind(("share persister", id(self)), now + pause, self.go)


def _kept(row: Struct) -> ShareState:
    """The state, or its summary, as an answer tells it."""
    return ShareState(
        0,
        row["state_epoch"],
        row.get("leader_epoch", 0),
        row["start_offset"],
        row.get("delivery_complete_count", NO_OFFSET),
        batches_of(row.get("state_batches", ())),
        0,
        0,
    )
