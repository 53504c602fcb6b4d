"""Produce: acks 0, 1 and -1, invalid acks, and min.insync.replicas.

Sources: KafkaApis.handleProduceRequest, ReplicaManager.appendRecords and Partition at 1.0.2, 2.2.1,
2.8.2 and 3.9; clauses APPEND-03, 04, 21, 22; the five releases were asked.
"""

from touchstone.harness.model.claim import OBSERVED, claim, every, range_
from touchstone.harness.model.expect import (
    all_of,
    answered,
    by_release,
    connection,
    no_answer,
    outcome,
    records,
)
from touchstone.harness.model.placeholders import Records
from touchstone.harness.model.steps import a_topic, fetch, metadata, produce
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.in_flight import the_end
from touchstone.suites.kit.producing import refused_with, stored_at
from touchstone.suites.kit.records import coded, of_version
from touchstone.suites.kit.topics import among, ends_at, log_end


@claim(
    "produce.acks-zero-has-no-answer",
    evidence=("APPEND-21",),
    api="Produce",
    versions=every("Produce"),
    where=among(0, 3, 7, 9, 13),
    switches=("acks-zero-answered",),
)
def test_acks_zero_has_no_answer(case):
    """Produce with acks=0 appends and sends no answer; the next request on the connection is
    answered.
    """
    topic = case.topic()
    records = of_version(case.version, b"a", b"b")
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, records, version=case.version, acks=0, name="send"),
        log_end(topic),
        expect=all_of(no_answer("send"), ends_at(2), connection("a").is_("kept")),
    )


@claim(
    "produce.acks-zero-errors-close-the-connection",
    evidence=("APPEND-21",),
    api="Produce",
    versions=range_("Produce", 3),
    where=among(3, 9, 13),
    fault=("unknown partition", "wrong crc"),
)
def test_acks_zero_errors_close_the_connection(case):
    """An error of a Produce with acks=0 closes the connection."""
    topic = case.topic()
    good = coded(b"a")
    unknown = case.fault == "unknown partition"
    records = good if unknown else Records(good.build, patch=((17, b"\0\0\0\1"),))
    partition = 9 if unknown else 0
    how = {"version": case.version, "acks": 0, "name": "send", "connection": "b"}
    return case.scenario(
        a_topic(topic),
        produce(topic, partition, records, **how),
        the_end("b", "look"),
        log_end(topic),
        expect=all_of(outcome("look").is_one_of("closed", "reset"), ends_at(0)),
    )


@claim(
    "produce.acks-one-and-all-are-answered",
    evidence=("APPEND-21",),
    api="Produce",
    versions=every("Produce"),
    where=lambda row: row["version"] in (0, 3, 9, 13),
    acks=(1, -1),
)
def test_acks_one_and_all_are_answered(case):
    """With one replica acks=1 and acks=-1 answer alike, and the record is readable at once."""
    topic = case.topic()
    sends = of_version(case.version, b"a")
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, sends, version=case.version, acks=case.acks, name="send"),
        fetch(topic, max_wait_ms=0, name="read"),
        expect=all_of(stored_at("send", 0), records("read", "[*].value").is_([b"a"])),
    )


@claim(
    "produce.other-acks-are-refused",
    evidence=("APPEND-03",),
    api="Produce",
    versions=range_("Produce", 3),
    where=lambda row: row["version"] in ((3, 9, 13) if row["acks"] == 2 else (3,)),
    acks=(2, -2, 32767, -32768),
)
def test_other_acks_are_refused(case):
    """Produce with acks other than -1, 0 and 1 answers INVALID_REQUIRED_ACKS and
    appends nothing.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, coded(b"a"), version=case.version, acks=case.acks, name="send"),
        log_end(topic),
        expect=all_of(refused_with("send", ErrorCode.INVALID_REQUIRED_ACKS), ends_at(0)),
    )


@claim(
    "produce.unknown-topics-count-before-acks",
    evidence=("observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1",),
    level=OBSERVED,
    api="Produce",
    versions=range_("Produce", 3, 12),
    where=among(3, 9),
)
def test_unknown_topics_count_before_acks(case):
    """Produce with an unknown topic and invalid acks answers UNKNOWN_TOPIC_OR_PARTITION."""
    topic = case.topic()
    return case.scenario(
        produce(topic, 0, coded(b"a"), version=case.version, acks=5, name="send"),
        expect=refused_with("send", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    )


@claim(
    "produce.timeouts-do-not-matter-to-one-replica",
    evidence=("observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1",),
    level=OBSERVED,
    api="Produce",
    versions=range_("Produce", 3),
    where=among(3, 9, 13),
    timeout_ms=(0, -1, 2147483647),
)
def test_timeouts_do_not_matter_to_one_replica(case):
    """With one replica acks=-1 succeeds with any timeout: the append itself
    completes the request.
    """
    topic = case.topic()
    how = {"version": case.version, "timeout_ms": case.timeout_ms, "name": "send"}
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, coded(b"a"), **how),
        log_end(topic),
        expect=all_of(stored_at("send", 0), ends_at(1)),
    )


@claim(
    "produce.too-few-in-sync-replicas-refuse-acks-all",
    evidence=("APPEND-04", "KIP-966"),
    api="Produce",
    versions=range_("Produce", 3),
    where=among(3, 9, 13),
    switches=("min-isr-ignored",),
)
def test_too_few_in_sync_replicas_refuse_acks_all(case):
    """Produce with acks=-1 below min.insync.replicas answers NOT_ENOUGH_REPLICAS and appends
    nothing; from 3.9 on the minimum is at most the number of replicas.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic, configs={"min.insync.replicas": 2}),
        produce(topic, 0, coded(b"a"), version=case.version, name="send"),
        log_end(topic),
        expect=by_release(
            {
                "1.0-2.8": all_of(refused_with("send", ErrorCode.NOT_ENOUGH_REPLICAS), ends_at(0)),
                "3.9+": all_of(stored_at("send", 0), ends_at(1)),
            }
        ),
    )


@claim(
    "produce.acks-one-needs-no-other-replica",
    evidence=("APPEND-04",),
    api="Produce",
    versions=range_("Produce", 3),
    where=among(3, 9, 13),
    acks=(0, 1),
)
def test_acks_one_needs_no_other_replica(case):
    """Produce with acks=0 or acks=1 appends whatever min.insync.replicas is."""
    topic = case.topic()
    how = {"version": case.version, "acks": case.acks, "name": "send"}
    return case.scenario(
        a_topic(topic, configs={"min.insync.replicas": 2}),
        produce(topic, 0, coded(b"a"), **how),
        log_end(topic),
        metadata(name="after"),
        expect=all_of(ends_at(1), answered("after")),
    )
