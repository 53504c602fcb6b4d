"""Each mutator does what its sentence says, keeps the layers around it right, and stays small."""

from __future__ import annotations

import random

import pytest

from touchstone.fuzz.generator import Generator, Pair
from touchstone.fuzz.mutators import FIXED_HEADER, SIZE, described, mutators, sasl_token
from touchstone.fuzz.segments import LIMIT, frames_in
from touchstone.reference_impl.wire.headers import decode_request
from touchstone.reference_impl.wire.records import check_crc, entries

MUTATORS = mutators()
DESCRIBED = described()
SEED = 7
WIRES = [
    Generator([Pair(key, version)], random.Random(f"{SEED}/{key}/{index}")).frame_of(
        Pair(key, version), 3
    )
    for index in range(4)
    for key, version in ((0, 9), (1, 12), (3, 4), (18, 3), (19, 5), (11, 7))
]
FRAMING = {"size_lie", "pipeline"}  # the two whose fault is the framing itself
IN_BATCHES = {"batch header", "batch framing", "stored", "control", "record framing", "record"}
ON_RECORDS = {name for name, one in DESCRIBED.items() if one.layer in IN_BATCHES}
PAST_CRC = ON_RECORDS - {"batch_framing"}
OPENS = {name for name, one in DESCRIBED.items() if one.change is not None}
DECODES = {
    "array_shape",
    "field_edge",
    "filled_field",
    "batch_crc",
    "embedded_protocol",
    "sasl_token",
    "telemetry_payload",
    *ON_RECORDS,
}


def produced(version: int) -> list[bytes]:
    pair = Pair(0, version)
    drawn = (
        Generator([pair], random.Random(f"{SEED}/records/{index}")).frame_of(pair, 3)
        for index in range(60)
    )
    return [wire for wire in drawn if len(wire) > 130]  # others carry no records


def wires_for(name: str) -> list[bytes]:
    """Frames that have what this mutator changes."""
    if name == "message_field":
        return produced(2)
    if name in ON_RECORDS or name == "batch_crc":
        return produced(9)
    of_its_own = {
        "embedded_protocol": (Pair(11, 7), Pair(14, 3)), "telemetry_payload": (Pair(72, 0),),
        "sasl_token": (Pair(36, 0), Pair(36, 2)), "filled_field": (Pair(75, 0), Pair(1, 12)),
        "tag_block": (Pair(1, 12), Pair(3, 12)), "header_tags": (Pair(1, 12), Pair(68, 0)),
    }  # fmt: skip
    if name not in of_its_own:
        return WIRES
    return [
        Generator([pair], random.Random(f"{SEED}/{name}/{index}")).frame_of(pair, 3)
        for pair in of_its_own[name]
        for index in range(20)
    ]


def mutants(name: str, count: int = 300):
    wires = wires_for(name)
    for index in range(count):
        draw = random.Random(f"{SEED}/{name}/{index}")
        wire = wires[index % len(wires)]
        yield wire, MUTATORS[name](wire, draw)


@pytest.mark.parametrize("name", MUTATORS)
def test_a_mutator_changes_most_frames(name):
    changed = sum(before != after for before, after in mutants(name))
    assert changed >= 150


@pytest.mark.parametrize("name", MUTATORS)
def test_a_mutant_is_bounded_by_what_it_was_made_of(name):
    times, more = (100, 31_000) if name in OPENS or name.startswith("header") else (4, 600)
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


SERVER_FIRST = b"r=abcdef,s=c2FsdA==,i=4096"


def test_sasl_token_breaks_each_part_of_a_scram_message():
    broken = [sasl_token.broken(SERVER_FIRST, random.Random(f"{SEED}/{n}")) for n in range(300)]
    assert b"r=abcdef,s=c2FsdA==,i=2147483647" in broken  # CVE-2026-10143: so many rounds
    assert b"r=abcdef,s=c2FsdA==" in broken
    assert b"r=abcdef,s=,i=4096" in broken
    assert b"s=c2FsdA==,i=4096" in broken


def test_sasl_token_breaks_a_token_of_plain():
    broken = [sasl_token.broken(b"\0user\0word", random.Random(f"{SEED}/{n}")) for n in range(300)]
    assert {b"\0\0word", b"\0user\0", b"user\0word"} <= set(broken)


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


@pytest.mark.parametrize("name", sorted(DECODES))
def test_a_layered_fault_leaves_a_request_that_decodes(name):
    for _, after in mutants(name):
        request = decode_request(after[SIZE:])
        assert request.end == len(after) - SIZE


@pytest.mark.parametrize("name", sorted(PAST_CRC - {"control_batch"}))
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


def test_a_lying_length_is_the_only_difference():
    """Apart from one run of bytes as long as a length, the frames are the same."""
    for before, after in mutants("length_lie"):
        same_front = next(
            (i for i in range(SIZE, len(before)) if before[i] != after[i : i + 1][0]), 0
        )
        rest = len(after) - same_front
        widths = range(1, 6)
        assert any(after.endswith(before[same_front + width :]) for width in widths) or rest < 6


def test_unknown_tags_are_kept_and_lies_about_them_do_not_decode():
    ends = {decodes(after) for _, after in mutants("tag_block")}
    assert ends == {True, False}


def decodes(wire: bytes) -> bool:
    try:
        return decode_request(wire[SIZE:]).end == len(wire) - SIZE
    except ValueError:
        return False
