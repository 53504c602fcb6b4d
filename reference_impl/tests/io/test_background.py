"""Jobs beside the loop: done in order, their consequences in the loop's own thread."""

from __future__ import annotations

import os
import threading
from types import SimpleNamespace

from touchstone.reference_impl.io.background import Background
from touchstone.reference_impl.io.log_dirs import LogDirs
from touchstone.reference_impl.tests.log_dirs.one_dir import KEY, NOW, fill, opened


def test_what_follows_happens_where_settle_is_called():
    background, seen = Background(), []
    background.submit(
        lambda: seen.append(("job", threading.current_thread().name)),
        lambda: seen.append(("then", threading.current_thread().name)),
    )
    background.stop()
    here = threading.current_thread().name
    assert seen == [("job", "touchstone-flush"), ("then", here)]


def test_a_job_that_fails_has_no_consequence_and_does_not_end_the_others():
    background, done = Background(), []

    def fail() -> None:
        raise OSError(5, "Input/output error")

    background.submit(fail, lambda: done.append("failed"))
    background.submit(lambda: None, lambda: done.append("whole"))
    background.stop()
    assert done == ["whole"]


def test_closed_segments_become_durable_beside_the_loop(tmp_path):
    background = Background()
    first = opened(tmp_path)
    config = first._config_of
    first.release()
    dirs = LogDirs([tmp_path], config, background=background)
    dirs.load(NOW)
    log = fill(dirs)
    background.stop()
    assert log.recovery_point == log.segments[-1].base_offset == 6
    dirs.dirs[0].write_recovery_points()
    dirs.release()
    again = opened(tmp_path)
    assert again.dirs[0].logs[KEY].recovery_point == 6
    again.release()


def test_what_was_cut_off_meanwhile_does_not_count_as_durable(tmp_path):
    background = Background()
    dirs = opened(tmp_path)
    log = fill(dirs, 3)
    log.store._later = background.submit
    log.roll(NOW)
    log.truncate_to(1, NOW)
    background.stop()
    assert log.recovery_point <= 1
    dirs.release()


def ticking(folder, background):
    """A log of three records, its directory's alarms by name, and who was told of failures."""
    first = opened(folder)
    config = first._config_of
    first.release()
    alarms, gone = {}, []
    dirs = LogDirs(
        [folder], config, background=background, failed=lambda path, keys: gone.append(keys)
    )
    dirs.load(NOW)
    fill(dirs, 3).high_watermark = 2
    remind = SimpleNamespace(remind=lambda key, at, call: alarms.__setitem__(key[0], call))
    dirs.schedule(remind, lambda name: 1000, NOW)
    return dirs, alarms["replica.high.watermark.checkpoint.interval.ms"], gone


def test_high_watermarks_are_made_durable_beside_the_loop(tmp_path, monkeypatch):
    background, threads, sync = Background(), [], os.fsync

    def seen(descriptor):
        threads.append(threading.current_thread().name)
        sync(descriptor)

    dirs, tick, _ = ticking(tmp_path, background)
    monkeypatch.setattr(os, "fsync", seen)
    tick(NOW + 1000)
    background.stop()
    assert set(threads) == {"touchstone-flush"}
    dirs.release()
    again = opened(tmp_path)
    assert again.dirs[0].logs[KEY].high_watermark == 2
    again.release()


def test_a_directory_that_fails_there_is_offline_when_that_is_settled(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    background = Background()
    dirs, tick, gone = ticking(tmp_path, background)
    monkeypatch.setattr(os, "fsync", full)
    tick(NOW + 1000)
    background.stop()
    assert gone == [[KEY]]
    assert dirs.dirs[0].offline
    dirs.release()
