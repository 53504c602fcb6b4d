"""Findings become causes, a cause becomes one file, and what does not repeat is no finding."""

from __future__ import annotations

import itertools
from dataclasses import replace
from importlib import import_module

import pytest

from touchstone.fuzz.campaign import Finding, campaigns, judge
from touchstone.fuzz.cases import BadCase
from touchstone.fuzz.cases import load as load_case
from touchstone.fuzz.oracles import SentFrame, sent_frame
from touchstone.fuzz.outcome import GARBLED, KEPT, SILENT, Outcome
from touchstone.fuzz.script import Reference, Script, Step
from touchstone.fuzz.tests.seeded import frame_of
from touchstone.fuzz.triage import (
    REPLAYS,
    Trial,
    cause_of,
    framed,
    grouped,
    load,
    settle,
    settled,
    write,
    write_settled,
)
from touchstone.fuzz.triage.causes import NO_PAIR, difference, folded
from touchstone.fuzz.triage.finding_file import decoded
from touchstone.fuzz.triage.settled import BELIEVED, LONGEST_S, is_readable, small_of
from touchstone.reference_impl.wire.headers import encode_request

FRAMES = campaigns()["frames"]
HANG = framed(encode_request(3, 4, 9, "fuzz", {"topics": [{"name": "topic-with-a-long-name"}]}))


def finding(wire: bytes, index: int = 0) -> Finding:
    return judge(FRAMES, sent_frame(wire), Outcome((), SILENT), 5, index, ("trailing",))[0]


def of(oracle: str, signature: str, expected: str | None = None, wire: bytes = HANG) -> Finding:
    return Finding("frames", oracle, "s", signature, 1, 1, (), wire, expected)


# --- causes ---------------------------------------------------------------------------------------


def test_findings_of_one_behaviour_are_one_group_with_the_shortest_in_front():
    groups = grouped([finding(framed(HANG[4:] + b"more"), 2), finding(HANG, 1)])
    assert [[len(f.wire) for f in members] for members in groups.values()] == [
        [len(HANG), len(HANG) + 4]
    ]


@pytest.mark.parametrize(
    ("signature", "same"),
    [
        ("answer(a[0].b[3].c=2, a[1].b[0].c=2) kept", "answer(a[].b[].c=2) kept"),
        ("trailing(17) kept", "trailing kept"),
        ("unreadable(DecodeError) kept", "unreadable kept"),
        ("silent", "silent"),
    ],
)  # fmt: skip
def test_indexes_counts_and_repetitions_are_folded(signature, same):
    assert folded(signature) == same


@pytest.mark.parametrize(
    ("expected", "shown", "said"),
    [
        ("answer(a[1].error_code=2) kept", "answer() kept", "-a[].error_code=2"),
        ("answer(a[1].c=2, c=3) kept", "answer(c=3) kept", "-a[].c=2"),
        ("answer(a[1].error_code=2) kept", "answer(a[0].error_code=9) kept", "-a[].error_code=2"),
        ("closed", "answer() kept", "-closed"),
        ("answer() kept", "silent", "-answer -kept"),
        ("kept", "answer() kept", "+answer"),
    ],
)  # fmt: skip
def test_of_a_known_outcome_the_difference_is_the_behaviour(expected, shown, said):
    assert difference(expected, shown) == said
    assert cause_of(of("differs", shown, expected)).behaviour == said


@pytest.mark.parametrize(
    ("oracle", "one", "other"),
    [
        ("answers_in_time", "answer(error_code=3) silent", "silent"),
        ("parses", "trailing(3) kept", "answer(); trailing(8) closed"),
        ("knows_its_errors", "answer(a[0].c=-1) kept", "answer(a[0].c=3, a[1].c=-1) kept"),
        ("correlates", "answer(error_code=3) kept", "answer() kept"),
    ],
)  # fmt: skip
def test_only_what_the_oracle_complains_about_makes_a_cause(oracle, one, other):
    assert cause_of(of(oracle, one)) == cause_of(of(oracle, other))


