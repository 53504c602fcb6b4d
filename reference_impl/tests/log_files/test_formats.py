"""Each file format against bytes that real brokers wrote, and against bytes it must refuse."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.log.files import (
    FileFormatError,
    checkpoints,
    clean_shutdown,
    meta_properties,
    names,
    offset_index,
    partition_metadata,
    producer_snapshot,
    scan,
    time_index,
    transaction_index,
)
from touchstone.reference_impl.tests.log_files import golden


@pytest.mark.parametrize("text", golden.SNAPSHOTS.values(), ids=list(golden.SNAPSHOTS))
def test_producer_snapshots_of_kafka_survive(text):
    data = bytes.fromhex(text)
    assert producer_snapshot.encode(producer_snapshot.decode(data)) == data


def test_a_snapshot_says_who_has_a_transaction_open():
    (producer,) = producer_snapshot.decode(
        bytes.fromhex(golden.SNAPSHOTS["4.3.1 an open transaction"])
    )
    assert producer.transaction_start == 5


@pytest.mark.parametrize("at", range(0, 56, 5))
def test_a_damaged_snapshot_is_refused(at):
    data = bytearray.fromhex(golden.SNAPSHOTS["4.3.1 an idle producer"])
    data[at] ^= 0x10
    with pytest.raises(FileFormatError):
        producer_snapshot.decode(bytes(data))


def test_indexes_of_kafka_survive_with_and_without_their_filling():
    for data in (golden.IDEM_INDEX, golden.IDEM_INDEX + bytes(8 * 50)):
        entries = offset_index.decode(data, 0)
        assert len(entries) == 9
        assert offset_index.encode(entries, 0) == golden.IDEM_INDEX
    for data in (golden.IDEM_TIME_INDEX, golden.IDEM_TIME_INDEX + bytes(12 * 50)):
        entries = time_index.decode(data, 0)
        assert len(entries) == 10
        assert time_index.encode(entries, 0) == golden.IDEM_TIME_INDEX


def test_an_index_entry_is_absolute():
    assert offset_index.decode(golden.TXN_INDEX, 1) == [(4, 0xA0)]
    assert time_index.decode(golden.TXN_TIME_INDEX, 1)[0].offset == 4


@pytest.mark.parametrize(
    "data", [golden.IDEM_INDEX[8:] + golden.IDEM_INDEX[:8], golden.IDEM_INDEX[:-1]]
)
def test_an_index_that_falls_or_is_cut_is_refused(data):
    with pytest.raises(FileFormatError):
        offset_index.decode(data, 0)


def test_a_time_index_that_falls_is_refused():
    data = golden.IDEM_TIME_INDEX
    with pytest.raises(FileFormatError):
        time_index.decode(data[12:] + data[:12], 0)


def test_the_log_gives_back_the_indexes_kafka_wrote():
    found = scan.scan(golden.TXN_LOG, 1)
    offsets, times, builder = scan.indexes_of(found.batches, golden.INTERVAL)
    closing = builder.close()
    assert (found.fault, found.next_offset) == (None, 6)
    assert offset_index.encode(offsets, 1) == golden.TXN_INDEX
    assert time_index.encode(times + ([closing] if closing else []), 1) == golden.TXN_TIME_INDEX


@pytest.mark.parametrize("cut", range(len(golden.TXN_LOG)))
def test_a_log_cut_anywhere_keeps_its_whole_batches(cut):
    whole = [b for b in scan.scan(golden.TXN_LOG, 1).batches if b.position + b.size <= cut]
    assert scan.scan(golden.TXN_LOG[:cut], 1).batches == whole


def test_a_flipped_bit_ends_the_log_before_its_batch():
    data = bytearray(golden.TXN_LOG)
    data[0x60 + 40] ^= 1
    found = scan.scan(bytes(data), 1)
    assert (len(found.batches), "crc" in found.fault) == (1, True)


def test_aborted_transactions_of_kafka_survive():
    entries = transaction_index.decode(golden.TXN_ABORTED)
    assert entries == [transaction_index.Aborted(1, 2, 4, 5)]
    assert transaction_index.encode(entries) == golden.TXN_ABORTED
    with pytest.raises(FileFormatError):
        transaction_index.decode(golden.TXN_ABORTED * 2)


@pytest.mark.parametrize("release", golden.META)
def test_meta_properties_of_kafka_survive(release):
    data = golden.META[release]
    properties = meta_properties.decode(data)
    assert meta_properties.encode(properties) == data
    meta = meta_properties.meta_of(properties)
    assert meta.node_id == 0
    assert dict(meta_properties.properties_of(meta).pairs) == dict(properties.pairs)


def test_meta_properties_escape_as_java_does():
    odd = meta_properties.Properties({"cluster.id": "a=b:c\\d#"})
    data = meta_properties.encode(odd)
    assert data == b"cluster.id=a\\=b\\:c\\\\d\\#\n"
    assert meta_properties.decode(data) == odd


@pytest.mark.parametrize("data", [b"node.id=1\n", b"version=2\n", b"version=1\nnode.id=x\n"])
def test_meta_properties_of_nobody_are_refused(data):
    with pytest.raises(FileFormatError):
        meta_properties.meta_of(meta_properties.decode(data))


def test_checkpoints_survive():
    offsets = checkpoints.decode_offsets(golden.OFFSETS)
    assert offsets["t-with-dashes", 11] == 9
    assert checkpoints.encode_offsets(offsets) == golden.OFFSETS
    assert checkpoints.encode_epochs(checkpoints.decode_epochs(golden.EPOCHS)) == golden.EPOCHS
    assert checkpoints.decode_epochs(b"") == []


@pytest.mark.parametrize(
    "data", [b"0\n", b"1\n0\n", b"0\n2\nt 0 1\n", b"0\n1\nt 0\n", b"0\n1\nt 0 x\n"]
)
def test_a_checkpoint_that_was_cut_is_refused(data):
    with pytest.raises(FileFormatError):
        checkpoints.decode_offsets(data)


def test_topic_ids_survive():
    topic_id = partition_metadata.decode(golden.PARTITION_METADATA)
    assert partition_metadata.encode(topic_id) == golden.PARTITION_METADATA
    with pytest.raises(FileFormatError):
        partition_metadata.decode(golden.PARTITION_METADATA[:-4])


def test_the_clean_shutdown_marker():
    assert clean_shutdown.encode(11) == b'{"version":0,"brokerEpoch":11}'
    assert [clean_shutdown.decode(d) for d in (clean_shutdown.encode(11), b"", b"{")] == [
        11,
        -1,
        -1,
    ]


@pytest.mark.parametrize(
    "name",
    [
        "00000000000000000001.log",
        "00000000000000000040.snapshot",
        "00000000000000000001.index.swap",
    ],
)
def test_file_names_survive(name):
    assert str(names.parse_file(name)) == name


@pytest.mark.parametrize("name", ["a-b-0", "t-3." + "0f" * 16 + "-delete"])
def test_folder_names_survive(name):
    assert str(names.parse_folder(name)) == name


@pytest.mark.parametrize("name", ["1.log", "00000000000000000001.tmp", ".lock"])
def test_other_files_are_no_segments(name):
    assert names.parse_file(name) is None
