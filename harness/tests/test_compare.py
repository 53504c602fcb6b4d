"""Differences are found where they are, and only there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from touchstone.harness.judgement import compare as compare_module
from touchstone.harness.judgement import wording
from touchstone.harness.judgement.compare import MISSING, compare
from touchstone.harness.judgement.grades import grading
from touchstone.harness.judgement.verdict import DIVERGES, judge
from touchstone.harness.model.transcript import Event, Header, Transcript
from touchstone.harness.tests.conversations import conversation, doctored
from touchstone.harness.tests.witness import RELEASES, golden
from touchstone.reference_impl.wire import headers


def places(oracle, target):
    """What differs, without its grades."""
    return [(one.step, one.path, one.oracle, one.target) for one in compare(oracle, target)]


GROUP = {"group_id": "g", "generation_id": 1, "member_id": "b", "group_instance_id": None}
SYNC = GROUP | {"assignments": []}
LABELS = ("b syncs", "a syncs", "await b syncs", "after")


def followed(by_leader, *end_of_follower):
    """A follower's SyncGroup that is awaited behind the leader's, and what came of both."""
    said = headers.encode_response(14, 3, 1, SYNCED | {"error_code": by_leader})
    told = [(0, "sent"), (1, "sent"), (1, "received"), *end_of_follower]
    raw = {"received": said, "sent": headers.encode_request(14, 3, 1, "c", SYNC)}
    return Transcript(
        Header("t", "live", LABELS),
        tuple(
            Event(0, "ab"[step], how, step, raw=raw.get(how, b""), api=14, version=3)
            for step, how in told
        ),
    )


SYNCED = {"throttle_time_ms": 0, "error_code": 0, "assignment": b""}
ANSWERED, HUNG = (0, "received"), (0, "timeout")


@pytest.mark.parametrize("end", [[HUNG], []])
def test_what_is_awaited_later_differs_where_it_is_awaited(end):
    """A follower is answered when the leader has synced: where that is refused, it waits."""
    found = compare(followed(0, ANSWERED), followed(25, *end))
    assert [(one.step, one.path, one.at) for one in found] == [
        ("a syncs", "error_code", 1), ("b syncs", "connection", 2)
    ]  # fmt: skip
    graded = grading(None, [followed(0, ANSWERED), followed(25, *end)])
    assert graded.facts("b syncs").at == 2


def test_what_ends_before_others_are_asked_differs_where_it_was_sent():
    honest, raw = followed(0, ANSWERED), followed(25)
    early = replace(raw.events[0], direction="closed")
    refused = replace(raw, events=(raw.events[0], early, *raw.events[1:]))
    assert [(one.step, one.at) for one in compare(honest, refused)] == [
        ("b syncs", 0), ("a syncs", 1)
    ]  # fmt: skip


TABLE = [{"api_key": key, "min_version": 0, "max_version": key} for key in range(5)]


def versions(table):
    return conversation(("asked", "ApiVersions", 0, {}, {"error_code": 0, "api_keys": table}))


def test_a_transcript_does_not_differ_from_itself():
    for release in RELEASES:
        assert compare(golden(release), golden(release)) == []


def test_a_changed_value_is_one_difference_with_its_path():
    table = [dict(row) for row in TABLE]
    table[3]["max_version"] = 9
    assert places(versions(TABLE), versions(table)) == [("asked", "api_keys[3].max_version", 3, 9)]


def test_a_missing_element_is_one_difference():
    assert places(versions(TABLE), versions(TABLE[:1] + TABLE[2:])) == [
        ("asked", "api_keys[1]", TABLE[1], MISSING)
    ]


def test_an_element_too_many_comes_after_the_oracles():
    assert places(versions(TABLE[:4]), versions(TABLE)) == [
        ("asked", "api_keys[4]", MISSING, TABLE[4])
    ]


def test_another_order_is_one_difference():
    turned = [TABLE[1], TABLE[0], *TABLE[2:]]
    assert places(versions(TABLE), versions(turned)) == [
        ("asked", "api_keys", [0, 1, 2, 3, 4], [1, 0, 2, 3, 4])
    ]


def test_the_order_in_which_api_keys_are_told_is_a_note():
    own = {"api_key": 18, "min_version": 0, "max_version": 0}  # without which a checker fires
    turned, honest = versions([own, *TABLE]), versions([*TABLE, own])
    found = judge(None, turned, honest, api="ApiVersions", version=0)
    assert found.conforms and [(one.path, one.kind) for one in found.notes] == [
        ("api_keys", "order")
    ]
    assert judge(None, turned, honest, strict=True).kind == DIVERGES
    (note,) = found.notes
    words = wording.both(note.path, note.kind, (note.oracle, str(note.target)), "4.3")
    assert "this target the same in another order: [18, 0, 1, 2, 3, 4]" in words


def test_the_order_of_what_is_answered_in_the_order_of_the_question_decides():
    topics = [{"topic": name, "partitions": []} for name in ("a", "b")]
    body = {"throttle_time_ms": 0, "error_code": 0, "session_id": 0}
    asked = {"topics": [], "forgotten_topics_data": [], "rack_id": ""}
    sides = [
        conversation(("fetch", "Fetch", 11, asked, body | {"responses": rows}))
        for rows in (topics, topics[::-1])
    ]
    found = judge(None, sides[1], sides[0], api="Fetch", version=11)
    assert found.kind == DIVERGES and found.differences[0].kind == "value"
    assert "in another order" in wording.both("responses", "value", (["a", "b"], ["b", "a"]), None)
    assert "another order" not in wording.both("responses", "value", (["a"], ["b"]), None)


def test_one_of_two_elements_of_one_name_that_is_missing_is_one_difference():
    twice = [TABLE[0], TABLE[0]]
    assert places(versions(twice), versions([TABLE[0]])) == [
        ("asked", "api_keys[1]", TABLE[0], MISSING)
    ]


def test_a_topic_that_is_named_twice_does_not_move_the_others():
    def listed(*topics):
        rows = [{"name": name, "partitions": [partition(code)]} for name, code in topics]
        return conversation(("asked", "ListOffsets", 1, {}, {"topics": rows}))

    def partition(code):
        return {"partition_index": 0, "error_code": code, "timestamp": -1, "offset": 0}

    kafkas = listed(("a", 0), ("b", 3), ("b", 42), ("c", 0))
    assert places(kafkas, listed(("b", 3), ("b", 42), ("c", 0))) == [
        ("asked", "topics[0]", {"name": "a", "partitions": [partition(0)]}, MISSING)
    ]
    assert places(kafkas, listed(("a", 0), ("b", 3), ("b", 3), ("c", 0))) == [
        ("asked", "topics[2].partitions[0].error_code", 42, 3)
    ]
    # Topics come out of a hash map, and so may two of one name.
    assert places(kafkas, listed(("b", 42), ("a", 0), ("b", 3), ("c", 0))) == []


def test_elements_that_have_no_name_at_all_are_compared_by_place():
    def produced(*indexes):
        rows = [{"batch_index": one, "batch_index_error_message": None} for one in indexes]
        part = {"index": 0, "error_code": 87, "base_offset": -1, "log_append_time_ms": -1,
                "log_start_offset": -1, "record_errors": rows, "error_message": None}  # fmt: skip
        topics = [{"name": "t", "partition_responses": [part]}]
        return conversation(("asked", "Produce", 8, {}, {"responses": topics}))

    where = "responses[0].partition_responses[0].record_errors"
    assert places(produced(1, 2), produced(2)) == [
        ("asked", f"{where}[0].batch_index", 1, 2),
        ("asked", f"{where}[1]", {"batch_index": 2, "batch_index_error_message": None}, MISSING),
    ]


def in_sync(*brokers):
    partition = {
        "error_code": 0, "partition_index": 0, "leader_id": 0, "replica_nodes": [0, 1, 2],
        "isr_nodes": list(brokers),
    }  # fmt: skip
    topic = {"error_code": 0, "name": "t", "is_internal": False, "partitions": [partition]}
    answer = {"brokers": [], "controller_id": 0, "topics": [topic]}
    line = ("asked", "Metadata", 1, {"topics": [{"name": "t"}]}, answer)
    return conversation(line, brokers=3)


def test_an_id_that_only_one_side_has_does_not_hide_a_name_that_both_have():
    def answered(id, code):
        return conversation(
            ("asked", "Metadata", 12, {"topics": [{"name": "t"}]},
             {"topics": [{"name": "t", "topic_id": id, "error_code": code}]}),
        )  # fmt: skip

    found = places(answered(bytes(16), 3), answered(bytes([1] * 16), 0))
    assert [path for _, path, *_ in found] == ["topics[0].error_code", "topics[0].topic_id"]


def test_plain_values_name_themselves():
    found = places(in_sync(0, 1, 2), in_sync(1, 2))
    assert [pair for _, *pair in ((path, a, b) for _, path, a, b in found)] == [
        ["$replica-0", MISSING]
    ], "one broker is missing; the others did not move"


def test_where_nothing_is_shared_elements_stand_by_their_place():
    assert compare_lists([0, 1], [2, 3]) == [((0,), 0, 2), ((1,), 1, 3)]
    one, two, three = ({"offset": offset, "value": b"v"} for offset in (0, 1, 2))
    assert compare_lists([one, two, three], [one, three]) == [((1,), two, MISSING)]
    assert compare_lists([one], [two]) == [((0, "offset"), 0, 1)], "an offset off by one"


def test_of_records_in_another_format_the_format_is_told():
    old = [{"offset": offset, "magic": 1, "crc": "right"} for offset in (0, 1)]
    new = [{"base_offset": 0, "magic": 2, "crc": "right", "records_count": 2}]
    assert compare_lists([*old, {"partial": 30}], new) == [((0, "magic"), 1, 2)]
    assert compare_lists(new, old) == [((0, "magic"), 2, 1)]
    assert compare_lists(old, []) == [((0,), old[0], MISSING), ((1,), old[1], MISSING)]
    assert compare_lists([*old, *new], old) == [((2,), new[0], MISSING)], "both know that format"


def compare_lists(left, right):
    return compare_module._values(left, right, ())


def test_the_first_difference_comes_first():
    honest = golden("4.3")

    def change(body):
        body["responses"][0]["partitions"][0]["high_watermark"] = 0

    later = doctored(honest, "out of range", change)
    both = doctored(later, "fetched", change)
    assert [found.step for found in compare(honest, both)] == ["fetched", "out of range"]


def test_how_a_step_ended_is_compared():
    answered = versions(TABLE)
    closed = conversation(("asked", "ApiVersions", 0, {}, "closed"))
    hung = conversation(("asked", "ApiVersions", 0, {}, "timeout"))
    assert places(answered, closed)[0] == ("asked", "connection", "answered", "closed")
    assert places(closed, hung)[0] == ("asked", "connection", "closed", "hung")


def test_a_topic_that_metadata_made_is_one_difference():
    line = ("made", "CreateTopics", 2, {"topics": [], "timeout_ms": 1}, {"topics": []})
    made = conversation(("made", "CreateTopics", 2, {"topics": [], "timeout_ms": 1}, "made"))
    assert places(conversation(line), made) == [("made", "made", "answered", "made")]


def test_of_a_step_in_another_version_the_fields_of_both_are_compared():
    """ListOffsets 4 tells a leader epoch, which 1 does not know."""

    def asked(version, offset, partitions=1):
        rows = [
            {"partition_index": n, "error_code": 0, "timestamp": -1, "offset": offset}
            for n in range(partitions)
        ]
        ask = {"replica_id": -1, "topics": []}
        answer = {"topics": [{"name": "t", "partitions": rows}]}
        return conversation(("end", "ListOffsets", version, ask, answer))

    noted = ("end", "version", 1, 4)
    assert places(asked(1, 3), asked(4, 3)) == [noted]
    assert places(asked(1, 3), asked(4, 2)) == [
        noted, ("end", "topics[0].partitions[0].offset", 3, 2),
    ]  # fmt: skip
    assert places(asked(1, 3, partitions=2), asked(4, 3))[1][3] == MISSING, "an element is no field"


def test_a_step_that_was_not_attempted_is_a_difference():
    line = ("first", "ApiVersions", 0, {}, {"error_code": 0, "api_keys": []})
    both = conversation(line, ("second", *line[1:]))
    assert places(both, conversation(line)) == [
        ("second", "connection", "answered", "not attempted")
    ]


def test_an_answer_that_does_not_decode_differs_from_one_that_does():
    broken = conversation(("asked", "ApiVersions", 0, {}, b"\0\0\0\1\0\0\0\0\0\7"))
    (found,) = compare(versions(TABLE), broken)
    assert (found.path, found.oracle, found.kind) == ("answer", "decodes", "connection")
    assert "api_keys" in found.target


def test_a_difference_knows_its_step_and_its_kind():
    (found,) = compare(versions(TABLE), versions(TABLE[1:]))
    assert (found.api, found.version, found.at, found.kind) == ("ApiVersions", 0, 0, "absence")


def test_an_odd_boolean_is_a_difference():
    assert compare(*(_internal(value) for value in (1, 2)))


def _internal(value):
    topic = {"error_code": 0, "name": "t", "is_internal": value, "partitions": []}
    answer = {"brokers": [], "controller_id": 0, "topics": [topic]}
    return conversation(("asked", "Metadata", 1, {"topics": [{"name": "t"}]}, answer))
