"""A container image of a target file, run by a `docker` that pretends (fake_docker.py)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from touchstone.harness.model.target import Shape, Unavailable
from touchstone.harness.targets import image, parse, probe

HERE = Path(__file__).parent
FILE = """
name = "imaged"
about = "An image that is none"
version = "1"
[start]
image = "somebody/broker:1"
command = [PYTHON, "-I", BROKER, "--ports", "{ports}", "--nodes", "{nodes}", "--serve", "{port}"]
brokers = [1, 2]
[start.environment]
NODE = "n{node}"
"""
pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def state(tmp_path, monkeypatch):
    """The folder of the pretended engine, whose program is the only one on the path."""
    tools, state = tmp_path / "tools", tmp_path / "containers"
    tools.mkdir()
    state.mkdir()
    docker = tools / "docker"
    docker.write_text(f'#!/bin/sh\nexec {sys.executable} -I {HERE / "fake_docker.py"} "$@"\n')
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_DOCKER", str(state))
    return state


@pytest.fixture
def imaged(tmp_path):
    """A function that makes a target of a file's text."""
    made = []

    def make(text):
        path = tmp_path / "imaged.toml"
        text = text.replace("PYTHON", repr(sys.executable))
        path.write_text(text.replace("BROKER", repr(str(HERE / "small_broker.py"))))
        made.append(parse(str(path)))
        return made[-1]

    yield make
    for target in made:
        target.stop()


def containers(state):
    return [json.loads(path.read_text()) for path in state.iterdir()]


@pytest.mark.slow
def test_containers_come_are_harmed_and_go(state, imaged):
    target = imaged(FILE)
    assert target.available() is None
    endpoint = target.start(Shape(2))
    assert len(containers(state)) == 2
    assert {kept["env"]["NODE"] for kept in containers(state)} == {"n0", "n1"}
    kept = containers(state)[0]
    assert kept["image"] == "somebody/broker:1"
    assert kept["given"]["--network"] == ["host"]
    folder = kept["given"]["--volume"][0].split(":")[0]
    assert Path(folder).is_dir()
    node = endpoint.nodes[1]
    for end in (node.kill, node.stop):
        end()
        with pytest.raises(probe.NotReady):
            probe.metadata(node.address)
        assert target.start(Shape(2)) is endpoint
        node.start()
        assert probe.metadata(node.address)
    node.pause()
    with pytest.raises(probe.NotReady, match="timed out"):
        probe.api_versions(node.address, seconds=0.2)
    node.resume()
    assert probe.metadata(node.address)
    target.stop()
    assert not containers(state)
    assert not Path(folder).exists()


@pytest.mark.slow
def test_a_container_that_died_is_replaced_and_leaves_nothing(state, imaged):
    target = imaged(FILE + '[ready]\noutput = "^ready"\n')
    endpoint = target.start(Shape())
    endpoint.nodes[0].child.kill()
    assert probe.metadata(target.start(Shape()).bootstrap[0])
    assert len(containers(state)) == 1


@pytest.mark.slow
def test_ports_may_be_published(state, imaged):
    text = FILE.replace("brokers = [1, 2]", 'publish = ["{port}:9092"]')
    imaged(text).start(Shape())
    given = containers(state)[0]["given"]
    assert given["--network"] == []
    assert given["--publish"][0].endswith(":9092")


def test_an_image_that_cannot_be_had_is_a_reason(state, imaged):
    target = imaged(FILE.replace("somebody/broker:1", "no-such-image"))
    assert target.available() == "no image no-such-image (docker pull: no such image)"
    with pytest.raises(Unavailable, match="no image"):
        target.start(Shape())


def test_no_engine_is_a_reason(tmp_path, monkeypatch, imaged):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert imaged(FILE).available() == "no Docker command"
    (tmp_path / "docker").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "docker").chmod(0o755)
    assert imaged(FILE).available() == "no Docker engine"


def test_containers_of_a_killed_run_are_removed_with_their_folders(state, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    over = subprocess.Popen(["true"])
    over.wait()
    for name, owner in (("dead", over.pid), ("alive", os.getpid())):
        folder = tmp_path / f"folder-{name}"
        folder.mkdir()
        labels = [f"{image.OWNER}={owner}", f"{image.FOLDER}={folder}"]
        (state / name).write_text(json.dumps({"pid": over.pid, "given": {"--label": labels}}))
    image.remove_orphans()
    assert [path.name for path in state.iterdir()] == ["alive"]
    assert [path.name for path in tmp_path.glob("folder-*")] == ["folder-alive"]
