"""A cluster on disk comes back as it was: topics, ids, configs, records, producers, directories."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from touchstone.reference_impl.broker.personas.releases import RELEASES
from touchstone.reference_impl.io.log_dir_error import LogDirError
from touchstone.reference_impl.io.server import build, serve
from touchstone.reference_impl.log.files import meta_properties, names
from touchstone.reference_impl.tests.io.test_serving import ROOT, Peer
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import NONE, read
from touchstone.reference_impl.wire.records import build as a_batch

PRODUCE, FETCH, CREATE, DESCRIBE_CONFIGS, ALTER_DIRS, DESCRIBE_DIRS = 0, 1, 19, 32, 34, 35
INIT_PRODUCER_ID = 22
STAMP = time.time_ns() // 1_000_000  # producers that are old are forgotten at start-up


def create(peer: Peer, *, partitions: int = 1, replicas: int = 1, **configs: str) -> int:
    rows = [{"name": name.replace("_", "."), "value": text} for name, text in configs.items()]
    topic = {
        "name": "words", "num_partitions": partitions, "replication_factor": replicas,
        "assignments": [], "configs": rows,
    }  # fmt: skip
    body = {"topics": [topic], "timeout_ms": 20_000, "validate_only": False}
    return peer.ask(CREATE, 2, body)["topics"][0]["error_code"]


def produce(
    peer: Peer, sequence: int, partition: int = 0, acks: int = -1, stamp: int = STAMP, who: int = 3
) -> tuple[int, int]:
    batch = a_batch(
        2, [b"%d" % sequence], NONE, timestamp=stamp + sequence, producer_id=who, producer_epoch=0,
        base_sequence=sequence,
    )  # fmt: skip
    body = {
        "transactional_id": None, "acks": acks, "timeout_ms": 20_000,
        "topic_data": [
            {"name": "words", "partition_data": [{"index": partition, "records": batch}]}
        ],
    }  # fmt: skip
    row = peer.ask(PRODUCE, 3, body)["responses"][0]["partition_responses"][0]
    return row["error_code"], row["base_offset"]


def values(peer: Peer, partition: int = 0) -> list[bytes]:
    row = {"partition": partition, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
    body = {
        "replica_id": -1, "max_wait_ms": 100, "min_bytes": 0, "max_bytes": 1 << 20,
        "isolation_level": 0, "topics": [{"topic": "words", "partitions": [row]}],
    }  # fmt: skip
    found = peer.ask(FETCH, 4, body)["responses"][0]["partitions"][0]
    assert found["error_code"] == 0
    return [record["value"] for record in read(found["records"])]


def directories(peer: Peer) -> dict[str, tuple[int, int]]:
    """By the end of its path: error code and partitions of each log directory."""
    results = peer.ask(DESCRIBE_DIRS, 1, {"topics": None})["results"]
    return {
        Path(row["log_dir"]).name: (
            row["error_code"], sum(len(topic["partitions"]) for topic in row["topics"])
        )
        for row in results
    }  # fmt: skip


@pytest.mark.parametrize("release", RELEASES)
def test_what_was_there_is_there_again(tmp_path, release):
    with serve(release=release, data=tmp_path) as running, Peer(running.bootstrap[0]) as peer:
        assert create(peer, partitions=3, segment_bytes="5000000") == 0
        assert [produce(peer, n) for n in range(4)] == [(0, n) for n in range(4)]
        before = running.cluster
    with serve(release=release, data=tmp_path, seed=1) as running:
        with Peer(running.bootstrap[0]) as peer:
            assert values(peer) == [b"0", b"1", b"2", b"3"]
            assert produce(peer, 3) == (0, 3)
            assert produce(peer, 4) == (0, 4)
        after = running.cluster
        assert after.cluster_id == before.cluster_id
        assert after.topics["words"].id == before.topics["words"].id
        assert after.topics["words"].configs == {"segment.bytes": "5000000"}
        assert after.partition("words", 0).leader_epoch == 1
        assert after.next_producer_id >= before.next_producer_id


SESSION_MS = 20_000  # more than a registration outlives its broker


def fresh_producer_id(peer: Peer) -> int:
    body = {"transactional_id": None, "transaction_timeout_ms": 60_000}
    answer = peer.ask(INIT_PRODUCER_ID, 0, body)
    assert answer["error_code"] == 0
    return answer["producer_id"]


@pytest.mark.parametrize("release", RELEASES)
def test_ids_of_producers_come_from_the_registry_whatever_a_client_wrote(tmp_path, release):
    """Blocks of ids come from the controller or from ZooKeeper, and no log is asked (KIP-98)."""
    with serve(release=release, data=tmp_path) as running, Peer(running.bootstrap[0]) as peer:
        assert create(peer) == 0
        assert fresh_producer_id(peer) == 0
        assert produce(peer, 0, who=2**63 - 1) == (0, 0)
        running.kill(0)
        running.advance(SESSION_MS)
        running.start_broker(0)
        with Peer(running.bootstrap[0]) as again:
            assert fresh_producer_id(again) == 1000
    with serve(release=release, data=tmp_path) as running, Peer(running.bootstrap[0]) as peer:
        assert fresh_producer_id(peer) == 2000


@pytest.mark.parametrize(("forged", "fresh"), [(3, 4), (2**63 - 1, 0)])
def test_logs_without_their_registry_tell_which_ids_are_taken(tmp_path, forged, fresh):
    with serve(data=tmp_path) as running, Peer(running.bootstrap[0]) as peer:
        assert create(peer) == 0
        assert produce(peer, 0, who=forged) == (0, 0)
    (tmp_path / "touchstone.json").unlink()
    with serve(data=tmp_path) as running, Peer(running.bootstrap[0]) as peer:
        assert fresh_producer_id(peer) == fresh


@pytest.mark.parametrize(("release", "days", "kept"), [("2.8", 6, True), ("4.3", 6, False)])
def test_a_producer_that_is_old_is_forgotten_at_start_up(tmp_path, release, days, kept):
    """A week before 3.4, a day since then: seen on 2.8.2, which took a repeat for a new batch."""
    with serve(release=release, data=tmp_path) as running, Peer(running.bootstrap[0]) as peer:
        assert create(peer) == 0
        assert produce(peer, 0, stamp=STAMP - days * 86_400_000) == (0, 0)
    with serve(release=release, data=tmp_path) as running, Peer(running.bootstrap[0]) as peer:
        assert produce(peer, 0) == (0, 0 if kept else 1)


def test_three_brokers_keep_three_replicas(tmp_path):
    with serve(3, data=tmp_path) as running, Peer(running.bootstrap[0]) as peer:
        assert create(peer, replicas=3) == 0
        leader = running.cluster.partition("words", 0).leader
        with Peer(running.bootstrap[leader]) as other:
            assert produce(other, 0) == (0, 0)
    sizes = {p.stat().st_size for p in tmp_path.glob("broker-*/words-0/*.log")}
    assert len(list(tmp_path.glob("broker-*/words-0/*.log"))) == 3
    assert len(sizes) == 1 and sizes != {0}
    owners = [
        meta_properties.meta_of(meta_properties.decode(path.read_bytes()))
        for path in sorted(tmp_path.glob(f"broker-*/{names.META_PROPERTIES}"))
    ]
    assert [owner.node_id for owner in owners] == [0, 1, 2]
    assert {owner.cluster_id for owner in owners} == {running.cluster.cluster_id}


def test_a_broker_that_is_killed_recovers_while_the_others_serve(tmp_path):
    hurried = {"broker.session.timeout.ms": "300", "broker.heartbeat.interval.ms": "50"}
    with serve(3, data=tmp_path, config=hurried) as running, Peer(running.bootstrap[0]) as peer:
        assert create(peer, replicas=3) == 0
        running.kill(2)
        assert not (tmp_path / "broker-2" / names.CLEAN_SHUTDOWN).exists()
        running.start_broker(2)
        running.stop_broker(2)
        assert (tmp_path / "broker-2" / names.CLEAN_SHUTDOWN).exists()
        running.start_broker(2)
        assert len(running.brokers) == 3


def test_a_directory_of_another_cluster_is_refused(tmp_path):
    with serve(data=tmp_path):
        pass
    path = tmp_path / "broker-0" / names.META_PROPERTIES
    path.write_bytes(path.read_bytes().replace(b"node.id=0", b"node.id=9"))
    with pytest.raises(LogDirError, match=r"node\.id"):
        build(data=tmp_path)


def test_two_processes_cannot_share_a_directory(tmp_path):
    with serve(data=tmp_path), pytest.raises(LogDirError, match="lock"):
        build(data=tmp_path)


def test_a_registry_that_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "touchstone.json").write_text('{"format": 1')
    with pytest.raises(LogDirError, match="cannot be read"):
        build(data=tmp_path)


def test_partitions_spread_over_directories_and_move_between_them(tmp_path):
    config = {"log.dirs": "one,two"}
    with serve(data=tmp_path, config=config) as running, Peer(running.bootstrap[0]) as peer:
        assert create(peer, partitions=6) == 0
        assert produce(peer, 0) == (0, 0)
        assert directories(peer) == {"one": (0, 3), "two": (0, 3)}
        home = next(p.parent for p in (tmp_path / "broker-0").glob("*/words-0"))
        other = home.parent / ("two" if home.name == "one" else "one")
        topic = {"name": "words", "partitions": [0]}
        move = {"dirs": [{"path": str(other), "topics": [topic]}]}
        moved = peer.ask(ALTER_DIRS, 1, move)["results"][0]["partitions"][0]
        assert moved["error_code"] == 0
        assert sorted(directories(peer).values()) == [(0, 2), (0, 4)]
        assert produce(peer, 1) == (0, 1)
    assert (other / "words-0").exists() and not (home / "words-0").exists()
    with serve(data=tmp_path, config=config) as running, Peer(running.bootstrap[0]) as peer:
        assert values(peer) == [b"0", b"1"]


def test_a_directory_that_fails_goes_offline_and_the_other_serves_on(tmp_path):
    config = {"log.dirs": "one,two"}
    with serve(data=tmp_path, config=config) as running, Peer(running.bootstrap[0]) as peer:
        assert create(peer, partitions=2) == 0
        home = next(p.parent for p in (tmp_path / "broker-0").glob("*/words-0"))
        logs = running.brokers[0].replicas.logs
        broken = next(each for each in logs.dirs if each.root == home)
        broken.disk.pwrite = _no_space
        assert produce(peer, 0)[0] == ErrorCode.KAFKA_STORAGE_ERROR
        assert directories(peer)[home.name] == (ErrorCode.KAFKA_STORAGE_ERROR, 0)
        assert produce(peer, 0)[0] == ErrorCode.KAFKA_STORAGE_ERROR
        assert produce(peer, 0, partition=1) == (0, 0)
        metadata = running.brokers[0].metadata
        assert metadata.offline(metadata.partition("words", 0)) == [0]
    assert not (home / names.CLEAN_SHUTDOWN).exists()


@pytest.mark.parametrize("release", ["2.8", "4.3"])
def test_another_replica_leads_when_the_leader_loses_its_directory(tmp_path, release):
    with serve(2, release=release, data=tmp_path) as running:
        with Peer(running.bootstrap[0]) as peer:
            assert create(peer, replicas=2) == 0
        partition = running.cluster.partition("words", 0)
        led = partition.leader
        with Peer(running.bootstrap[led]) as peer:
            assert produce(peer, 0) == (0, 0)
            running.brokers[led].replicas.logs.dirs[0].disk.pwrite = _no_space
            assert produce(peer, 1)[0] == ErrorCode.KAFKA_STORAGE_ERROR
        assert (partition.leader, partition.isr) == (1 - led, [1 - led])
        with Peer(running.bootstrap[1 - led]) as peer:
            assert produce(peer, 1) == (0, 1)
            assert values(peer) == [b"0", b"1"]


def _no_space(*_: object) -> int:
    raise OSError(28, "No space left on device")


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 7, 40])
def test_a_process_that_is_killed_loses_nothing_it_acknowledged(tmp_path, caplog, after):
    """kill -9 of a real process; the next one says that it had to recover."""
    command = [sys.executable, "-m", "touchstone", "broker", "--data", str(tmp_path)]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        bootstrap = process.stdout.readline().split()[1]
        with Peer(bootstrap) as peer:
            assert create(peer) == 0
            acknowledged = [produce(peer, n) for n in range(after)]
            os.kill(process.pid, signal.SIGKILL)
    assert acknowledged == [(0, n) for n in range(after)]
    assert json.loads((tmp_path / "touchstone.json").read_text())["topics"].keys() == {"words"}
    with serve(data=tmp_path) as running, Peer(running.bootstrap[0]) as peer:
        assert values(peer) == [b"%d" % n for n in range(after)]
        assert produce(peer, after) == (0, after)
    assert f"recovering {tmp_path / 'broker-0'}: it was not closed cleanly" in caplog.messages
