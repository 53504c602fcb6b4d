"""Jobs beside the loop: done in order, their consequences in the loop's own thread."""

from __future__ import annotations

import threading

from reference_impl.io.background import Background
from reference_impl.io.log_dirs import LogDirs
from reference_impl.tests.log_dirs.one_dir import KEY, NOW, fill, opened


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
