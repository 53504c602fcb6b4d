"""Lines, files, changes of answers, looks and suspects: the parts without a process."""

from __future__ import annotations

import struct

import pytest

from touchstone.harness.adapters import adapter_file, lines
from touchstone.harness.adapters.tap import Active
from touchstone.harness.judgement import client_checks
from touchstone.harness.model import client_view
from touchstone.harness.model.client_steps import Change, Hear, Tell, Watch
from touchstone.harness.model.expect import Location, client
from touchstone.harness.model.scenario import Scenario
from touchstone.harness.model.transcript import Event, Header, Transcript
from touchstone.harness.run.square import SCENARIO, Cell, suspect
from touchstone.harness.targets import UnknownTarget


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("sending", "not JSON"),
        ("[]", "has a name"),
        ('{"name": "sent"}', "has a name"),
        ('{"name": "flush_complete"}', "lacks client"),
        ('{"name": "offsets_committed", "client": "c"}', "lacks offsets, success"),
    ],
)
def test_a_line_that_is_no_event_is_refused(line, said):
    with pytest.raises(lines.BadLine, match=said):
        lines.event(line)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name = "x"', "about: it is missing"),
        ('name = "x"\nabout = "a"\nversion = "1"', "a client has a command"),
        ('name = "x"\nabout = "a"\nversion = "1"\n[start]\nneeds = ["go"]', "start.command"),
        ('name = "x"\nabout = "a"\nversion = "1"\n[start]\ncommand = "{nope}"', "no placeholder"),
        ('name = "x"\nabout = "a"\nversion = "1"\nbrokers = 3', "no such key"),
    ],
)
def test_a_client_file_says_what_to_mend(tmp_path, text, said):
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(UnknownTarget, match=said):
        adapter_file.load(file)


def test_the_files_that_we_ship_can_be_read():
    assert {adapter_file.find(name).name for name in adapter_file.shipped()} == set(
        adapter_file.shipped()
    )


def changed(change: Change, *bodies: dict) -> list[dict]:
    active = Active(change)
    for body in bodies:
        active.take(body)
    return list(bodies)


def test_a_change_counts_answers_that_have_its_place():
    def answer(*codes):
        return {"topics": [{"partitions": [{"error_code": code} for code in codes]}]}

    change = Change("Fetch", "topics[*].partitions[*].error_code", 6, nth=2, times=1)
    found = changed(change, answer(0), {"topics": []}, answer(0, 0), answer(0))
    assert found == [answer(0), {"topics": []}, answer(6, 6), answer(0)]


def test_a_change_turns_a_byte_of_records_over_replaces_them_and_adds_tags():
    (found,) = changed(Change("Fetch", "r[*].records", 2, times=0), {"r": [{"records": b"abc"}]})
    assert found == {"r": [{"records": b"a\x9dc"}]}
    (found,) = changed(
        Change("Fetch", "r[*].records", b"xy", times=0),
        {"r": [{"records": b"abc"}, {"records": b""}]},
    )
    assert found == {"r": [{"records": b"xy"}, {"records": b""}]}
    (found,) = changed(Change("Fetch", "_tags", {9: b"x"}), {"r": []})
    assert found == {"r": [], "_tags": {9: b"x"}}


def test_a_change_is_of_the_struct_that_has_the_values_it_names():
    """Of ApiVersions: a refusal lists another API where the first of the others would stand."""
    change = Change("ApiVersions", "keys[*].max", 7, times=0, where={"key": 0})
    refused = {"keys": [{"key": 18, "max": 4}]}
    served = {"keys": [{"key": 18, "max": 4}, {"key": 0, "max": 13}]}
    assert changed(change, refused, served) == [
        {"keys": [{"key": 18, "max": 4}]},
        {"keys": [{"key": 18, "max": 4}, {"key": 0, "max": 7}]},
    ]


@pytest.mark.parametrize(
    ("key", "judged"), [(18, []), (3, ["header at offset 0: no schema for key 3 version 99"])]
)
def test_a_client_may_ask_api_versions_in_a_version_that_is_newer_than_ours(key, judged):
    frame = struct.pack(">hhih", key, 99, 1, -1) + b"\0" * 4
    asked = Event(0, "#1", "asked", 0, raw=frame, api=key, version=99)
    seen = Transcript(Header("mine", "live", ("ask",)), (asked,))
    found = [each.sentence for each in client_checks.request_parses(seen)]
    assert found == judged


def test_steps_and_looks_survive_json():
    scenario = Scenario((
        Tell("flush", "p"), Hear("flush_complete", "p", 2, where={"a": 1}), Watch("Fetch", more=2),
        Change("Fetch", "_tags", {9: b"x"}),
    ))  # fmt: skip
    assert Scenario.from_json(scenario.to_json()) == scenario and scenario.is_of_client


@pytest.mark.parametrize(("what", "of"), [("no such look", {}), ("count", {"apis": "Fetch"})])
def test_a_look_that_there_is_not_is_a_mistake_of_the_claim(what, of):
    with pytest.raises(ValueError, match=what):
        client(what, **of)


def test_every_look_has_a_sentence():
    assert all(look.__doc__ for look in client_view.LOOKS.values())
    assert isinstance(client("versions", api="Fetch"), Location)


OK, BAD = Cell("CONFORMS", ""), Cell("DIVERGES", "")


@pytest.mark.parametrize(
    ("cells", "who"),
    [
        ((OK, OK, OK, OK), ""),
        ((BAD, BAD, OK, OK), "ours"),
        ((OK, BAD, OK, BAD), "kafka"),
        ((BAD, OK, OK, OK), "only together: ours on reference"),
        ((BAD, BAD, BAD, BAD), SCENARIO),
        ((OK, Cell("INCONCLUSIVE", ""), OK, OK), "not decided"),
    ],
)
def test_the_row_or_column_that_differs_is_the_suspect(cells, who):
    corners = [(a, b) for a in ("ours", "java") for b in ("reference", "kafka")]
    assert suspect(dict(zip(corners, cells, strict=True))) == who
