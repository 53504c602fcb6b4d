"""Each legal difference is hidden, and its doctored neighbour is not.

For every reason there is an honest conversation, a change that it allows (compare finds nothing)
and changes that look like it and are faults (compare finds them); a test misses who has none.
"""

from __future__ import annotations

import pytest

from touchstone.harness.judgement import normalize
from touchstone.harness.judgement.compare import compare
from touchstone.harness.tests import (
    coordinators,
    lived_counters,
    sasl_conversations,
    stopped_follower,
    telemetry_conversations,
)
from touchstone.harness.tests.conversations import CLOCK, conversation
from touchstone.harness.tests.offsets_log import commits, hashed, hosted, led, looked, stamped
from touchstone.reference_impl.wire.records.batch import Record, encode_batch
from touchstone.reference_impl.wire.records.crc import crc32c

ID, OTHER_ID = bytes(range(16)), bytes(range(16, 32))
NAME, OTHER = "topic-aaaaaaaaaa", "topic-bbbbbbbbbb"
_ROWS = [{"error_code": 105, "producer_id": 0}]
NOBODYS = ("DescribeTransactions", 0, {"transaction_states": _ROWS}, {})


def broker(node=0, port=9092):
    return {"node_id": node, "host": "127.0.0.1", "port": port, "rack": None}


def partition(index=0, replicas=(0,), leader=None, isr=None):
    return {
        "error_code": 0,
        "partition_index": index,
        "leader_id": replicas[0] if leader is None else leader,
        "replica_nodes": list(replicas),
        "isr_nodes": list(replicas if isr is None else isr),
    }


def topic(name=NAME, *partitions, topic_id=ID):
    return {
        "error_code": 0,
        "name": name,
        "topic_id": topic_id,
        "is_internal": False,
        "partitions": list(partitions) or [partition()],
    }


def metadata(label="asked", *, brokers=(), topics=(), asked=(), cluster="c-1", controller=0):
    answer = {
        "brokers": list(brokers) or [broker()],
        "cluster_id": cluster,
        "controller_id": controller,
        "topics": list(topics),
    }
    request = {"topics": None if asked is None else [{"name": name} for name in asked]}
    return (label, "Metadata", 10, request, answer)


def one(api, version, answer, request=None, label="asked"):
    return (label, api, version, request or {}, answer)


def records(*, compression=0, value=b"v", stamp=1, append_time=None, producer_id=-1, crc=None):
    data = encode_batch(
        [Record(0, 0, b"k", value)],
        base_timestamp=stamp,
        compression=compression,
        timestamp_type=append_time is not None,
        max_timestamp=append_time,
        producer_id=producer_id,
    )
    if crc is not None:
        data = data[:17] + crc.to_bytes(4, "big") + data[21:]
    return data


def fetch(data=b"", *, session=0, label="asked"):
    part = {"partition_index": 0, "error_code": 0, "high_watermark": 1, "records": data}
    answer = {"session_id": session, "responses": [{"topic": NAME, "partitions": [part]}]}
    return (label, "Fetch", 7, {"topics": []}, answer)


def longer(data):
    """The same compressed records as another codec would write them: gzip with an empty member."""
    payload = data[61:] + bytes.fromhex("1f8b08000000000000ff03000000000000000000")
    covered = data[21:61] + payload
    return (
        data[:8] + (49 + len(payload)).to_bytes(4, "big") + data[12:17]
        + crc32c(covered).to_bytes(4, "big") + covered
    )  # fmt: skip


def produced(time):
    part = {"index": 0, "error_code": 0, "base_offset": 0, "log_append_time_ms": time}
    responses = [{"name": NAME, "partition_responses": [part]}]
    return one("Produce", 3, {"responses": responses}, {"topic_data": []})


def listed(stamp):
    part = {"partition_index": 0, "error_code": 0, "timestamp": stamp, "offset": 3}
    topics = [{"name": "t", "partitions": [part]}]
    return one("ListOffsets", 1, {"topics": topics}, {"replica_id": -1, "topics": []})


def producer(pid, label="asked"):
    return one("InitProducerId", 0, {"error_code": 0, "producer_id": pid}, label=label)


def described(start, label="asked"):
    state = {"error_code": 0, "transactional_id": "t", "transaction_start_time_ms": start}
    return one("DescribeTransactions", 0, {"transaction_states": [state]}, {}, label=label)


