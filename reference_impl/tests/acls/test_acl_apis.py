"""ACLs are added, told and removed over the wire, and outlive their broker."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker import registry
from touchstone.reference_impl.broker.effects import Connection, Principal
from touchstone.reference_impl.broker.personas import PERSONAS, persona
from touchstone.reference_impl.broker.security.acls import access_control
from touchstone.reference_impl.broker.security.acls.guards import GUARDS, UNGUARDED
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.broker.one_broker import CLOSED, OneBroker
from touchstone.reference_impl.wire.errors import ErrorCode as E

SUPER = Principal("User", "admin")
CREATION = {
    "resource_type": 2, "resource_name": "t", "resource_pattern_type": 3,
    "principal": "User:ANONYMOUS", "host": "*", "operation": 3, "permission_type": 3,
}  # fmt: skip
ANY = {
    "resource_type_filter": 1, "resource_name_filter": None, "pattern_type_filter": 1,
    "principal_filter": None, "host_filter": None, "operation": 1, "permission_type": 1,
}  # fmt: skip
NEWEST = {"1.0": 0, "2.2": 1, "2.8": 2, "3.9": 3, "4.3": 3}


def settings(release="4.3"):
    return {
        "authorizer.class.name": persona(release).quirk("acls.authorizer"),
        "super.users": str(SUPER),
    }


class Guarded(OneBroker):
    """A broker that asks its authorizer, a super user and somebody else."""

    def __init__(self, release: str = "4.3", **config: str):
        super().__init__(release, **settings(release), **config)
        self.version = NEWEST[release]
        self.admin = Connection(2)
        self.admin.principal = SUPER

    def create(self, *rows):
        body = {"creations": [CREATION | row for row in rows]}
        answer = self.ask("CreateAcls", self.version, body, connection=self.admin)
        return [row["error_code"] for row in answer["results"]]

    def told(self, **wanted):
        answer = self.ask("DescribeAcls", self.version, ANY | wanted, connection=self.admin)
        return {
            (row["resource_name"], row.get("pattern_type", 3), each["operation"])
            for row in answer["resources"]
            for each in row["acls"]
        }

    def delete(self, *filters):
        body = {"filters": [ANY | row for row in filters]}
        answer = self.ask("DeleteAcls", self.version, body, connection=self.admin)
        return [
            [(each["resource_name"], each["operation"]) for each in row["matching_acls"]]
            for row in answer["filter_results"]
        ]


@pytest.mark.parametrize("release", NEWEST)
def test_what_is_created_is_told_and_deleted(release):
    broker = Guarded(release)
    assert broker.create({}, {"operation": 4}, {"resource_name": "u"}, {}) == [0] * 4
    assert broker.told() == {("t", 3, 3), ("t", 3, 4), ("u", 3, 3)}
    assert broker.told(resource_name_filter="t", operation=4) == {("t", 3, 4)}
    assert broker.delete({"resource_name_filter": "t"}) in ([[("t", 3), ("t", 4)]],)
    assert broker.told() == {("u", 3, 3)}


def test_filters_by_pattern():
    broker = Guarded()
    broker.create({}, {"resource_pattern_type": 4}, {"resource_name": "*"}, {"resource_name": "x"})
    assert broker.told(pattern_type_filter=3, resource_name_filter="t") == {("t", 3, 3)}
    assert broker.told(pattern_type_filter=1, resource_name_filter="t") == {
        ("t", 3, 3), ("t", 4, 3),
    }  # fmt: skip
    assert broker.told(pattern_type_filter=2, resource_name_filter="tt") == {
        ("t", 4, 3), ("*", 3, 3),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("release", "told"),
    [
        ("1.0", [[], [("t", 3)]]),
        ("2.8", [[("t", 3)], []]),
        ("3.9", [[("t", 3)], [("t", 3)]]),
    ],
)
def test_an_acl_that_two_filters_match(release, told):
    broker = Guarded(release)
    broker.create({})
    assert broker.delete({}, {"resource_name_filter": "t"}) == told
    assert broker.told() == set()


@pytest.mark.parametrize("release", NEWEST)
def test_whoever_may_not_see_the_cluster_sees_no_acls(release):
    broker = Guarded(release)
    answer = broker.ask("DescribeAcls", broker.version, ANY)
    assert answer["error_code"] == E.CLUSTER_AUTHORIZATION_FAILED
    assert not answer["resources"]
    answer = broker.ask("CreateAcls", broker.version, {"creations": [CREATION] * 2})
    assert [row["error_code"] for row in answer["results"]] == [31, 31]
    answer = broker.ask("DeleteAcls", broker.version, {"filters": [ANY]})
    assert [row["error_code"] for row in answer["filter_results"]] == [31]
    assert broker.told() == set()


@pytest.mark.parametrize(
    ("release", "row", "code"),
    [
        ("4.3", {"resource_name": ""}, 42),
        ("4.3", {"resource_type": 4}, 42),
        ("4.3", {"resource_type": 4, "resource_name": "kafka-cluster"}, 0),
        ("4.3", {"principal": "nocolon"}, 42),
        ("4.3", {"principal": ":x"}, 0),
        ("4.3", {"operation": 15}, 0),
        ("3.9", {"operation": 15}, 42),
        ("3.9", {"operation": 14}, 0),
        ("2.8", {"operation": 13}, 42),
        ("2.8", {"resource_type": 7}, 42),
        ("2.8", {"principal": "nocolon"}, -1),
        ("2.8", {"resource_name": "a/b"}, -1),
        ("2.2", {"resource_name": "a/b"}, -1),
        ("1.0", {"resource_name": "a/b"}, 0),
        ("1.0", {"resource_type": 6}, 42),
        ("1.0", {"resource_type": 1}, 42),
        ("1.0", {"principal": "nocolon"}, 42),
    ],
)
def test_an_entry_that_cannot_be_is_refused_alone(release, row, code):
    assert Guarded(release).create(row, {}) == [code, 0]


@pytest.mark.parametrize("release", ["2.8", "3.9", "4.3"])
def test_what_only_filters_have_fails_all_entries(release):
    broker = Guarded(release)
    for row in ({"operation": 1}, {"resource_type": 1}, {"resource_pattern_type": 2}):
        assert broker.create(row, {}) == [-1, -1]
    assert broker.told() == set()


def served_by_a_release():
    return {
        key
        for each in PERSONAS.values()
        for key in (*each.broker_listener, *each.controller_listener, *each.unlisted_but_served)
    }


def test_every_api_that_a_release_serves_is_guarded_or_says_why_not():
    """One that is begun has no row: it is for brokers."""
    served = registry.stems().keys() & served_by_a_release()
    assert GUARDS.keys() | UNGUARDED.keys() >= served
    assert not GUARDS.keys() & UNGUARDED.keys()


def test_an_api_without_a_row_is_for_brokers(monkeypatch):
    rows = {key: guard for key, guard in GUARDS.items() if key != 3}
    monkeypatch.setattr(access_control, "GUARDS", rows)
    answer = Guarded().ask("Metadata", 1, {"topics": [{"name": "t"}]})
    assert [row["error_code"] for row in answer["topics"]] == [E.CLUSTER_AUTHORIZATION_FAILED]


def test_brokers_of_the_process_need_no_acl():
    broker = Guarded(offsets_topic_replication_factor="1")
    broker.topic("t")
    broker.brokers[0].tick(broker.now)
    assert broker.brokers[0].metadata.topics.keys() == {"t"}


def test_acls_outlive_their_broker(tmp_path):
    config = settings() | {"allow.everyone.if.no.acl.found": "true"}
    for names in (["t"], []):
        running = serve(data=tmp_path, config=config)
        try:
            with Client(running.bootstrap[0]) as client:
                if names:
                    client.ask("CreateAcls", {"creations": [CREATION]}, "any")
                told = client.ask("DescribeAcls", ANY, "any")["resources"]
        finally:
            running.stop()
        assert [row["resource_name"] for row in told] == ["t"], names


def test_a_produce_without_an_answer_ends_its_connection():
    broker = Guarded()
    broker.topic("t")
    row = {"index": 0, "records": b""}
    body = {"transactional_id": None, "acks": 0, "timeout_ms": 1000,
            "topic_data": [{"name": "t", "partition_data": [row]}]}  # fmt: skip
    assert broker.ask("Produce", 9, body) == CLOSED


@pytest.mark.parametrize("release", NEWEST)
def test_another_authorizer_is_refused_at_the_start(release):
    with pytest.raises(ValueError, match="authorizer.class.name=com.example.Mine is no authorizer"):
        serve(release=release, config={"authorizer.class.name": "com.example.Mine"})


def test_an_expression_matches_what_its_member_may_see():
    broker = Guarded()
    for name in ("seen", "secret"):
        broker.topic(name)
    group = {"resource_type": 3, "resource_name": "g", "operation": 3}
    describes = {"resource_name": "seen", "operation": 8}
    assert broker.create(group, describes) == [0, 0]
    broker.ask("FindCoordinator", 3, {"key": "g", "key_type": 0}, connection=broker.admin)
    body = {"group_id": "g", "member_id": "m", "member_epoch": 0, "rebalance_timeout_ms": 1000,
            "subscribed_topic_regex": "se.*", "topic_partitions": []}  # fmt: skip
    answer = broker.ask("ConsumerGroupHeartbeat", 1, body)
    assert answer["error_code"] == E.NONE
    for _ in range(5):
        broker.now += 11_000
        broker.brokers[0].tick(broker.now)
        beat = {"group_id": "g", "member_id": "m", "member_epoch": answer["member_epoch"]}
        answer = broker.ask("ConsumerGroupHeartbeat", 1, beat)
    (member,) = broker.ask(
        "ConsumerGroupDescribe", 1, {"group_ids": ["g"]}, connection=broker.admin
    )["groups"][0]["members"]
    named = [row["topic_name"] for row in member["target_assignment"]["topic_partitions"]]
    assert named == ["seen"]
