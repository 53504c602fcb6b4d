"""SASL listeners behind sockets: whom they name, how large a frame may be, who has which quota."""

import json
import struct

import pytest

from touchstone.reference_impl.broker.effects import Connection, Principal
from touchstone.reference_impl.cluster.client_settings import entity
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.broker.one_broker import OneBroker, batch
from touchstone.reference_impl.tests.io.test_serving import Peer
from touchstone.reference_impl.tests.security import conversations
from touchstone.reference_impl.tests.security.conversations import (
    GOOD,
    PLAINTEXT,
    SASL,
    SCRAM_PASSWORD,
    SCRAM_USERS,
    SETTINGS,
    SHORT,
    SocketWire,
)
from touchstone.reference_impl.tests.security.test_recorded import FOLDER

QUICK = {
    "connection.failed.authentication.delay.ms": "0",
    "offsets.topic.replication.factor": "1",
    "sasl.server.max.receive.size": "100000",
}
SCRAM = [f"{kind}=[name={user},password={SCRAM_PASSWORD}]" for user, kind in SCRAM_USERS]
HANDSHAKE, AUTHENTICATE, PRODUCE, METADATA = 17, 36, 0, 3


@pytest.mark.parametrize("release", ["1.0", "4.3"])
def test_brokers_are_told_by_listener(release):
    recorded = json.loads((FOLDER / f"{release}.json").read_text())
    with serve(release=release, config=SETTINGS | QUICK, scram=SCRAM) as running:
        ports = {
            int(where[0].rpartition(":")[2]): name for name, where in running.listeners.items()
        }
        by_name = {name: port for port, name in ports.items()}
        for one in conversations.conversations(release):
            if one.listener != SHORT and "right" in one.name:
                ours = conversations.held(
                    one, lambda name: SocketWire(by_name[name]), release, ports
                )
                assert ours == recorded[one.name], one.name


@pytest.fixture(scope="module")
def running():
    with serve(config=SETTINGS | QUICK) as cluster:
        yield cluster


def ended(peer):
    return peer.take(1) == b""


@pytest.mark.parametrize("size", [100_001, 1 << 30, -1])
def test_a_frame_above_the_limit_is_not_waited_for(running, size):
    with Peer(running.listeners[SASL][0]) as peer:
        peer.sock.sendall(struct.pack(">i", size))
        assert ended(peer)


def test_a_known_peer_may_send_more(running):
    with Peer(running.listeners[SASL][0]) as peer:
        peer.ask(HANDSHAKE, 1, {"mechanism": "PLAIN"})
        assert peer.ask(AUTHENTICATE, 2, {"auth_bytes": GOOD})["error_code"] == 0
        names = ["x" * 200] * 1000
        answer = peer.ask(METADATA, 1, {"topics": [{"name": name} for name in names]})
        assert len(answer["topics"]) == 1


def test_a_plain_listener_has_the_limit_of_everybody(running):
    with Peer(running.listeners[PLAINTEXT][0]) as peer:
        names = ["x" * 200] * 1000
        assert peer.ask(METADATA, 1, {"topics": [{"name": name} for name in names]})["brokers"]


def test_a_quota_is_of_a_user():
    made = OneBroker()
    made.topic()
    made.cluster.client_settings.set_quotas(entity({"user": "alice"}), {"producer_byte_rate": 1.0})
    waits = {}
    for number, user in enumerate(("alice", "bob"), 1):
        connection = Connection(number)
        connection.authenticated(Principal("User", user))
        body = {
            "acks": -1, "timeout_ms": 1000, "transactional_id": None,
            "topic_data": [{"name": "t", "partition_data": [{"index": 0, "records": batch()}]}],
        }  # fmt: skip
        answer = made.ask("Produce", 12, body, connection=connection)
        waits[user] = answer["throttle_time_ms"]
    assert waits["alice"] > 0 == waits["bob"]


REFUSED = {
    "no mechanism": ({"sasl.enabled.mechanisms": ""}, "No SASL mechanisms are enabled"),
    "kerberos": ({"sasl.enabled.mechanisms": "GSSAPI"}, "GSSAPI is not obeyed"),
    "no module": (
        {"listener.name.short.plain.sasl.jaas.config": None},
        "Could not find a 'KafkaServer' or 'short.KafkaServer' entry in the JAAS configuration",
    ),
    "another module": (
        {"listener.name.short.plain.sasl.jaas.config": "a.B required;"}, "a.B, which is not obeyed",
    ),
    "no flag": (
        {"listener.name.short.plain.sasl.jaas.config": "a.B"}, "control flag not specified",
    ),
    "a handler": (
        {"listener.name.short.plain.sasl.server.callback.handler.class": "a.B"}, "not obeyed",
    ),
    "no number": ({"connections.max.reauth.ms": "soon", f"listener.name.{SHORT.lower()}"
                   ".connections.max.reauth.ms": None}, "Not a number"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_obeyed_is_refused_before_anything_listens(name):
    changes, words = REFUSED[name]
    config = {key: value for key, value in (SETTINGS | changes).items() if value is not None}
    with pytest.raises(ValueError) as refused:
        serve(config=config)
    assert words in str(refused.value) and "\n" not in str(refused.value)
