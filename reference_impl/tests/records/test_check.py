"""The broker's fast validation: equal to the decoder on anything, and right about what it tells."""

import random

import pytest

from touchstone.reference_impl.wire import records as R
from touchstone.reference_impl.wire.records import batch, check, varint
from touchstone.reference_impl.wire.records.batch import Record

SEED = 20261121
BASE = 1_700_000_000_000


def slowly(payload: bytes, count: int) -> check.Checked:
    """The same facts by way of the decoder, which the fast loop must never contradict."""
    records = batch.decode_records(payload, count, strict=False)
    stamps = [record.timestamp_delta for record in records]
    keyless = [i for i, record in enumerate(records) if record.key is None]
    newest = max(stamps, default=0)
    return check.Checked(
        BASE + newest if records else -1,
        keyless[0] if keyless else -1,
        [record.offset_delta for record in records] == list(range(count)),
        BASE + min(-8192, *stamps) if records else 0,  # no delta of two bytes is smaller
    )


def verdict(function, *arguments):
    try:
        return function(*arguments)
    except R.RecordError as fault:
        return fault.reason


SHAPES = {
    "alike": [Record(i, 0, None, b"x" * 100) for i in range(150)],
    "alike, beyond one-byte deltas": [Record(i, i, b"key", b"v") for i in range(700)],
    "alike, late and early": [Record(i, (-1) ** i * i, b"k", b"") for i in range(60)],
    "all early": [Record(i, -5 - i % 3, b"k", b"") for i in range(30)],
    "three-byte deltas": [Record(i, i % 3, None, b"") for i in range(8300)],
    "wide and early": [Record(i, -5000 - i % 9, None, b"v") for i in range(90)],
    "wide stamps": [Record(i, 5000 + i % 90, None, b"v") for i in range(90)],
    "growing keys": [Record(i, 7, b"k" * i, b"v" * (i % 7)) for i in range(200)],
    "one key missing": [Record(i, 7, None if i == 77 else b"", b"abc") for i in range(100)],
    "tombstones": [Record(i, 7, b"k", None) for i in range(20)],
    "headers": [Record(i, 7, b"k", b"v", [("h", b"1"), ("h", None)]) for i in range(20)],
    "headers of all sizes": [
        Record(i, 7, None, b"v", [("h" * (i % 70), b"x" * n) for n in range(i % 66)])
        for i in range(80)
    ],
    "odd attributes": [Record(i, 7, b"k", b"v", (), 0x55) for i in range(20)],
    "large": [Record(i, 10**9, b"k" * 9000, b"v" * 70000) for i in range(3)],
    "negative base": [Record(0, -(2**40), b"k", b"v")],
    "gaps": [Record(3 * i, 0, b"k", b"v") for i in range(20)],
    "backwards": [Record(20 - i, 0, b"k", b"v") for i in range(20)],
    "none": [],
}


@pytest.mark.parametrize("name", SHAPES)
def test_facts_are_those_of_the_decoded_records(name):
    records = SHAPES[name]
    payload = batch.encode_records(records)
    assert check.check_records(payload, len(records), BASE) == slowly(payload, len(records))
    skimmed = check.check_records(payload, len(records), BASE, skim=True)
    assert skimmed == slowly(payload, len(records))


def mutants(dice: random.Random, payload: bytes):
    for _ in range(40):
        mutant = bytearray(payload)
        at = dice.randrange(len(mutant))
        kind = dice.randrange(4)
        if kind == 0:
            mutant[at] = dice.choice(
                (0, 1, 2, 0x7F, 0x80, 0xFF, mutant[at] ^ 1 << dice.randrange(8))
            )
        elif kind == 1:
            del mutant[at : at + dice.randrange(1, 4)]
        elif kind == 2:
            mutant[at:at] = dice.randbytes(dice.randrange(1, 4))
        else:
            mutant[at : at + 1] = bytes((mutant[at] | 0x80, mutant[at] >> 7))
        yield bytes(mutant)


@pytest.mark.parametrize("name", [name for name, records in SHAPES.items() if records])
def test_the_fast_loop_never_disagrees_with_the_decoder(name):
    dice = random.Random(f"{SEED} {name}")
    records = SHAPES[name][:300]
    payload = batch.encode_records(records)
    refused = 0
    for mutant in mutants(dice, payload):
        for count in (len(records), len(records) + dice.choice((-1, 1))):
            fast = verdict(check.check_records, mutant, count, BASE)
            assert fast == verdict(slowly, mutant, count)
            refused += isinstance(fast, str)
    assert refused  # else no mutant has told us anything


