"""The metadata log of real KRaft nodes, 3.9.2 and 4.3.1, becomes the registry of ours.

`quorum/` has one log of each and a snapshot that the same node made on the way, after topics were
created, deleted, grown and reconfigured, users, ACLs and quotas made and some taken away again.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from touchstone.reference_impl.io.log_dir_error import LogDirError
from touchstone.reference_impl.io.quorum_log import FOLDER, QuorumLog, read_quorum_log
from touchstone.reference_impl.io.server import build, serve
from touchstone.reference_impl.log.files import names, scan
from touchstone.reference_impl.log.files.partition_metadata import parse_uuid, uuid_text
from touchstone.reference_impl.tests.io.test_data_dir import produce
from touchstone.reference_impl.tests.io.test_serving import Peer
from touchstone.reference_impl.wire.embedded import cluster_metadata as records
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import NONE
from touchstone.reference_impl.wire.records import build as batches

RECORDED = Path(__file__).parent / "quorum"
RELEASES = ("3.9", "4.3")
DIRECTORIES = {"3.9": "XmUjRe5BDUZCBZ7osyjS3g", "4.3": "JX2E-zUC1uy9kBAvFLW-EA"}  # of the two nodes
LOG = names.name_of(0, names.LOG)
META = "node.id=1\nversion=1\ncluster.id=7Yw0c2oXQ1mZ3m6H8wqz1A\ndirectory.id=%s\n"
MINE, OTHER = b"m" * 16, b"o" * 16


def log_of(release: str) -> bytes:
    return gzip.decompress((RECORDED / f"{release}.log.gz").read_bytes())


def a_node(root: Path, log: bytes, directory: bytes = MINE) -> Path:
    (root / FOLDER).mkdir(parents=True)
    (root / FOLDER / LOG).write_bytes(log)
    (root / names.META_PROPERTIES).write_text(META % uuid_text(directory))
    return root


def said(found: QuorumLog | None) -> str:
    """All that a log says, whatever the order in which a snapshot tells it."""
    assert found is not None
    image = found.image.image("c", found.epoch, found.end)
    image["acls"].sort()
    image["quotas"].sort(key=str)
    return json.dumps(image, sort_keys=True)


@pytest.mark.parametrize("release", RELEASES)
def test_the_registry_is_what_the_quorum_decided(tmp_path, release):
    root = a_node(tmp_path, log_of(release), parse_uuid(DIRECTORIES[release]))
    with serve(release=release, data=root) as running:
        cluster = running.cluster
        topics, settings = cluster.topics, cluster.client_settings
        assert cluster.cluster_id == "7Yw0c2oXQ1mZ3m6H8wqz1A"
        assert {"comp", "again", "plain", "short", "__consumer_offsets"} < topics.keys()
        assert "gone" not in topics and len(topics["again"].partitions) == 3
        assert topics["comp"].configs == {"cleanup.policy": "compact", "segment.bytes": "1048576"}
        assert cluster.config_of("__consumer_offsets").compact
        assert topics["short"].configs == {"retention.ms": "86400000", "max.message.bytes": "2000"}
        assert len(topics["plain"].partitions) == 2
        assert {each.leader for each in cluster.all_partitions()} == {1}
        assert cluster.dynamic_configs["1"] == {"log.retention.ms": "7200000"}
        assert cluster.metrics_configs == {"m1": {"interval.ms": "5000"}}
        assert sorted(settings.users()) == ["alice", "bob"]
        assert dict(settings.quotas()) == {
            (("client-id", None),): {"request_percentage": 50.0},
            (("user", "bob"),): {"producer_byte_rate": 1000.0},
        }
        assert sorted(pattern.name for pattern, _ in cluster.acls) == ["comp", "pre"]
        assert cluster.next_producer_id == 2000
        assert cluster.features["metadata.version"] == {"3.9": 21, "4.3": 30}[release]


@pytest.mark.parametrize("release", RELEASES)
def test_a_snapshot_and_what_follows_say_what_the_whole_log_says(tmp_path, release):
    root = a_node(tmp_path, log_of(release))
    whole = said(read_quorum_log(root))
    (path,) = RECORDED.glob(f"{release}.*-2.checkpoint.gz")
    end = int(path.name.removeprefix(f"{release}.").partition("-")[0])
    snapshot = root / FOLDER / f"{end:020d}-{2:010d}.checkpoint"
    snapshot.write_bytes(gzip.decompress(path.read_bytes()))
    assert said(read_quorum_log(root)) == whole
    (root / FOLDER / LOG).unlink()
    log = log_of(release)  # what the snapshot covers is not applied a second time
    kept = next(each for each in scan.Scanner(log, 0) if each.base_offset > end - 120)
    tail = root / FOLDER / names.name_of(kept.base_offset, names.LOG)
    tail.write_bytes(log[kept.position :])
    assert said(read_quorum_log(root)) == whole
    tail.unlink()
    alone = read_quorum_log(root)
    assert alone is not None and (alone.end, alone.epoch) == (end, 2)


def test_what_cannot_be_read_is_refused_by_name(tmp_path):
    unknown = batches(2, [bytes([1, 99, 0, 0])], NONE)
    root = a_node(tmp_path, unknown)
    with pytest.raises(
        LogDirError, match=rf"{LOG}: .*no metadata record of type 99.* cannot be known"
    ):
        build(data=root)


def test_a_log_without_its_beginning_is_refused(tmp_path):
    root = a_node(tmp_path, b"")
    (root / FOLDER / LOG).rename(root / FOLDER / names.name_of(7, names.LOG))
    with pytest.raises(LogDirError, match="begins at offset 7, and no snapshot leads there"):
        build(data=root)


def test_a_cluster_of_a_later_release_is_refused(tmp_path):
    root = a_node(tmp_path, log_of("4.3"))
    with pytest.raises(LogDirError, match=r"metadata\.version is 30, and 3\.9 knows it up to"):
        build(data=root, release="3.9")


def metadata(*rows: tuple[records.Message, dict[str, object]], base: int = 0) -> bytes:
    values = [records.encode_record(schema, 0, body) for schema, body in rows]
    return batches(2, values, NONE, base_offset=base)


def topic(name: str, topic_id: bytes) -> list[tuple[records.Message, dict[str, object]]]:
    row = {"partition_id": 0, "topic_id": topic_id, "replicas": [1], "isr": [1], "leader": 1}
    return [(records.TOPIC, {"name": name, "topic_id": topic_id}), (records.PARTITION, row)]


def test_a_transaction_counts_when_it_ends(tmp_path):
    begin, end, abort = (
        (schema, {})
        for schema in (
            records.BEGIN_TRANSACTION,
            records.END_TRANSACTION,
            records.ABORT_TRANSACTION,
        )
    )
    log = metadata(
        begin, *topic("kept", b"k" * 16), end, begin, *topic("dropped", b"d" * 16), abort,
        begin, *topic("open", b"p" * 16),
    )  # fmt: skip
    found = read_quorum_log(a_node(tmp_path, log))
    assert found is not None and found.image.image("c", 0, 0)["topics"].keys() == {"kept"}


def test_what_kafka_decides_afterwards_holds(tmp_path):
    """Our own registry is believed as long as the metadata log has not moved."""
    log = metadata(*topic("words", b"w" * 16))
    root = a_node(tmp_path, log)
    with serve(data=root) as running:
        running.cluster.configure("words", {"retention.ms": "5"})
    with serve(data=root) as running:
        assert running.cluster.topics["words"].configs == {"retention.ms": "5"}
    more = metadata(*topic("later", b"l" * 16), base=2)
    (root / FOLDER / LOG).write_bytes(log + more)
    with serve(data=root) as running:
        configs = {name: each.configs for name, each in running.cluster.topics.items()}
        assert configs == {"words": {}, "later": {}}


def test_a_partition_in_another_directory_is_not_begun_here(tmp_path):
    """Kafka refuses to start over two folders of one partition."""
    row = {"partition_id": 0, "topic_id": b"w" * 16, "replicas": [1], "isr": [1], "leader": 1}
    there = records.encode_record(records.PARTITION, 1, {**row, "directories": [OTHER]})
    named = records.encode_record(records.TOPIC, 0, {"name": "words", "topic_id": b"w" * 16})
    root = a_node(tmp_path, batches(2, [named, there], NONE))
    with serve(data=root) as running, Peer(running.bootstrap[0]) as peer:
        assert produce(peer, 0)[0] == ErrorCode.KAFKA_STORAGE_ERROR
    assert not (root / "words-0").exists()


def test_a_folder_that_no_topic_names_is_left_alone(tmp_path):
    root = a_node(tmp_path, metadata(*topic("words", b"w" * 16)))
    (root / "old-0").mkdir()
    with serve(data=root) as running:
        assert running.cluster.topics.keys() == {"words"}
    assert (root / "old-0").exists()
