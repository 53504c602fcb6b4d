"""Whatever a target does is an event, and none of it costs more than one deadline.

The targets here are scripts: a function from a request frame to the answer's frame, served on a
loopback port. No test measures time; that a hang ends the case shows in what was not sent.
"""

from __future__ import annotations

import socket
import struct
import time

import pytest

from touchstone.harness.driver import brokers, line, run, runner
from touchstone.harness.driver.line import RECORDS_LIMIT, Line
from touchstone.harness.driver.runner import Run
from touchstone.harness.model import steps
from touchstone.harness.model.scenario import (
    Ask,
    Await,
    Close,
    HalfClose,
    Leader,
    Name,
    Open,
    Quiet,
    Raw,
    Ref,
    Scenario,
    Send,
    Until,
)
from touchstone.harness.model.target import Endpoint
from touchstone.harness.targets.liars import LIARS, LyingServer
from touchstone.harness.targets.misbehaviour import HangUp
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import API

SHORT_S, LONG_S = 0.25, 60.0  # for those who hang, and for those who answer, on any machine
TOPIC = Name("t")
ASK = Ask("ApiVersions", 0, {}, name="asked")


@pytest.fixture(autouse=True)
def _short_silences(monkeypatch):
    monkeypatch.setattr(line, "QUIET_S", (0.02, 1, 0.02, 0.02))


def answering(**bodies):
    """A script that answers each API with this body (or what a function makes of the request)."""

    def answer(frame):
        request = headers.decode_request(frame)
        body = bodies.get(API[request.header.key].name)
        if body is None:
            raise HangUp
        body = body(request) if callable(body) else body
        if body is None:
            return None
        header = request.header
        return headers.encode_response(header.key, header.version, header.correlation_id, body)

    return lambda: answer


def play(script, *scenario, brokers=1, **how):
    with LyingServer(None, script) as server:
        return run(
            Scenario(scenario, brokers=brokers), server.endpoint, nonce="n", deadline_s=LONG_S,
            **how,
        )  # fmt: skip


def directions(transcript, label=None):
    return [
        event.direction
        for event in transcript.events
        if label is None or transcript.label(event.step) == label
    ]


VERSIONS = {"error_code": 0, "api_keys": [{"api_key": 18, "min_version": 0, "max_version": 0}]}
HONEST = answering(ApiVersions=VERSIONS)


def test_a_round_trip_is_sent_and_received():
    found = play(HONEST, ASK, target="script", release="4.3", seed=3)
    assert directions(found) == ["opened", "sent", "received"]
    assert found.answers["asked"] == VERSIONS
    assert found.complete and found.connections == {"a": "kept"}
    header = found.header
    assert (header.target, header.release, header.seed, header.kind) == ("script", "4.3", 3, "live")
    assert Scenario.from_json(header.scenario).fingerprint() == header.fingerprint


def test_one_scenario_sends_the_same_bytes_twice():
    def sent(nonce_matters):
        found = play(HONEST, ASK, steps.api_versions(name="again"), Open("b"))
        return [event.raw for event in found.events if event.direction == "sent"]

    assert sent(1) == sent(2)


@pytest.mark.parametrize("name", ["never-answers", "endless-frame", "slow-drip", "half-a-frame"])
def test_a_hang_ends_the_case(name):
    later = [steps.api_versions(name=f"later {n}") for n in range(5)]
    with LyingServer(LIARS[name], HONEST) as server:
        found = run(Scenario([ASK, later]), server.endpoint, nonce="n", deadline_s=SHORT_S)
    assert directions(found) == ["opened", "sent", "timeout"]
    assert found.connection == "hung"


@pytest.mark.parametrize(("max_wait_ms", "granted"), [(100, 10), (20_000, 30), (600_000, 10)])
def test_a_wait_meant_to_be_ended_by_something_else_costs_one_deadline(max_wait_ms, granted):
    ask = Ask("Fetch", 4, {"max_wait_ms": max_wait_ms, "topics": []})
    playing = Run(Scenario([ask]), Endpoint((("127.0.0.1", 9),)), "n", 10.0)
    seconds = playing._deadline(ask) - playing._deadline(steps.api_versions())
    assert round(seconds) == granted - 10