def member(member_id, label="first"):
    answer = {"error_code": 0, "generation_id": 1, "leader": LEADER, "member_id": member_id}
    return one("JoinGroup", 2, answer, label=label)


LEADER = "client-00000000-0000-4000-8000-00000000000a"
FOLLOWER = "client-00000000-0000-4000-8000-00000000000b"
RENAMED = "member-1"  # in a form of its own


def config(name, value, documentation=None):
    row = {"name": name, "value": value, "documentation": documentation}
    answer = {"results": [{"resource_type": 4, "resource_name": "0", "configs": [row]}]}
    return one("DescribeConfigs", 3, answer, {"resources": []})


def said(message, throttle=0):
    answer = {"throttle_time_ms": throttle, "error_message": message}
    return one("AddRaftVoter", 0, answer, {})


def missing(names):
    row = {"status_code": 3, "status_detail": f"Internal topics are missing: {names}"}
    return one("StreamsGroupHeartbeat", 0, {"status": [row]}, {})


def quorum(version=0, *, leader=1, mark=7, end=7, fetched=CLOCK):
    voter = {"replica_id": 1, "log_end_offset": end, "last_fetch_timestamp": fetched}
    part = {"partition_index": 0, "error_code": 0, "leader_id": leader, "high_watermark": mark}
    part |= {"current_voters": [voter], "observers": []}
    answer = {"error_code": 0, "topics": [{"topic_name": "t", "partitions": [part]}]}
    return one("DescribeQuorum", version, answer, {"topics": []})


def lonely(node, *, leader=None, replicas=None, label="asked"):
    """What a cluster of one broker of this number says of itself."""
    part = partition(0, replicas or (node,), leader)
    rows = {"brokers": [broker(node)], "topics": [topic(NAME, part)], "asked": [NAME]}
    return metadata(label, controller=node, **rows)


def complaint(text):
    row = {"batch_index": 0, "batch_index_error_message": text}
    part = {"index": 0, "error_code": 32, "record_errors": [row], "error_message": "One failed"}
    lines = one("Produce", 8, {"responses": [{"name": NAME, "partition_responses": [part]}]})
    return talk(lines, times={"$now": CLOCK})


def created(assignments=()):
    entry = {"name": NAME, "assignments": list(assignments)}
    return one("CreateTopics", 2, {"topics": []}, {"topics": [entry]}, label="created")


def dirs(path="/a", total=-1, size=5, label="dirs", name=NAME):
    part = {"partition_index": 0, "partition_size": size, "offset_lag": 0, "is_future_key": False}
    topics = [{"name": name, "partitions": [part]}]
    row = {"error_code": 0, "log_dir": path, "topics": topics, "total_bytes": total,
           "usable_bytes": total, "is_cordoned": False}  # fmt: skip
    body = {"throttle_time_ms": 0, "error_code": 0, "results": [row]}
    return one("DescribeLogDirs", 4, body, {"topics": None}, label=label)


def cleaned(horizon, told=True):
    tombstone = Record(0, CLOCK - horizon, b"k", None)
    stamps = {"base_timestamp": horizon, "max_timestamp": 1}
    return fetch(encode_batch([tombstone], **stamps, delete_horizon=told))


def talk(*lines, **header):
    return conversation(*lines, **{"names": {"topic": NAME}} | header)


TWICE, PLACED = ("first", "second"), {"brokers": 3}
ASSIGNED, THREE = [{"partition_index": 0, "broker_ids": [0, 1, 2]}], [*map(broker, range(3))]

