"""A fault hits the layer its mutator names and no other: what is around it is decoded and compared.

Each layer has a function that gives everything outside of it, in a form that can be compared, and
complains where a length, a count or a checksum out there is not right.
"""

from __future__ import annotations

import random

import pytest

from touchstone.fuzz.generator import Generator, Pair
from touchstone.fuzz.layers import SIZE, open_request, open_response, places
from touchstone.fuzz.mutators import described
from touchstone.fuzz.pieces import join, pieces_of
from touchstone.fuzz.segments import frames_in
from touchstone.fuzz.tests.test_mutators import mutants
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.codec import encode
from touchstone.reference_impl.wire.headers import decode_request_header
from touchstone.reference_impl.wire.records import check_crc, entries
from touchstone.reference_impl.wire.records.batch import (
    HEADER_SIZE,
    decode_records,
    payload_of,
    read_header,
)

MUTATORS = described()
SEED = 5
BLOBS = {
    "embedded": ("bytes",), "sasl": ("bytes",), "telemetry": ("bytes",), "message": ("records",),
}  # fmt: skip
LIMIT = 1 << 22


def frame_content(wire: bytes) -> bytes:
    """What the frame holds; its size is right and nothing follows it."""
    frames, whole = frames_in(wire)
    assert whole and len(frames) == 1
    return frames[0]


def head_and_rest(wire: bytes) -> tuple[bytes, bytes]:
    content = frame_content(wire)
    _, at = decode_request_header(content)
    return content[:at], content[at:]


def around_blobs(wire: bytes, types: tuple[str, ...]):
    """Header, and the body without the fields that hold bytes of a format of their own."""
    opened = open_request(wire)
    assert opened is not None and opened.closed() == wire  # nothing in it that encoding would mend
    blobs = []
    for holder, name, row in places(opened.message, opened.version, opened.body):
        if row.type in types and isinstance(holder, dict):
            blobs.append(holder[name])
            holder[name] = None
    return (opened.head, repr(opened.body)), blobs


def batches_in(wire: bytes) -> list[bytes]:
    """Every batch of a Produce; the length of each is right, as its magic and its CRC are."""
    _, blobs = around_blobs(wire, ("records",))
    found = []
    for blob in blobs:
        for at, size, magic in entries(bytes(blob or b"")):
            assert magic == 2
            check_crc(blob, at, size, magic)
            assert read_header(blob, at).size == size
            found.append(blob[at : at + size])
    return found


def header_without(batch: bytes, *names: str):
    return read_header(batch, 0)._replace(batch_length=0, crc=0, **dict.fromkeys(names, 0))


def one_differs(before: list, after: list) -> tuple:
    """The one pair of elements that differs."""
    assert len(before) == len(after)
    differing = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
    assert len(differing) <= 1
    return differing[0] if differing else (None, None)


def check_frame(before, after):
    assert after.endswith(before[SIZE:]) or after.startswith(before)  # the content is untouched


def check_header(before, after):
    frame_content(after)
    assert before[SIZE + 8 :] and frame_content(after).endswith(head_and_rest(before)[1])


def check_body(before, after):
    assert frame_content(after).startswith(head_and_rest(before)[0])


def check_blob(types):
    def check(before, after):
        outside, blobs = around_blobs(before, types)
        outside_after, blobs_after = around_blobs(after, types)
        assert outside == outside_after
        one_differs(blobs, blobs_after)

    return check


def check_batch_header(before, after):
    check_blob(("records",))(before, after)
    one, other = one_differs(batches_in(before), batches_in(after))
    if one is not None:
        assert one[61:] == other[61:]  # the records are as they were
        first, second = header_without(one), header_without(other)
        assert sum(a != b for a, b in zip(first, second, strict=True)) == 1


def check_checksum(before, after):
    """The checksum of one batch is wrong; with the right one the records are as they were."""
    check_blob(("records",))(before, after)
    batches = batches_in(before)
    _, blobs = around_blobs(after, ("records",))
    others = [blob[at : at + size] for blob in blobs for at, size, _ in entries(bytes(blob or b""))]
    mended = []
    for one, other in zip(batches, others, strict=True):
        header = read_header(other, 0)
        payload = payload_of(other, 0, header, LIMIT)
        assert payload == payload_of(one, 0, read_header(one, 0), LIMIT)
        mended.append(header.encode(other[HEADER_SIZE:]))
    wrong = [mine for mine, other in zip(mended, others, strict=True) if mine != other]
    assert len(wrong) == (before != after)


