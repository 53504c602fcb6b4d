"""A listener says who a peer is and an authorizer what that one may do, seen by librdkafka."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

from touchstone.harness.tests.clients.programs import PATIENCE_S
from touchstone.reference_impl.io.server import serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(4 * PATIENCE_S)]
AUTHORIZERS = {
    "1.0": "kafka.security.auth.SimpleAclAuthorizer",
    "2.8": "kafka.security.authorizer.AclAuthorizer",
    "4.3": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
}
PLAIN_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
OURS, THEIRS = "orders", "orders-of-others"


@pytest.fixture(scope="module", params=list(AUTHORIZERS))
def where(request):
    settings = {
        "listeners": "SASL_PLAINTEXT://127.0.0.1:0",
        "inter.broker.listener.name": "SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
            f'{PLAIN_LOGIN} required user_admin="a" user_alice="b";'
        ),
        "authorizer.class.name": AUTHORIZERS[request.param],
        "super.users": "User:admin",
        "auto.create.topics.enable": "false",
    }
    with serve(release=request.param, config=settings) as cluster:
        where = cluster.listeners["SASL_PLAINTEXT"][0]
        admin = AdminClient(client_of(where, "admin", "a"))
        for done in admin.create_topics([NewTopic(OURS, 1, 1), NewTopic(THEIRS, 1, 1)]).values():
            done.result(PATIENCE_S)
        yield where


def client_of(where: str, user: str, password: str) -> dict[str, str]:
    return {
        "bootstrap.servers": where, "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN", "sasl.username": user, "sasl.password": password,
    }  # fmt: skip


def sent(where: str, topic: str) -> KafkaError | None:
    """What alice is told of a record that she sends."""
    producer = Producer(client_of(where, "alice", "b") | {"message.timeout.ms": "5000"})
    reports: list[KafkaError | None] = []
    producer.produce(topic, b"one", on_delivery=lambda error, _: reports.append(error))
    producer.flush(PATIENCE_S)
    return reports[0]


def test_who_is_allowed_may_and_others_may_not(where):
    admin = AdminClient(client_of(where, "admin", "a"))
    allowed = AclBinding(
        ResourceType.TOPIC, OURS, ResourcePatternType.LITERAL, "User:alice", "*",
        AclOperation.WRITE, AclPermissionType.ALLOW,
    )  # fmt: skip
    refused = sent(where, OURS)
    assert refused and refused.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
    for done in admin.create_acls([allowed]).values():
        done.result(PATIENCE_S)
    assert sent(where, OURS) is None
    refused = sent(where, THEIRS)
    assert refused and refused.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED


def test_who_may_not_alter_the_cluster_makes_no_acls(where):
    alice = AdminClient(client_of(where, "alice", "b"))
    own = AclBinding(
        ResourceType.TOPIC, THEIRS, ResourcePatternType.LITERAL, "User:alice", "*",
        AclOperation.ALL, AclPermissionType.ALLOW,
    )  # fmt: skip
    (done,) = alice.create_acls([own]).values()
    with pytest.raises(KafkaException) as refused:
        done.result(PATIENCE_S)
    assert refused.value.args[0].code() == KafkaError.CLUSTER_AUTHORIZATION_FAILED