def test_a_frame_beyond_the_limit_is_garbled(monkeypatch):
    monkeypatch.setattr("touchstone.harness.driver.line.FRAME_LIMIT", 8)
    found = play(HONEST, ASK)
    assert directions(found) == ["opened", "sent", "garbled"]
    assert found.events[-1].raw[:4] == struct.pack(">i", 16)


def test_records_that_were_asked_for_may_make_a_frame_larger(monkeypatch):
    monkeypatch.setattr("touchstone.harness.driver.line.FRAME_LIMIT", 8)
    with LyingServer(None, HONEST) as server:
        asked = Line(server.address, LONG_S)
        asked.expect_records(100)
        asked.expect_records(10)
        assert asked.records == 100
        asked.expect_records(2**31 - 1)
        assert asked.records == RECORDS_LIMIT, "what is asked for is believed up to a bound, too"
        asked.expect_records(None)
        asked.end()


def test_frames_without_end_are_garbled():
    extra = struct.pack(">ii", 4, 999)

    def endless(frame):
        return frame[4:8] + extra * 100 if frame[4:8] == struct.pack(">i", 1) else None

    with LyingServer(LIARS["flood"], lambda: endless) as server:
        found = run(
            Scenario((ASK, Quiet(name="quiet"))), server.endpoint, nonce="n", deadline_s=LONG_S
        )
    assert directions(found, "asked")[:3] == ["opened", "sent", "received"]
    assert len(found.events) < 100


def test_nobody_listens():
    scenario = Scenario((ASK, ASK.__class__("Metadata", 1, {"topics": []})))
    with socket.socket() as taken:  # bound and not listening: nobody else gets the port
        taken.bind(("127.0.0.1", 0))
        found = run(scenario, Endpoint((taken.getsockname(),)), nonce="n")
    assert directions(found) == ["refused"]
    assert (found.connection, found.complete) == ("hung", False)


def test_a_lost_connection_is_gone_and_others_go_on():
    other = steps.api_versions(connection="b", version=0, name="other")
    lost = steps.metadata(name="lost")
    found = play(HONEST, lost, steps.api_versions(version=0, name="after"), other)
    assert directions(found, "lost") == ["opened", "sent", "closed"]
    assert directions(found, "after") == ["gone"]
    assert directions(found, "other") == ["opened", "sent", "received"]
    assert found.connections == {"a": "closed", "b": "kept"}


def test_an_answer_in_the_wrong_order_belongs_to_its_request():
    pair = [Send("ApiVersions", 0, {}, "one"), Send("ApiVersions", 0, {}, "two")]
    with LyingServer(LIARS["swaps-answers"], HONEST) as server:
        scenario = Scenario([pair, Await("one"), Await("two")])
        found = run(scenario, server.endpoint, nonce="n", deadline_s=LONG_S)
    received = [e for e in found.events if e.direction == "received"]
    assert [found.label(event.step) for event in received] == ["two", "one"]
    assert all(int.from_bytes(e.raw[:4], "big") == e.correlation_id for e in received)


def test_an_answer_under_another_id_goes_to_the_oldest_request():
    with LyingServer(LIARS["wrong-correlation-id"], HONEST) as server:
        found = run(Scenario((ASK,)), server.endpoint, nonce="n", deadline_s=LONG_S)
    assert directions(found, "asked") == ["opened", "sent", "received"]


def test_a_second_answer_is_extra():
    with LyingServer(LIARS["answers-twice"], HONEST) as server:
        found = run(Scenario((ASK, Quiet())), server.endpoint, nonce="n", deadline_s=LONG_S)
    assert len(found.by_label["asked"].extra) == 1


@pytest.fixture
def listened_s(monkeypatch):
    """How long each step listens; nobody says anything."""
    found = []

    def read(line, deadline):
        found.append(deadline - time.perf_counter())
        return "timeout", b""

    monkeypatch.setattr(runner.Line, "read", read)
    return found