def check_stored(before, after):
    check_blob(("records",))(before, after)
    one, other = one_differs(batches_in(before), batches_in(after))
    if one is not None:
        first, second = (header_without(each) for each in (one, other))
        assert first._replace(attributes=0) == second._replace(attributes=0)
        assert (first.attributes ^ second.attributes) & ~7 == 0  # the codec alone


def check_record_framing(before, after):
    check_blob(("records",))(before, after)
    one, other = one_differs(batches_in(before), batches_in(after))
    if one is not None:
        assert header_without(one) == header_without(other)
        payload_of(other, 0, read_header(other, 0), LIMIT)  # decompresses


def check_record(before, after):
    check_record_framing(before, after)
    one, other = one_differs(batches_in(before), batches_in(after))
    if one is not None:
        count = read_header(one, 0).records_count
        records = [
            decode_records(payload_of(each, 0, read_header(each, 0), LIMIT), count, strict=False)
            for each in (one, other)
        ]
        first, second = one_differs(*records)
        if first is not None:
            assert sum(a != b for a, b in zip(first, second, strict=True)) == 1


def check_control(before, after):
    check_blob(("records",))(before, after)
    one, other = one_differs(batches_in(before), batches_in(after))
    if one is not None:
        assert read_header(other, 0).control
        assert read_header(one, 0).base_offset == read_header(other, 0).base_offset


CHECKS = {
    "frame": check_frame,
    "header": check_header,
    "body": check_body,
    "embedded": check_blob(BLOBS["embedded"]),
    "sasl": check_blob(BLOBS["sasl"]),
    "telemetry": check_blob(BLOBS["telemetry"]),
    "message": check_blob(BLOBS["message"]),
    "batch framing": check_blob(("records",)),
    "checksum": check_checksum,
    "batch header": check_batch_header,
    "stored": check_stored,
    "record framing": check_record_framing,
    "record": check_record,
    "control": check_control,
}
OF_A_LAYER = sorted(name for name, one in MUTATORS.items() if one.layer != "bytes")


@pytest.mark.parametrize("name", OF_A_LAYER)
def test_a_fault_hits_only_its_layer(name):
    changed = 0
    for before, after in mutants(name):
        CHECKS[MUTATORS[name].layer](before, after)
        changed += before != after
    assert changed >= 150


def test_every_layer_has_a_check():
    assert {one.layer for one in MUTATORS.values()} - {"bytes"} == CHECKS.keys()


@pytest.mark.parametrize(
    ("layer", "name"),
    [("record", "batch_field"), ("batch header", "record_bytes"), ("body", "reheader"),
     ("record framing", "batch_framing"), ("embedded", "field_edge")],
)  # fmt: skip
def test_a_fault_of_another_layer_is_noticed(layer, name):
    with pytest.raises((AssertionError, ValueError)):
        for before, after in mutants(name):
            CHECKS[layer](before, after)


@pytest.mark.parametrize("key", API)
def test_pieces_join_to_what_the_encoder_writes(key):
    for version in API[key].versions:
        pair = Pair(key, version)
        generator = Generator([pair], random.Random(f"{SEED}/{key}/{version}"))
        for message, body in (
            (API[key].request, generator.body(pair)),
            (API[key].response, generator.response_body(pair)),
        ):
            assert join(pieces_of(message, version, body)) == encode(message, version, body)


@pytest.mark.parametrize("name", sorted(n for n, one in MUTATORS.items() if one.layer == "body"))
def test_a_fault_in_an_answer_leaves_its_header_alone(name):
    changed = 0
    for index in range(200):
        draw = random.Random(f"{SEED}/{name}/{index}")
        pair = Pair(*draw.choice(((1, 12), (3, 9), (11, 7), (18, 3), (22, 4))))
        before = Generator([pair], draw).response_to(pair, 9)
        after = MUTATORS[name].on_response(pair.key, pair.version, before, draw)
        opened = open_response(pair.key, pair.version, before)
        assert opened is not None and frame_content(after).startswith(opened.head)
        changed += before != after
    assert changed >= 50
