"""Processes end when told, also those that will not listen, also when their parent is killed.

A child holds the writing end of a FIFO; reading it to its end returns exactly when the child and
everything in its group is gone. That is the wait of these tests, and there is no other.
"""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from touchstone.harness.targets.child import Child, Watchdog, remove

pytestmark = pytest.mark.timeout(600)

# Says "up" once its traps are set, then stays; `sleep` in the same group holds the FIFO as well.
STAYS = 'exec 3>"$1"; {trap}echo up >&3; sleep 600 & wait; wait'


def staying(tmp_path, trap="", watchdog=None):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    argv = ["/bin/sh", "-c", STAYS.format(trap=trap), "child", str(fifo)]
    child = Child(argv, log=tmp_path / "child.log", cwd=tmp_path, watchdog=watchdog)
    child.start()
    reader = open(fifo, "rb")  # noqa: SIM115 - the test closes it
    assert reader.readline() == b"up\n"
    return child, reader


@pytest.fixture
def ended():
    """Whatever a failing test leaves is ended here."""
    left = []
    yield left.append
    for child in left:
        child.kill()


def test_kill_ends_the_whole_group(tmp_path, ended):
    child, reader = staying(tmp_path)
    ended(child)
    with reader:
        assert child.alive
        child.kill()
        assert reader.read() == b""
    assert child.exit_code == -signal.SIGKILL


def test_stop_is_polite_first(tmp_path, ended):
    child, reader = staying(tmp_path, trap="trap 'exit 7' TERM; ")
    ended(child)
    with reader:
        assert child.stop(30) is True
    assert child.exit_code == 7


def test_stop_kills_what_does_not_listen(tmp_path, ended):
    child, reader = staying(tmp_path, trap="trap '' TERM; ")
    ended(child)
    with reader:
        assert child.stop(0.01) is False
        assert reader.read() == b""
    assert child.exit_code == -signal.SIGKILL


def test_a_paused_child_can_be_stopped_and_killed(tmp_path, ended):
    child, reader = staying(tmp_path)
    ended(child)
    with reader:
        child.pause()
        assert child.paused
        child.kill()
        assert reader.read() == b""
    assert not child.paused


def test_verbs_are_harmless_on_what_is_gone(tmp_path):
    child = Child(["/bin/true"], log=tmp_path / "log", cwd=tmp_path)
    assert not child.alive
    child.kill()
    child.start()
    assert child.wait(300)
    for verb in (child.pause, child.resume, child.kill, lambda: child.stop(1)):
        verb()
    assert child.exit_code == 0


def test_a_closed_watchdog_kills_what_it_knows_and_removes_the_folder(tmp_path, ended):
    folder = tmp_path / "cluster"
    folder.mkdir()
    watchdog = Watchdog(folder)
    child, reader = staying(tmp_path, watchdog=watchdog)
    ended(child)
    with reader:
        watchdog.close()
        assert reader.read() == b""
    assert not folder.exists()
    watchdog.close()


def test_a_watchdog_forgets_a_group_that_is_over(tmp_path, ended):
    watchdog = Watchdog(None)
    child, reader = staying(tmp_path, watchdog=watchdog)
    ended(child)
    with reader:
        watchdog.note("-", child.pid)
        watchdog.close()
        assert child.alive, "its number may belong to somebody else by now"


def test_a_watchdog_can_spare_the_folder(tmp_path):
    watchdog = Watchdog(tmp_path)
    watchdog.spare_folder()
    watchdog.close()
    assert tmp_path.exists()


def test_a_killed_parent_leaves_no_child_and_no_folder(tmp_path):
    folder = tmp_path / "cluster"
    folder.mkdir()
    os.mkfifo(tmp_path / "fifo")
    program = f"""
        import sys
        from pathlib import Path
        from touchstone.harness.targets.child import Child, Watchdog
        argv = ["/bin/sh", "-c", {STAYS.format(trap="")!r}, "child", {str(tmp_path / "fifo")!r}]
        here = Path({str(folder)!r})
        Child(argv, log=here / "log", cwd=here, watchdog=Watchdog(here)).start()
        print("started", flush=True)
        sys.stdin.read()
    """
    argv = [sys.executable, "-c", textwrap.dedent(program)]
    parent = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with parent, open(tmp_path / "fifo", "rb") as reader:
        assert reader.readline() == b"up\n"
        assert parent.stdout.readline() == b"started\n"
        assert folder.exists()
        parent.kill()
        assert reader.read() == b""


@pytest.mark.parametrize(
    ("log", "first", "absent"),
    [
        ("a\nERROR because\nstopping\n", "    ERROR because", "    a"),
        ("\n".join(f"line {n}" for n in range(40)), "    line 28", "    line 27"),
        ("", "    (it said nothing)", "ERROR"),
    ],
)
def test_an_excerpt_begins_where_the_trouble_does(tmp_path, log, first, absent):
    child = Child(["/bin/true"], log=tmp_path / "log", cwd=tmp_path)
    child.log.write_text(log)
    lines = child.excerpt().splitlines()
    assert lines[0] == first
    assert absent not in lines


def test_an_excerpt_speaks_of_the_last_start_only(tmp_path):
    log = tmp_path / "log"
    log.write_text("ERROR of yesterday\n")
    child = Child(["/bin/echo", "fine today"], log=log, cwd=tmp_path)
    child.start()
    assert child.wait(300)
    assert child.excerpt() == "    fine today"


def test_removing_a_folder_that_is_gone_is_no_error(tmp_path):
    remove(tmp_path / "never")
    assert not (tmp_path / "never").exists()