@pytest.mark.parametrize(
    ("oracle", "one", "other"),
    [
        ("parses", "trailing(3) kept", "unreadable(DecodeError) kept"),
        ("knows_its_errors", "answer(a.error_code=-1) kept", "answer(b.error_code=-1) kept"),
    ],
)
def test_another_place_is_another_cause(oracle, one, other):
    assert cause_of(of(oracle, one)) != cause_of(of(oracle, other))


def test_versions_that_nobody_knows_are_one_cause_whatever_the_api():
    wires = [framed(key.to_bytes(2, "big") + bytes.fromhex("0063 00000001")) for key in (3, 18)]
    causes = {cause_of(of("parses", "unreadable(ValueError) kept", wire=wire)) for wire in wires}
    assert [cause.key for cause in causes] == [NO_PAIR]


def test_a_case_counts_once_with_its_first_complaint():
    outcome = Outcome((), GARBLED)
    found = judge(campaigns()["valid"], SentFrame(3, 4, 9, HANG), outcome, 5, 1, ())
    assert len(found) == 2
    assert [cause.oracle for cause in grouped(found)] == ["speaks_frames"]


# --- five replays ---------------------------------------------------------------------------------


def tried(found: Finding, answers) -> Trial:
    """A target that complains about a script, or not, as these say one after another."""
    again = iter(answers)

    def complains(script: Script) -> list[Finding]:
        wire = script.steps[-1].wire
        return [replace(found, wire=wire, script=script)] if next(again) else []

    return Trial(complains, complains, lambda: None)


def test_what_repeats_five_times_is_a_finding():
    one = settle(finding(HANG), tried(finding(HANG), itertools.repeat(True)))
    assert (one.repeats, one.is_steady) == (REPLAYS, True)


def test_what_was_never_seen_again_is_none():
    one = settle(finding(HANG), tried(finding(HANG), itertools.repeat(False)))
    assert (one.repeats, one.is_steady, one.finding.wire) == (0, False, HANG)


def test_what_repeats_at_times_is_unsteady_and_kept_apart(tmp_path):
    one = settle(finding(HANG), tried(finding(HANG), itertools.cycle([True, False])))
    path = write_settled(one, tmp_path, 3)
    assert 0 < one.repeats < REPLAYS
    assert path.parent == tmp_path / "unsteady"
    assert f"replayed: {one.repeats} of 5 times" in path.read_text()


def test_what_needs_a_target_in_order_is_made_small_on_one():
    """Candidates leave something behind that makes the next ones complain; five replays do not."""
    state = {"dirty": False}
    found = finding(HANG).of_script(Script((Step(HANG),)), 0)

    def restore() -> None:
        state["dirty"] = False

    def complains(script: Script) -> list[Finding]:
        wire = script.steps[0].wire
        shows = state["dirty"] or b"topic" in wire
        state["dirty"] |= b"topic" in wire
        return [replace(found, wire=wire, script=script)] if shows else []

    one = settle(found, Trial(complains, complains, restore))
    assert (one.is_steady, b"topic" in one.finding.wire) == (True, True)
    assert len(one.finding.wire) < len(HANG)


@pytest.mark.parametrize("wire", [HANG, framed(HANG[4:] + b"behind")])
def test_a_complaint_about_a_good_request_is_not_made_one_about_a_broken_one(wire):
    found = finding(wire)

    def complains(script: Script) -> list[Finding]:
        return [replace(found, wire=script.steps[0].wire, script=script)]

    one = settle(found, Trial(complains, complains, lambda: None))
    assert len(one.finding.wire) < len(wire)
    assert is_readable(one.finding.wire) == is_readable(wire)


def test_one_settled_finding_for_each_cause():
    findings = [finding(HANG, n) for n in range(3)]
    findings.append(finding(framed(encode_request(18, 0, 9, None, {})), 7))
    heard: list[str] = []
    ones = list(settled(findings, Trial(lambda _: [], lambda _: [], lambda: None), heard.append))
    assert [(one.cause.key, one.members) for one in ones] == [(3, 3), (18, 1)]
    assert [line.partition(":")[0] for line in heard] == [
        "cause 1 of 2 is tried again", "cause 2 of 2 is tried again",
    ]  # fmt: skip


