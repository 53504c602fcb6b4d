"""ACLs in a real ZooKeeper: written as Kafka writes them, and read when a tool wrote them."""

import json

import pytest

from touchstone.harness.tests.registry.test_zookeeper import SECONDS, SETTINGS, keeper, until
from touchstone.reference_impl.broker.personas import persona
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.registry.real_trees import RELEASES

__all__ = ["keeper"]  # a fixture
pytestmark = [pytest.mark.live, pytest.mark.java, pytest.mark.maven, pytest.mark.slow]
LITERAL, PREFIXED = 3, 4
READS = {
    "resource_type": 2, "resource_name": "t", "resource_pattern_type": LITERAL,
    "principal": "User:ANONYMOUS", "host": "*", "operation": 3, "permission_type": 3,
}  # fmt: skip
TEXT = (
    '{"version":1,"acls":[{"principal":"User:ANONYMOUS","permissionType":"Allow",'
    '"operation":"Read","host":"*"}]}'
)
TYPES = ["Cluster", "DelegationToken", "Group", "Topic", "TransactionalId"]


def settings(release):
    return {**SETTINGS, "authorizer.class.name": persona(release).quirk("acls.authorizer"),
            "allow.everyone.if.no.acl.found": "true"}  # fmt: skip


def create(client, **changed):
    answer = client.ask("CreateAcls", {"creations": [READS | changed]}, "any")
    assert [row["error_code"] for row in answer["results"]] == [0]


def announced(keeper, parent):
    names = sorted(keeper.get_children(parent))
    return [keeper.get(f"{parent}/{name}")[0].decode() for name in names]


@pytest.mark.parametrize("release", RELEASES)
def test_acls_stand_where_kafka_keeps_them(release, keeper):
    with serve(release=release, zookeeper=keeper.where, config=settings(release)) as running:
        running.registry.settle(SECONDS)
        if release != "1.0":
            assert sorted(keeper.get_children("/kafka-acl")) == TYPES
            assert sorted(keeper.get_children("/kafka-acl-extended/prefixed")) == TYPES
        with Client(running.bootstrap) as client:
            create(client)
            if release != "1.0":
                create(client, resource_name="p", resource_pattern_type=PREFIXED)
            create(client, resource_name="gone")
            wanted = {"resource_type_filter": 2, "resource_name_filter": "gone",
                      "pattern_type_filter": LITERAL, "principal_filter": None, "host_filter": None,
                      "operation": 1, "permission_type": 1}  # fmt: skip
            client.ask("DeleteAcls", {"filters": [wanted]}, "any")
        running.registry.settle(SECONDS)
        assert keeper.get("/kafka-acl/Topic/t")[0].decode() == TEXT
        assert not keeper.exists("/kafka-acl/Topic/gone")
        topic = "TOPIC" if release == "2.8" else "Topic"
        told = [f"{topic}:t", f"{topic}:gone", f"{topic}:gone"]
        assert announced(keeper, "/kafka-acl-changes") == told
        if release != "1.0":
            assert keeper.get("/kafka-acl-extended/prefixed/Topic/p")[0].decode() == TEXT
            (change,) = announced(keeper, "/kafka-acl-extended-changes")
            assert json.loads(change) == {
                "version": 1, "resourceType": topic, "name": "p", "patternType": "PREFIXED",
            }  # fmt: skip
    with serve(release=release, zookeeper=keeper.where, config=settings(release)) as running:
        kept = {(each.name, each.type) for each, _ in running.cluster.acls}
        assert kept == {("t", LITERAL)} | ({("p", PREFIXED)} if release != "1.0" else set())


@pytest.mark.parametrize("release", RELEASES)
def test_acls_that_a_tool_writes_are_obeyed(release, keeper):
    every = {"resource_type_filter": 1, "resource_name_filter": None, "pattern_type_filter": 1,
             "principal_filter": None, "host_filter": None, "operation": 1,
             "permission_type": 1}  # fmt: skip
    with (
        serve(release=release, zookeeper=keeper.where, config=settings(release)) as running,
        Client(running.bootstrap) as client,
    ):

        def known():
            rows = client.ask("DescribeAcls", every, "any")["resources"]
            return [(row["resource_type"], row["resource_name"], len(row["acls"])) for row in rows]

        running.registry.settle(SECONDS)
        keeper.ensure_path("/kafka-acl/Group")
        keeper.create("/kafka-acl/Group/g", TEXT.encode())
        keeper.create("/kafka-acl-changes/acl_changes_", b"Group:g", sequence=True)
        until(lambda: known() == [(3, "g", 1)])
        keeper.delete("/kafka-acl/Group/g")
        keeper.create("/kafka-acl-changes/acl_changes_", b"Group:g", sequence=True)
        until(lambda: known() == [])
        running.registry.settle(SECONDS)
        assert len(announced(keeper, "/kafka-acl-changes")) == 2  # no echo of ours


def test_without_an_authorizer_acls_of_others_are_left_alone(keeper):
    keeper.ensure_path("/kafka-acl/Topic/t")
    with serve(release="2.8", zookeeper=keeper.where, config=SETTINGS) as running:
        running.registry.settle(SECONDS)
    assert keeper.exists("/kafka-acl/Topic/t")
