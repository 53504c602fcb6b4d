"""The image of the broker: its entry point, its health check, and the files beside them.

The image itself is built and run in `harness/tests/targets/test_touchstone_container.py`, where an
engine and the image are there.
"""

from __future__ import annotations

import importlib.util
import os
import re
import socket
import subprocess
from pathlib import Path

import pytest

from touchstone.harness.targets import target_file
from touchstone.reference_impl.io.server import serve

FOLDER = Path(__file__).resolve().parents[1] / "images" / "broker"
HANGS_S = 300


@pytest.fixture
def enter(tmp_path):
    """Runs the entry point with a `touchstone` that prints its arguments."""
    fake = tmp_path / "bin" / "touchstone"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\necho "$@"\n')
    fake.chmod(0o755)

    def run(*arguments, **environment):
        path = f"{fake.parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["/bin/sh", FOLDER / "entrypoint", *arguments], env={"PATH": path} | environment,
            capture_output=True, text=True, check=True, timeout=HANGS_S,
        )  # fmt: skip
        return done.stdout.strip()

    return run


EVERYWHERE = "broker --host 0.0.0.0 --port 9092"


def test_clients_of_the_host_are_told_the_published_port(enter):
    assert enter() == f"{EVERYWHERE} --advertised-listeners localhost:9092"


@pytest.mark.parametrize("words", [("--brokers", "3"), ("--brokers=3",)])
def test_every_broker_gets_an_address(enter, words):
    told = enter(*words, "--racks", "a,b,c")
    listeners = "localhost:9092,localhost:9093,localhost:9094"
    shown = " ".join(words)
    assert told == f"{EVERYWHERE} --advertised-listeners {listeners} {shown} --racks a,b,c"


def test_host_and_first_port_can_be_named(enter):
    told = enter("--brokers", "2", TOUCHSTONE_ADVERTISED_HOST="kafka",
                 TOUCHSTONE_ADVERTISED_PORT="19092")  # fmt: skip
    assert "--advertised-listeners kafka:19092,kafka:19093 " in told


def test_addresses_are_read_from_a_file(enter, tmp_path):
    (tmp_path / "advertised").write_text("example:49153")
    told = enter(TOUCHSTONE_ADVERTISED_FILE=str(tmp_path / "advertised"))
    assert told == f"{EVERYWHERE} --advertised-listeners example:49153"


def test_the_broker_starts_when_the_file_is_there_and_not_before(enter, tmp_path):
    """An empty file is not an answer: who writes it may not have come to its first byte yet."""
    fake = tmp_path / "bin" / "touchstone"
    file = tmp_path / "advertised"
    env = {"PATH": f"{fake.parent}:{os.environ['PATH']}", "TOUCHSTONE_ADVERTISED_FILE": str(file)}
    argv = ["/bin/sh", FOLDER / "entrypoint"]
    with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, text=True) as running:
        file.write_text("")
        assert running.poll() is None
        file.write_text("example:49153")
        told, _ = running.communicate(timeout=HANGS_S)
    assert told.strip().endswith("example:49153")


def test_who_names_listeners_is_believed(enter):
    told = enter("--advertised-listeners", "a:1")
    assert told == f"{EVERYWHERE} --advertised-listeners a:1"


@pytest.mark.parametrize("words", [("--host", "127.0.0.1"), ("--port", "0"), ("--help",)])
def test_who_names_host_or_port_decides_alone(enter, words):
    assert enter(*words) == f"broker {' '.join(words)}"


# health


@pytest.fixture(scope="module")
def health():
    spec = importlib.util.spec_from_file_location("health", FOLDER / "health.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_broker_that_serves_is_healthy(health):
    with serve() as cluster:
        port = int(cluster.bootstrap[0].rpartition(":")[2])
        assert health.healthy(port)
    assert not health.healthy(port)


def test_an_open_port_is_not_health(health, monkeypatch):
    monkeypatch.setattr(health, "SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert not health.healthy(silent.getsockname()[1])


# files that have to agree


def test_the_compose_file_publishes_what_its_target_file_names():
    compose = (FOLDER / "compose.yaml").read_text()
    first, last, inside = re.search(r":-(\d+)-(\d+)}:([\d-]+)", compose).groups()
    assert inside == f"{first}-{last}"
    described = target_file.load(FOLDER / "three-brokers.toml")
    ports = [port for _, port in described.address]
    assert ports == [*range(int(first), int(last) + 1)]
    assert f'"--brokers", "{len(ports)}"' in compose


def test_the_image_runs_as_a_numbered_user_and_not_as_root():
    text = (FOLDER / "Dockerfile").read_text()
    (user,) = re.findall(r"^USER (\d+):\d+$", text, re.MULTILINE)
    assert int(user) > 0
    assert text.rindex("\nUSER ") > text.rindex("\nFROM ")
