"""Scripts from transcripts and captures, their mutations, the files they stand in, the player."""

from __future__ import annotations

import random
import socket
import threading
from dataclasses import replace

import pytest

from touchstone.fuzz.cases import BadCase
from touchstone.fuzz.generator import harmful
from touchstone.fuzz.mutators import frame
from touchstone.fuzz.outcome import KEPT, SILENT, Outcome
from touchstone.fuzz.script import Expected, Reference, Script, Step, filled, renamed
from touchstone.fuzz.sequences import captures, script_file
from touchstone.fuzz.sequences.arrange import arranged, joined
from touchstone.fuzz.sequences.decode import Spoken, script_of, spoken_in
from touchstone.fuzz.sequences.judge import as_expected, code_of, signature_of
from touchstone.fuzz.sequences.mutations import mutations
from touchstone.fuzz.sequences.played import Played
from touchstone.fuzz.sequences.player import Patience, Player
from touchstone.fuzz.sequences.sources import scripts_in
from touchstone.harness.model import transcript
from touchstone.harness.run import pcap
from touchstone.reference_impl.wire.headers import (
    decode_request,
    encode_request,
    encode_response,
)
from touchstone.reference_impl.wire.records import build
from touchstone.reference_impl.wire.records.batch import read_header

BEAT = {"group_id": "g-1", "generation_id": 7, "member_id": "m-1", "group_instance_id": None}
JOINED = {
    "throttle_time_ms": 0, "error_code": 0, "generation_id": 7, "protocol_name": "range",
    "leader": "m-1", "member_id": "m-1", "members": [],
}  # fmt: skip
JOIN = {
    "group_id": "g-1", "session_timeout_ms": 9000, "rebalance_timeout_ms": 9000, "member_id": "",
    "protocol_type": "consumer", "protocols": [],
}  # fmt: skip


def asked(key: int, version: int, body: dict, number: int = 1) -> bytes:
    return encode_request(key, version, number, "c", body)


def told(key: int, version: int, body: dict, number: int = 1) -> bytes:
    return encode_response(key, version, number, body)


CONVERSATION = (
    Spoken("a", asked(11, 2, JOIN), told(11, 2, JOINED)),
    Spoken("a", asked(12, 4, BEAT, 2), told(12, 4, {"throttle_time_ms": 0, "error_code": 0}, 2)),
    Spoken("b", asked(12, 4, BEAT | {"member_id": "m-2"}, 3)),
)
SCRIPT = script_of(CONVERSATION)


def test_values_of_a_role_become_references_to_the_answer_that_brought_them():
    assert [step.references for step in SCRIPT.steps] == [
        (),
        (
            Reference("generation_id", 0, "generation_id"),
            Reference("member_id", 0, "member_id"),
        ),
        (Reference("generation_id", 0, "generation_id"),),
    ]


def test_connections_are_numbered_and_names_are_found():
    assert ([step.connection for step in SCRIPT.steps], SCRIPT.names) == ([0, 0, 1], ("g-1",))


def test_a_reference_into_a_batch_is_found_and_put_in_with_a_right_checksum():
    init = {"throttle_time_ms": 0, "error_code": 0, "producer_id": 4242, "producer_epoch": 3}
    records = build(2, [b"v"], timestamp=1, producer_id=4242, producer_epoch=3, base_sequence=0)
    rows = [{"index": 0, "records": records}]
    body = {
        "transactional_id": None, "acks": -1, "timeout_ms": 9,
        "topic_data": [{"name": "t", "partition_data": rows}],
    }  # fmt: skip
    script = script_of(
        (
            Spoken("a", asked(22, 0, {"transactional_id": None}), told(22, 0, init)),
            Spoken("a", asked(0, 9, body)),
        )
    )
    step = script.steps[1]
    assert [reference.out_of for reference in step.references] == ["producer_id", "producer_epoch"]
    sent = decode_request(filled(step, {0: init | {"producer_id": 77}})[4:]).body
    batch = bytes(sent["topic_data"][0]["partition_data"][0]["records"])
    header = read_header(batch)
    assert (header.producer_id, header.encode(batch[61:]) == batch) == (77, True)


def test_plus_is_added_and_names_are_replaced():
    step = Step(SCRIPT.steps[1].wire, references=(Reference("generation_id", 0, "g", 1),))
    assert decode_request(filled(step, {0: {"g": 7}})[4:]).body["generation_id"] == 8
    other = renamed(SCRIPT, "-again")
    assert other.names == ("g-1-again",)
    assert {decode_request(step.wire[4:]).body["group_id"] for step in other.steps} == {"g-1-again"}


def test_references_follow_their_step_and_are_dropped_without_it():
    repeated = arranged(SCRIPT, [0, 0, 1])
    assert {reference.step for reference in repeated.steps[2].references} == {1}
    assert arranged(SCRIPT, [1, 0]).steps[0].references == ()


def test_a_script_behind_another_has_connections_and_references_of_its_own():
    both = joined(SCRIPT, SCRIPT)
    assert [step.connection for step in both.steps] == [0, 0, 1, 2, 2, 3]
    assert {reference.step for reference in both.steps[4].references} == {3}