def test_a_run_ends_where_one_record_differs():
    """Each place of a record in a run of like ones; a wrong column check would miss one of them."""
    records = [Record(i, 3, b"k%02d" % i, b"v" * 150) for i in range(60)]
    payload = batch.encode_records(records)
    step = len(payload) // 60
    accepted = set()
    for at in range(step):
        mutant = bytearray(payload)
        mutant[40 * step + at] ^= 0x01
        found = verdict(check.check_records, bytes(mutant), 60, BASE)
        assert found == verdict(slowly, bytes(mutant), 60), at
        if not isinstance(found, str):
            accepted.add(at)
    content = {2, 3, 4, *range(6, 9), *range(11, step - 1)}  # attributes, deltas, key, value
    assert accepted == content


ONE = batch.encode_record(Record(0, 0, b"key", b"value", [("h", b"v")]))


@pytest.mark.parametrize(
    ("payload", "count", "offset", "reason"),
    [
        (ONE + b"\x00", 1, len(ONE), "records still remaining"),
        (ONE[:-1], 1, 0, "record 0: Invalid record size: expected 18"),
        (ONE, 2, len(ONE), "record 1: varint is cut short"),
        (b"\x80" * 6, 1, 0, "record 0: varint is too long for 32 bits"),
        (b"\x7f" + ONE[1:], 1, 0, "record 0: Invalid record size: expected -64"),
        (b"\x7e" + ONE[1:], 1, 0, "record 0: Invalid record size: expected 63"),
        (
            bytes((ONE[0] - 2,)) + ONE[1:],
            1,
            0,
            "record 0: Invalid record size: expected to read 17",
        ),
        (ONE[:4] + b"\x7e" + ONE[5:], 1, 4, "record 0: Found invalid record structure: key of 63"),
        (
            ONE[:8] + b"\x7e" + ONE[9:],
            1,
            8,
            "record 0: Found invalid record structure: value of 63",
        ),
        (
            ONE[:14] + b"\x01" + ONE[15:],
            1,
            15,
            "record 0: Found invalid number of record headers -1",
        ),
        (
            ONE[:14] + b"\x7e" + ONE[15:],
            1,
            15,
            "record 0: Found invalid number of record headers 63",
        ),
        (ONE[:15] + b"\x01" + ONE[16:], 1, 15, "record 0: Invalid negative header key size"),
        (
            ONE[:17] + b"\x7e" + ONE[18:],
            1,
            17,
            "record 0: Found invalid record structure: header v",
        ),
        (b"", -1, 0, "Found invalid record count -1"),
        (b"", 1, 0, "record 0: varint is cut short"),
        (b"\x00", 1, 1, "record 0: Found invalid record structure: no attributes"),
    ],
)
def test_every_corruption_is_named_by_offset_and_reason(payload, count, offset, reason):
    with pytest.raises(R.RecordError, match=reason.replace("(", r"\(")) as caught:
        check.check_records(payload, count, BASE)
    assert caught.value.offset == offset


def test_kafka_takes_longer_varints_and_other_negative_lengths_for_null():
    long_key = b"\x16\x00\x00\x00" + b"\x86\x00" + b"abc" + b"\x02v" + b"\x00"
    assert check.check_records(long_key, 1, BASE).null_key == -1
    with pytest.raises(R.RecordError, match="canonical"):
        batch.decode_records(long_key, 1)
    null_by_minus_three = b"\x0e\x00\x00\x00\x05\x02v\x00"
    assert check.check_records(null_by_minus_three, 1, BASE).null_key == 0
    with pytest.raises(R.RecordError, match="canonical"):
        batch.decode_records(null_by_minus_three, 1)


def test_a_skim_does_not_look_at_the_records_own_length():
    lie = varint.encode(5) + ONE[1:]
    with pytest.raises(R.RecordError, match="Invalid record size"):
        check.check_records(lie, 1, BASE)
    assert check.check_records(lie, 1, BASE, skim=True).sequential
    with pytest.raises(R.RecordError, match="end of input stream"):
        check.check_records(ONE[:17] + b"\x7e", 1, BASE, skim=True)


def test_timestamps_wrap_like_javas_longs():
    records = [Record(0, 0, b"k", b"v"), Record(1, 1, b"k", b"v")]
    found = check.check_records(batch.encode_records(records), 2, 2**63 - 1)
    assert found.max_timestamp == 2**63 - 1
