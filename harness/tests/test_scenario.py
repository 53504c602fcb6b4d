"""Scenarios are data: they survive JSON, have one fingerprint, and resolve the same everywhere."""

from __future__ import annotations

import json

import pytest

from touchstone.harness.model import steps
from touchstone.harness.model.placeholders import Bindings, TopicId, Unresolved, unique
from touchstone.harness.model.scenario import (
    Ask,
    Await,
    Frame,
    HalfClose,
    Joined,
    Leader,
    Name,
    Now,
    Quiet,
    Raw,
    Records,
    Ref,
    Scenario,
    Send,
    Until,
    asked,
    connection_of,
)
from touchstone.reference_impl.wire import headers, records

TOPIC = Name("topic")
EVERYTHING = Scenario(
    (
        steps.a_topic(TOPIC, 3, configs={"retention.ms": 1}),
        steps.produce(TOPIC, 0, b"\x00\xff", version=13, name="produced"),
        Send("Fetch", 4, {"topics": [], "odd": {"$x": 1, 2: b"3"}}, "pending"),
        Await("pending"),
        Raw(Joined((b"\1", Frame("Metadata", 1, {"topics": [{"name": TOPIC}]}, cut=-2)))),
        Raw(b"GET /", framed=False, expect="close", connection="x"),
        HalfClose("x"),
        Quiet("a"),
        Ask("Metadata", 4, {"topics": [{"name": Ref("produced", "responses[0].name")}]}),
        Ask("ListOffsets", 1, {"replica_id": -1, "timestamp": Now(-5)}, broker=Leader(TOPIC, 2)),
        Until(Ask("Metadata", 4, {}), "topics", "len ==", 1, also=(("a", "==", b"\1"),)),
        Raw(Records({"magic": 2, "records": [(b"k", b"v")]}, patch=((3, b"\0"),))),
        Raw(TopicId(TOPIC)),
    ),
    brokers=3,
    racks=("a", "b", "a"),
    config={"num.partitions": "4"},
)


def test_a_scenario_survives_json():
    stored = json.loads(json.dumps(EVERYTHING.to_json()))
    again = Scenario.from_json(stored)
    assert again == EVERYTHING
    assert again.fingerprint() == EVERYTHING.fingerprint()


def test_the_fingerprint_changes_with_any_step():
    step = steps.metadata(TOPIC)
    one = Scenario((step,))
    assert one.fingerprint() == Scenario([[step]]).fingerprint()
    assert one.fingerprint() != Scenario((steps.metadata(TOPIC, create=True),)).fingerprint()
    assert one.fingerprint() != Scenario((step,), brokers=2).fingerprint()


def test_two_steps_cannot_have_one_label():
    with pytest.raises(ValueError, match="two steps are named same"):
        Scenario((steps.metadata(name="same"), steps.api_versions(name="same")))


def test_what_is_no_step_is_refused():
    with pytest.raises(TypeError, match="not a step: 'metadata'"):
        Scenario(("metadata",))


def test_what_json_cannot_hold_is_refused():
    with pytest.raises(TypeError, match="cannot hold object"):
        Scenario((Ask("Metadata", 0, {"topics": object()}),)).to_json()


def test_connections_are_named_after_the_choice_of_broker():
    assert connection_of(steps.metadata()) == "a"
    assert connection_of(steps.metadata(broker=1)) == "broker 1"
    assert connection_of(steps.metadata(broker=Leader(TOPIC, 2))) == "leader of $topic/2"
    assert connection_of(steps.metadata(broker=1, connection="b")) == "b"


# placeholders


def bindings(**answers) -> Bindings:
    return Bindings("nonce", 1000, answer=answers.get, topic_id=lambda topic: topic.encode())


def test_names_have_equal_lengths_and_differ_between_runs_and_keys():
    one, other = unique("run 1", TOPIC), unique("run 2", TOPIC)
    assert len(one) == len(other)
    assert len({one, other, unique("run 1", Name("topid"))}) == 3
    assert one == unique("run 1", TOPIC)


