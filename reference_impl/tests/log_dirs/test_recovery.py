"""A directory survives every end: clean, killed, torn at any byte, indexes and checkpoints lost.

One test for each row of LOG-09's matrix, and for LOG-06, LOG-07, LOG-15 and LOG-26.
"""

from __future__ import annotations

import shutil

import pytest

from touchstone.reference_impl.io.log_dir_error import LogDirError
from touchstone.reference_impl.log.files import names
from touchstone.reference_impl.log.files.meta_properties import MetaProperties
from touchstone.reference_impl.tests.log_dirs.one_dir import (
    KEY,
    NOW,
    TOPIC_ID,
    entries,
    fill,
    one,
    opened,
)
from touchstone.reference_impl.tests.log_files import golden
from touchstone.reference_impl.wire.records import read

SEGMENTS = (0, 3, 6)  # base offsets of eight records


def a_clean_end(root, records: int = 8) -> list[bytes]:
    dirs = opened(root)
    before = entries(fill(dirs, records))
    dirs.close(NOW)
    return before


def a_kill(root, records: int = 8) -> list[bytes]:
    dirs = opened(root)
    before = entries(fill(dirs, records))
    dirs.release()
    return before


def reopened(root, said: list[str] | None = None):
    """The log as a new process finds it; the directory stays locked."""
    dirs = opened(root, say=(said if said is not None else []).append)
    return dirs, dirs.dirs[0].logs[KEY]


def file_of(root, base: int, kind: str):
    return root / "words-0" / names.name_of(base, kind)


def test_a_clean_end_is_found_as_it_was(tmp_path):
    before, said = a_clean_end(tmp_path), []
    assert (tmp_path / names.CLEAN_SHUTDOWN).read_bytes() == b'{"version":0,"brokerEpoch":-1}'
    stamps = {path: path.stat().st_mtime_ns for path in (tmp_path / "words-0").iterdir()}
    dirs, log = reopened(tmp_path, said)
    assert (entries(log), said, log.high_watermark, log.recovery_point) == (before, [], 8, 8)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "words-0").iterdir()} == stamps
    assert not (tmp_path / names.CLEAN_SHUTDOWN).exists()
    assert [segment.base_offset for segment in log.segments] == list(SEGMENTS)
    dirs.release()


def test_a_crash_right_after_a_start_is_unclean_again(tmp_path):
    a_clean_end(tmp_path)
    reopened(tmp_path)[0].release()
    said = []
    reopened(tmp_path, said)[0].release()
    assert said == [f"recovering {tmp_path}: it was not closed cleanly"]


def test_a_killed_process_loses_nothing_and_goes_on(tmp_path):
    before = a_kill(tmp_path)
    dirs, log = reopened(tmp_path)
    assert entries(log) == before
    assert log.append(one(7), now=NOW).duplicate
    log.append(one(8), now=NOW)
    dirs.release()
    dirs, log = reopened(tmp_path)
    assert [row["offset"] for entry in entries(log) for row in read(entry)] == list(range(9))
    dirs.release()


@pytest.mark.slow
def test_a_log_torn_at_any_byte_of_its_last_batch_keeps_the_others(tmp_path):
    before = a_kill(tmp_path / "whole")
    size = file_of(tmp_path / "whole", 6, names.LOG).stat().st_size
    for cut in range(size - len(before[-1]), size):
        root, said = tmp_path / str(cut), []
        shutil.copytree(tmp_path / "whole", root)
        with open(file_of(root, 6, names.LOG), "rb+") as file:
            file.truncate(cut)
        dirs, log = reopened(root, said)
        assert (entries(log), log.log_end_offset) == (before[:-1], 7)
        assert log.producers.producers[7].last_sequence == 6
        dirs.release()


@pytest.mark.parametrize("clean", [False, True])
def test_a_bad_batch_ends_the_log_and_drops_what_follows(tmp_path, clean):
    before = a_clean_end(tmp_path) if clean else a_kill(tmp_path)
    path = file_of(tmp_path, 3, names.LOG)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    said = []
    dirs, log = reopened(tmp_path, said)
    if clean:  # who ended well is believed, as Kafka does
        assert log.log_end_offset == 8
    else:
        assert (entries(log), log.log_end_offset) == (before[:5], 5)
        assert not file_of(tmp_path, 6, names.LOG).exists()
        assert any("crc" in sentence for sentence in said)
    dirs.release()


