"""Partitions that never had a leader, in releases with ZooKeeper: elections, and growth.

A manual assignment may name no replica at all, or brokers that are not there. Brokers are told
nothing of such partitions, so elections of all of them pass these over; named, they are Kafka's
NoSuchElementException in the controller, and the client hears nothing. Where no replica was named,
there is no telling how many a new partition is to have.

Sources: KafkaController.processReplicaLeaderElection@2.8.2, its forerunner @2.2.1; observed on
1.0.2 (growth), 2.2.1, 2.8.2.
"""

import pytest

from touchstone.reference_impl.tests.control.node import SILENT, Peer, brokers

NEEDED_NOT = {"2.2": 0, "2.8": 84}
VERSIONS = {"2.2": 0, "2.8": 1}


def peer_of(release, replicas):
    peer = Peer(brokers(release)[0])
    for name, row in (("led", [0]), ("leaderless", replicas)):
        topic = {"name": name, "num_partitions": -1, "replication_factor": -1, "configs": []}
        topic["assignments"] = [{"partition_index": 0, "broker_ids": row}]
        peer.ask(19, 1, {"topics": [topic], "timeout_ms": 0, "validate_only": False})
    return peer


def elect(peer, release, names, kind=0):
    rows = None if names is None else [{"topic": name, "partitions": [0]} for name in names]
    body = {"election_type": kind, "topic_partitions": rows, "timeout_ms": 3_000}
    answer = peer.ask(43, VERSIONS[release], body)
    if answer == SILENT:
        return SILENT
    return {
        row["topic"]: row["partition_result"][0]["error_code"]
        for row in answer["replica_election_results"]
    }


@pytest.mark.parametrize("replicas", [[], [9]])
@pytest.mark.parametrize("release", ["2.2", "2.8"])
def test_who_never_had_a_leader_is_passed_over_or_not_answered(release, replicas):
    peer = peer_of(release, replicas)
    assert elect(peer, release, None) == ({"led": 0} if release == "2.2" else {})
    assert elect(peer, release, ["led"]) == {"led": NEEDED_NOT[release]}
    assert elect(peer, release, ["led", "leaderless"]) == SILENT


@pytest.mark.parametrize("replicas", [[], [9]])
def test_unclean_elections_know_no_better(replicas):
    peer = peer_of("2.8", replicas)
    assert elect(peer, "2.8", None, kind=1) == {}
    assert elect(peer, "2.8", ["leaderless"], kind=1) == SILENT


@pytest.mark.parametrize(
    ("release", "words"), [("1.0", "empty.head"), ("2.2", "empty.head"), ("2.8", None)]
)
def test_what_has_no_replicas_cannot_grow(release, words):
    peer = peer_of(release, [])
    topic = {"name": "leaderless", "count": 2, "assignments": None}
    body = {"topics": [topic], "timeout_ms": 1_500, "validate_only": False}
    (answer,) = peer.ask(37, 0, body)["results"]
    assert (answer["error_code"], answer["error_message"]) == (-1, words)
