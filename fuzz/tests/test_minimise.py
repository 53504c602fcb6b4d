"""Minimising, each kind of part by itself: what stays is what the complaint needs, and no more."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from touchstone.fuzz.minimise import fields, minimised
from touchstone.fuzz.minimise.fields import opened
from touchstone.fuzz.minimise.record_batches import opened as opened_batch
from touchstone.fuzz.minimise.search import smallest
from touchstone.fuzz.mutators import frame
from touchstone.fuzz.script import Reference, Script, Step
from touchstone.fuzz.tests.seeded import frame_of
from touchstone.reference_impl.wire.headers import encode_request
from touchstone.reference_impl.wire.records import decode_batch, encode_batch
from touchstone.reference_impl.wire.records.batch import CRC_AT, Record

MANY = 10_000


def metadata(*names: str) -> bytes:
    return frame_of(("Metadata", 5, {"topics": [{"name": name} for name in names]}), "client")


def body_of(script: Script, number: int = -1) -> dict[str, Any]:
    request = opened(script.steps[number].wire)
    assert request is not None
    return request.body


def smaller(wire: bytes, holds: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """The body of the smallest request for which the condition holds."""

    def asked(script: Script) -> bool:
        request = opened(script.steps[-1].wire)
        return request is not None and bool(holds(request.body))

    return body_of(minimised(Script((Step(wire),)), asked, MANY).best)


@pytest.mark.parametrize("needed", [set(), {3}, {0, 9}, {1, 2, 7}, set(range(10))])
def test_of_ten_items_those_stay_that_are_needed(needed):
    assert set(smallest(range(10), lambda kept: needed <= set(kept))) == needed


def test_two_of_a_thousand_are_found_in_few_questions():
    asked = []
    smallest(range(1000), lambda kept: asked.append(kept) or {17, 800} <= set(kept))
    assert len(asked) < 60


def test_no_more_is_asked_than_may_be():
    asked = []
    wires = Script(tuple(Step(metadata(f"t{n}")) for n in range(20)))
    search = minimised(wires, lambda script: asked.append(script) or False, 10)
    assert (len(asked), search.runs, search.best) == (10, 10, wires)


def test_when_nothing_may_be_run_nothing_is_built(monkeypatch):
    """Each candidate of a request of 2,000 rows costs as much as reading all of them."""
    rows = [{"name": f"t{n}", "partitions": [{"partition_index": 0}]} for n in range(2000)]
    wire = frame_of(("OffsetDelete", 0, {"group_id": "g", "topics": rows}))
    built = []
    monkeypatch.setattr(fields, "opened", lambda wire: built.append(1) or opened(wire))
    search = minimised(Script((Step(wire),)), lambda script: len(script.steps[0].wire) > 9000, 40)
    assert search.runs == 40 and len(built) < 200


def test_a_candidate_is_run_once():
    asked: list[Script] = []
    minimised(
        Script(tuple(Step(metadata("a", "b", "c")) for _ in range(3))),
        lambda script: asked.append(script) or len(script.steps) == 3,
        MANY,
    )
    assert len(asked) == len(set(asked))


def test_steps_that_are_not_needed_go_and_references_follow():
    member = Reference("member_id", 1, "member_id")
    beat = ("Heartbeat", 2, {"group_id": "g"})
    script = Script(
        (
            Step(metadata("a")),
            Step(frame_of(("JoinGroup", 2, {"group_id": "g"}))),
            Step(metadata("b"), connection=1),
            Step(frame_of(beat), 1, (member, Reference("group_id", 0, "x"))),
        )
    )

    def holds(one: Script) -> bool:
        last = one.steps[-1]
        return any(
            one.steps[reference.step].wire[5] == 11 for reference in last.references
        )  # of a JoinGroup

    small = minimised(script, holds, MANY).best
    assert [step.wire[5] for step in small.steps] == [11, 12]
    assert small.steps[-1].references == (replace(member, step=0),)
    assert {step.connection for step in small.steps} == {0}


def test_elements_fields_and_the_header_that_are_not_needed_go():
    wire = frame_of(
        (
            "CreateTopics",
            4,
            {
                "topics": [
                    {"name": "one", "num_partitions": 3},
                    {
                        "name": "two",
                        "configs": [{"name": "a", "value": "b"}, {"name": "odd", "value": "c"}],
                    },
                    {"name": "three"},
                ],
                "timeout_ms": 77,
            },
        ),
        "somebody",
    )
    body = smaller(
        wire, lambda b: any(c["name"] == "odd" for t in b["topics"] for c in t["configs"])
    )
    assert body == {
        "topics": [
            {
                "name": "", "num_partitions": 0, "replication_factor": 0, "assignments": [],
                "configs": [{"name": "odd", "value": None}],
            }
        ],
        "timeout_ms": 60000,
        "validate_only": False,
    }  # fmt: skip


def test_a_reference_stays_with_its_element():
    reference = Reference("topics[2].name", 0, "name")
    script = Script(
        (Step(metadata("first")), Step(metadata("a", "b", "c"), references=(reference,)))
    )

    def holds(one: Script) -> bool:
        last = one.steps[-1]
        return bool(last.references) and len(one.steps) == 2

    small = minimised(script, holds, MANY).best.steps[-1]
    assert (len(body_of(Script((small,)))["topics"]), small.references[0].into) == (
        1,
        "topics[0].name",
    )


def test_a_long_text_is_cut_to_the_shortest_that_is_enough():
    body = smaller(
        metadata("x" * 3000), lambda b: len((b["topics"] or [{"name": ""}])[0]["name"]) > 249
    )
    assert len(body["topics"][0]["name"]) == 250


def test_bytes_behind_a_body_that_matter_stay():
    wire = frame(metadata("a", "b")[4:] + b"..!..")
    search = minimised(Script((Step(wire),)), lambda script: b"!" in script.steps[0].wire, MANY)
    plainest = frame_of(("Metadata", 5, {"topics": None}))
    assert search.best.steps[0].wire == frame(plainest[4:8] + wire[8:12] + plainest[12:] + b"!")


def test_bytes_that_no_schema_reads_are_cut_to_the_one_that_matters():
    head = bytes.fromhex("0003 0063 00000001")
    wire = frame(head + random.Random(1).randbytes(40) + b"\xee" + bytes(20))
    search = minimised(
        Script((Step(wire),)), lambda script: 0xEE in script.steps[0].wire[12:], MANY
    )
    assert search.best.steps[0].wire == frame(head + b"\xee")


def test_a_size_that_lies_stays_as_it_is():
    wire = (2**31 - 1).to_bytes(4, "big") + metadata("a")[4:]
    small = minimised(
        Script((Step(wire),)), lambda script: script.steps[0].wire[:4] == b"\x7f\xff\xff\xff", MANY
    ).best
    assert small.steps[0].wire == wire[:12]


def test_of_several_frames_one_stays():
    wire = metadata("a") + frame(b"\x03\xe7" + bytes(10)) + metadata("b")
    small = minimised(
        Script((Step(wire),)), lambda script: b"\x03\xe7" in script.steps[0].wire, MANY
    ).best
    assert small.steps[0].wire == frame(b"\x03\xe7" + bytes(6))


def test_a_complaint_about_how_a_field_is_written_keeps_its_bytes():
    odd = encode_request(3, 12, 1, None, {}).removesuffix(b"\0") + b"\x80\x80\0"
    small = minimised(
        Script((Step(frame(odd)),)), lambda script: b"\x80\x80\0" in script.steps[0].wire, MANY
    ).best
    assert b"\x80\x80\0" in small.steps[0].wire


# --- records --------------------------------------------------------------------------------------


def produced(batch: bytes) -> bytes:
    rows = [{"name": "t", "partition_data": [{"index": 0, "records": batch}]}]
    return frame_of(("Produce", 9, {"topic_data": rows}))


def records_of(body: dict[str, Any]) -> bytes:
    rows = body["topic_data"] or [{"partition_data": [{"records": b""}]}]
    parts = rows[0]["partition_data"] or [{"records": b""}]
    return bytes(parts[0]["records"] or b"")


THREE = [Record(n, n, b"key", b"value", [("h", b"1")]) for n in range(3)]


@pytest.mark.parametrize("compression", [0, 1])
def test_a_wrong_checksum_outlives_the_records(compression):
    batch = bytearray(encode_batch(THREE, base_timestamp=9, producer_id=5, compression=compression))
    batch[CRC_AT] ^= 0x40
    wrong = opened_batch(bytes(batch))
    assert wrong is not None

    def holds(body: dict[str, Any]) -> bool:
        found = opened_batch(records_of(body))
        return found is not None and found.crc_lie == wrong.crc_lie and bool(found.records)

    small = decode_batch(records_of(smaller(produced(bytes(batch)), holds)))
    assert small.records == [Record(0, 0, None, None, [], 0)]
    assert (small.header.producer_id, small.header.attributes, small.header.base_timestamp) == (
        -1, 0, 0,
    )  # fmt: skip


def test_the_record_that_matters_stays():
    records = [*THREE, Record(3, 3, b"odd", b"value"), Record(4, 4, None, b"x")]

    def holds(body: dict[str, Any]) -> bool:
        found = opened_batch(records_of(body))
        return found is not None and any(record.key == b"odd" for record in found.records)

    batch = encode_batch(records, base_timestamp=9)
    small = decode_batch(records_of(smaller(produced(batch), holds)))
    assert small.records == [Record(0, 0, b"odd", None, [], 0)]
    assert (small.header.records_count, small.header.last_offset_delta) == (1, 0)


def test_a_count_that_lies_lies_by_as_much():
    batch = encode_batch(THREE, base_timestamp=9)
    found = opened_batch(batch)
    assert found is not None
    lying = replace(found, count_lie=2).encode()

    def holds(body: dict[str, Any]) -> bool:
        one = opened_batch(records_of(body))
        return one is not None and one.count_lie == 2

    small = opened_batch(records_of(smaller(produced(lying), holds)))
    assert small is not None
    assert (len(small.records), small.header.records_count) == (1, 3)


@pytest.mark.parametrize("compression", [0, 1, 2, 3, 4])
def test_an_opened_batch_closes_to_the_same_records(compression):
    batch = encode_batch(THREE, base_timestamp=9, compression=compression)
    found = opened_batch(batch)
    assert found is not None
    assert decode_batch(found.encode()).records == decode_batch(batch).records
