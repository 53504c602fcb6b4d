"""Members that read: one that follows all partitions, and the reading to the end afterwards.

A follower begins at the beginning, so whatever it skips it skips in front of everybody. Now and
then it commits where it is to a group of its own and asks for it back. A drain is a reading of one
partition, from its first offset to its end, that is only called done when the end has stopped
moving and holds at least every offset that somebody was told, or has been given time to.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, TypeVar

from touchstone.harness.checkers.histories.position_lost import OUT_OF_RANGE
from touchstone.harness.driver.workload.member import Member
from touchstone.harness.driver.workload.recorder import Recorder
from touchstone.harness.model.history import place
from touchstone.reference_impl.client.consumer import NoPosition
from touchstone.reference_impl.client.flow import (
    ANY,
    Ask,
    ClientError,
    Failed,
    Flow,
    Pause,
    TopicPartition,
)
from touchstone.reference_impl.client.metadata import View, refresh
from touchstone.reference_impl.client.offsets import EARLIEST, LATEST, READ_COMMITTED, offsets_for
from touchstone.reference_impl.io.blocking import BlockingConsumer
from touchstone.reference_impl.io.client import Client

if TYPE_CHECKING:
    from touchstone.harness.driver.workload.workload import Plan

T = TypeVar("T")

ISOLATIONS = ("read_uncommitted", "read_committed")
GRACE_S = 10.0  # for an end that a new leader has yet to learn (KIP-207)
_STORES_EVERY = 8  # polls
_AGAIN_MS = 100


class Follower(Member):
    """Reads every partition as it grows."""

    def __init__(
        self, name: str, plan: Plan, recorder: Recorder, over: threading.Event,
        *, isolation: str = ISOLATIONS[0],
    ) -> None:  # fmt: skip
        super().__init__(name, plan, recorder, over)
        self.isolation = isolation
        self.polls = 0

    def begin(self, client: Client) -> None:
        self.client_ = client
        self.consumer = client.consumer(
            self.plan.places,
            isolation=ISOLATIONS.index(self.isolation),
            reset="none",
            max_wait_ms=50,
            request_timeout_ms=self.plan.request_ms,
        )
        self._go_to_the_beginning()

    def turn(self) -> None:
        poll(self.recorder, self.name, self.isolation, self.consumer)
        self.polls += 1
        if self.polls % _STORES_EVERY == 0:
            self._keep()
        self.over.wait(self.plan.pause_s)

    def _go_to_the_beginning(self) -> None:
        for where in self.plan.places:
            seek(self.recorder, self.name, self.consumer, where, 0)

    def _keep(self) -> None:
        """Commit the positions and ask for them: one writer, so the last one must come back."""
        group = f"{self.plan.topics[0]}.{self.name}"
        offsets = {place(*each): at for each, at in self.consumer.positions.items() if at}
        if not offsets:
            return
        rows = {each: at for each, at in self.consumer.positions.items() if at}
        number = self.recorder.begin(self.name, "store", group=group, offsets=offsets)
        done = self._run(store(self.client_.view, group, rows, self.plan.request_ms))
        self.recorder.end(number, "ok" if done else "unknown")
        number = self.recorder.begin(self.name, "recall", group=group)
        found = self._run(recall(self.client_.view, group, list(rows), self.plan.request_ms))
        if found is None:
            self.recorder.end(number, "unknown")
        else:
            self.recorder.end(number, "ok", offsets=found)

    def _run(self, flow: Flow[T]) -> T | None:
        try:
            return self.client_.run(flow)
        except ClientError:
            return None


def seek(
    recorder: Recorder, process: str, consumer: BlockingConsumer, where: TopicPartition, offset: int
) -> None:
    """Go on from this offset, and say so."""
    topic, partition = where
    asked = {"topic": topic, "partition": partition, "offset": offset}
    recorder.end(recorder.begin(process, "seek", **asked))
    consumer.seek(where, offset)


def poll(recorder: Recorder, process: str, isolation: str, consumer: BlockingConsumer) -> int:
    """One poll with its two lines; how many records it gave. ClientError after they are written."""
    before = {place(*each): at for each, at in consumer.positions.items()}
    number = recorder.begin(process, "poll", isolation=isolation)
    try:
        found = consumer.poll()
    except NoPosition as error:
        recorder.end(number, "fail", error=OUT_OF_RANGE, positions=before)
        raise error
    except ClientError as error:
        recorder.end(number, "unknown", error=str(error)[:120])
        raise
    records: dict[str, list[Any]] = {}
    for each in found:
        text = (each.value or b"").decode("utf-8", "replace")
        records.setdefault(place(each.topic, each.partition), []).append([each.offset, text])
    recorder.end(number, "ok", records=records)
    return len(found)


def drain(
    client: Client, recorder: Recorder, where: TopicPartition, isolation: str, until: float
) -> bool:
    """Read a partition to its end; False when that could not be done before `until`."""
    topic, partition = where
    level = ISOLATIONS.index(isolation)
    process = f"drain-{isolation}-{place(*where)}"
    number = recorder.begin(process, "drain", topic=topic, partition=partition, isolation=isolation)
    consumer = client.consumer([where], isolation=level, reset="none", max_wait_ms=50)
    wanted = recorder.highest.get(place(*where), -1) + 1
    grace = time.perf_counter() + GRACE_S
    start = None
    while time.perf_counter() < until:
        try:
            if start is None:
                start = client.run(offsets_for(client.view, {where: EARLIEST}))[where]
                consumer.seek(where, start)
            poll(recorder, process, isolation, consumer)
            end, whole = _end(client, where, level)
        except NoPosition:
            break  # the history says so
        except ClientError:
            client.run(refresh(client.view, [topic]))
            continue
        patient = end < wanted and time.perf_counter() < grace
        reached = consumer.positions[where]
        if reached is not None and reached >= end and whole and not patient:
            recorder.end(number, "ok", **{"from": start, "to": end})
            return True
    recorder.end(number, "unknown")
    return False


def _end(client: Client, where: TopicPartition, level: int) -> tuple[int, bool]:
    """The end under this isolation, and whether no open transaction hides more."""
    end = client.run(offsets_for(client.view, {where: LATEST}, isolation=level))[where]
    if level != READ_COMMITTED:
        return end, True
    return end, end == client.run(offsets_for(client.view, {where: LATEST}))[where]


def _coordinator(view: View, group: str, patience_ms: int) -> Flow[int | None]:
    body = {"key": group, "key_type": 0}
    (outcome,) = yield [Ask(ANY, "FindCoordinator", body, patience_ms, (0, 3))]
    if isinstance(outcome, Failed) or outcome.body["error_code"]:
        return None
    node: int = outcome.body["node_id"]
    if view.resolve(node) is None:
        yield from refresh(view, [], timeout_ms=patience_ms)
    return node


def store(view: View, group: str, rows: dict[TopicPartition, int], patience_ms: int) -> Flow[bool]:
    """OffsetCommit outside any generation, as a consumer by assignment does; whether it is done."""
    node = yield from _coordinator(view, group, patience_ms)
    if node is None:
        return False
    topics: dict[str, list[Any]] = {}
    for (topic, partition), offset in rows.items():
        row = {"partition_index": partition, "committed_offset": offset,
               "committed_metadata": "", "committed_leader_epoch": -1}  # fmt: skip
        topics.setdefault(topic, []).append(row)
    body = {
        "group_id": group, "generation_id_or_member_epoch": -1, "member_id": "",
        "topics": [{"name": name, "partitions": parts} for name, parts in topics.items()],
    }  # fmt: skip
    (outcome,) = yield [Ask(node, "OffsetCommit", body, patience_ms, (2, 7))]
    if isinstance(outcome, Failed):
        return False
    answered = [part for row in outcome.body["topics"] for part in row["partitions"]]
    return not any(part["error_code"] for part in answered)


def recall(
    view: View, group: str, places: list[TopicPartition], patience_ms: int
) -> Flow[dict[str, int] | None]:
    """OffsetFetch; partition -> offset, or None when it was not answered or named an error.

    It asks for what is stable (KIP-447), as Java's consumer does since 2.5: without that a
    coordinator of Kafka 4 that has just begun to lead answers from below its high watermark, which
    may be older than what was committed (GroupCoordinatorService.fetchOffsets@4.3.1).
    """
    give_up = view.now + patience_ms
    while (node := (yield from _coordinator(view, group, patience_ms))) is None:
        if view.now >= give_up:
            return None
        yield Pause(view.now + _AGAIN_MS)
    topics: dict[str, list[int]] = {}
    for topic, partition in places:
        topics.setdefault(topic, []).append(partition)
    rows = [{"name": name, "partition_indexes": parts} for name, parts in topics.items()]
    body = {"group_id": group, "topics": rows, "require_stable": True}
    (outcome,) = yield [Ask(node, "OffsetFetch", body, patience_ms, (1, 7))]
    if isinstance(outcome, Failed) or outcome.body.get("error_code"):
        return None
    found = {
        place(row["name"], part["partition_index"]): part
        for row in outcome.body["topics"]
        for part in row["partitions"]
    }
    if any(part["error_code"] for part in found.values()):
        return None
    return {name: part["committed_offset"] for name, part in found.items()}
