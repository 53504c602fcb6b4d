"""Topics of set-up steps where CreateTopics is not served: what Metadata makes, whom it fits."""

from __future__ import annotations

import pytest

from touchstone.harness.driver import auto_creation
from touchstone.harness.driver.auto_creation import CreationDefaults, is_subject, unfit
from touchstone.harness.driver.brokers import Unresolved
from touchstone.harness.judgement.grades import MADE
from touchstone.harness.judgement.verdict import CONFORMS, UNSUPPORTED
from touchstone.harness.model.case import Case, run_case
from touchstone.harness.model.claim import CaseId, Claim
from touchstone.harness.model.expect import answer, nothing_expected, outcome
from touchstone.harness.model.placeholders import Leader, Name, Ref
from touchstone.harness.model.scenario import Scenario
from touchstone.harness.model.steps import (
    a_topic,
    ask,
    create_topic,
    fetch,
    list_offsets,
    metadata,
    produce,
)
from touchstone.harness.run.judge import Judge
from touchstone.harness.run.oracles import Nobody
from touchstone.harness.targets import parse
from touchstone.harness.targets.liars import LyingServer
from touchstone.harness.targets.misbehaviour import HangUp
from touchstone.harness.tests.small_kafka import word
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import API, by_name

TOPIC = Name("topic")
FOUR = CreationDefaults(partitions=4, replicas=1)
SERVED = {"ApiVersions": (0, 3), "Metadata": (0, 9), "ListOffsets": (0, 5)}


class Mock:
    """One broker without CreateTopics; Metadata makes topics of `partitions`, 0: none."""

    def __init__(self, partitions: int = 4, leader: int = 1) -> None:
        self.partitions, self.leader = partitions, leader
        self.topics: dict[str, int] = {}
        self.server = LyingServer(None, lambda: self._answer)

    def __enter__(self) -> Mock:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.stop()

    def _answer(self, frame: bytes) -> bytes:
        header, _ = headers.decode_request_header(frame)
        key, version = header.key, header.version
        name = API[key].name
        if name not in SERVED or version > SERVED[name][1]:
            raise HangUp
        body = getattr(self, f"_{name}")(headers.decode_request(frame).body)
        return headers.encode_response(key, version, header.correlation_id, body)

    def _ApiVersions(self, body):
        rows = [
            {"api_key": by_name(name).key, "min_version": low, "max_version": high}
            for name, (low, high) in SERVED.items()
        ]
        return {"error_code": 0, "api_keys": rows}

    def _Metadata(self, body):
        host, port = self.server.address
        asked = [row["name"] for row in body["topics"] or ()]
        if body.get("allow_auto_topic_creation") and self.partitions:
            self.topics |= dict.fromkeys(asked, self.partitions)
        return {
            "brokers": [{"node_id": 1, "host": host, "port": port}],
            "controller_id": 1,
            "topics": [self._topic(name) for name in asked],
        }

    def _topic(self, name):
        rows = [
            {"error_code": 0, "partition_index": index, "leader_id": self.leader,
             "replica_nodes": [1], "isr_nodes": [1]}
            for index in range(self.topics.get(name, 0))
        ]  # fmt: skip
        return {"error_code": 0 if rows else 3, "name": name, "partitions": rows}

    def _ListOffsets(self, body):
        return {
            "topics": [
                {
                    "name": row["name"],
                    "partitions": [
                        {"partition_index": one["partition_index"], "error_code": 0, "offset": 0}
                        for one in row["partitions"]
                    ],
                }
                for row in body["topics"]
            ]
        }


def a_case(api="Metadata"):
    made = Claim("demo.topics", "A topic is there.", ("T-1",), "MUST", "demo", "here", api=api)
    return CaseId(made, 4, {})


def reason(*steps, brokers=1, gives=FOUR):
    return unfit(Scenario(steps, brokers=brokers), gives)