def test_a_silence_is_longer_where_an_answer_is_awaited(listened_s, monkeypatch):
    monkeypatch.setattr(line, "QUIET_S", (0.02, 1, 0.02, 60.0))
    waits = Send("Metadata", 1, {"topics": []}, "waits")
    play(HONEST, Open(), Quiet(name="nothing asked"), waits, Quiet(name="asked"))
    nothing_asked_s, asked_s = listened_s[:2]
    assert nothing_asked_s < 1 < 30 < asked_s


def test_a_silence_lasts_as_long_as_its_step_wants(listened_s):
    found = play(HONEST, Quiet(name="usual"), Quiet(name="long", least_ms=60_000))
    usual_s, long_s = listened_s[:2]
    assert usual_s < 1 < 30 < long_s
    assert directions(found, "long") == ["silent"]


def test_who_answers_meanwhile_is_not_silent(monkeypatch):
    asked = Send("Metadata", 1, {"topics": []}, "asked")
    nothing, said = ("timeout", b""), iter([("received", struct.pack(">i", 2))])

    def read(line, deadline):
        return next(said, nothing) if deadline else nothing

    monkeypatch.setattr(runner.Line, "read", read)
    found = play(HONEST, Open(), asked, Quiet(name="heard"), Quiet(name="then"))
    assert directions(found, "asked") == ["sent", "received"]
    assert directions(found, "heard") == []
    assert directions(found, "then") == ["silent"]


def test_an_unsupported_apiversions_is_read_as_version_0():
    refusing = answering(ApiVersions={"error_code": 35, "api_keys": []})

    def script():
        answer = refusing()
        return lambda frame: answer(frame[:2] + b"\0\0" + frame[4:])

    found = play(script, steps.api_versions(version=3, name="asked"))
    assert found.by_label["asked"].received.version == 0
    assert found.answers["asked"]["error_code"] == 35


def test_until_keeps_only_the_last_round_trip():
    seen = []

    def counting(request):
        seen.append(request.header.correlation_id)
        return {"error_code": len(seen), "api_keys": []}

    step = Until(ASK, "error_code", "==", 4)
    found = play(answering(ApiVersions=counting), step)
    assert seen == [1, 1, 1, 1]
    assert directions(found) == ["opened", "sent", "received"]
    assert found.events[-1].tries == 4
    assert found.answers["asked"]["error_code"] == 4


def test_a_condition_that_never_holds_ends_the_case(monkeypatch):
    monkeypatch.setattr(runner, "TRIES", 3)
    found = play(HONEST, Until(ASK, "error_code", "==", 4), steps.api_versions(name="later"))
    assert directions(found) == ["opened", "sent", "received", "unmet"]
    assert found.events[-1].note == "error_code == 4 after 3 tries"


def test_a_value_that_no_answer_has_ends_the_case():
    asks = Ask("Metadata", 1, {"topics": [{"name": Ref("asked", "api_keys[9].name")}]})
    found = play(HONEST, ASK, asks, steps.api_versions(name="later"))
    assert directions(found) == ["opened", "sent", "received", "unresolved"]
    assert "no element 9" in found.events[-1].note


def test_a_value_that_cannot_be_sent_is_the_targets_fault():
    asks = Ask("Metadata", 1, {"topics": [{"name": Ref("asked", "api_keys")}]})
    found = play(HONEST, ASK, asks)
    assert found.events[-1].direction == "unresolved"
    assert "cannot be encoded" in found.events[-1].note


def test_a_message_that_cannot_be_encoded_is_ours():
    with pytest.raises(ValueError, match="topics"):
        play(HONEST, Ask("Metadata", 1, {"topics": [{"name": 5}]}))


def test_a_request_without_answer_is_not_awaited():
    found = play(answering(Produce=lambda _: None), steps.produce(TOPIC, 0, b"", acks=0, name="p"))
    assert directions(found) == ["opened", "sent"]
    assert found.events[1].silent


def test_an_answer_that_nobody_wants_is_recorded_when_it_lies_there():
    script = answering(Produce={"responses": []}, ApiVersions=VERSIONS)
    found = play(script, steps.produce(TOPIC, 0, b"", acks=0, name="p"), ASK)
    assert directions(found, "p") == ["opened", "sent", "received"]
    assert directions(found, "asked") == ["sent", "received"]


