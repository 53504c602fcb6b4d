"""Groups and their offsets come back with `--data`, after a stop and after a kill.

What was acknowledged is there: offsets with metadata and leader epochs, members in their
generation, offsets of a transaction that is still open; what was deleted or has expired is not.
OFFS-17, OFFS-20, OFFS-23, OFFS-25, GROUP-30; KIP-98, KIP-320.
"""

from __future__ import annotations

from typing import Any

import pytest

from touchstone.reference_impl.broker.personas.releases import RELEASES
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.io.test_data_dir import create
from touchstone.reference_impl.tests.io.test_serving import Peer
from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.embedded.consumer_protocol import encode_subscription
from touchstone.reference_impl.wire.errors import ErrorCode as E

CONFIG = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.retention.check.interval.ms": "1",
}
WANTS = encode_subscription(0, {"topics": ["words"], "user_data": None})
HOUR, TRIES = 3_600_000, 2_000
LEADER_EPOCHS, STABLE_ONLY = ("2.2", "2.8", "3.9", "4.3"), ("2.8", "3.9", "4.3")
Answer = dict[str, Any]


class Client(Peer):
    """A peer that speaks of groups; `until` asks again, as clients do, so and so often."""

    def say(self, api: str, version: int, body: Answer) -> Answer:
        return self.ask(by_name(api).key, version, body)

    def until(self, wanted, api: str, version: int, body: Answer) -> Answer:
        for _ in range(TRIES):
            answer = self.say(api, version, body)
            if wanted(answer):
                return answer
        raise AssertionError(f"{api} still says {answer}")

    def coordinator(self, key: str, kind: int = 0) -> None:
        body = {"key": key, "key_type": kind}
        self.until(lambda answer: not answer["error_code"], "FindCoordinator", 1, body)

    def commit(self, group: str, offset: int, *, version: int = 2, retention: int = HOUR,
               member: Answer | None = None) -> int:  # fmt: skip
        row = {"partition_index": 0, "committed_offset": offset, "committed_metadata": "m",
               "committed_leader_epoch": 4}  # fmt: skip
        body = {
            "group_id": group,
            "generation_id_or_member_epoch": -1,
            "retention_time_ms": retention if version < 5 else -1,
            "topics": [{"name": "words", "partitions": [row]}],
            **(member or {}),
        }
        return self.say("OffsetCommit", version, body)["topics"][0]["partitions"][0]["error_code"]

    def fetch(self, group: str, version: int = 3, *, stable: bool = False) -> Answer:
        topics = [{"name": "words", "partition_indexes": [0]}]
        body = {"group_id": group, "topics": topics, "require_stable": stable}
        return self.say("OffsetFetch", version, body)["topics"][0]["partitions"][0]

    def state(self, group: str) -> Answer:
        return self.say("DescribeGroups", 0, {"groups": [group]})["groups"][0]

    def join(self, group: str) -> Answer:
        body = {
            "group_id": group, "session_timeout_ms": 30_000, "rebalance_timeout_ms": 30_000,
            "protocol_type": "consumer", "protocols": [{"name": "range", "metadata": WANTS}],
        }  # fmt: skip
        member_id = self.say("JoinGroup", 2, body)["member_id"]
        own = {"group_id": group, "member_id": member_id, "generation_id": 1}
        assigned = [{"member_id": member_id, "assignment": b"words-0"}]
        assert self.say("SyncGroup", 0, own | {"assignments": assigned})["error_code"] == E.NONE
        return own

    def begin(self, group: str, offset: int) -> Answer:
        """An open transaction with an offset of the group."""
        body = {"transactional_id": "x", "transaction_timeout_ms": 60_000}
        producer = self.until(lambda a: not a["error_code"], "InitProducerId", 0, body)
        own = {
            "transactional_id": "x",
            "producer_id": producer["producer_id"],
            "producer_epoch": producer["producer_epoch"],
        }
        added = self.say("AddOffsetsToTxn", 0, {**own, "group_id": group})
        row = {"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}
        topics = [{"name": "words", "partitions": [row]}]
        sent = self.say("TxnOffsetCommit", 0, {**own, "group_id": group, "topics": topics})
        codes = added["error_code"], sent["topics"][0]["partitions"][0]["error_code"]
        assert codes == (E.NONE, E.NONE)
        return own


@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.parametrize("release", RELEASES)
def test_groups_and_offsets_are_there_again(tmp_path, release, killed):
    epochs, kinds = release in LEADER_EPOCHS, (("x", 1), ("plain", 0))
    with serve(release=release, data=tmp_path, config=CONFIG) as running:
        with Client(running.bootstrap[0]) as client:
            assert create(client) == 0
            for key, kind in kinds:
                client.coordinator(key, kind)
            assert client.commit("plain", 4, version=6 if epochs else 2) == E.NONE
            assert client.commit("plain", 5, version=6 if epochs else 2) == E.NONE
            member = client.join("team")
            as_member = {
                "member_id": member["member_id"], "generation_id_or_member_epoch": 1,
            }  # fmt: skip
            assert client.commit("team", 7, member=as_member) == E.NONE
            assert client.commit("brief", 8, retention=0) == E.NONE
            assert client.commit("gone", 9) == E.NONE
            if epochs:
                deleted = client.say("DeleteGroups", 0, {"groups_names": ["gone"]})
                assert deleted["results"][0]["error_code"] == E.NONE
            transaction = client.begin("pending", 3)
        if killed:
            running.kill(0)
    with (
        serve(release=release, data=tmp_path, config=CONFIG) as running,
        Client(running.bootstrap[0]) as client,
    ):
        for key, kind in kinds:
            client.coordinator(key, kind)
        plain = client.fetch("plain", 5 if epochs else 3)
        assert (plain["committed_offset"], plain["metadata"]) == (5, "m")
        assert plain.get("committed_leader_epoch", -1) == (4 if epochs else -1)
        assert client.fetch("team")["committed_offset"] == 7
        team = client.state("team")
        assert team["group_state"] == "Stable"
        assert [m["member_assignment"] for m in team["members"]] == [b"words-0"]
        assert client.say("Heartbeat", 0, member)["error_code"] == E.NONE
        assert client.commit("team", 8, member=as_member) == E.NONE
        stale = as_member | {"generation_id_or_member_epoch": 0}
        assert client.commit("team", 9, member=stale) == E.ILLEGAL_GENERATION
        if epochs:
            assert client.state("gone")["group_state"] == "Dead"
        client.until(
            lambda answer: answer["groups"][0]["group_state"] == "Dead",
            "DescribeGroups", 0, {"groups": ["brief"]},
        )  # fmt: skip
        assert client.fetch("pending")["committed_offset"] == -1
        if release in STABLE_ONLY:
            unstable = client.fetch("pending", 7, stable=True)
            assert unstable["error_code"] == E.UNSTABLE_OFFSET_COMMIT
        ended = client.say("EndTxn", 0, transaction | {"committed": True})
        assert ended["error_code"] == E.NONE
        client.until(
            lambda answer: answer["topics"][0]["partitions"][0]["committed_offset"] == 3,
            "OffsetFetch", 3,
            {"group_id": "pending", "topics": [{"name": "words", "partition_indexes": [0]}]},
        )  # fmt: skip
