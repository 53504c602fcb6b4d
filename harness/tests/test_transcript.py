"""A transcript file gives back what was written, or says which line is wrong and why."""

from __future__ import annotations

import dataclasses

import pytest

from touchstone.harness.model import transcript
from touchstone.harness.model.transcript import (
    Event,
    Header,
    RoundTrip,
    Transcript,
    TranscriptError,
)
from touchstone.harness.tests.conversations import conversation
from touchstone.harness.tests.witness import RELEASES, golden

ASKED = ("asked", "ListOffsets", 1, {"replica_id": -1, "topics": []}, {"topics": []})


@pytest.mark.parametrize("release", RELEASES)
def test_a_transcript_survives_its_file(release, tmp_path):
    found = golden(release)
    path = tmp_path / "deep" / "one.jsonl"
    transcript.write(found, path)
    assert transcript.read(path) == found
    assert [file.name for file in path.parent.iterdir()] == ["one.jsonl"]


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "one.jsonl"
    transcript.write(golden("4.3"), path)
    spoiled = dataclasses.replace(golden("4.3"), events=(object(),))
    with pytest.raises(AttributeError):
        transcript.write(spoiled, path)
    assert transcript.read(path) == golden("4.3")
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_cut_at_any_byte_is_refused():
    text = transcript.dumps(conversation(ASKED))
    for end in range(1, len(text)):
        with pytest.raises(TranscriptError, match=r"line \d"):
            transcript.loads(text[:end])


def test_an_empty_file_is_refused():
    with pytest.raises(TranscriptError, match="0 transcripts"):
        transcript.loads("", source="x.jsonl")


@pytest.mark.parametrize(
    "line, replaced, reason",
    [
        (0, '{"transcript":99}', "line 1: not the header"),
        (0, '{"transcript":1,"labels":[]}', "line 1: header: .*target"),
        (1, '{"c":"a","d":"opened"}', "line 2: an event needs"),
        (1, '{"t":1,"c":"a","d":"flew","s":0}', "line 2: 'flew' is no direction"),
        (2, '{"t":1,"c":"a","d":"sent","s":0,"raw":"xyz"}', "line 3: .*fromhex"),
        (2, '{"t":1,"c":"a","d":"sent","s":0,"color":"red"}', "line 3: an event has no color"),
        (3, "[1]", "line 4: an event needs"),
        (3, "{", "line 4: not JSON"),
        (4, '{"end":2}', "line 5: 3 events, footer says 2"),
    ],
)
def test_a_wrong_line_is_named_with_its_reason(line, replaced, reason):
    lines = transcript.dumps(conversation(ASKED)).splitlines()
    lines[line] = replaced
    with pytest.raises(TranscriptError, match=reason):
        transcript.loads("\n".join(lines) + "\n", source="x.jsonl")


def test_several_transcripts_stand_in_one_file():
    text = "".join(transcript.dumps(golden(release)) for release in RELEASES)
    many = list(transcript.load_many(text.splitlines(keepends=True)))
    assert [one.header.release for one in many] == list(RELEASES)


def test_answers_go_by_the_label_of_their_step():
    found = conversation(ASKED, ("lost", "Metadata", 1, {"topics": []}, "closed"))
    assert found.answers == {"asked": {"topics": []}}
    assert found.by_label["lost"].answer is None
    assert found.by_label["lost"].ending.direction == "closed"


def test_an_answer_that_does_not_decode_says_why():
    line = ("bad", "Metadata", 1, {"topics": []}, b"\0\0\0\1\0\0\0\5")
    found = conversation(line).by_label["bad"]
    assert found.answer is None
    assert "brokers" in found.undecodable


@pytest.mark.parametrize(
    "endings, worst",
    [
        ([], "kept"),
        (["closed"], "closed"),
        (["reset", "closed"], "reset"),
        (["closed", "timeout"], "hung"),
        (["garbled"], "reset"),
    ],
)
def test_the_worst_connection_speaks_for_the_case(endings, worst):
    events = [Event(0, "fine", "opened", 0)]
    for number, ending in enumerate(endings):
        events += [Event(1, f"c{number}", "opened", 0), Event(2, f"c{number}", ending, 0)]
    assert Transcript(Header("t", "live", ("x",)), tuple(events)).connection == worst


def test_a_case_that_reached_nobody_hung():
    events = (Event(0, "a", "refused", 0),)
    found = Transcript(Header("t", "live", ("x",)), events)
    assert (found.connection, found.complete) == ("hung", False)


def test_a_round_trip_without_events_is_a_mistake_of_ours():
    with pytest.raises(AssertionError):
        _ = RoundTrip(0, "x").event
