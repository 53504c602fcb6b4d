"""Each way to spoil a request, as our own client over a socket meets it."""

from __future__ import annotations

import json
import socket
import struct
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from touchstone.reference_impl.broker.faults.fault_plan import ACTIONS, Rule
from touchstone.reference_impl.client.flow import Ask, Failed
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.fault_http import FaultDoor
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire.errors import ErrorCode

METADATA = Ask("any", "Metadata", {"topics": []}, versions=(1, 1))
IMPATIENT, NEVER_MS = replace(METADATA, timeout_ms=400), 600_000
HANGS_S = 300


@pytest.fixture(scope="module")
def cluster():
    with serve() as running:
        yield running


@pytest.fixture
def plan(cluster):
    yield cluster.faults
    cluster.faults.clear()


@pytest.fixture
def client(cluster):
    with Client(cluster.bootstrap) as made:
        made.ask("Metadata", {"topics": []}, versions=(1, 1))  # versions are agreed on
        yield made


def outcome(client: Client, ask: Ask = METADATA):
    def flow():
        return (yield [ask])

    return client.run(flow())[0]


def appended(client: Client, topic: str) -> int:
    """How many records the partition has."""
    wanted = [{"partition_index": 0, "timestamp": -1}]
    body = {"replica_id": -1, "topics": [{"name": topic, "partitions": wanted}]}
    answer = client.ask("ListOffsets", body, versions=(1, 1))
    return answer["topics"][0]["partitions"][0]["offset"]


def test_error(plan, client):
    client.admin.create_topic("error")
    plan.add(Rule(action="error", api="ListOffsets", topic="error", error="NOT_LEADER_OR_FOLLOWER"))
    body = {
        "replica_id": -1,
        "topics": [{"name": "error", "partitions": [{"partition_index": 0, "timestamp": -1}]}],
    }
    row = client.ask("ListOffsets", body, versions=(1, 1))["topics"][0]["partitions"][0]
    assert row["error_code"] == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_error_is_instead_of_doing_it(plan, client):
    client.admin.create_topic("not-done")
    number = plan.add(Rule(action="error", api="Produce", error=87, times=1))
    producer = client.producer(idempotence=False, retries=0)
    delivery = producer.send("not-done", b"x", partition=0)
    producer.flush()
    assert delivery.error.code == 87 and appended(client, "not-done") == 0
    assert [each.hits for each in plan.standing() if each.number == number] == [1]


def test_delay(plan, client):
    plan.add(Rule(action="delay", api="Metadata", ms=NEVER_MS))
    found = outcome(client, IMPATIENT)
    assert isinstance(found, Failed) and found.kind == "timeout"


def test_delay_ends(plan, client):
    plan.add(Rule(action="delay", api="Metadata", ms=30))
    assert not isinstance(outcome(client), Failed)
    assert [each.hits for each in plan.standing()] == [1]


def test_drop(plan, client):
    plan.add(Rule(action="drop", api="Metadata"))
    assert outcome(client, IMPATIENT).kind == "timeout"


def test_close(plan, client):
    plan.add(Rule(action="close", api="Metadata"))
    assert outcome(client).kind == "closed"


def test_truncate(plan, client):
    plan.add(Rule(action="truncate", api="Metadata", keep=9))
    found = outcome(client)
    assert found.kind == "malformed" and "decode" in found.reason


def test_truncate_leaves_exactly_so_many_bytes(cluster, plan):
    plan.add(Rule(action="truncate", api="ApiVersions", keep=7))
    host, _, port = cluster.bootstrap[0].rpartition(":")
    with socket.create_connection((host, int(port)), timeout=HANGS_S) as raw:
        frame = struct.pack(">hhih", 18, 0, 5, -1)
        raw.sendall(struct.pack(">i", len(frame)) + frame)
        said = b""
        while len(said) < 11:
            said += raw.recv(64)
    assert struct.unpack(">ii", said[:8]) == (7, 5)


def test_corrupt(plan, client):
    plan.add(Rule(action="corrupt", api="Metadata", at=3))
    found = outcome(client)
    assert found.kind == "malformed" and "correlation id" in found.reason


def test_a_request_whose_answer_is_lost_was_carried_out_and_its_retry_is_known(plan, client):
    """The one fault for which idempotence exists (KIP-98)."""
    client.admin.create_topic("lost-answer")
    plan.add(Rule(action="close", api="Produce", times=1))
    producer = client.producer()
    delivery = producer.send("lost-answer", b"x", partition=0)
    producer.flush()
    assert delivery.result().offset == 0 and appended(client, "lost-answer") == 1