def test_two_replays_that_show_nothing_are_believed():
    put_in_order = []
    trial = Trial(lambda _: [], lambda _: [], lambda: put_in_order.append(1))
    assert (settle(finding(HANG), trial).repeats, len(put_in_order)) == (0, BELIEVED)


def test_a_search_ends_when_its_time_is_over(monkeypatch):
    """The first candidate takes all of it; of two, no other is played."""
    played = []
    clock = itertools.count(0, int(LONGEST_S) + 1)
    module = import_module("touchstone.fuzz.triage.settled")  # by its name stands a function
    monkeypatch.setattr(module, "stopwatch", lambda: lambda: next(clock))

    def complains(script: Script) -> list[Finding]:
        played.append(script)
        return [replace(finding(HANG), wire=script.steps[0].wire, script=script)]

    small, _ = small_of(finding(HANG), Trial(complains, complains, lambda: None))
    assert len(played) == 1 and len(small.wire) < len(HANG)


# --- files ----------------------------------------------------------------------------------------


def test_a_written_finding_reads_as_a_case(tmp_path):
    case = load_case(write(finding(HANG), tmp_path, 3))
    assert (case.wire, case.key, case.version, case.correlation_id, case.oracle) == (
        HANG, 3, 4, 9, "answers_in_time",
    )  # fmt: skip


def test_a_script_is_read_as_it_was_written(tmp_path):
    script = Script(
        (
            Step(frame_of(("JoinGroup", 2, {"group_id": "g"}))),
            Step(
                frame_of(("Heartbeat", 2, {"group_id": "g"})),
                1,
                (Reference("member_id", 0, "member_id"),),
            ),
        )
    )
    found = of("as_expected", "answer(error_code=25) kept").of_script(script, 1)
    stored = load(write(found, tmp_path, 0))
    assert (stored.script, stored.step, stored.expected) == (script, 1, None)


def test_a_finding_shows_its_fields_beside_the_hex(tmp_path):
    text = write(finding(HANG), tmp_path, 0).read_text()
    assert '# topics[0].name = "topic-with-a-long-name"\n' in text
    assert HANG.hex() in text


@pytest.mark.parametrize("wire", [b"", b"\0", HANG[:30], framed(b"\x7f" * 9), HANG + HANG])
def test_whatever_the_bytes_are_the_file_is_written(tmp_path, wire):
    list(decoded(wire))
    found = of("answers_in_time", "silent", wire=wire)
    assert load(write(found, tmp_path, 0)).script.steps[0].wire == wire


def test_text_that_no_toml_may_hold_is_escaped(tmp_path):
    odd = replace(of("parses", 'a"\n\\ \0 \ud800'), sentence='"""\x7f')
    assert load_case(write(odd, tmp_path, 0)).sentence == '"""\x7f'


def test_a_finding_that_cannot_be_written_leaves_none(tmp_path, monkeypatch):
    write(of("parses", "first"), tmp_path, 0)
    monkeypatch.setattr("touchstone.fuzz.triage.finding_file.tables", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write(of("parses", "second"), tmp_path, 0)
    assert [path.name for path in sorted(tmp_path.iterdir())] == [
        "00-parses-key-3.toml",
        "replay.py",
    ]
    assert 'seen = "first"' in (tmp_path / "00-parses-key-3.toml").read_text()


def test_steps_that_are_none_are_refused(tmp_path):
    path = write(finding(HANG), tmp_path, 0)
    path.write_text(path.read_text().replace('wire = "', 'wire = "zz'))
    with pytest.raises(BadCase, match=path.name):
        load(path)


def test_a_kept_outcome_is_no_complaint():
    in_time = replace(FRAMES, oracles={"answers_in_time": FRAMES.oracles["answers_in_time"]})
    assert judge(in_time, sent_frame(HANG), Outcome((), KEPT), 5, 1, ()) == []
