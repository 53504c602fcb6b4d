"""Who may join and see a streams group (KafkaApis.handleStreamsGroupHeartbeat at 4.3.1)."""

from __future__ import annotations

from touchstone.reference_impl.broker.control.internal_topics import OFFSETS
from touchstone.reference_impl.tests.acls.test_acl_apis import Guarded
from touchstone.reference_impl.wire.errors import ErrorCode as E

TOPIC, GROUP = 2, 3
READ, CREATE, DESCRIBE = 3, 5, 8
APPLICATION, SOURCE, CHANGELOG = "app", "t", "app-store-changelog"
TOPOLOGY = {
    "epoch": 0,
    "subtopologies": [
        {
            "subtopology_id": "0",
            "source_topics": [SOURCE],
            "source_topic_regex": [],
            "repartition_sink_topics": [],
            "repartition_source_topics": [],
            "state_changelog_topics": [
                {"name": CHANGELOG, "partitions": 0, "replication_factor": 1, "topic_configs": []}
            ],
            "copartition_groups": [],
        }
    ],
}
JOINING = {
    "group_id": APPLICATION, "member_id": "a" * 22, "member_epoch": 0,
    "endpoint_information_epoch": -1, "instance_id": None, "rack_id": None,
    "rebalance_timeout_ms": 45_000, "topology": TOPOLOGY, "active_tasks": [], "standby_tasks": [],
    "warmup_tasks": [], "process_id": "p", "user_endpoint": None, "client_tags": [],
    "task_offsets": None, "task_end_offsets": None, "shutdown_application": False,
}  # fmt: skip


class Streams(Guarded):
    def __init__(self) -> None:
        super().__init__()
        for name in (SOURCE, OFFSETS):
            self.topic(name, 1)
        self.brokers[0].tick(self.now)

    def allow(self, kind: int, name: str, operation: int) -> None:
        row = {"resource_type": kind, "resource_name": name, "operation": operation}
        assert self.create(row) == [0]

    def join(self):
        return self.ask("StreamsGroupHeartbeat", 0, JOINING)

    def describe(self):
        body = {"group_ids": [APPLICATION], "include_authorized_operations": True}
        return self.ask("StreamsGroupDescribe", 0, body)["groups"][0]


def test_a_member_may_read_its_group_and_see_and_create_its_topics():
    broker = Streams()
    assert broker.join()["error_code"] == E.GROUP_AUTHORIZATION_FAILED
    broker.allow(GROUP, APPLICATION, READ)
    assert broker.join()["error_code"] == E.TOPIC_AUTHORIZATION_FAILED
    broker.allow(TOPIC, SOURCE, DESCRIBE)
    broker.allow(TOPIC, CHANGELOG, DESCRIBE)
    answer = broker.join()
    words = f"Unauthorized to CREATE on topics {CHANGELOG}."
    assert answer["error_code"] == E.NONE
    assert any(row["status_detail"].endswith(words) for row in answer["status"])
    broker.allow(TOPIC, CHANGELOG, CREATE)
    assert not any("Unauthorized" in row["status_detail"] for row in broker.join()["status"])


def test_who_sees_the_group_sees_only_its_own_rights():
    broker = Streams()
    assert broker.describe()["error_code"] == E.GROUP_AUTHORIZATION_FAILED
    broker.allow(GROUP, APPLICATION, READ)
    broker.allow(TOPIC, SOURCE, DESCRIBE)
    broker.allow(TOPIC, CHANGELOG, DESCRIBE)
    broker.join()
    shown = broker.describe()
    assert (shown["error_code"], shown["authorized_operations"]) == (
        E.NONE, 1 << READ | 1 << DESCRIBE,
    )  # fmt: skip


def test_a_group_whose_topics_are_hidden_is_hidden():
    broker = Streams()
    for kind, name, operation in (
        (GROUP, APPLICATION, READ), (TOPIC, SOURCE, DESCRIBE), (TOPIC, CHANGELOG, DESCRIBE),
    ):  # fmt: skip
        broker.allow(kind, name, operation)
    broker.join()
    broker.delete({"resource_name_filter": SOURCE})
    assert broker.describe()["error_code"] == E.TOPIC_AUTHORIZATION_FAILED
