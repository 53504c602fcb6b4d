"""Each mutator does what its sentence says, keeps the layers around it right, and stays small."""

from __future__ import annotations

import random

import pytest

from touchstone.fuzz.generator import Generator, Pair
from touchstone.fuzz.mutators import FIXED_HEADER, SIZE, mutators
from touchstone.fuzz.segments import LIMIT, frames_in

MUTATORS = mutators()
SEED = 7
WIRES = [
    Generator([Pair(key, version)], random.Random(f"{SEED}/{key}")).frame(3)[1]
    for key, version in ((0, 9), (1, 12), (3, 4), (18, 0), (19, 5), (11, 7))
]
FRAMING = {"size_lie", "pipeline"}  # the two whose fault is the framing itself


def mutants(name: str, count: int = 300):
    for index in range(count):
        draw = random.Random(f"{SEED}/{name}/{index}")
        wire = WIRES[index % len(WIRES)]
        yield wire, MUTATORS[name](wire, draw)


def test_there_are_twelve():
    assert len(MUTATORS) == 12


@pytest.mark.parametrize("name", MUTATORS)
def test_a_mutator_changes_most_frames(name):
    changed = sum(before != after for before, after in mutants(name))
    assert changed >= 150


@pytest.mark.parametrize("name", MUTATORS)
def test_a_mutant_is_bounded_by_what_it_was_made_of(name):
    assert all(len(after) <= 4 * len(before) + 600 for before, after in mutants(name))


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
