"""A real ZooKeeper for a session: the one at TOUCHSTONE_ZOOKEEPER, or one of our own."""

import os
import socket
import time

import pytest

from touchstone.harness.model.target import Unavailable
from touchstone.harness.targets import jvm, matrix, settings
from touchstone.harness.targets.child import Child
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.maven import kafka_home
from touchstone.harness.targets.ports import free_ports

SECONDS = 300


def _accepts(port):
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="session")
def zookeeper(tmp_path_factory):
    """HOST:PORT; "not run" where none can be started."""
    if given := os.environ.get("TOUCHSTONE_ZOOKEEPER"):
        yield given
        return
    source, folder = matrix.zookeeper(), tmp_path_factory.mktemp("zookeeper")
    (port,) = free_ports(1)
    try:
        java, home = find_java(), kafka_home(source.version)
    except Unavailable as missing:
        pytest.skip(f"not run: no ZooKeeper: {missing.reason}")
    rendered = settings.zookeeper(str(folder / "data"), ("127.0.0.1", port))
    properties = folder / "zookeeper.properties"
    properties.write_text(settings.text(rendered), encoding="utf-8")
    argv = jvm.command(
        java, home, jvm.ZOOKEEPER, str(properties), profile="zookeeper",
        logging=jvm.write_logging(source, folder),
    )  # fmt: skip
    child = Child(argv, log=folder / "zookeeper.log", cwd=folder)
    child.start()
    try:
        deadline = time.monotonic() + SECONDS
        while not _accepts(port):
            assert time.monotonic() < deadline, (folder / "zookeeper.log").read_text()[-2000:]
        yield f"127.0.0.1:{port}"
    finally:
        child.kill()