# reason -> (honest, a legal change, faults that look like it)
CASES = {
    **lived_counters.cases(),
    **stopped_follower.case(),
    "addresses": (
        talk(*(metadata(label) for label in TWICE)),
        talk(*(metadata(label, brokers=[broker(port=19092)]) for label in TWICE)),
        [
            talk(metadata("first"), metadata("second", brokers=[broker(port=19092)])),
            talk(*(metadata(label, brokers=[broker(port=0)]) for label in TWICE)),
        ],
    ),
    "cluster-id": (
        talk(*(metadata(label) for label in TWICE)),
        talk(*(metadata(label, cluster="c-2") for label in TWICE)),
        [
            talk(*(metadata(label, cluster=None) for label in TWICE)),
            talk(*(metadata(label, cluster="") for label in TWICE)),
            talk(metadata("first"), metadata("second", cluster="c-2")),
        ],
    ),
    "topic-ids": (
        talk(*(metadata(label, topics=[topic()], asked=[NAME]) for label in TWICE)),
        talk(
            *(metadata(label, topics=[topic(topic_id=OTHER_ID)], asked=[NAME]) for label in TWICE)
        ),
        [
            talk(
                metadata("first", topics=[topic()], asked=[NAME]),
                metadata("second", topics=[topic(topic_id=OTHER_ID)], asked=[NAME]),
            ),
            talk(
                *(
                    metadata(label, topics=[topic(topic_id=bytes(16))], asked=[NAME])
                    for label in TWICE
                )
            ),
        ],
    ),
    "producer-ids": (
        talk(producer(4000, "first"), producer(4001, "second"), one(*NOBODYS)),
        talk(producer(0, "first"), producer(2, "second"), one(*NOBODYS)),
        [
            talk(producer(4000, "first"), producer(4000, "second")),
            talk(producer(-1, "first"), producer(4001, "second")),
        ],
    ),
    "sessions": (
        talk(fetch(session=11), fetch(session=11, label="again")),
        talk(fetch(session=7), fetch(session=7, label="again")),
        [
            talk(fetch(session=0), fetch(session=11, label="again")),
            talk(fetch(session=-11), fetch(session=-11, label="again")),
            talk(fetch(session=11), fetch(session=12, label="again")),
        ],
    ),
    "append-times": (
        talk(produced(CLOCK + 5)),
        talk(produced(CLOCK + 900), clock_ms=CLOCK + 800),
        [talk(produced(-1)), talk(produced(CLOCK - 10_000_000)), talk(produced(0))],
    ),
    "run-times": (
        talk(listed(CLOCK), times={"$now": CLOCK}),
        talk(listed(CLOCK + 77), times={"$now": CLOCK + 77}, clock_ms=CLOCK + 77),
        [talk(listed(CLOCK + 1), times={"$now": CLOCK}), talk(listed(-1), times={"$now": CLOCK})],
    ),
    "transaction-times": (
        talk(described(CLOCK + 5)),
        talk(described(CLOCK + 900), clock_ms=CLOCK + 800),
        [talk(described(-1)), talk(described(0))],
    ),
    "member-ids": (
        talk(member(FOLLOWER)),
        talk(member(RENAMED)),
        [talk(member(who)) for who in (LEADER, "")]
        + [talk(member(FOLLOWER), member("", "second"))],
    ),
    "deployment": (
        talk(config("log.dirs", "/a")),
        talk(config("log.dirs", "/b/c")),
        [talk(config("log.dirs", None)), talk(config("log.dir", "/a"))],
    ),
    "documentation": (
        talk(config("retention.ms", "1", "How long records stay.")),
        talk(config("retention.ms", "1", "Read the manual.")),
        [talk(config("retention.ms", "1")), talk(config("retention.ms", "1", ""))],
    ),
    "log-dirs": (
        talk(*(dirs(label=label) for label in TWICE)),
        talk(*(dirs("/b", label=label) for label in TWICE)),
        [talk(dirs(label="first"), dirs("/b", label="second")), talk(dirs("", label="first"))],
    ),
    "disks": (
        talk(dirs(total=900)),
        talk(dirs(total=17)),
        [talk(dirs(total=-1)), talk(dirs(total=0)), talk(dirs(total=900, size=6))],
    ),
    "placement": (
        talk(metadata(topics=[topic(NAME, partition(0, (0, 1, 2)))], asked=[NAME]), **PLACED),
        talk(metadata(topics=[topic(NAME, partition(0, (2, 0, 1)))], asked=[NAME]), **PLACED),
        [
            talk(
                metadata(topics=[topic(NAME, partition(0, (2, 0, 1), leader=0))], asked=[NAME]),
                **PLACED,
            ),
            talk(
                metadata(topics=[topic(NAME, partition(0, (2, 0, 1), isr=(2, 0)))], asked=[NAME]),
                **PLACED,
            ),
            talk(metadata(topics=[topic(NAME, partition(0, (2, 0)))], asked=[NAME]), **PLACED),
        ],
    ),
    "controller": (
        talk(metadata(brokers=THREE), metadata("again", brokers=THREE), **PLACED),
        talk(
            metadata(brokers=THREE, controller=2),
            metadata("again", brokers=THREE, controller=1),
            **PLACED,
        ),
        [
            talk(
                metadata(brokers=THREE, controller=-1), metadata("again", brokers=THREE), **PLACED
            ),
            talk(
                metadata(brokers=THREE, controller=77), metadata("again", brokers=THREE), **PLACED
            ),
        ],
    ),
    "quoted-times": (
        complaint(f"Timestamp {CLOCK} is not between {CLOCK + 3} and {CLOCK + 10**9}"),
        complaint(f"Timestamp {CLOCK} is not between {CLOCK + 9} and {CLOCK + 10**9 + 6}"),
        [
            complaint(f"Timestamp {CLOCK + 3} is not between {CLOCK} and {CLOCK + 10**9}"),
            complaint(f"Timestamp {CLOCK} is between {CLOCK + 3} and {CLOCK + 10**9}"),
            complaint(f"Timestamp {CLOCK} is not between {CLOCK + 3} and 1000"),
        ],
    ),
    "node-ids": (
        talk(*(lonely(0, label=label) for label in TWICE)),
        talk(*(lonely(7, label=label) for label in TWICE)),
        [
            talk(lonely(0, label="first"), lonely(7, label="second")),
            talk(*(lonely(7, leader=0, label=label) for label in TWICE)),
            talk(*(lonely(7, leader=-1, label=label) for label in TWICE)),
            talk(*(lonely(7, replicas=(7, 7), label=label) for label in TWICE)),
        ],
    ),
    **coordinators.case(talk),
    "tags": (
        talk(metadata()),
        talk(metadata(brokers=[broker() | {"_tags": {0: b"", 7: b"new"}}])),
        [talk(metadata(brokers=[broker() | {"rack": "", "_tags": {0: b""}}]))],
    ),
    "names": (
        talk(metadata(topics=[topic()], asked=[NAME])),
        talk(metadata(topics=[topic(OTHER)], asked=[OTHER]), names={"topic": OTHER}),
        [talk(metadata(topics=[topic("topic-aaaaaaaaab")], asked=[NAME]))],
    ),
    "order": (
        talk(metadata(topics=[topic("a"), topic("b")], asked=["a", "b"])),
        talk(metadata(topics=[topic("b"), topic("a")], asked=["a", "b"])),
        [
            talk(metadata(topics=[topic("b"), topic("b")], asked=["a", "b"])),
            talk(metadata(topics=[topic("b")], asked=["a", "b"])),
        ],
    ),
    "crc": (
        talk(producer(5), fetch(records(producer_id=5), label="f")),
        talk(producer(6), fetch(records(producer_id=6), label="f")),
        [talk(producer(5), fetch(records(producer_id=5, crc=1), label="f"))],
    ),
    "compressed-size": (
        talk(fetch(records(compression=1))),
        talk(fetch(longer(records(compression=1)))),
        [
            talk(fetch(records(compression=1, value=b"w"))),
            talk(fetch(records(compression=0))),
            talk(fetch(records(compression=1)[:-1])),
        ],
    ),
    "times": (
        talk(fetch(records(append_time=CLOCK + 3))),
        talk(fetch(records(append_time=CLOCK + 99))),
        [
            talk(fetch(records(append_time=CLOCK - 10_000_000))),
            talk(fetch(records(stamp=CLOCK + 3))),
            talk(fetch(records(append_time=CLOCK + 3, stamp=2))),
        ],
    ),
    "delete-horizons": (
        talk(cleaned(CLOCK + 90_000_000)),
        talk(cleaned(CLOCK + 10)),  # and shorter by three bytes
        [talk(cleaned(CLOCK + 86_400_000, told=False)), talk(cleaned(CLOCK - 1))],
    ),
    **(stamped(talk, NAME) | hashed(talk, NAME) | looked(talk) | hosted(talk) | led(talk)),
    "internal-logs": (
        talk(commits([("theirs", 1)], [(NAME, 5), (NAME, 6)])),
        talk(commits([(NAME, 5), (NAME, 6)], [("theirs", 2)], base=7, end=12)),
        [
            talk(commits([(NAME, 5)], [(NAME, 6)])),
            talk(commits([(NAME, 5), (NAME, None)])),
            talk(commits([(NAME, 6), (NAME, 5)])),
            talk(commits([(NAME, 5), (NAME, 6)], end=-1)),
            talk(commits([("theirs", 1)])),
        ],
    ),
    "other-topics": (
        talk(metadata(topics=[topic(), topic("theirs")], asked=None)),
        talk(metadata(topics=[topic("more"), topic()], asked=None)),
        [
            talk(metadata(topics=[topic("theirs")], asked=None)),
            talk(metadata(topics=[topic(), topic()], asked=None)),
        ],
    ),
    "quoted-cluster-ids": (
        talk(said('the cluster id "aaaa"')),
        talk(said('the cluster id "bbbb"')),
        [talk(said("the cluster id")), talk(said('the voter "aaaa"'))],
    ),
    "missing-topics": (
        talk(missing("a-log, b-log")),
        talk(missing("b-log, a-log")),
        [talk(missing("a-log")), talk(missing("a-log, c-log"))],
    ),
    "metadata-offsets": (
        talk(quorum()),
        talk(quorum(mark=9, end=8)),
        [talk(quorum(**{name: none})) for name in ("mark", "end") for none in (-1, 0)],
    ),
    "quorum-times": (
        talk(quorum(1)),
        talk(quorum(1, fetched=CLOCK + 9)),
        [talk(quorum(1, fetched=-1))],
    ),
    "throttle-times": (
        talk(said("x", 5)),
        talk(said("x", 900)),
        [talk(said("x", 0)), talk(said("x", -1))],
    ),
    **sasl_conversations.DIFFERENCES,
    **telemetry_conversations.DIFFERENCES,
    "reset-or-closed": (
        talk(one("ApiVersions", 0, "closed")),
        talk(one("ApiVersions", 0, "reset")),
        [talk(one("ApiVersions", 0, "timeout")), talk(one("ApiVersions", 0, None))],
    ),
}


