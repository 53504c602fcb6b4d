"""What a broker can be started on gives, takes and leaves nothing; here programs stand for brokers.

Each test is skipped, in words, where the machine does not grant what it needs.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import time

import pytest

from touchstone.harness.targets.isolation import ISOLATIONS, Clocks, Disks, Isolations, Namespaces

CLOCKS = "import time; print(time.time(), time.monotonic())"


def granted(isolation, folder):
    why = isolation.unsupported()
    if why:
        pytest.skip(why)
    isolation.open(folder)
    return isolation


def said(argv: list[str]) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def test_a_plain_isolation_changes_nothing(tmp_path):
    isolation = Isolations()
    isolation.open(tmp_path)
    assert isolation.unsupported() is None and isolation.host(0) is None
    assert isolation.command(0, ["java"]) == ["java"]
    isolation.close()


def test_what_is_missing_is_said(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr("shutil.which", lambda tool: None)
    for name, make in ISOLATIONS.items():
        assert make().unsupported(), name
    assert Isolations([Clocks()]).unsupported()


@pytest.mark.slow
def test_a_wall_clock_jumps_and_the_monotonic_one_does_not(tmp_path):
    clocks = granted(Clocks(), tmp_path)
    argv = clocks.command(0, [sys.executable, "-c", CLOCKS])
    clocks.set(0, 3_600_000)
    wall, monotonic = map(float, said(argv).split())
    assert 3_500 < wall - time.time() < 3_700
    assert abs(monotonic - time.monotonic()) < 600
    clocks.set(0, 0)
    assert abs(float(said(argv).split()[0]) - time.time()) < 600


@pytest.mark.slow
def test_a_disk_fails_and_comes_back_with_what_was_on_it(tmp_path):
    disks = granted(Disks(), tmp_path)
    folder = tmp_path / "data"
    try:
        disks.disk(0, folder)
        (folder / "kept").write_text("kept", encoding="ascii")
        disks.fail(0)
        with pytest.raises(OSError) as refused:
            (folder / "new").write_text("new", encoding="ascii")
        assert refused.value.errno == errno.EIO
        disks.unmount(0)
        disks.mount(0)
        assert (folder / "kept").read_text(encoding="ascii") == "kept"
    finally:
        disks.close()
    assert not os.path.ismount(folder)


@pytest.mark.slow
def test_brokers_in_namespaces_reach_each_other_and_leave_nothing(tmp_path):
    network = granted(Namespaces(), tmp_path)
    knock = "import socket, sys; socket.create_connection((sys.argv[1], 7000), 5).close()"
    listen = "import socket; s = socket.create_server(('', 7000)); print('up', flush=True)"
    try:
        network.command(1, [])
        argv = network.command(0, [sys.executable, "-c", f"{listen}; s.accept()"])
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout.readline() == "up\n"
            said(network.inside(1, [sys.executable, "-c", knock, network.host(0)]))
            server.wait(timeout=300)
    finally:
        names, bridge = list(network.made.values()), network.bridge
        network.close()
    left = said(["ip", "netns", "list"]) + said(["ip", "link"])
    left += said(["iptables", "-S"]) if shutil.which("iptables") else ""
    assert not any(name in left for name in (*names, bridge))