@pytest.mark.parametrize("asked", [4, 1, 3, -1])
def test_as_many_partitions_or_fewer_fit(asked):
    assert reason(create_topic(TOPIC, asked), produce(TOPIC, 0, b"")) is None


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ([create_topic(TOPIC, 5)], "gives 4 partitions, not 5"),
        ([create_topic(TOPIC, 1, 3)], "gives 1 replicas, not 3"),
        ([create_topic(TOPIC, configs={"retention.ms": 1})], "no settings of its own"),
        ([create_topic(TOPIC, assignments={0: [1]})], "places replicas as it likes"),
        ([create_topic(TOPIC, 2), fetch(TOPIC, 2)], "beyond 2"),
        ([create_topic(TOPIC, 2), list_offsets(TOPIC, 0, 3)], "beyond 2"),
        ([create_topic(TOPIC, 1, name="made"), metadata(Ref("made", "topics[0].name"))],
         "a later step asks with what it answers"),
        ([create_topic(TOPIC, 1), ask("ConsumerGroupHeartbeat", 0, {"topics": [TOPIC]})],
         "a group would be given 4 partitions, not 1"),
    ],
)  # fmt: skip
def test_what_does_not_fit(steps, why):
    assert why in reason(*steps)


def test_partitions_that_nobody_has_may_be_asked_for():
    assert reason(create_topic(TOPIC, 2), fetch(TOPIC, 4), fetch(Name("other"), 3)) is None


def test_several_brokers_are_not_chosen_between():
    given = create_topic(TOPIC, assignments={0: [0]})
    assert reason(given) is None
    assert "as it likes" in reason(given, brokers=3)
    assert reason(create_topic(TOPIC), fetch(TOPIC, broker=Leader(TOPIC, 0)), brokers=3) is None


def test_where_metadata_makes_none():
    assert "no topic here either" in reason(create_topic(TOPIC), gives=None)


def test_what_is_about_creation():
    made = create_topic(TOPIC, name="made")
    nothing, first = nothing_expected(), Scenario([made])
    assert not is_subject(a_case(), first, nothing)
    assert is_subject(a_case("CreateTopics"), first, nothing)
    assert is_subject(a_case(), first, outcome("made").is_("answered"))
    assert is_subject(a_case(), Scenario([create_topic(TOPIC, validate_only=True)]), nothing)


def test_what_a_topic_is_given():
    with Mock(3) as mock:
        assert auto_creation.given(mock.server.address, "one", 5.0) == CreationDefaults(3, 1)
    for broken in (Mock(0), Mock(leader=-1)):
        with broken as mock, pytest.raises(Unresolved):
            auto_creation.given(mock.server.address, "one", 0.05)


def judged(mock, *steps, expect):
    judge = Judge(parse(word(mock.server)), Nobody("4.3"), "4.3", nonce="demo", deadline_s=5.0)
    found = Case(a_case(), judge)
    try:
        run_case(lambda case: case.scenario(*steps, expect=expect), found)
    finally:
        left = judge.close()
    return found.judgement, left


def test_a_case_is_judged_on_a_topic_that_metadata_made():
    """It has four partitions, of which the case sees the one that it asked for."""
    asked = metadata(TOPIC, name="asked")
    with Mock() as mock:
        rows = answer("asked", "topics[0].partitions[*].partition_index")
        found, left = judged(mock, *a_topic(TOPIC), asked, expect=rows.is_([0]))
    assert found.verdict.kind == CONFORMS, found.verdict
    made = found.target.events[0]
    assert made.direction == MADE and made.note == found.target.header.names["topic"]
    assert found.target.by_label["asked"].answer["topics"][0]["partitions"][1:] == []
    assert len(found.target.by_label["asked"].response.body["topics"][0]["partitions"]) == 4
    assert "2 topics (the target has no DeleteTopics)" in left[0], "one shows what a topic gets"


def test_a_target_that_makes_none_is_unsupported():
    with Mock(0) as mock:
        judge = Judge(parse(word(mock.server)), Nobody("4.3"), "4.3", nonce="demo", deadline_s=0.2)
        found = Case(a_case(), judge)
        asked = metadata(TOPIC, name="asked")
        run_case(lambda case: case.scenario(*a_topic(TOPIC), asked), found)
        judge.close()
    assert found.judgement.verdict.kind == UNSUPPORTED
    assert "no topic here either" in found.judgement.verdict.reason
