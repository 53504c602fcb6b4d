"""Members of a group of the classic protocol that join, commit, fall behind, leave and come back.

All are of one group, so each change rebalances the others. What is committed is a number that only
this member's seed explains; who asks for it back sees whether it is what was kept. Now and then a
member commits in the name of the generation before its own, which a coordinator must refuse: a
slow client does that without wanting to, and it would hardly happen by itself in some seconds.
"""

from __future__ import annotations

from typing import Any

from touchstone.harness.driver.workload.consumers import recall
from touchstone.harness.driver.workload.member import Member
from touchstone.harness.model.history import place
from touchstone.reference_impl.client.assignment import Taker
from touchstone.reference_impl.client.assignors import assigned, assignment
from touchstone.reference_impl.client.coordinator import Coordinator
from touchstone.reference_impl.client.flow import ClientError, Failed, Flow
from touchstone.reference_impl.client.member import Member as Membership
from touchstone.reference_impl.client.range_assignor import by_range
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

SESSION_MS, HEARTBEAT_MS = 6_000, 200  # the least that every release takes
LEAVES, FALLS_BEHIND = 0.1, 0.2  # of a member's turns inside
# Refused before anything was kept; any other error may have come after it.
_REFUSED = {
    ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.FENCED_INSTANCE_ID,
}  # fmt: skip


class GroupMember(Member):
    """Every turn is one step of a membership."""

    def begin(self, client: Client) -> None:
        self.run_flow, self.view = client.run, client.view
        self.group = f"{self.plan.topics[0]}.members"
        self.core = Membership(
            Coordinator(client.view, self.group, request_timeout_ms=self.plan.request_ms),
            protocols=lambda: [("range", b"")],
            lead=self._divide,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=self.plan.request_ms,
            heartbeat_interval_ms=HEARTBEAT_MS,
        )
        self.share: list[tuple[str, int]] = []

    def turn(self) -> None:
        if self.core.generation < 0 or self.core.rejoin:
            self._join()
        elif self.random.random() < LEAVES:
            self._leave()
        else:
            self.run_flow(self.core.beat())
            if self.share and not self.core.rejoin:
                self._commit()
                self._recall()
        self.over.wait(self.plan.pause_s)

    def _join(self) -> None:
        number = self.recorder.begin(self.name, "join", group=self.group)
        try:
            share = self.run_flow(self.core.join())
        except ClientError as error:
            self.recorder.end(number, "unknown", error=str(error)[:120])
            raise
        if share is None:
            self.recorder.end(number, "unknown")
            return
        self.share = assigned(share)
        self.recorder.end(
            number, member=self.core.id, generation=self.core.generation,
            partitions=[place(*each) for each in self.share],
        )  # fmt: skip

    def _leave(self) -> None:
        number = self.recorder.begin(self.name, "leave", group=self.group)
        try:
            self.run_flow(self.core.leave("it wants to"))
        except ClientError:
            self.recorder.end(number, "unknown")
            raise
        self.recorder.end(number)

    def _commit(self) -> None:
        """In the name of this generation, or of the one before."""
        late = self.core.generation > 1 and self.random.random() < FALLS_BEHIND
        generation = self.core.generation - late
        offset = self.random.randrange(1, 1 << 30)
        number = self.recorder.begin(
            self.name, "store", group=self.group, member=self.core.id, generation=generation,
            offsets={place(*each): offset for each in self.share},
        )  # fmt: skip
        try:
            code = self.run_flow(self._stored(generation, offset))
        except ClientError as error:
            self.recorder.end(number, "unknown", error=str(error)[:120])
            raise
        if not code:
            self.recorder.end(number)
            return
        outcome = "fail" if code in _REFUSED else "unknown"
        self.recorder.end(number, outcome, error=ErrorCode(code).name)
        if outcome == "fail" and not late:
            self.core.react("OffsetCommit", code)

    def _stored(self, generation: int, offset: int) -> Flow[int]:
        topics: dict[str, list[Any]] = {}
        for topic, index in self.share:
            row = {"partition_index": index, "committed_offset": offset,
                   "committed_leader_epoch": -1, "committed_metadata": ""}  # fmt: skip
            topics.setdefault(topic, []).append(row)
        body = {
            "group_id": self.group, "member_id": self.core.id, "group_instance_id": None,
            "generation_id_or_member_epoch": generation,
            "topics": [{"name": name, "partitions": rows} for name, rows in topics.items()],
        }  # fmt: skip
        ask = self.core.coordinator.once("OffsetCommit", body, versions=(2, 7))
        outcome = yield from ask
        if isinstance(outcome, Failed):
            return ErrorCode.REQUEST_TIMED_OUT
        rows = [row for topic in outcome.body["topics"] for row in topic["partitions"]]
        return next((row["error_code"] for row in rows if row["error_code"]), ErrorCode.NONE)

    def _recall(self) -> None:
        number = self.recorder.begin(self.name, "recall", group=self.group)
        try:
            found = self.run_flow(recall(self.view, self.group, self.share, self.plan.request_ms))
        except ClientError:
            found = None
        if found is None:
            self.recorder.end(number, "unknown")
        else:
            self.recorder.end(number, offsets=found)

    def _divide(self, protocol: str, members: list[Struct]) -> Flow[dict[str, bytes]]:
        """All partitions of the plan, whatever members subscribe to."""
        topics = dict.fromkeys(self.plan.topics, self.plan.partitions)
        takers = [Taker(row["member_id"], None, frozenset(topics)) for row in members]
        yield from ()  # a flow that asks nobody
        given = by_range(takers, topics)
        return {member: assignment(places) for member, places in given.items()}