def test_without_idempotence_the_same_fault_makes_a_duplicate(plan, client):
    client.admin.create_topic("twice")
    plan.add(Rule(action="close", api="Produce", times=1))
    producer = client.producer(idempotence=False)
    producer.send("twice", b"x", partition=0)
    producer.flush()
    assert appended(client, "twice") == 2


def test_a_request_that_never_was_is_not_carried_out(plan, client):
    client.admin.create_topic("never-was")
    plan.add(Rule(action="close", api="Produce", times=1, carried_out=False))
    producer = client.producer(idempotence=False)
    producer.send("never-was", b"x", partition=0)
    producer.flush()
    assert appended(client, "never-was") == 1


def test_a_fetch_that_waits_is_spoiled_when_its_wait_is_over(plan, client):
    client.admin.create_topic("waiting")
    plan.add(Rule(action="close", api="Fetch", topic="waiting"))
    row = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 100}
    body = {
        "replica_id": -1, "max_wait_ms": 50, "min_bytes": 1, "max_bytes": 100,
        "topics": [{"topic": "waiting", "partitions": [row]}],
    }  # fmt: skip
    assert outcome(client, Ask("any", "Fetch", body, versions=(4, 4))).kind == "closed"


def test_rules_may_stand_before_the_first_connection():
    with serve(faults=[Rule(action="close", api="ApiVersions")]) as running:
        assert not isinstance(running.faults.standing(), list)
        with Client(running.bootstrap) as client:
            assert outcome(client).kind == "closed"


# --- over HTTP ---------------------------------------------------------------------------------


@pytest.fixture
def door(cluster, plan):
    with FaultDoor(plan) as opened:
        yield opened.url


def http(method: str, url: str, body: object = None) -> tuple[int, dict]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, method=method)
    try:
        with urllib.request.urlopen(request, timeout=HANGS_S) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, json.load(refused)


def test_rules_come_bite_and_go_over_http(door, client):
    status, body = http("POST", door, {"action": "close", "api": "Metadata", "times": 1})
    assert status == 201
    assert outcome(client).kind == "closed"
    (row,) = http("GET", door)[1]["faults"]
    assert row == {"id": body["ids"][0], "action": "close", "api": "Metadata", "times": 1,
                   "matched": 1, "hits": 1}  # fmt: skip
    assert http("DELETE", f"{door}/{row['id']}")[0] == 200
    assert http("GET", door)[1] == {"faults": []}


def test_several_at_once_and_all_gone(door):
    rows = [{"action": action, "api": "Fetch"} for action in ACTIONS]
    assert len(http("POST", door, rows)[1]["ids"]) == len(ACTIONS)
    assert http("DELETE", door)[0] == 200 and http("GET", door)[1] == {"faults": []}


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "", {"action": "explode"}, 400),
        ("POST", "", [{"action": "drop"}, {"action": "explode"}], 400),
        ("POST", "", 7, 400),
        ("POST", "/1", {"action": "drop"}, 404),
        ("GET", "/1", None, 404),
        ("DELETE", "/99", None, 404),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(door, method, path, body, status):
    found, said = http(method, door + path, body)
    assert found == status and said["error"]
    assert http("GET", door)[1] == {"faults": []}


@pytest.mark.parametrize("by_number", [True, False], ids=["one", "all"])
def test_a_rule_that_is_taken_back_lets_go_of_the_answers_it_delays(cluster, plan, by_number):
    """A test that forgot a long delay kept its connection waiting after the rule had gone."""
    number = plan.add(Rule(action="delay", api="Metadata", ms=NEVER_MS))
    other = plan.add(Rule(action="delay", api="ListOffsets", ms=NEVER_MS))
    with Client(cluster.bootstrap) as client, ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(outcome, client, replace(METADATA, timeout_ms=NEVER_MS))
        while not any(each.hits for each in plan.standing() if each.number == number):
            assert not waiting.done()
        if by_number:
            assert plan.remove(number)
        else:
            plan.clear()
        assert not isinstance(waiting.result(HANGS_S), Failed)
    assert [each.number for each in plan.standing()] == ([other] if by_number else [])


def test_who_leaves_while_his_answer_is_delayed_leaves_nothing_behind(cluster, plan):
    plan.add(Rule(action="delay", api="Metadata", ms=NEVER_MS))
    server, injector = cluster.server, cluster.brokers[0].fault_injector

    def cut(now: int) -> None:
        for channel in [*injector._held]:
            server._close(channel, "the peer broke the connection")

    with Client(cluster.bootstrap) as client:
        outcome(client, replace(METADATA, timeout_ms=50))
        assert injector._held
        server.call(cut).result(HANGS_S)
    assert not injector._held
    assert not any(key[0] == "late answer" for key in cluster.brokers[0].purgatory._alarms)