@pytest.mark.parametrize("name", mutations())
def test_a_mutation_changes_scripts_and_is_drawn_from_its_seed_alone(name):
    mutate, other = mutations()[name], joined(SCRIPT, SCRIPT)
    seen = [mutate(other, random.Random(seed), [SCRIPT]) for seed in range(30)]
    assert seen == [mutate(other, random.Random(seed), [SCRIPT]) for seed in range(30)]
    assert any(one != other for one in seen)


@pytest.mark.parametrize("name", mutations())
def test_a_mutation_leaves_every_reference_behind_the_step_it_is_of(name):
    for seed in range(60):
        changed = mutations()[name](joined(SCRIPT, SCRIPT), random.Random(seed), [SCRIPT])
        for number, step in enumerate(changed.steps):
            assert all(0 <= reference.step < number for reference in step.references)


@pytest.mark.parametrize("name", mutations())
def test_a_mutation_of_nothing_is_nothing(name):
    assert mutations()[name](Script(()), random.Random(1), []).steps == ()


def test_a_script_reads_back_from_its_file(tmp_path):
    expected = Expected(
        (0, 25), (("a", b"\1"), ("b", -1)), (Reference("c", 0, "d", -1),), True, None
    )
    steps = (
        replace(SCRIPT.steps[0], expected=expected, again=(51,), note='with "quotes"', delay_ms=5),
        replace(SCRIPT.steps[1], expected=Expected(releases=0), faults=("truncate",)),
    )
    script = Script(steps, ("g-1",))
    path = tmp_path / "script.toml"
    path.write_text(script_file.dumps(script, story=("a story",), head={"step": 1}))
    assert (script_file.is_script(path), [load() for load in scripts_in(path)]) == (True, [script])


def test_a_file_that_is_no_script_is_named_with_the_reason(tmp_path):
    path = tmp_path / "other.toml"
    path.write_text("[[steps]]\nconnection = 1\n")
    with pytest.raises(BadCase, match=r"other.toml.*wire"):
        scripts_in(path)


def conversation() -> transcript.Transcript:
    """CONVERSATION as the harness would have kept it."""
    events, opened = [], set()
    for number, one in enumerate(CONVERSATION):
        at = number * 1000
        if one.connection not in opened:
            events.append(transcript.Event(at, one.connection, "opened", number))
            opened.add(one.connection)
        key, version = (int.from_bytes(one.request[n : n + 2], "big") for n in (0, 2))
        events.append(
            transcript.Event(at, one.connection, "sent", number, one.request, key, version)
        )
        if one.answer is not None:
            got = transcript.Event(
                at + 1, one.connection, "received", number, one.answer, key, version
            )
            events.append(got)
    labels = tuple(f"step {number}" for number in range(len(CONVERSATION)))
    return transcript.Transcript(transcript.Header("t", "live", labels), tuple(events))


def test_a_transcript_of_the_harness_is_a_script(tmp_path):
    path = tmp_path / "one.jsonl"
    transcript.write(conversation(), path)
    assert scripts_in(path)[0]().steps[1].references == SCRIPT.steps[1].references
    assert script_of(spoken_in(conversation())) == SCRIPT


@pytest.mark.slow
def test_a_capture_that_the_harness_wrote_is_the_same_script(tmp_path):
    pytest.importorskip("scapy")
    path = tmp_path / "one.pcap"
    path.write_bytes(pcap.dumps([conversation()]))
    assert [step.wire for step in scripts_in(path)[0]().steps] == [
        step.wire for step in SCRIPT.steps
    ]
    assert captures.read(path)[0].answer == CONVERSATION[0].answer


@pytest.mark.slow
def test_segments_out_of_order_and_repeated_are_put_in_order(tmp_path):
    scapy_all = pytest.importorskip("scapy.utils")
    from scapy.layers.inet import IP, TCP
    from scapy.packet import Raw

    wire = frame(CONVERSATION[0].request)
    cut, path = len(wire) // 2, tmp_path / "odd.pcap"

    def segment(at: int, data: bytes):
        ends = IP(src="192.0.2.1", dst="198.51.100.1")
        return ends / TCP(sport=40000, dport=9092, seq=at, flags="PA") / Raw(data)

    first, rest = segment(1000, wire[:cut]), segment(1000 + cut, wire[cut:])
    last = segment(1000 + len(wire), frame(CONVERSATION[1].request))
    scapy_all.wrpcap(str(path), [first, last, first, rest])
    assert [one.request for one in captures.read(path)] == [
        CONVERSATION[0].request, CONVERSATION[1].request,
    ]  # fmt: skip


@pytest.mark.slow
def test_what_was_played_is_a_capture_again(tmp_path):
    pytest.importorskip("scapy")
    answered = Outcome((CONVERSATION[0].answer,), KEPT)
    played = Played(Script(SCRIPT.steps[:1]), (SCRIPT.steps[0].wire,), (answered,), {}, frozenset())
    captures.write(played, tmp_path / "played.pcap")
    assert captures.read(tmp_path / "played.pcap")[0] == replace(
        CONVERSATION[0], connection="192.0.2.1:40000"
    )