@pytest.mark.parametrize("base", SEGMENTS)
@pytest.mark.parametrize("kind", [names.INDEX, names.TIME_INDEX])
@pytest.mark.parametrize("damage", ["missing", "torn", "nonsense", "empty", "past the end"])
def test_indexes_are_rebuilt_after_any_end(tmp_path, base, kind, damage):
    before = a_clean_end(tmp_path)
    path = file_of(tmp_path, base, kind)
    image = path.read_bytes()
    assert image
    damaged = {
        "torn": image[:-1],
        "nonsense": b"\x7f" * 24,
        "empty": b"",
        "past the end": image + bytes.fromhex("0000ffff0000ffff") * 3,
    }
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(damaged[damage])
    dirs, log = reopened(tmp_path)
    assert entries(log) == before
    for number in range(8):
        assert read(log.read(number, 1, min_one=True).records)[0]["offset"] == number
        assert log.first_offset_at(NOW + number).offset == number
    dirs.release()
    if damage != "empty":  # an index without entries says nothing wrong: Kafka keeps it too
        assert path.read_bytes() == image


def test_an_index_of_a_crash_is_rebuilt_whatever_it_says(tmp_path):
    a_clean_end(tmp_path)
    image = file_of(tmp_path, 6, names.INDEX).read_bytes()
    (tmp_path / names.CLEAN_SHUTDOWN).unlink()
    (tmp_path / names.RECOVERY_POINTS).unlink()
    file_of(tmp_path, 6, names.INDEX).write_bytes(bytes.fromhex("0000000200000001"))
    reopened(tmp_path)[0].release()
    assert file_of(tmp_path, 6, names.INDEX).read_bytes() == image


def test_leftovers_are_removed(tmp_path):
    before, said = a_kill(tmp_path), []
    folder = tmp_path / "words-0"
    left = (
        "00000000000000000009.index",
        "00000000000000000009.timeindex",
        "00000000000000000009.txnindex",
        "00000000000000000009.log.deleted",
        "00000000000000000009.log.cleaned",
        "00000000000000000009.index.cleaned",
        "00000000000000000002.log.swap",
        "leader-epoch-checkpoint.tmp",
    )
    for name in left[:6] + left[7:]:
        (folder / name).write_bytes(b"x")
    gone = tmp_path / "words-1.0123456789abcdef0123456789abcdef-delete"
    shutil.copytree(folder, gone)
    dirs, log = reopened(tmp_path, said)
    assert entries(log) == before
    assert not gone.exists()
    assert [name for name in left if (folder / name).exists()] == []
    assert all(any(name in sentence for sentence in said) for name in left[:6])
    dirs.release()


def test_an_interrupted_swap_is_finished(tmp_path):
    before = a_clean_end(tmp_path)
    both = [file_of(tmp_path, base, names.LOG) for base in (0, 3)]
    merged = b"".join(path.read_bytes() for path in both)
    both[0].with_name(both[0].name + ".swap").write_bytes(merged)
    file_of(tmp_path, 0, names.INDEX).rename(file_of(tmp_path, 0, "index.swap"))
    dirs, log = reopened(tmp_path)
    assert entries(log) == before
    assert [segment.base_offset for segment in log.segments] == [0, 6]
    assert not list((tmp_path / "words-0").glob("*.swap"))
    assert not file_of(tmp_path, 3, names.LOG).exists()
    dirs.release()


def test_a_swap_beside_a_cleaned_file_is_undone(tmp_path):
    """The compaction had not renamed all of its segments: what it read still stands."""
    before = a_clean_end(tmp_path)
    folder = tmp_path / "words-0"
    (folder / "00000000000000000003.log.swap").write_bytes(before[3])
    (folder / "00000000000000000000.log.cleaned").write_bytes(before[0])
    dirs, log = reopened(tmp_path)
    assert entries(log) == before
    assert not [path for path in folder.iterdir() if path.suffix in (".swap", ".cleaned")]
    dirs.release()


@pytest.mark.parametrize("base", SEGMENTS)
def test_an_empty_log_file_costs_its_own_records_only(tmp_path, base):
    before, said = a_kill(tmp_path), []
    file_of(tmp_path, base, names.LOG).write_bytes(b"")
    dirs, log = reopened(tmp_path, said)
    at = SEGMENTS.index(base) * 3
    assert entries(log) == before[:at] + before[at + 3 :]
    log.append(one(log.producers.producers[7].last_sequence + 1), now=NOW)
    dirs.release()
    dirs, log = reopened(tmp_path)
    assert len(entries(log)) == len(before) - len(before[at : at + 3]) + 1
    dirs.release()


def test_no_file_at_all_is_an_empty_log(tmp_path):
    (tmp_path / "words-0").mkdir()
    dirs, log = reopened(tmp_path)
    assert (log.log_start_offset, log.log_end_offset) == (0, 0)
    dirs.release()