def test_every_reason_has_its_limit_here():
    named = {reason.name for reason in normalize.REASONS} | normalize.WALKED.keys()
    assert CASES.keys() == named


@pytest.mark.parametrize("reason", CASES)
def test_the_legal_difference_is_hidden(reason):
    honest, legal, _ = CASES[reason]
    assert compare(honest, legal) == []


@pytest.mark.parametrize(
    "reason, number", [(reason, n) for reason, case in CASES.items() for n in range(len(case[2]))]
)
def test_a_fault_that_looks_like_it_is_not_hidden(reason, number):
    honest, _, faults = CASES[reason]
    assert compare(honest, faults[number]) != []


@pytest.mark.parametrize("reason", sorted(CASES.keys() - {"reset-or-closed"}))
def test_the_reason_is_counted_where_it_was_used(reason):
    assert sum(normalize.readings(CASES[reason][i])[1][reason] for i in (0, 1)) > 0


def test_assigned_replicas_are_compared_as_they_are():
    def placed(*replicas):
        described = metadata(topics=[topic(NAME, partition(0, replicas))], asked=[NAME])
        return talk(created(ASSIGNED), described, **PLACED)

    assert compare(placed(0, 1, 2), placed(0, 1, 2)) == []
    assert compare(placed(0, 1, 2), placed(1, 2, 0)) != []


def test_with_one_broker_ids_are_compared_as_they_are():
    topics = topic(), topic(NAME, partition(0, (1,)))
    assert compare(*(talk(metadata(topics=[each], asked=[NAME])) for each in topics)) != []


def test_an_id_that_was_asked_for_must_be_the_one_that_is_answered():
    def echoed(topic_id):
        asked, answered = ({"topic_id": each, "partitions": []} for each in (ID, topic_id))
        return talk(("asked", "Fetch", 13, {"topics": [asked]}, {"responses": [answered]}))

    assert compare(echoed(ID), echoed(OTHER_ID)) != []


def test_groups_of_other_cases_are_not_seen_and_ours_are():
    def listing(*groups):
        rows = [{"group_id": g, "protocol_type": t, "group_state": ""} for g, t in groups]
        return talk(one("ListGroups", 2, {"error_code": 0, "groups": rows}))

    theirs, ours = ("theirs", "consumer"), (NAME, "consumer")
    assert compare(honest := listing(theirs, ours), listing(ours)) == []
    assert all(compare(honest, listing(each)) for each in (theirs, (NAME, "connect")))