@pytest.mark.parametrize("length", [10, 17, 249])
def test_a_name_can_have_any_length_that_is_unique(length):
    assert len(unique("n", Name("topic", length=length))) == length


def test_a_name_cannot_be_too_short_to_be_unique():
    with pytest.raises(ValueError, match="cannot be unique"):
        unique("n", Name("topic", length=3))


def test_one_key_has_one_name():
    run = bindings()
    text = run.resolve(TOPIC)
    assert run.resolve(Name("topic", binary=True)) == text.encode()
    with pytest.raises(ValueError, match="already the name"):
        run.resolve(Name("topic", prefix="other."))


def test_a_ref_takes_a_value_of_an_earlier_answer():
    run = bindings(first={"topics": [{"offset": 41}]})
    assert run.resolve({"offset": Ref("first", "topics[0].offset", plus=1)}) == {"offset": 42}


@pytest.mark.parametrize("ref", [Ref("second", "a"), Ref("first", "topics[3]")])
def test_a_ref_to_nothing_is_unresolved(ref):
    with pytest.raises(Unresolved):
        bindings(first={"topics": []}).resolve([ref])


def test_instants_are_kept_by_their_names():
    run = bindings()
    assert [run.resolve(Now()), run.resolve(Now(-200)), run.resolve(Now(7))] == [1000, 800, 1007]
    assert run.times == {"$now": 1000, "$now-200": 800, "$now+7": 1007}


def test_a_frame_is_damaged_in_order():
    frame = Frame("Metadata", 1, {"topics": [{"name": TOPIC}]})
    run = bindings()
    whole = run.resolve(frame)
    assert headers.decode_request(whole).body["topics"][0]["name"] == run.names["topic"]
    damaged = Frame("Metadata", 1, frame.body, patch=((2, b"\0\x63"),), cut=-3, append=b"more")
    assert run.resolve(damaged) == whole[:2] + b"\0\x63" + whole[4:-3] + b"more"


def test_a_patch_cannot_leave_the_frame():
    with pytest.raises(ValueError, match="leaves"):
        bindings().resolve(Frame("Metadata", 1, {"topics": []}, patch=((1000, b"x"),)))


def test_joined_parts_follow_one_another():
    assert bindings().resolve(Joined((b"a", Name("t", binary=True), b"z")))[0:1] == b"a"


def test_records_are_built_with_what_earlier_answers_said():
    given = {"magic": 2, "records": [(b"k", b"v")], "producer_id": Ref("ids", "producer_id")}
    data = bindings(ids={"producer_id": 77}).resolve(Records(given | {"producer_epoch": 0}))
    assert records.read(data)[0]["producer_id"] == 77
    patched = bindings(ids={"producer_id": 77}).resolve(Records(given, patch=((16, b"\1"),)))
    assert patched[16] == 1


def test_the_id_of_a_topic_is_asked_for_by_its_name():
    run = bindings()
    assert run.resolve(TopicId(TOPIC)) == run.names["topic"].encode()


# builders


@pytest.mark.parametrize("version", range(14))
def test_produce_names_its_topic_as_the_version_wants(version):
    entry = steps.produce(TOPIC, 0, b"", version=version).body["topic_data"][0]
    assert ("topic_id" in entry) == (version >= 13)
    assert ("name" in entry) == (version < 13)


def test_produce_without_acks_awaits_no_answer():
    assert steps.produce(TOPIC, 0, b"", acks=0).answer is False
    assert steps.produce(TOPIC, 0, b"", acks=1).answer is True


def test_a_step_that_no_common_version_serves_wants_one():
    with pytest.raises(ValueError, match="name one"):
        steps.ask("OffsetForLeaderEpoch", None, {})


def test_metadata_of_everything_is_spelled_by_version():
    assert steps.metadata(every=True, version=0).body["topics"] == []
    assert steps.metadata(every=True, version=1).body["topics"] is None
    assert steps.metadata(version=1).body["topics"] == []


def test_a_wait_asks_its_question_and_every_other_step_itself():
    question = Ask("Metadata", 1, {})
    assert asked(Until(question, "topics", "exists", None)) is question
    assert asked(question) is question and asked(Quiet()) == Quiet()
