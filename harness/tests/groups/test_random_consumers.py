"""Random histories of a consumer group (KIP-848), done to real Kafka and to the reference broker.

Hypothesis draws who joins, beats, leaves for good or for a while, what it subscribes to and says
that it owns, with stale epochs and foreign instance ids among them; who commits, fetches and is put
out by an admin. After each step both brokers must have answered the same and describe the same
group: epochs, states, what each member has, has to give up and shall have. Members choose their
ids, topics go by their names, and the target is worked out at once, so nothing is left to chance.

`live` on 4.3, and on 3.9 told to serve its preview; that the machine notices is shown without
Kafka, by a defect that is planted.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from touchstone.harness.targets import parse
from touchstone.harness.tests.groups.lockstep import (
    PREVIEW,
    Lockstep,
    address,
    against,
    compare,
)
from touchstone.harness.tests.groups.sides import Side

RELEASE, SLOTS = "4.3", 4
TOPICS = {"random-consumers": 4, "random-consumers-too": 2}
NOWHERE = "no-such-topic"
PATIENCE_MS, JOIN, LEAVE, AWAY = 60_000, 0, -1, -2
CONFIG = {
    "group.consumer.assignment.interval.ms": 0,
    "group.consumer.session.timeout.ms": PATIENCE_MS,
    "group.consumer.max.session.timeout.ms": PATIENCE_MS,
}
CONFIGS = {"3.9": CONFIG | PREVIEW, "4.3": CONFIG}
APIS = ("ConsumerGroupHeartbeat", "ConsumerGroupDescribe", "OffsetCommit", "OffsetFetch",
        "LeaveGroup", "DeleteGroups")  # fmt: skip
slots = st.integers(0, SLOTS - 1)
drifts = st.sampled_from([0, 0, 0, 0, 0, -1, -2, 1])  # of epochs
instances = st.sampled_from([None, None, None, "one", "two"])
versions = st.integers(0, 11)  # counted round the range of an API
interests = st.sampled_from([  # one topic each: which of two gives way is drawn with their ids
    *([name] for name in TOPICS), *([name] for name in TOPICS), [next(iter(TOPICS)), NOWHERE],
    [NOWHERE], [],
])  # fmt: skip
assignors = st.sampled_from([None, None, "range", "uniform"])
owning = st.sampled_from(["told", "told", "told", "unsaid", "unsaid", "nothing", "half"])


class Consumers(Lockstep):
    def __init__(self) -> None:
        super().__init__()
        self.epochs = [0] * SLOTS
        self.told: list[dict[str, list[int]]] = [{} for _ in range(SLOTS)]
        self.named: list[str | None] = [None] * SLOTS
        self.topics: dict[str, dict[str, bytes]] = {}
        for side in self.sides:
            for slot in range(SLOTS):
                side.call(_member(slot), _member(slot))
            self.topics[side.name] = _topics(side)

    # --- rules -------------------------------------------------------------------------------

    @rule(slot=slots, names=interests, instance=instances, assignor=assignors, draw=versions)
    def join(self, slot, names, instance, assignor, draw) -> None:
        said = {"rebalance_timeout_ms": PATIENCE_MS, "subscribed_topic_names": names,
                "server_assignor": assignor, "instance_id": instance}  # fmt: skip
        self.named[slot] = instance
        self._beat(slot, JOIN, {}, said, draw)

    @rule(slot=slots, drift=drifts, own=owning, draw=versions)
    def beat(self, slot, drift, own, draw) -> None:
        epoch = max(1, self.epochs[slot] + drift)
        self._beat(slot, epoch, self._owned(slot, own), {"instance_id": self.named[slot]}, draw)

    @rule(slot=slots, own=owning, names=interests, assignor=assignors, draw=versions)
    def change(self, slot, own, names, assignor, draw) -> None:
        said = {"subscribed_topic_names": names, "server_assignor": assignor,
                "instance_id": self.named[slot]}  # fmt: skip
        self._beat(slot, max(1, self.epochs[slot]), self._owned(slot, own), said, draw)

    @rule(slot=slots, instance=instances, drift=drifts, draw=versions)
    def beat_as_another(self, slot, instance, drift, draw) -> None:
        epoch = max(1, self.epochs[slot] + drift)
        self._beat(slot, epoch, None, {"instance_id": instance}, draw)

    @rule(slot=slots, epoch=st.sampled_from([LEAVE, LEAVE, AWAY]), draw=versions)
    def leave(self, slot, epoch, draw) -> None:
        self._beat(slot, epoch, None, {"instance_id": self.named[slot]}, draw)

    @rule(slot=slots, by_instance=st.booleans())
    def put_out(self, slot, by_instance) -> None:
        """An admin's LeaveGroup, by member id or by instance id."""
        name = self.named[slot] if by_instance else None
        row = {"member_id": "" if name else _member(slot), "group_instance_id": name}
        self._both("LeaveGroup", 3, lambda side: {"group_id": side.group, "members": [row]})

    @rule(slot=st.one_of(st.none(), slots), drift=drifts, place=st.integers(0, 3))
    def commit(self, slot, drift, place) -> None:
        partition = {"partition_index": place, "committed_offset": 7,
                     "committed_leader_epoch": -1, "committed_metadata": ""}  # fmt: skip
        rows = [{"name": next(iter(TOPICS)), "partitions": [partition]}]
        self._both("OffsetCommit", 9, lambda side: {
            "group_id": side.group, "member_id": "" if slot is None else _member(slot),
            "generation_id_or_member_epoch": -1 if slot is None else self.epochs[slot] + drift,
            "topics": rows,
        })  # fmt: skip

    @rule(slot=st.one_of(st.none(), slots), drift=drifts)
    def fetch(self, slot, drift) -> None:
        who = {"member_id": None, "member_epoch": -1}
        if slot is not None:
            who = {"member_id": _member(slot), "member_epoch": self.epochs[slot] + drift}
        rows = [{"name": next(iter(TOPICS)), "partition_indexes": [0, 1, 2, 3]}]
        self._both("OffsetFetch", 9, lambda side: {
            "groups": [{"group_id": side.group, **who, "topics": rows}], "require_stable": True,
        })  # fmt: skip

    @rule()
    def delete(self) -> None:
        self._both("DeleteGroups", 2, lambda side: {"groups_names": [side.group]})

    # --- what they do ------------------------------------------------------------------------

    def _owned(self, slot: int, word: str) -> dict[str, list[int]] | None:
        told = self.told[slot]
        if word == "unsaid":
            return None
        if word == "half":
            return {name: places[: len(places) // 2] for name, places in told.items()}
        return told if word == "told" else {}

    def _beat(
        self, slot: int, epoch: int, owned: dict[str, list[int]] | None, said: dict[str, Any],
        draw: int,
    ) -> None:  # fmt: skip
        def body(side: Side) -> dict[str, Any]:
            ids = self.topics[side.name]
            rows = [{"topic_id": ids[name], "partitions": at} for name, at in (owned or {}).items()]
            unsaid = {"instance_id": None, "rack_id": None, "rebalance_timeout_ms": -1,
                      "subscribed_topic_names": None, "subscribed_topic_regex": None,
                      "server_assignor": None}  # fmt: skip
            return {
                "group_id": side.group, "member_id": _member(slot), "member_epoch": epoch,
                **unsaid, **said, "topic_partitions": None if owned is None else rows,
            }  # fmt: skip

        version = self.version(draw, "ConsumerGroupHeartbeat")
        answer = self.both("ConsumerGroupHeartbeat", version, body)
        if not answer["error_code"]:
            self.epochs[slot] = answer["member_epoch"]
            given = answer["assignment"]
            if given is not None:
                rows = given["topic_partitions"]
                self.told[slot] = {row["topic_id"]: row["partitions"] for row in rows}
        self._look()

    def _both(self, api: str, version: int, body) -> None:
        self.both(api, version, body)
        self._look()

    def _look(self) -> None:
        _, newest = self.versions["ConsumerGroupDescribe"]
        self.agree(lambda side: _described(side, newest))


def _member(slot: int) -> str:
    return f"member-{slot}"


def _topics(side: Side) -> dict[str, bytes]:
    """Name -> id, when the coordinator shares both topics out."""
    rows = [{"topic_id": bytes(16), "name": name} for name in TOPICS]
    flags = {"allow_auto_topic_creation": False, "include_topic_authorized_operations": False}
    answer = side.control.ask("Metadata", 12, {"topics": rows, **flags})
    found = {row["name"]: bytes(row["topic_id"]) for row in answer["topics"]}
    for name, topic_id in found.items():
        side.call(topic_id, name)
    scout = {
        "group_id": f"{side.group}-scout", "member_id": "scout", "member_epoch": JOIN,
        "instance_id": None, "rack_id": None, "rebalance_timeout_ms": PATIENCE_MS,
        "subscribed_topic_names": list(TOPICS), "subscribed_topic_regex": None,
        "server_assignor": None, "topic_partitions": [],
    }  # fmt: skip
    while True:  # as long as the test's timeout allows
        given = side.control.ask("ConsumerGroupHeartbeat", 0, scout)["assignment"]
        if given is not None and len(given["topic_partitions"]) == len(TOPICS):
            return found


def _described(side: Side, version: int) -> dict[str, Any]:
    body = {"group_ids": [side.group], "include_authorized_operations": False}
    return side.ask("ConsumerGroupDescribe", version, body)["groups"][0]


@pytest.mark.live
@pytest.mark.java
@pytest.mark.maven
@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("release", CONFIGS)
def test_random_consumers_agree(release):
    compare(Consumers, release, APIS, config=CONFIGS[release], topics=TOPICS)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("switch", ["partition-given-to-two-members", "member-epoch-not-fenced"])
def test_a_planted_defect_of_consumer_groups_is_found(switch):
    sound = parse(f"reference@{RELEASE}")
    try:
        first = ("sound", address(sound, CONFIG))
        with pytest.raises(AssertionError):
            against(Consumers, first, f"{RELEASE}+{switch}", APIS, config=CONFIG, topics=TOPICS)
    finally:
        sound.stop()
