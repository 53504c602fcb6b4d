"""Each mutator does what its sentence says, keeps the layers around it right, and stays small."""

from __future__ import annotations

import random

import pytest

from touchstone.fuzz.generator import Generator, Pair
from touchstone.fuzz.mutators import FIXED_HEADER, SIZE, mutators
from touchstone.fuzz.segments import LIMIT, frames_in
from touchstone.reference_impl.wire.headers import decode_request
from touchstone.reference_impl.wire.records import check_crc, entries

MUTATORS = mutators()
SEED = 7
WIRES = [
    Generator([Pair(key, version)], random.Random(f"{SEED}/{key}")).frame(3)[1]
    for key, version in ((0, 9), (1, 12), (3, 4), (18, 0), (19, 5), (11, 7))
]
FRAMING = {"size_lie", "pipeline"}  # the two whose fault is the framing itself
ON_RECORDS = {"batch_field", "record_bytes", "record_field"}
LAYERED = ON_RECORDS | {"array_shape", "field_edge"}
PRODUCE = [
    wire
    for index in range(40)
    for wire in [Generator([Pair(0, 9)], random.Random(f"{SEED}/records/{index}")).frame(3)[1]]
    if len(wire) > 130  # others carry no records
]


def mutants(name: str, count: int = 300):
    for index in range(count):
        draw = random.Random(f"{SEED}/{name}/{index}")
        wires = PRODUCE if name in ON_RECORDS else WIRES
        wire = wires[index % len(wires)]
        yield wire, MUTATORS[name](wire, draw)


@pytest.mark.parametrize("name", MUTATORS)
def test_a_mutator_changes_most_frames(name):
    changed = sum(before != after for before, after in mutants(name))
    assert changed >= 150


@pytest.mark.parametrize("name", MUTATORS)
def test_a_mutant_is_bounded_by_what_it_was_made_of(name):
    times, more = (100, 4000) if name in LAYERED else (4, 600)
    assert all(len(after) <= times * len(before) + more for before, after in mutants(name))


@pytest.mark.parametrize("name", sorted(MUTATORS.keys() - FRAMING))
def test_the_size_is_right_around_a_fault_of_the_body(name):
    assert all(frames_in(after) == ([after[SIZE:]], True) for _, after in mutants(name))


@pytest.mark.parametrize("name", sorted(MUTATORS.keys() - FRAMING - {"reheader", "truncate"}))
def test_a_fault_of_the_body_leaves_the_fixed_header_alone(name):
    assert all(
        before[SIZE:FIXED_HEADER] == after[SIZE:FIXED_HEADER] for before, after in mutants(name)
    )


@pytest.mark.parametrize("name", MUTATORS)
def test_the_same_draw_makes_the_same_mutant(name):
    assert list(mutants(name, 50)) == list(mutants(name, 50))


@pytest.mark.parametrize("name", MUTATORS)
@pytest.mark.parametrize("wire", [b"\0\0\0\0", b"\0\0\0\1\0", WIRES[3][:11]], ids=len)
def test_a_mutator_takes_the_leftovers_of_another(name, wire):
    assert all(isinstance(MUTATORS[name](wire, random.Random(index)), bytes) for index in range(50))


def bits_changed(before: bytes, after: bytes) -> int:
    return sum((a ^ b).bit_count() for a, b in zip(before, after, strict=True))


def test_bit_flip_changes_one_bit():
    assert {bits_changed(*pair) for pair in mutants("bit_flip")} == {1}


def test_boundary_byte_changes_at_most_one_byte():
    assert all(
        sum(a != b for a, b in zip(before, after, strict=True)) <= 1
        for before, after in mutants("boundary_byte")
    )


def test_integer_edge_keeps_the_length_and_changes_at_most_eight_bytes():
    assert all(
        sum(a != b for a, b in zip(before, after, strict=True)) <= 8
        for before, after in mutants("integer_edge")
    )


def test_block_delete_shortens():
    assert all(len(after) < len(before) for before, after in mutants("block_delete"))


def test_block_repeat_lengthens():
    assert all(len(after) > len(before) for before, after in mutants("block_repeat"))


def test_truncate_is_a_prefix():
    assert all(before[SIZE:].startswith(after[SIZE:]) for before, after in mutants("truncate"))


def test_trailing_keeps_the_message_in_front():
    assert all(
        after[SIZE:].startswith(before[SIZE:]) and len(after) > len(before)
        for before, after in mutants("trailing")
    )


def test_splice_keeps_every_byte():
    assert all(sorted(before) == sorted(after) for before, after in mutants("splice"))


def test_reheader_keeps_the_body():
    assert all(
        before[FIXED_HEADER:] == after[FIXED_HEADER:] for before, after in mutants("reheader")
    )


def test_size_lie_changes_only_the_size():
    assert all(before[SIZE:] == after[SIZE:] for before, after in mutants("size_lie"))


def test_size_lie_goes_below_zero_and_above_the_limit():
    sizes = [int.from_bytes(after[:SIZE], "big", signed=True) for _, after in mutants("size_lie")]
    assert min(sizes) < 0 and max(sizes) > LIMIT


def test_pipeline_starts_with_the_frame():
    assert all(after.startswith(before) for before, after in mutants("pipeline"))


def test_varint_stretch_replaces_one_byte():
    assert all(
        0 <= len(after) - len(before) <= 9 and len(after) >= len(before)
        for before, after in mutants("varint_stretch")
    )


@pytest.mark.parametrize("name", sorted(LAYERED))
def test_a_layered_fault_leaves_a_request_that_decodes(name):
    for _, after in mutants(name):
        request = decode_request(after[SIZE:])
        assert request.end == len(after) - SIZE


@pytest.mark.parametrize("name", sorted(ON_RECORDS))
def test_a_fault_in_a_batch_leaves_its_checksum_right(name):
    checked = 0
    for before, after in mutants(name):
        for records in changed_records(before, after):
            try:
                (found,) = entries(records)
            except ValueError:  # the length or the magic is the fault
                continue
            if found[2] == 2 and found[1] == len(records):
                check_crc(records, *found)
                checked += 1
    assert checked >= 150


def changed_records(before: bytes, after: bytes):
    """The records that the fault is in."""
    for one, other in zip(records_in(before), records_in(after), strict=True):
        if one != other:
            yield other


def records_in(wire: bytes):
    topics = decode_request(wire[SIZE:]).body["topic_data"]
    return [bytes(row["records"]) for topic in topics for row in topic["partition_data"]]


def test_a_field_is_tried_at_each_of_its_edges():
    tried = {decode_request(after[SIZE:]).body["acks"] for _, after in mutants("field_edge", 3000)
             if decode_request(after[SIZE:]).header.key == 0}  # fmt: skip
    assert {-32768, -2, 2, 32767} <= tried
