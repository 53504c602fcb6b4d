"""Random histories of a group, done to real Kafka and to the reference broker: they must agree.

Hypothesis draws who joins, syncs, beats, leaves, commits and asks in which version, with stale
generations, foreign ids and instance ids among them, and transactions that carry offsets. After
each step both brokers must have answered the same requests with the same bodies, ids apart, and
describe the same group. Where Kafka itself draws lots (who leads after a leader left) a history
ends there. Sessions are longer than any history, so time decides nothing.

Not part of any tier by itself: `live`, one release after another (`lockstep.py`).
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from touchstone.harness.targets import matrix
from touchstone.harness.tests.groups.lockstep import (
    PREVIEW,
    QUIET_S,
    Lockstep,
    apart,
    ask_until_ready,
    compare,
)
from touchstone.harness.tests.groups.sides import Side

pytestmark = [
    pytest.mark.live, pytest.mark.java, pytest.mark.maven, pytest.mark.slow,
    pytest.mark.timeout(1200),
]  # fmt: skip
RELEASES = [release.name for release in matrix.releases()]
SLOTS, PARTITIONS, TOPIC = 4, 3, "random-histories"
SESSION_MS = 60_000
HASTE = {"group.initial.rebalance.delay.ms": 0}
APIS = ("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit", "OffsetFetch",
        "DeleteGroups", "OffsetDelete", "TxnOffsetCommit")  # fmt: skip
PROTOCOLS = (
    [("range", b"1")], [("range", b"2")], [("range", b"1"), ("sticky", b"3")],
    [("sticky", b"3"), ("range", b"1")], [("other", b"")],
)  # fmt: skip
slots = st.integers(0, SLOTS - 1)
drifts = st.sampled_from([0, 0, 0, 0, -1, 1])  # of generations
instances = st.sampled_from([None, None, None, "one", "two"])
versions = st.integers(0, 11)  # counted round the range of an API
places = st.integers(0, PARTITIONS)  # the last is not there


class Histories(Lockstep):
    lines = SLOTS

    # --- rules -------------------------------------------------------------------------------

    @rule(slot=slots, protocols=st.sampled_from(PROTOCOLS), known=st.booleans(), name=instances,
          draw=versions)  # fmt: skip
    def join(self, slot, protocols, known, name, draw) -> None:
        version = self.version(draw, "JoinGroup")
        if slot in self.sides[0].asked:
            return
        for side in self.going():
            body = {
                "group_id": side.group, "session_timeout_ms": SESSION_MS,
                "rebalance_timeout_ms": SESSION_MS, "member_id": side.ids[slot] if known else "",
                "protocol_type": "consumer", "reason": None,
                "protocols": [{"name": n, "metadata": m} for n, m in protocols],
                **({"group_instance_id": name} if version >= 5 else {}),
            }  # fmt: skip
            side.send(slot, "JoinGroup", version, body)
        self._agree()

    @rule(slot=slots, drift=drifts, draw=versions)
    def sync(self, slot, drift, draw) -> None:
        version = self.version(draw, "SyncGroup")
        if slot in self.sides[0].asked:
            return
        for side in self.going():
            shares = [{"member_id": each, "assignment": b"share"} for each in side.ids if each]
            body = {
                "group_id": side.group, "generation_id": side.generation + drift,
                "member_id": side.ids[slot], "assignments": shares,
            }  # fmt: skip
            side.send(slot, "SyncGroup", version, body)
        self._agree()

    @rule(slot=slots, drift=drifts, name=instances, draw=versions)
    def heartbeat(self, slot, drift, name, draw) -> None:
        version = self.version(draw, "Heartbeat")
        own = {"group_instance_id": name} if version >= 3 else {}
        self._both("Heartbeat", version, lambda side: {
            "group_id": side.group, "generation_id": side.generation + drift,
            "member_id": side.ids[slot], **own,
        })  # fmt: skip

    @rule(slot=slots, draw=versions)
    def leave(self, slot, draw) -> None:
        version = self.version(draw, "LeaveGroup")

        def body(side: Side) -> dict[str, Any]:
            row = {"member_id": side.ids[slot]}
            if version < 3:
                return {"group_id": side.group, **row}
            return {"group_id": side.group, "members": [{**row, "group_instance_id": None}]}

        self._both("LeaveGroup", version, body)

    @rule(slot=st.one_of(st.none(), slots), drift=drifts, place=places, words=st.booleans(),
          offset=st.integers(0, 99), draw=versions)  # fmt: skip
    def commit(self, slot, drift, place, words, offset, draw) -> None:
        version = self.version(draw, "OffsetCommit")
        if version == 0:
            return
        epoch = {"committed_leader_epoch": drift} if version >= 6 else {}
        row = {"partition_index": place, "committed_offset": offset,
               "committed_metadata": "words" * words, **epoch}  # fmt: skip
        stamp = {"commit_timestamp": -1} if version == 1 else {}
        self._both("OffsetCommit", version, lambda side: {
            "group_id": side.group, "member_id": "" if slot is None else side.ids[slot],
            "generation_id_or_member_epoch": -1 if slot is None else side.generation + drift,
            "topics": [{"name": TOPIC, "partitions": [{**row, **stamp}]}],
        })  # fmt: skip

    @rule(draw=versions)
    def fetch(self, draw) -> None:
        version = max(1, min(7, self.version(draw, "OffsetFetch")))
        rows = [{"name": TOPIC, "partition_indexes": list(range(PARTITIONS + 1))}]
        self._both("OffsetFetch", version, lambda side: {"group_id": side.group, "topics": rows})

    @precondition(lambda self: "DeleteGroups" in self.versions)
    @rule(draw=versions)
    def delete(self, draw) -> None:
        version = self.version(draw, "DeleteGroups")
        self._both("DeleteGroups", version, lambda side: {"groups_names": [side.group]})

    @precondition(lambda self: "OffsetDelete" in self.versions)
    @rule(place=places)
    def delete_offset(self, place) -> None:
        rows = [{"name": TOPIC, "partitions": [{"partition_index": place}]}]
        self._both("OffsetDelete", 0, lambda side: {"group_id": side.group, "topics": rows})

    @rule(commit=st.booleans(), steps=st.sets(st.sampled_from(["add", "offsets"]), max_size=2),
          place=places, slot=st.one_of(st.none(), slots), drift=drifts)  # fmt: skip
    def transaction(self, commit, steps, place, slot, drift) -> None:
        """Begun, given offsets, and ended; any of it may be left out."""
        begun = {"transaction_timeout_ms": 60_000}
        for side in self.going():
            body = {"transactional_id": side.group, **begun}
            answer = ask_until_ready(side, "InitProducerId", 0, body, raw=True)
            side.producer = answer["producer_id"], answer["producer_epoch"]
        if "add" in steps:
            self._both("AddOffsetsToTxn", 0, lambda side: {**_own(side), "group_id": side.group})
        if "offsets" in steps:
            version = 3 if self.versions["TxnOffsetCommit"][1] >= 3 else 0
            row = {"partition_index": place, "committed_offset": 7, "committed_metadata": ""}

            def body(side: Side) -> dict[str, Any]:
                who = {} if version < 3 or slot is None else {
                    "member_id": side.ids[slot], "generation_id": side.generation + drift,
                }  # fmt: skip
                topics = [{"name": TOPIC, "partitions": [row]}]
                return {**_own(side), **who, "group_id": side.group, "topics": topics}

            self._both("TxnOffsetCommit", version, body)
        self._both("EndTxn", 0, lambda side: {**_own(side), "committed": commit})

    # --- agreement ---------------------------------------------------------------------------

    def _both(self, api: str, version: int, body) -> None:
        if not self.over:
            self.both(api, version, body)
            self._agree()

    def _agree(self) -> None:
        """Both have answered the same and describe the same group; AssertionError if not soon."""
        if self.over:
            return
        seen = self.alike(_seen, settled=bool)
        taken = [
            {slot: side.plain(body) for slot, body in side.answers.items()} for side in self.sides
        ]
        for side in self.sides:
            side.answers.clear()
        leaders = [_leader(answers) for answers in taken]
        if None not in leaders and leaders[0] != leaders[1]:
            self.over = True  # Kafka draws lots among those who are left
            return
        assert taken[1] == taken[0], apart(*taken)
        assert seen[1] == seen[0], apart(*seen)


def _seen(side: Side) -> tuple[list[int], dict[str, Any]]:
    side.collect(QUIET_S)
    return sorted(side.answers), _described(side)


def _leader(answers: dict[int, dict[str, Any]]) -> str | None:
    found = (body["leader"] for body in answers.values() if body.get("leader"))
    return next(found, None)


def _own(side: Side) -> dict[str, Any]:
    return {"transactional_id": side.group, "producer_id": side.producer[0],
            "producer_epoch": side.producer[1]}  # fmt: skip


def _described(side: Side) -> dict[str, Any]:
    answer = side.ask("DescribeGroups", 0, {"groups": [side.group]})
    return answer["groups"][0]


@pytest.mark.parametrize("release", RELEASES)
def test_random_histories_agree(release):
    compare(Histories, release, APIS, config=HASTE, topics={TOPIC: PARTITIONS})


def test_random_histories_agree_on_the_newer_coordinator_of_3_9():
    compare(Histories, "3.9", APIS, config=HASTE | PREVIEW, topics={TOPIC: PARTITIONS})