@pytest.mark.parametrize("name", [names.RECOVERY_POINTS, names.HIGH_WATERMARKS, names.LOG_STARTS])
@pytest.mark.parametrize("image", [None, b"", b"0\n1\n", b"nonsense", b"\xff\xfe", b"7\n0\n"])
def test_checkpoints_that_cannot_be_read_are_as_good_as_none(tmp_path, name, image):
    before, said = a_clean_end(tmp_path), []
    if image is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(image)
    dirs, log = reopened(tmp_path, said)
    assert (entries(log), log.log_start_offset) == (before, 0)
    assert len(said) == bool(image)
    dirs.release()


@pytest.mark.parametrize("image", [None, b"0\n9\n", b"\xff"])
def test_leader_epochs_are_rebuilt_from_the_batches(tmp_path, image):
    dirs = opened(tmp_path)
    log = fill(dirs, 3)
    log.append(one(3), now=NOW, leader_epoch=4)
    rows = log.epochs.rows()
    dirs.close(NOW)
    path = tmp_path / "words-0" / names.LEADER_EPOCHS
    path.unlink() if image is None else path.write_bytes(image)
    dirs, log = reopened(tmp_path)
    assert log.epochs.rows() == rows == [(0, 0), (4, 3)]
    dirs.release()


def test_a_damaged_snapshot_is_replaced_by_the_one_before_and_the_batches(tmp_path):
    a_clean_end(tmp_path)
    newest = file_of(tmp_path, 8, names.SNAPSHOT)
    newest.write_bytes(newest.read_bytes()[:-1])
    said = []
    dirs, log = reopened(tmp_path, said)
    assert log.producers.producers[7].last_sequence == 7
    assert len(said) == 1
    assert not newest.exists()
    dirs.release()


def test_deleted_records_do_not_come_back(tmp_path):
    dirs = opened(tmp_path)
    fill(dirs).delete_to(5, NOW)
    dirs.close(NOW)
    assert (tmp_path / names.LOG_STARTS).read_bytes() == b"0\n1\nwords 0 5\n"
    dirs, log = reopened(tmp_path)
    assert (log.log_start_offset, log.segments[0].base_offset) == (5, 3)
    dirs.release()


def test_a_directory_has_one_owner(tmp_path):
    dirs = opened(tmp_path)
    dirs.identify(MetaProperties(1, 0, "cluster"), ["dir"], "today")
    assert (tmp_path / names.META_PROPERTIES).read_bytes() == (
        b"#\n#today\nnode.id=0\ndirectory.id=dir\nversion=1\ncluster.id=cluster\n"
    )
    with pytest.raises(LogDirError, match="locked|lock"):
        opened(tmp_path)
    dirs.identify(MetaProperties(1, 0, "cluster"), [], "tomorrow")
    for other in (MetaProperties(1, 1, "cluster"), MetaProperties(1, 0, "another")):
        with pytest.raises(LogDirError, match=r"node\.id|cluster\.id"):
            dirs.identify(other, [], "tomorrow")
    assert dirs.owner().node_id == 0
    dirs.release()


def test_folders_name_their_topic_by_id(tmp_path):
    a_clean_end(tmp_path)
    dirs, _ = reopened(tmp_path)
    assert dirs.partition_ids() == {KEY: TOPIC_ID}
    dirs.release()


def test_a_folder_of_kafka_opens(tmp_path):
    """What 4.3.1 left after transactions, its indexes with the filling of a running broker."""
    folder = tmp_path / "txn-0"
    folder.mkdir()
    (folder / names.name_of(1, names.LOG)).write_bytes(golden.TXN_LOG)
    (folder / names.name_of(1, names.INDEX)).write_bytes(golden.TXN_INDEX + bytes(80))
    (folder / names.name_of(1, names.TIME_INDEX)).write_bytes(golden.TXN_TIME_INDEX + bytes(24))
    (folder / names.name_of(1, names.TXN_INDEX)).write_bytes(golden.TXN_ABORTED)
    snapshot = golden.SNAPSHOTS["4.3.1 an open transaction"]
    (folder / names.name_of(6, names.SNAPSHOT)).write_bytes(bytes.fromhex(snapshot))
    (tmp_path / names.CLEAN_SHUTDOWN).write_bytes(b"")
    said = []
    dirs = opened(tmp_path, say=said.append)
    log = dirs.dirs[0].logs["txn", 0]
    assert (log.log_start_offset, log.log_end_offset, said) == (1, 6, [])
    assert log.producers.producers[1].transaction_start == 5
    assert len(log.segments[0].aborted()) == 1
    dirs.release()