def answers(*bodies: dict | None) -> Played:
    """What came of a script whose steps expect no error code."""
    steps = tuple(Step(SCRIPT.steps[1].wire, note=f"n{n}", expected=Expected()) for n, _ in
                  enumerate(bodies))  # fmt: skip
    outcomes = tuple(
        Outcome((), SILENT) if body is None else Outcome((told(12, 4, body),), KEPT)
        for body in bodies
    )
    decoded = {n: body for n, body in enumerate(bodies) if body is not None}
    return Played(Script(steps), tuple(s.wire for s in steps), outcomes, decoded, frozenset())


FINE = {"throttle_time_ms": 0, "error_code": 0}


@pytest.mark.parametrize(
    ("bodies", "said"),
    [
        ((FINE, FINE), None),
        ((FINE, FINE | {"error_code": 25}), "step 1, n1: answered UNKNOWN_MEMBER_ID"),
        ((None, FINE), "step 0, n0: silent"),
    ],
)
def test_the_first_answer_that_is_not_as_expected_is_named(bodies, said):
    complaint = as_expected(answers(*bodies))
    assert complaint is None if said is None else complaint.startswith(said)


@pytest.mark.parametrize(("held", "judged"), [(frozenset(), True), (frozenset({0}), False)])
def test_a_broken_request_that_was_kept_waiting_may_have_changed_something(held, judged):
    """A join with other metadata has a group rebalance, whatever the join is answered in the end
    (seen on 4.3.1).
    """
    played = answers(FINE | {"error_code": 25}, FINE | {"error_code": 27})
    first = replace(played.script.steps[0], expected=None, faults=("field_edge",))
    script = Script((first, played.script.steps[1]))
    assert (as_expected(replace(played, script=script, held=held)) is not None) is judged


@pytest.mark.parametrize(("faults", "judged"), [((), True), (("field_edge",), False)])
def test_what_waited_may_have_been_released_by_a_broken_request_that_was_taken(faults, judged):
    """A sync waits for the leader's; a join of the leader ends it (seen on 4.3.1)."""
    played = answers(FINE | {"error_code": 27}, FINE, FINE)
    waits, joins, syncs = played.script.steps
    waits = replace(waits, expected=Expected(held=True))
    joins = replace(joins, expected=None, faults=faults)
    syncs = replace(syncs, expected=Expected(releases=0))
    script = Script((waits, joins, syncs))
    assert (as_expected(replace(played, script=script)) is not None) is judged


def test_values_are_compared_with_literals_and_with_earlier_answers():
    played = answers(FINE, FINE | {"throttle_time_ms": 4})
    for plus, holds in ((4, True), (0, False)):
        equal = Reference("throttle_time_ms", 0, "throttle_time_ms", plus)
        step = replace(played.script.steps[1], expected=Expected(equal=(equal,)))
        script = replace(played.script, steps=(played.script.steps[0], step))
        assert (as_expected(replace(played, script=script)) is None) is holds


def test_a_signature_folds_the_steps():
    assert signature_of(answers(FINE, None)) == "12: answer() kept | 12: silent"


def test_the_code_of_an_answer_is_its_first_that_is_not_0():
    assert code_of({"error_code": 0, "rows": [{"partition_error_code": 3}, {"error_code": 4}]}) == 3


class Scripted(threading.Thread):
    """A peer that keeps the first request of each connection until somebody asks on another."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.start()

    def run(self) -> None:
        with self.listener, self.listener.accept()[0] as first, self.listener.accept()[0] as other:
            waiting = first.recv(65536)
            asking = other.recv(65536)
            for connection, request in ((other, asking), (first, waiting)):
                answer = request[8:12] + told(12, 4, FINE)[4:]
                connection.sendall(frame(answer))


def test_a_held_step_is_answered_when_another_connection_was_asked():
    held = Step(SCRIPT.steps[1].wire, 0, note="held", expected=Expected(held=True))
    other = Step(SCRIPT.steps[1].wire, 1, note="other", expected=Expected(releases=0))
    peer = Scripted()
    played = Player(*peer.listener.getsockname()).play(Script((held, other)))
    peer.join()
    assert (as_expected(played), [outcome.end for outcome in played.outcomes]) == (None, [KEPT] * 2)


def test_a_held_step_that_is_answered_at_once_is_early():
    step = Step(SCRIPT.steps[1].wire, 1, note="held", expected=Expected(held=True))
    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        with listener, listener.accept()[0] as connection:
            connection.sendall(frame(connection.recv(65536)[8:12] + told(12, 4, FINE)[4:]))

    thread = threading.Thread(target=answer)
    thread.start()
    played = Player(*listener.getsockname(), Patience(held_s=5.0)).play(Script((step,)))
    thread.join()
    assert as_expected(played) == "step 0, held: answered although it has to wait: NONE (0)"


def test_a_harmful_frame_is_known_as_one():
    assert not any(harmful(step.wire) for step in SCRIPT.steps)
