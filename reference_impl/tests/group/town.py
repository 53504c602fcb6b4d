"""Three brokers of which the first coordinates a group, for tests of what a coordinator keeps.

Requests go through the brokers' handlers as frames; time is the towns' own.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.control.internal_topics import OFFSETS
from touchstone.reference_impl.tests.replication.wires import LAG, WAITING, Wires
from touchstone.reference_impl.wire import embedded
from touchstone.reference_impl.wire.embedded.consumer_offsets import RECORDS
from touchstone.reference_impl.wire.embedded.consumer_protocol import encode_subscription
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.records import read

GROUP = "g"
WANTS = encode_subscription(0, {"topics": ["t"], "user_data": None})


class Town(Wires):
    """Broker 0 coordinates the group; all three keep its partition."""

    def __init__(self, release="4.3", **how):
        super().__init__(release, group_initial_rebalance_delay_ms="0", **how)
        self.topic("t")
        self.topic(OFFSETS)
        self.run(1000)

    def say(self, broker, api, version, body, ms=4 * LAG):
        client = self.send(broker, api, version, body)
        self.run(ms)
        return self.answer(client, api, version)

    def commit(self, offset, broker=0, ms=100):
        row = {"partition_index": 0, "committed_offset": offset, "committed_metadata": "m"}
        body = {
            "group_id": GROUP,
            "generation_id_or_member_epoch": -1,
            "retention_time_ms": -1,
            "topics": [{"name": "t", "partitions": [row]}],
        }
        answer = self.say(broker, "OffsetCommit", 2, body, ms)
        if answer is WAITING:
            return WAITING
        return answer["topics"][0]["partitions"][0]["error_code"]

    def committed(self, broker=0):
        body = {"group_id": GROUP, "topics": [{"name": "t", "partition_indexes": [0]}]}
        row = self.say(broker, "OffsetFetch", 1, body)["topics"][0]["partitions"][0]
        return row["committed_offset"] if not row["error_code"] else E(row["error_code"])

    def join(self, broker=0):
        body = {
            "group_id": GROUP,
            "session_timeout_ms": 200_000,
            "rebalance_timeout_ms": 200_000,
            "protocol_type": "consumer",
            "protocols": [{"name": "range", "metadata": WANTS}],
        }
        answer = self.say(broker, "JoinGroup", 2, body)
        self.member = {"member_id": answer["member_id"], "generation_id": answer["generation_id"]}
        return answer["error_code"]

    def sync(self, broker=0, ms=100):
        assigned = [{"member_id": self.member["member_id"], "assignment": b"t-0"}]
        body = {"group_id": GROUP, "assignments": assigned, **self.member}
        answer = self.say(broker, "SyncGroup", 0, body, ms)
        return answer if answer is WAITING else (answer["error_code"], answer["assignment"])

    def described(self, broker):
        answer = self.say(broker, "DescribeGroups", 0, {"groups": [GROUP]})
        return answer["groups"][0]

    def kept(self, broker=0):
        """(kind, version of the value or None) of every record, in order."""
        found = []
        for record in read(self.values(broker, OFFSETS)):
            kind, _ = embedded.decode_key(RECORDS, record["key"])
            value = record["value"]
            found.append((kind, None if value is None else int.from_bytes(value[:2], "big")))
        return found