def test_raw_bytes_are_sent_as_they_are():
    frame = headers.encode_request(18, 0, 77, "raw", {})
    sized = struct.pack(">i", len(frame)) + frame
    found = play(
        HONEST,
        Raw(frame, name="whole", api="ApiVersions", version=0),
        Raw(sized[:-1], framed=False, expect="silence", name="most"),
        Raw(frame[-1:], framed=False, expect="answer", name="rest", api="ApiVersions", version=0),
    )
    assert found.answers["whole"] == found.answers["rest"] == VERSIONS
    assert directions(found, "most") == ["sent", "silent"]


def test_an_answer_whose_version_nobody_said_has_no_values():
    frame = headers.encode_request(18, 0, 77, "raw", {})
    asks = Ask("Metadata", 1, {"topics": [{"name": Ref("raw", "api_keys[0].api_key")}]})
    found = play(HONEST, Raw(frame, name="raw", api="ApiVersions"), asks)
    assert directions(found) == ["opened", "sent", "received", "unresolved"]


def test_a_close_is_awaited():
    found = play(HONEST, Raw(b"\0\3\0\1\0\0\0\5\xff\xff\0\0\0\0", expect="close", name="closing"))
    assert directions(found) == ["opened", "sent", "closed"]


def test_our_own_endings():
    found = play(HONEST, ASK, HalfClose(), Close(), Open("b"), Close("b"), Quiet("b", name="q"))
    assert directions(found)[3:] == ["half-closed", "ended", "opened", "ended", "opened", "silent"]


def test_a_quiet_connection_is_silent():
    assert directions(play(HONEST, ASK, Quiet(name="q")), "q") == ["silent"]


# several brokers


def cluster(leader):
    """Three scripts, each of which answers ApiVersions with its own node id."""
    servers = []

    def metadata(_):
        rows = [
            {"node_id": n, "host": s.address[0], "port": s.address[1]}
            for n, s in enumerate(servers)
        ]
        part = {"partition_index": 0, "leader_id": leader, "replica_nodes": [0], "isr_nodes": [0]}
        topics = [{"name": "t", "partitions": [part]}]
        return {"brokers": rows, "controller_id": 1, "topics": topics}

    def node(number):
        keys = {"error_code": 0, "api_keys": [{"api_key": number}]}
        return answering(ApiVersions=keys, Metadata=metadata)

    servers += [LyingServer(None, node(number)) for number in range(3)]
    return servers


def asked_at(choice, leader=2):
    servers = cluster(leader)
    endpoint = Endpoint(
        [server.address for server in servers], {n: s.address for n, s in enumerate(servers)}
    )
    ask = Ask("ApiVersions", 0, {}, name="asked", broker=choice)
    found = run(Scenario((ask,), brokers=3), endpoint, nonce="n", deadline_s=LONG_S)
    for server in servers:
        server.stop()
    return found


def test_a_step_goes_to_the_leader():
    found = asked_at(Leader(TOPIC, 0))
    assert found.answers["asked"]["api_keys"][0]["api_key"] == 2
    assert [event.broker for event in found.events] == [2, 2, 2]
    assert [event.connection for event in found.events][0] == "leader of $t/0"


@pytest.mark.parametrize("index", [0, 1, 2, -1])
def test_a_step_goes_to_a_broker_by_its_place(index):
    assert asked_at(index).answers["asked"]["api_keys"][0]["api_key"] == index % 3


def test_a_broker_that_is_not_there_is_unresolved():
    found = asked_at(7)
    assert directions(found) == ["unresolved"]


def test_a_partition_without_a_leader_is_unresolved(monkeypatch):
    monkeypatch.setattr(brokers, "pauses", lambda: iter([2 * LONG_S]))  # one look is all
    found = asked_at(Leader(TOPIC, 0), leader=-1)
    assert directions(found) == ["unresolved"]
    assert "broker -1" in found.events[-1].note
